"""What each int8 operator should compute, in real numbers: an oracle that shares nothing with the kernels.

Operands are dequantized to float64, the operator is evaluated as ONNX defines it, and the result is compared with the stored
output. How far the two may be apart, in steps of the output scale, is what docs/numerics.md states; nothing here knows of
multipliers, shifts or tables beyond that bound.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from arenite.graph import Graph, Node, Tensor
from differential.expectation import EDGE, Expectation, Real, real, scale_of
from differential.real_movement import MOVED
from differential.real_reductions import REDUCED
from numpy.typing import NDArray


def _linear(node: Node, graph: Graph, x: NDArray[np.generic]) -> tuple[Real, Real, Real]:
    """x − z_x, weights and bias in real numbers, the folded zero point taken out again (int8 and wide alike)."""
    tensors = [graph.tensor(name) for name in node.inputs]
    x_scale, x_zero = scale_of(tensors[0])
    weight = tensors[1].data
    bias = tensors[2].data
    quantization = tensors[1].quantization
    assert weight is not None and bias is not None and quantization is not None
    axis = {"Conv": 0, "FullyConnected": 0, "DepthwiseConv": 2}[node.op]
    shape = [1] * weight.ndim
    shape[axis] = -1
    channel_scale = np.broadcast_to(np.asarray(quantization.scale, np.float64), (weight.shape[axis],))
    others = tuple(i for i in range(weight.ndim) if i != axis)
    unfolded = bias.astype(np.float64) + x_zero * weight.astype(np.float64).sum(axis=others)
    return (
        x_scale * (x.astype(np.float64) - x_zero),
        weight.astype(np.float64) * channel_scale.reshape(shape),
        unfolded * x_scale * channel_scale,
    )


def _windows(node: Node, x: Real, kernel: tuple[int, int], output: tuple[int, ...], fill: float) -> list[tuple[int, int, Real]]:
    """For each kernel position the plane of x that it meets at every output position."""
    a = node.attributes
    (stride_h, stride_w), (dilation_h, dilation_w) = a["strides"], a["dilations"]
    top, left = a["pads"][:2]
    need_h = (output[1] - 1) * stride_h + (kernel[0] - 1) * dilation_h + 1
    need_w = (output[2] - 1) * stride_w + (kernel[1] - 1) * dilation_w + 1
    padded = np.full((x.shape[0], max(need_h, top + x.shape[1]), max(need_w, left + x.shape[2]), x.shape[3]), fill)
    padded[:, top : top + x.shape[1], left : left + x.shape[2]] = x
    planes = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            rows = slice(i * dilation_h, i * dilation_h + (output[1] - 1) * stride_h + 1, stride_h)
            columns = slice(j * dilation_w, j * dilation_w + (output[2] - 1) * stride_w + 1, stride_w)
            planes.append((i, j, padded[:, rows, columns]))
    return planes


REQUANTIZATION = 0.5 + 0.25


def _conv(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    x, weight, bias = _linear(node, graph, inputs[0])
    value = np.zeros(y.shape) + bias
    group = node.attributes["group"]
    per_in, per_out = x.shape[3] // group, y.shape[3] // group
    for i, j, plane in _windows(node, x, (weight.shape[1], weight.shape[2]), y.shape, 0.0):
        for g in range(group):
            out = slice(g * per_out, (g + 1) * per_out)
            value[..., out] += plane[..., g * per_in : (g + 1) * per_in] @ weight[out, i, j].T
    return Expectation(value, REQUANTIZATION)


def _depthwise(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    x, weight, bias = _linear(node, graph, inputs[0])
    value = np.zeros(y.shape) + bias
    for i, j, plane in _windows(node, x, (weight.shape[0], weight.shape[1]), y.shape, 0.0):
        value += np.repeat(plane, weight.shape[2] // x.shape[3], axis=3) * weight[i, j]
    return Expectation(value, REQUANTIZATION)


def _fully_connected(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    x, weight, bias = _linear(node, graph, inputs[0])
    return Expectation(x @ weight.T + bias, REQUANTIZATION)


def _binary(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    a, b = (real(graph.tensor(name), stored) for name, stored in zip(node.inputs, inputs, strict=True))
    attributes = node.attributes
    if node.op == "Add":
        shift = attributes["shift"]
        signed_b = b if attributes["b_multiplier"] >= 0 else -b
        return Expectation(a + signed_b, 0.5 + 255 / 2.0**shift)
    if node.op == "Mul":
        return Expectation(a * b, REQUANTIZATION)
    with np.errstate(all="ignore"):
        value = a / b
    return Expectation(np.where(np.isnan(value), 0.0, value), 0.5 + 255 * 2.0**-21)


def _prelu(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    """The slope is inside the multipliers: what is left to check is the positive side and the sign of the other."""
    x = real(graph.tensor(node.inputs[0]), inputs[0])
    x_scale, _ = scale_of(graph.tensor(node.inputs[0]))
    y_scale, _ = scale_of(y)
    multiplier = graph.tensor(node.inputs[1]).data
    assert multiplier is not None
    slope = multiplier.astype(np.float64) * 2.0 ** (node.attributes["shift"] - 32) * y_scale / x_scale
    return Expectation(np.where(x >= 0, x, x * slope.reshape(x.shape if slope.size == x.size else -1)), REQUANTIZATION)


def _matmul(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    a, b = (real(graph.tensor(name), stored) for name, stored in zip(node.inputs, inputs, strict=True))
    return Expectation(np.matmul(a, b), REQUANTIZATION)


def _softmax(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    x = real(graph.tensor(node.inputs[0]), inputs[0])
    e = np.exp(x - x.max(-1, keepdims=True))
    value = e / e.sum(-1, keepdims=True)
    n = x.shape[-1]
    y_scale, _ = scale_of(y)
    k = min(23, 31 - int(np.ceil(np.log2(n))) if n > 1 else 23)
    # The table's entries are off by half of 2^-k, the sum by n of that; then one floor of R and one rounding (numerics §6).
    relative = 0.5 * n / 2.0**k
    steps = 1.0 / y_scale
    return Expectation(value, 0.5 + steps * (value * relative + 2.0**-k) + 2.0 ** (k - 32))


def _pool(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    x = real(graph.tensor(node.inputs[0]), inputs[0])
    kernel = node.attributes["kernel"]
    if node.op == "MaxPool":
        planes = [plane for _, _, plane in _windows(node, x, kernel, y.shape, -np.inf)]
        return Expectation(np.max(planes, axis=0), EDGE)
    total = sum(plane for _, _, plane in _windows(node, x, kernel, y.shape, 0.0))
    ones = np.ones_like(x)
    if node.attributes["count_include_pad"]:
        top, left, bottom, right = node.attributes["pads"]
        ones = np.ones((x.shape[0], x.shape[1] + top + bottom, x.shape[2] + left + right, x.shape[3]))
        node = node.with_attributes(pads=(0, 0, 0, 0))
    count = sum(plane for _, _, plane in _windows(node, ones, kernel, y.shape, 0.0))
    value = np.divide(total, count, out=np.zeros(y.shape), where=np.asarray(count) > 0)
    return Expectation(value, 0.5 + 255 * 2.0**-21)


def _reduce_mean(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    x = real(graph.tensor(node.inputs[0]), inputs[0])
    value = x.mean(axis=tuple(node.attributes["axes"]), keepdims=bool(node.attributes["keepdims"]))
    return Expectation(value, 0.5 + 255 * 2.0**-21)


def _movement(node: Node, graph: Graph, inputs: list[NDArray[np.generic]], y: Tensor) -> Expectation:
    values = [real(graph.tensor(name), stored) for name, stored in zip(node.inputs, inputs, strict=True)]
    a = node.attributes
    if node.op == "Reshape":
        return Expectation(values[0].reshape(y.shape), EDGE)
    if node.op == "Transpose":
        return Expectation(values[0].transpose(a["perm"]), EDGE)
    if node.op == "Concat":
        return Expectation(np.concatenate(values, axis=a["axis"]), EDGE)
    if node.op == "Slice":
        index = [
            np.arange(start, start + step * size, step) if size else np.arange(0)
            for start, step, size in zip(a["starts"], a["steps"], a["sizes"], strict=True)
        ]
        return Expectation(values[0][np.ix_(*index)], EDGE)
    rank = values[0].ndim
    width = [(a["pads"][i], a["pads"][rank + i]) for i in range(rank)]
    return Expectation(np.pad(values[0], width, constant_values=a["value"]), 0.5)


ORACLES = {
    "Conv": _conv,
    "DepthwiseConv": _depthwise,
    "FullyConnected": _fully_connected,
    "MatMul": _matmul,
    "Add": _binary,
    "Mul": _binary,
    "Div": _binary,
    "PRelu": _prelu,
    "Softmax": _softmax,
    "MaxPool": _pool,
    "AveragePool": _pool,
    "ReduceMean": _reduce_mean,
    "Pad": _movement,
    "Concat": _movement,
    "Slice": _movement,
    "Transpose": _movement,
    "Reshape": _movement,
    **MOVED,
    **REDUCED,
}
"""Lookup has none: its table is checked against the function where it is made (tests/quantize)."""


def worst_excess(node: Node, graph: Graph, values: Mapping[str, NDArray[np.generic]]) -> float:
    """By how many steps the stored output of an int8 node lies beyond its bound; not positive where all is well.

    `values` are the stored values of every tensor that is not constant.
    """
    y = graph.tensor(node.output)
    inputs = [values[name] if graph.tensor(name).data is None else graph.tensor(name).data for name in node.inputs if name is not None]
    expectation = ORACLES[node.op](node, graph, [np.asarray(v) for v in inputs], y)
    y_scale, y_zero = scale_of(y)
    low, high = node.attributes.get("activation_min", -128), node.attributes.get("activation_max", 127)
    wanted = np.clip(expectation.value / y_scale + y_zero, low, high)
    stored = np.asarray(values[node.output]).reshape(y.shape).astype(np.float64)
    return float(np.max(np.abs(stored - wanted) - expectation.bound - EDGE * (1 + np.abs(wanted)), initial=-1.0))
