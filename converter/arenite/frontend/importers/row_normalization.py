"""Normalization by statistics of the input itself: LayerNormalization and its kin, LpNormalization, LRN."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import Expression
from arenite.graph.operators import UNBOUNDED


def _normalized(
    node: NodeImport, x: str, length: int, epsilon: float, scale: str | None = None, bias: str | None = None, centred: bool = True
) -> str:
    """Rows of `length` elements, trailing dimensions of x."""
    return node.results("LayerNormalization", [x, scale, bias], length=length, centred=centred, epsilon=epsilon)[0]


def _binary(node: NodeImport, op: str, a: str, b: str) -> str:
    """Of operands of any ranks, broadcast."""
    rank = max(len(node.graph.tensors[name].shape) for name in (a, b))
    return node.emit(op, [node.to_rank(a, rank), node.to_rank(b, rank)], clip=UNBOUNDED)


def _row(node: NodeImport, index: int, shape: Sequence[int]) -> tuple[str | None, str | None]:
    """Operand `index`: as a row of `shape` elements, or as what broadcasts to one."""
    if not node.has(index):
        return None, None
    value = node.activation(index)
    given = node.graph.tensors[value].shape
    while given[:1] == (1,) and len(given) > len(shape):
        given = given[1:]
    return (value, None) if given == tuple(shape) else (None, value)


def layer_normalization(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    axis = node.axis(int(node.attribute("axis", -1)), len(shape))
    epsilon = float(node.attribute("epsilon", 1e-5))
    (scale, wide_scale), (bias, wide_bias) = _row(node, 1, shape[axis:]), _row(node, 2, shape[axis:])
    if wide_scale is not None and bias is not None:  # the scale is applied first
        bias, wide_bias = None, bias
    y = _normalized(node, x, prod(shape[axis:]), epsilon, scale, bias, centred=node.operator == "LayerNormalization")
    for op, operand in (("Mul", wide_scale), ("Add", wide_bias)):
        y = y if operand is None else _binary(node, op, y, operand)
    if not any(name in node.used for name in node.outputs[1:] if name):
        return [y]
    axes = tuple(range(axis, len(shape)))
    mean = node.emit("ReduceMean", [x], axes=axes, keepdims=True, clip=UNBOUNDED)
    return [y, mean, _inverse_deviation(node, x, mean, axes, epsilon)]


def _inverse_deviation(node: NodeImport, x: str, mean: str, axes: tuple[int, ...], epsilon: float) -> str:
    """1 / √(variance + ε)."""
    centred = node.emit("Sub", [x, mean], clip=UNBOUNDED)
    squares = node.results("ReduceSumSquare", [centred], axes=axes, keepdims=True)[0]
    count = prod(node.graph.tensors[x].shape[axis] for axis in axes)
    variance = Expression.binary("Mul", 1 / count).then(Expression.binary("Add", epsilon))
    return node.elementwise(squares, variance.then(Expression.single("Sqrt")).then(Expression.single("Reciprocal")))


def _channels(node: NodeImport, index: int, what: str, count: int, rank: int) -> str:
    """Operand `index`, one value a channel, to broadcast along dimension 1 of `rank`."""
    if not node.has(index):
        node.malformed(f"{what} is missing")
    value = node.activation(index)
    if node.graph.tensors[value].shape != (count,):
        node.malformed(f"{what} {list(node.graph.tensors[value].shape)} does not fit {count} channels")
    return node.reshape(value, (1, count, *(1,) * (rank - 2)))


def instance_normalization(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) < 3:
        node.malformed(f"the input {list(shape)} has no spatial dimensions")
    scale, bias = (_channels(node, i, what, shape[1], len(shape)) for i, what in ((1, "scale"), (2, "B")))
    y = _normalized(node, x, prod(shape[2:]), float(node.attribute("epsilon", 1e-5)))
    return [node.emit("Add", [node.emit("Mul", [y, scale], clip=UNBOUNDED), bias], clip=UNBOUNDED)]


def group_normalization(node: NodeImport) -> Sequence[Value]:
    """Scale and bias are one a group before opset 21, one a channel since."""
    x = node.activation(0)
    shape, groups = node.graph.tensors[x].shape, int(node.attribute("num_groups", 0))
    if len(shape) < 2 or groups < 1 or shape[1] % groups:
        node.malformed(f"{groups} groups do not fit the input {list(shape)}")
    rows = node.reshape(x, (shape[0], groups, prod(shape[1:]) // groups))
    y = _normalized(node, rows, prod(shape[1:]) // groups, float(node.attribute("epsilon", 1e-5)))
    if node.opset >= 21:
        y = node.reshape(y, shape)
    inner = node.graph.tensors[y].shape
    scale, bias = (_channels(node, i, what, inner[1], len(inner)) for i, what in ((1, "scale"), (2, "bias")))
    y = node.emit("Add", [node.emit("Mul", [y, scale], clip=UNBOUNDED), bias], clip=UNBOUNDED)
    return [node.reshape(y, shape)]


def mean_variance_normalization(node: NodeImport) -> Sequence[Value]:
    """ONNX adds 1e-9 to the deviation; its square, added to the variance, is the same where that is 0 and vanishes where it is not."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    axes = sorted({node.axis(int(a), len(shape)) for a in node.ints("axes", (0, 2, 3))})
    perm = (*(a for a in range(len(shape)) if a not in axes), *axes)
    y = _normalized(node, node.transpose(x, perm), prod(shape[a] for a in axes), 1e-18)
    return [node.transpose(y, tuple(int(a) for a in np.argsort(perm)))]


