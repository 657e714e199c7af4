"""Random layers that have a choice of kernels: Conv, DepthwiseConv and FullyConnected in the int8 form, as quantization makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from arenite.graph import OPERATORS, DType, Graph, Node, Quantization, Tensor
from numpy.typing import NDArray


@dataclass(frozen=True)
class Layer:
    graph: Graph
    """One node, with plain constants."""

    @property
    def node(self) -> Node:
        return self.graph.nodes[0]

    @property
    def input_shape(self) -> tuple[int, ...]:
        return self.graph.tensors["x"].shape


def random_layer(rng: np.random.Generator) -> Layer:
    """Odd sizes, pads on one side, strides, dilation, groups, multipliers; accumulators small enough for packed weights."""
    kind = rng.choice(["Conv", "Conv", "DepthwiseConv", "DepthwiseConv", "FullyConnected"])
    return {"Conv": _conv, "DepthwiseConv": _depthwise, "FullyConnected": _fully_connected}[str(kind)](rng)


def _window(rng: np.random.Generator, channels: int, usual: bool = False) -> tuple[tuple[int, ...], tuple[int, int], dict[str, Any]]:
    """Shape of x, kernel, attributes: a window that fits; `usual`, 3x3 with stride 1."""
    square = usual or bool(rng.random() < 0.5)
    kernel = (3, 3) if square else (int(rng.integers(1, 6)), int(rng.integers(1, 6)))
    plain = usual or bool(rng.random() < 0.6)
    strides = (1, 1) if plain else ((2, 2) if rng.random() < 0.5 else (int(rng.integers(1, 4)), int(rng.integers(1, 4))))
    dilations = (1, 1) if usual or rng.random() < 0.8 else (int(rng.integers(1, 3)), int(rng.integers(1, 3)))
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = tuple(int(rng.integers(0, size)) for size in (*extent, *extent))
    size = [
        int(rng.integers(max(1, length - before - after), 12 + length))
        for length, before, after in zip(extent, pads[:2], pads[2:], strict=True)
    ]
    return (int(rng.integers(1, 3)), *size, channels), kernel, {"strides": strides, "dilations": dilations, "pads": pads}


def _conv(rng: np.random.Generator) -> Layer:
    usual = bool(rng.random() < 0.3)
    group = 1 if usual else int(rng.choice([1, 1, 1, 2, 3]))
    depth, filters = (int(rng.choice([4, 8, 12, 16] if usual else [1, 2, 3, 4, 5, 8, 12, 16])) for _ in range(2))
    x, kernel, attributes = _window(rng, depth * group, usual)
    return _layer(rng, "Conv", x, (filters * group, *kernel, depth), {**attributes, "group": group})


def _depthwise(rng: np.random.Generator) -> Layer:
    channels, multiplier = int(rng.choice([1, 3, 4, 8, 12, 17])), int(rng.choice([1, 1, 1, 2, 3]))
    x, kernel, attributes = _window(rng, channels)
    return _layer(rng, "DepthwiseConv", x, (*kernel, channels * multiplier), attributes)


def _fully_connected(rng: np.random.Generator) -> Layer:
    rows, features, outputs = int(rng.choice([1, 1, 2, 3, 5])), int(rng.integers(1, 90)), int(rng.integers(1, 30))
    return _layer(rng, "FullyConnected", (rows, features), (outputs, features), {})


def _layer(rng: np.random.Generator, op: str, x: tuple[int, ...], weight: tuple[int, ...], attributes: dict[str, Any]) -> Layer:
    out = weight[-1] if op == "DepthwiseConv" else weight[0]
    graph = Graph("layer.onnx", inputs=["x"], outputs=["y"])
    zero_points = (int(rng.choice([-128, 0, 127, rng.integers(-128, 128)])) for _ in range(2))
    input_zero_point, output_zero_point = zero_points
    graph.add(_quantized("x", x, input_zero_point))
    ends = rng.random() < 0.2
    weights = rng.choice([-127, 127], weight) if ends else rng.integers(-127, 128, weight)
    if op != "DepthwiseConv" and rng.random() < 0.3:
        weights = _four_bits(rng, weight)
    graph.add_constant("w", weights.astype(np.int8))
    graph.add_constant("b", rng.integers(-20_000, 20_000, out).astype(np.int32))
    taps = int(np.prod(weight)) // out
    real = rng.uniform(0.2, 3.0, out) * 0.02 / np.sqrt(taps)  # outputs cover most of int8, and saturate at times
    graph.add_constant("m", np.rint(real * 2**31).astype(np.int32))
    clamp = sorted(int(value) for value in rng.integers(-128, 128, 2)) if rng.random() < 0.5 else [-128, 127]
    given = {
        **attributes,
        "input_zero_point": input_zero_point,
        "output_zero_point": output_zero_point,
        "shift": 0,
        "activation_min": clamp[0],
        "activation_max": clamp[1],
        "variant": "int8",
    }
    operands = [graph.tensors[name] for name in ("x", "w", "b", "m")]
    y = OPERATORS[op].shape(operands, given)
    graph.add(_quantized("y", y, output_zero_point))
    graph.nodes.append(Node(op, "layer", ("x", "w", "b", "m"), ("y",), given))
    return Layer(graph)


def _four_bits(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Weights that four bits hold with a factor for every 32 taps."""
    filters, taps = shape[0], int(np.prod(shape[1:]))
    scales = np.repeat(rng.integers(1, 16, (filters, -(-taps // 32))), 32, axis=1)[:, :taps]
    return (rng.integers(-8, 8, (filters, taps)) * scales).reshape(shape)


def _quantized(name: str, shape: tuple[int, ...], zero_point: int) -> Tensor:
    return Tensor(name, shape, DType.INT8, quantization=Quantization.per_tensor(0.02, zero_point))


def samples(rng: np.random.Generator, layer: Layer, count: int) -> list[list[NDArray[np.int8]]]:
    return [[rng.integers(-128, 128, layer.input_shape).astype(np.int8)] for _ in range(count)]
