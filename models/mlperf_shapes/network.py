"""Writes a sequential ONNX graph layer by layer, while it runs a batch through it to set statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

Array = NDArray[np.float32]
OPSET = 17


class Network:
    """A graph under construction. `value` is the name of the last layer's output, on which the next layer works.

    Images are NCHW inside; the graph's input is channel-last, as TensorFlow's exporters leave it.
    """

    def __init__(self, name: str, batch: Array, rng: np.random.Generator) -> None:
        """`batch`: inputs that are typical; layers take their statistics from them."""
        self.name, self.rng = name, rng
        self.input_shape = batch.shape[1:]
        self.nodes: list[NodeProto] = []
        self.weights: dict[str, Array] = {}
        self.values: dict[str, Array] = {"input": batch}
        self.value = "input"

    def go_on_from(self, value: str) -> Network:
        """Take an earlier value as the next layer's input: a branch."""
        self.value = value
        return self

    # Layers

    def to_nchw(self) -> Network:
        return self._append("Transpose", [self.value], perm=[0, 3, 1, 2])

    def conv(self, outputs: int, kernel: tuple[int, int], stride: int = 1, pads: tuple[int, int, int, int] = (0, 0, 0, 0)) -> Network:
        """Without bias. He initialization (He et al., 2015)."""
        return self._conv((outputs, self._channels, *kernel), stride, pads, group=1)

    def depthwise(self, kernel: tuple[int, int], stride: int = 1, pads: tuple[int, int, int, int] = (0, 0, 0, 0)) -> Network:
        return self._conv((self._channels, 1, *kernel), stride, pads, group=self._channels)

    def batch_norm(self) -> Network:
        """With the statistics of the batch; scale and bias random, as training leaves them."""
        x = self.values[self.value]
        axes = (0, *range(2, x.ndim))
        parameters = {
            "scale": self.rng.uniform(0.5, 1.5, self._channels),
            "bias": self.rng.normal(0, 0.3, self._channels),
            "mean": x.mean(axis=axes),
            "variance": x.var(axis=axes),
        }
        names = [self._weight(key, value) for key, value in parameters.items()]
        return self._append("BatchNormalization", [self.value, *names], epsilon=1e-3)

    def relu(self) -> Network:
        return self._append("Relu", [self.value])

    def add(self, a: str, b: str) -> Network:
        return self._append("Add", [a, b])

    def average_pool(self, kernel: tuple[int, int]) -> Network:
        return self._append("AveragePool", [self.value], kernel_shape=list(kernel), strides=list(kernel))

    def flatten(self) -> Network:
        return self._append("Flatten", [self.value])

    def dense(self, outputs: int, spread: float | None = None) -> Network:
        """With a bias. `spread`: the standard deviation that every output shall have over the batch, around 0."""
        x = self.values[self.value].astype(np.float64)
        weight = self.rng.standard_normal((outputs, x.shape[1])) * np.sqrt(2 / x.shape[1])
        bias = self.rng.normal(0, 0.1, outputs)
        if spread is not None:
            y = x @ weight.T
            weight *= (spread / np.maximum(y.std(axis=0), 1e-6))[:, None]
            bias = -(x @ weight.T).mean(axis=0)
        return self._append("Gemm", [self.value, self._weight("weight", weight), self._weight("bias", bias)], transB=1)

    def softmax(self) -> Network:
        return self._append("Softmax", [self.value], axis=1)

    # Result

    def model(self) -> ModelProto:
        """The graph with batch 1."""
        model = self._model(self.nodes, "input", (1, *self.input_shape), self.value, (1, *self.values[self.value].shape[1:]))
        checker.check_model(model, full_check=True)
        return model

    # Construction

    @property
    def _channels(self) -> int:
        return int(self.values[self.value].shape[1])

    def _weight(self, key: str, value: NDArray[Any]) -> str:
        name = f"{len(self.nodes)}.{key}"
        self.weights[name] = np.asarray(value, np.float32)
        return name

    def _conv(self, shape: tuple[int, int, int, int], stride: int, pads: tuple[int, int, int, int], group: int) -> Network:
        weight = self.rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
        return self._append(
            "Conv",
            [self.value, self._weight("weight", weight)],
            kernel_shape=list(shape[2:]),
            strides=[stride, stride],
            pads=list(pads),
            group=group,
        )

    def _append(self, op: str, inputs: list[str], **attributes: Any) -> Network:
        name = f"{op.lower()}_{len(self.nodes)}"
        node = helper.make_node(op, inputs, [name], name=name, **attributes)
        self.nodes.append(node)
        self.values[name] = self._run(node)
        self.value = name
        return self

    def _run(self, node: NodeProto) -> Array:
        """The node's output for the whole batch."""
        given = {name: self.values[name] for name in node.input if name in self.values}
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in given.items()]
        output = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, None)
        model = self._wrap(helper.make_graph([node], self.name, infos, [output], self._initializers(list(node.input))))
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return np.asarray(session.run(None, given)[0], np.float32)

    def _initializers(self, names: list[str]) -> list[TensorProto]:
        return [numpy_helper.from_array(self.weights[name], name) for name in names if name in self.weights]

    def _model(self, nodes: list[NodeProto], x: str, x_shape: tuple[int, ...], y: str, y_shape: tuple[int, ...]) -> ModelProto:
        ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ((x, x_shape), (y, y_shape))]
        return self._wrap(helper.make_graph(nodes, self.name, ports[:1], ports[1:], self._initializers(list(self.weights))))

    @staticmethod
    def _wrap(graph: Any) -> ModelProto:
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, producer_name="mlperf_shapes/build.py", ir_version=8)