def lp_normalization(node: NodeImport) -> Sequence[Value]:
    """x over its norm; 0 where that is 0, because x is then. With p = 2 that is RMSNormalization times 1/√n, with next to no ε."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    axis, p = node.axis(int(node.attribute("axis", -1)), len(shape)), int(node.attribute("p", 2))
    if p not in (1, 2):
        node.malformed(f"p is {p}, not 1 or 2")
    least = float(np.finfo(np.float32).tiny)
    if p == 2:
        perm = (*(other for other in range(len(shape)) if other != axis), axis)
        factor = node.add_constant(Constant(f"{node.name}/factor", np.full((1,), shape[axis] ** -0.5, np.float32)))
        y = _normalized(node, node.transpose(x, perm), shape[axis], least, factor, centred=False)
        return [node.transpose(y, tuple(int(a) for a in np.argsort(perm)))]
    norm = node.results("ReduceL1", [x], axes=(axis,), keepdims=True)[0]
    positive = node.elementwise(norm, Expression.single("Clip", min=least, max=np.inf))
    return [node.emit("Div", [x, positive], clip=UNBOUNDED)]


def lrn(node: NodeImport) -> Sequence[Value]:
    """x / (bias + alpha · mean of the squares of neighbouring channels)^beta, the mean as an AveragePool over [C, positions] images."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) < 2 or int(node.attribute("size", 0)) < 1:
        node.malformed(f"the input {list(shape)} has no channels, or size {node.attribute('size')} is not positive")
    size = int(node.attribute("size"))
    alpha, beta, bias = (float(node.attribute(name, default)) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    image = node.reshape(x, (shape[0], shape[1], prod(shape[2:]), 1))
    squares = node.emit("Mul", [image, image], clip=UNBOUNDED)
    mean = node.emit(
        "AveragePool",
        [squares],
        kernel=(size, 1),
        strides=(1, 1),
        dilations=(1, 1),
        pads=((size - 1) // 2, 0, size // 2, 0),
        overhang=(0, 0),
        count_include_pad=True,
        clip=UNBOUNDED,
    )
    power = Expression.binary("Mul", alpha).then(Expression.binary("Add", bias)).then(Expression.binary("Pow", -beta))
    y = node.emit("Mul", [image, node.elementwise(mean, power)], clip=UNBOUNDED)
    return [node.reshape(y, shape)]


def batch_statistics(node: NodeImport, epsilon: float) -> Value:
    """BatchNormalization whose statistics are computed at run time: written out."""
    x = node.activation(0)
    rank = len(node.graph.tensors[x].shape)
    channels = node.graph.tensors[x].shape[1]
    names = ("scale", "B", "mean", "var")
    scale, bias, mean, variance = (_channels(node, i + 1, name, channels, rank) for i, name in enumerate(names))
    inverse = Expression.binary("Add", epsilon).then(Expression.single("Sqrt")).then(Expression.single("Reciprocal"))
    factor = node.emit("Mul", [scale, node.elementwise(variance, inverse)], clip=UNBOUNDED)
    y = node.emit("Mul", [node.emit("Sub", [x, mean], clip=UNBOUNDED), factor], clip=UNBOUNDED)
    return node.emit("Add", [y, bias], clip=UNBOUNDED)


def own_statistics(node: NodeImport, epsilon: float, momentum: float) -> Sequence[Value]:
    """BatchNormalization in training mode: by the statistics of x, with the running ones moved towards them."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) < 2:
        node.malformed(f"the input {list(shape)} has no channels")
    first = (1, 0, *range(2, len(shape)))
    channels = node.transpose(x, first)
    rows = node.reshape(channels, (shape[1], prod(shape) // shape[1]))
    y = _normalized(node, rows, prod(shape) // shape[1], epsilon)
    back = node.transpose(node.reshape(y, [shape[a] for a in first]), first)
    scale, bias, mean, variance = (_channels(node, i, what, shape[1], 2) for i, what in enumerate(("scale", "B", "mean", "var"), 1))
    aligned = (1, shape[1], *(1,) * (len(shape) - 2))
    scaled = node.emit("Mul", [back, node.reshape(scale, aligned)], clip=UNBOUNDED)
    results = [node.emit("Add", [scaled, node.reshape(bias, aligned)], clip=UNBOUNDED)]
    if not any(name in node.used for name in node.outputs[1:] if name):
        return results
    current = node.emit("ReduceMean", [rows], axes=(1,), keepdims=True, clip=UNBOUNDED)
    centred = node.emit("Sub", [rows, current], clip=UNBOUNDED)
    squares = node.emit("Mul", [centred, centred], clip=UNBOUNDED)
    spread = node.emit("ReduceMean", [squares], axes=(1,), keepdims=True, clip=UNBOUNDED)
    for running, own in ((mean, current), (variance, spread)):
        kept = node.elementwise(node.reshape(running, (shape[1],)), Expression.binary("Mul", momentum))
        new = node.elementwise(node.reshape(own, (shape[1],)), Expression.binary("Mul", 1 - momentum))
        results.append(node.emit("Add", [kept, new], clip=UNBOUNDED))
    return results


def is_computed(node: NodeImport) -> bool:
    """Some operand besides x is computed at run time."""
    return any(not isinstance(node.value(i), Constant) for i in range(1, len(node.inputs)) if node.has(i))


ROW_NORMALIZATION = {
    "LayerNormalization": Importer(layer_normalization, "any axis; scale and bias constant or computed, of any broadcast; all outputs"),
    "RMSNormalization": Importer(layer_normalization, "any axis; scale constant or computed, of any broadcast"),
    "InstanceNormalization": Importer(instance_normalization, "scale and bias constant or computed"),
    "GroupNormalization": Importer(group_normalization, "scale and bias constant or computed, a group (opset 18) or a channel"),
    "MeanVarianceNormalization": Importer(mean_variance_normalization, "any axes"),
    "LpNormalization": Importer(lp_normalization, "p 1 and 2"),
    "LRN": Importer(lrn),
}
