"""The layers that train.py trains: forward, backward, and the ONNX nodes they become. Images are NCHW, float32."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import NodeProto, helper

Array = NDArray[np.float32]


class Layer:
    """`parameters` are trained; `backward` leaves their gradients in `gradients` and returns that of its input."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parameters: dict[str, Array] = {}
        self.gradients: dict[str, Array] = {}

    def forward(self, x: Array, training: bool) -> Array:
        raise NotImplementedError

    def backward(self, dy: Array) -> Array:
        raise NotImplementedError

    def nodes(self, x: str) -> list[NodeProto]:
        """ONNX nodes that compute the layer from the value `x` into the value `name`."""
        raise NotImplementedError

    def exported(self) -> dict[str, Array]:
        """Initializers of these nodes, `name.key` in the graph."""
        return self.parameters

    def _node(self, op: str, inputs: list[str], **attributes: Any) -> NodeProto:
        return helper.make_node(op, inputs, [self.name], name=self.name, **attributes)


class Convolution(Layer):
    """3×3, same size, no bias (batch normalization follows). He initialization."""

    def __init__(self, name: str, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        super().__init__(name)
        scale = np.sqrt(2 / (9 * inputs))
        self.parameters["weight"] = (rng.standard_normal((outputs, inputs, 3, 3)) * scale).astype(np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        self.shape = x.shape
        view = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
        n, _, h, w = x.shape
        self.patches = view.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, -1)
        weight = self.parameters["weight"].reshape(len(self.parameters["weight"]), -1)
        return (self.patches @ weight.T).reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy: Array) -> Array:
        n, c, h, w = self.shape
        weight = self.parameters["weight"]
        flat = dy.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.gradients["weight"] = (flat.T @ self.patches).reshape(weight.shape)
        patches = (flat @ weight.reshape(len(weight), -1)).reshape(n, h, w, c, 3, 3)
        padded = np.zeros((n, c, h + 2, w + 2), np.float32)
        for i, j in np.ndindex(3, 3):
            padded[:, :, i : i + h, j : j + w] += patches[..., i, j].transpose(0, 3, 1, 2)
        return padded[:, :, 1:-1, 1:-1]

    def nodes(self, x: str) -> list[NodeProto]:
        return [self._node("Conv", [x, f"{self.name}.weight"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])]


class BatchNormalization(Layer):
    """Over the channels; running statistics are those of inference (Ioffe and Szegedy, 2015)."""

    EPSILON, MOMENTUM = 1e-5, 0.9

    def __init__(self, name: str, channels: int) -> None:
        super().__init__(name)
        self.parameters = {"scale": np.ones(channels, np.float32), "bias": np.zeros(channels, np.float32)}
        self.mean, self.variance = np.zeros(channels, np.float32), np.ones(channels, np.float32)

    def forward(self, x: Array, training: bool) -> Array:
        mean, variance = self.mean, self.variance
        if training:
            mean, variance = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
            self.mean = self.MOMENTUM * self.mean + (1 - self.MOMENTUM) * mean
            self.variance = self.MOMENTUM * self.variance + (1 - self.MOMENTUM) * variance
        self.inverse = (1 / np.sqrt(variance + self.EPSILON))[None, :, None, None]
        self.normal = (x - mean[None, :, None, None]) * self.inverse
        return np.asarray(self.normal * self.parameters["scale"][None, :, None, None] + self.parameters["bias"][None, :, None, None])

    def backward(self, dy: Array) -> Array:
        self.gradients = {"scale": (dy * self.normal).sum(axis=(0, 2, 3)), "bias": dy.sum(axis=(0, 2, 3))}
        dn = dy * self.parameters["scale"][None, :, None, None]
        means = dn.mean(axis=(0, 2, 3), keepdims=True), (dn * self.normal).mean(axis=(0, 2, 3), keepdims=True)
        return np.asarray((dn - means[0] - self.normal * means[1]) * self.inverse)

    def nodes(self, x: str) -> list[NodeProto]:
        inputs = [x, *(f"{self.name}.{key}" for key in ("scale", "bias", "mean", "variance"))]
        return [self._node("BatchNormalization", inputs, epsilon=self.EPSILON)]

    def exported(self) -> dict[str, Array]:
        return {**self.parameters, "mean": self.mean, "variance": self.variance}


class Relu(Layer):
    def forward(self, x: Array, training: bool) -> Array:
        self.positive = x > 0
        return x * self.positive

    def backward(self, dy: Array) -> Array:
        return dy * self.positive

    def nodes(self, x: str) -> list[NodeProto]:
        return [self._node("Relu", [x])]


class MaxPool(Layer):
    """2×2, step 2."""

    def forward(self, x: Array, training: bool) -> Array:
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = blocks.max(axis=(3, 5), keepdims=True)
        hit = blocks == y
        self.share = hit / hit.sum(axis=(3, 5), keepdims=True, dtype=np.float32)  # ties, frequent behind Relu, divide the gradient
        return np.asarray(y[:, :, :, 0, :, 0])

    def backward(self, dy: Array) -> Array:
        n, c, h, _, w, _ = self.share.shape
        return np.asarray(self.share * dy[:, :, :, None, :, None]).reshape(n, c, 2 * h, 2 * w)

    def nodes(self, x: str) -> list[NodeProto]:
        return [self._node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])]


class Dense(Layer):
    """Of the flattened image."""

    def __init__(self, name: str, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        super().__init__(name)
        weight = (rng.standard_normal((outputs, inputs)) * np.sqrt(1 / inputs)).astype(np.float32)
        self.parameters = {"weight": weight, "bias": np.zeros(outputs, np.float32)}

    def forward(self, x: Array, training: bool) -> Array:
        self.shape, self.flat = x.shape, x.reshape(len(x), -1)
        return np.asarray(self.flat @ self.parameters["weight"].T + self.parameters["bias"])

    def backward(self, dy: Array) -> Array:
        self.gradients = {"weight": dy.T @ self.flat, "bias": dy.sum(axis=0)}
        return np.asarray(dy @ self.parameters["weight"]).reshape(self.shape)

    def nodes(self, x: str) -> list[NodeProto]:
        flat = f"{self.name}.flat"
        names = [flat, f"{self.name}.weight", f"{self.name}.bias"]
        return [helper.make_node("Flatten", [x], [flat], name=flat), self._node("Gemm", names, transB=1)]


@dataclass
class Network:
    layers: list[Layer]
    moments: dict[str, tuple[Array, Array]] = field(default_factory=dict)

    def forward(self, x: Array, training: bool = False) -> Array:
        for layer in self.layers:
            x = layer.forward(x, training)
        return x

    def step(self, images: Array, labels: NDArray[np.int64], rate: float, number: int) -> float:
        """One step of Adam, the `number`th (from 1), on a batch; the mean cross-entropy before it."""
        logits = self.forward(images, training=True)
        logits = logits - logits.max(axis=1, keepdims=True)
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = float(-np.log(probabilities[rows, labels] + 1e-12).mean())
        probabilities[rows, labels] -= 1
        gradient = probabilities / np.float32(len(labels))
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        for layer in self.layers:
            for key, value in layer.parameters.items():
                self._adam(f"{layer.name}.{key}", value, layer.gradients[key], rate, number)
        return loss

    def _adam(self, name: str, value: Array, gradient: Array, rate: float, number: int) -> None:
        first, second = self.moments.get(name, (np.zeros_like(value), np.zeros_like(value)))
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        self.moments[name] = first, second
        value -= (rate * (first / (1 - 0.9**number)) / (np.sqrt(second / (1 - 0.999**number)) + 1e-8)).astype(np.float32)
