"""Random networks of layers on images, as ONNX models: what partial execution cuts into bands, in every combination."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


@dataclass
class _Network:
    rng: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)
    shapes: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Channels, rows, columns by value."""

    def pick(self, *choices: int) -> int:
        return int(self.rng.choice(choices))

    def weight(self, shape: tuple[int, ...], spread: float) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array((self.rng.normal(0, spread, shape)).astype(np.float32), name))
        return name

    def emit(self, op: str, inputs: list[str], shape: tuple[int, int, int], **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op.lower()}_{len(self.nodes)}", **attributes))
        self.shapes[name] = shape
        return name

    def window(self, x: str, pools: bool = False) -> tuple[dict[str, list[int]], tuple[int, int]] | None:
        """Attributes and rows and columns of the result; None where the window does not fit."""
        kernel = [self.pick(1, 2, 3, 3, 3, 5), self.pick(1, 2, 3, 3)]
        if self.rng.random() < 0.5:
            kernel = [3, 3]
        strides = [self.pick(1, 1, 2, 3), self.pick(1, 1, 2)] if self.rng.random() < 0.5 else [1, 1]
        dilations = [1, 1] if self.rng.random() < 0.8 else [2, 1]
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        most = [k - 1 if pools else e - 1 for k, e in zip(kernel, extent, strict=True)]
        pads = [int(self.rng.integers(0, limit + 1)) for limit in (*most, *most)]
        if self.rng.random() < 0.5:
            pads = [min(1, limit) for limit in (*most, *most)]
        size = self.shapes[x][1:]
        result = tuple((size[i] + pads[i] + pads[2 + i] - extent[i]) // strides[i] + 1 for i in (0, 1))
        if min(result) < 1:
            return None
        return {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}, (result[0], result[1])

    def conv(self, x: str, filters: int | None = None, same: bool = False) -> str:
        channels, rows, columns = self.shapes[x]
        if same:
            attributes = {"kernel_shape": [3, 3], "strides": [1, 1], "dilations": [1, 1], "pads": [1, 1, 1, 1]}
            size = (rows, columns)
        else:
            found = self.window(x)
            if found is None:
                return x
            attributes, size = found
        filters = filters or self.pick(3, 4, 8, 8, 12)
        taps = channels * int(np.prod(attributes["kernel_shape"]))
        weight = self.weight((filters, channels, *attributes["kernel_shape"]), taps**-0.5)
        y = self.emit("Conv", [x, weight, self.weight((filters,), 0.1)], (filters, *size), **attributes)
        return self.emit("Relu", [y], (filters, *size)) if self.rng.random() < 0.6 else y

    def depthwise(self, x: str) -> str:
        found = self.window(x)
        if found is None:
            return x
        attributes, size = found
        channels = self.shapes[x][0]
        weight = self.weight((channels, 1, *attributes["kernel_shape"]), 0.5)
        return self.emit("Conv", [x, weight, self.weight((channels,), 0.1)], (channels, *size), group=channels, **attributes)

    def pointwise(self, x: str) -> str:
        channels, rows, columns = self.shapes[x]
        filters = self.pick(4, 6, 8, 16)
        weight = self.weight((filters, channels, 1, 1), channels**-0.5)
        return self.emit("Conv", [x, weight], (filters, rows, columns), kernel_shape=[1, 1])

    def pool(self, x: str) -> str:
        found = self.window(x, pools=True)
        if found is None:
            return x
        attributes, size = found
        channels = self.shapes[x][0]
        if self.rng.random() < 0.5:
            return self.emit("MaxPool", [x], (channels, *size), **attributes)
        del attributes["dilations"]
        rows, columns = (
            (self.shapes[x][1 + i] + attributes["pads"][i] + attributes["pads"][2 + i] - attributes["kernel_shape"][i])
            // attributes["strides"][i]
            + 1
            for i in (0, 1)
        )
        if min(rows, columns) < 1:
            return x
        return self.emit("AveragePool", [x], (channels, rows, columns), count_include_pad=self.pick(0, 1), **attributes)

    def residual(self, x: str) -> str:
        channels, rows, columns = self.shapes[x]
        y = self.conv(x, channels, same=True)
        if self.rng.random() < 0.5:
            y = self.conv(y, channels, same=True)
        return self.emit("Add", [y, x] if self.rng.random() < 0.5 else [x, y], (channels, rows, columns))

    def branches(self, x: str) -> str:
        _, rows, columns = self.shapes[x]
        parts = [self.conv(x, same=True), self.pointwise(x)]
        total = sum(self.shapes[part][0] for part in parts)
        return self.emit("Concat", parts, (total, rows, columns), axis=1)

    def function(self, x: str) -> str:
        return self.emit(str(self.rng.choice(["Sigmoid", "HardSwish", "LeakyRelu"])), [x], self.shapes[x])


def random_network(seed: int) -> onnx.ModelProto:
    """3 to 8 layers on an image of odd or even size; the result is an image, sometimes two, or class scores."""
    rng = np.random.default_rng(seed)
    network = _Network(rng)
    size = (network.pick(1, 3, 4, 8), int(rng.integers(7, 21)), int(rng.integers(4, 12)))
    network.shapes["x"] = size
    value, values = "x", ["x"]
    layers = ("conv", "conv", "depthwise", "pointwise", "pool", "residual", "residual", "branches", "function")
    for _ in range(int(rng.integers(3, 9))):
        value = getattr(network, str(rng.choice(layers)))(value)
        values.append(value)
    if value == "x":
        value = network.pointwise(value)
    outputs = [value]
    if rng.random() < 0.25 and values[len(values) // 2] not in ("x", value):
        outputs.append(values[len(values) // 2])
    elif rng.random() < 0.4:
        outputs = [network.emit("GlobalAveragePool", [value], (network.shapes[value][0], 1, 1))]
    graph = helper.make_graph(
        network.nodes,
        f"random_{seed}",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *size])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, *network.shapes[name]]) for name in outputs],
        network.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    onnx.checker.check_model(model)
    return model
