"""Functions of one tensor: Relu, Clip, the unary functions of graph/expression.py; PRelu and Softmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from arenite.frontend.arithmetic import binary, numeric, scalar
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Value
from arenite.graph import DType, Expression
from arenite.graph.expression import SELU_ALPHA, SELU_GAMMA, UNARY
from arenite.graph.operators import UNBOUNDED

_DEFAULTS: dict[str, dict[str, float | str]] = {
    "Celu": {"alpha": 1.0},
    "Elu": {"alpha": 1.0},
    "Gelu": {"approximate": "none"},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "LeakyRelu": {"alpha": 0.01},
    "Selu": {"alpha": SELU_ALPHA, "gamma": SELU_GAMMA},
    "Shrink": {"bias": 0.0, "lambd": 0.5},
    "Swish": {"alpha": 1.0},
    "ThresholdedRelu": {"alpha": 1.0},
}
"""Attributes of the unary functions."""


def unary(node: NodeImport) -> Sequence[Value]:
    if node.operator in ("Abs", "Neg", "Sign") and node.dtype(node.value(0)) is not DType.FLOAT32:
        return [_of_integers(node, node.tensor(0))]
    attributes = {name: node.attribute(name, default) for name, default in _DEFAULTS.get(node.operator, {}).items()}
    if attributes.get("approximate", "none") not in ("none", "tanh"):
        node.refuse(f"approximate is {attributes['approximate']!r}", "use none or tanh")
    return [node.elementwise(node.activation(0), Expression.single(node.operator, **attributes))]


def _of_integers(node: NodeImport, x: str) -> Value:
    """Abs, Neg and Sign by arithmetic; unsigned ones have no sign."""
    dtype = node.dtype(x)
    zero, one, minus_one = (scalar(node, value, dtype) for value in (0, 1, -1 if dtype.numpy.kind == "i" else 0))
    if node.operator == "Sign":
        return binary(node, "Min", binary(node, "Max", x, minus_one), one)
    if dtype.numpy.kind == "u" and node.operator == "Abs":
        return x
    negated = binary(node, "Sub", zero, x)
    return negated if node.operator == "Neg" else binary(node, "Max", x, negated)


def relu(node: NodeImport) -> Sequence[Value]:
    if node.dtype(node.value(0)) is not DType.FLOAT32:
        x = node.tensor(0)
        return [binary(node, "Max", x, scalar(node, 0, node.dtype(x)))]
    return [node.elementwise(node.activation(0), Expression.single("Clip", min=0.0, max=np.inf))]


def clip(node: NodeImport) -> Sequence[Value]:
    """Bounds are attributes before opset 11 (there the extremes of float32 stand for none), then optional inputs."""
    bounds = [node.value(i) for i in (1, 2) if node.opset >= 11 and node.has(i)]
    if node.dtype(node.value(0)) is not DType.FLOAT32 or any(isinstance(bound, str) for bound in bounds):
        return [_clip_between(node)]
    x = node.activation(0)
    if node.opset < 11:
        low, high = node.attribute("min"), node.attribute("max")
    else:
        low, high = node.scalar(1, "min"), node.scalar(2, "max")
    limit = float(np.finfo(np.float32).max)
    low = -np.inf if low is None or low <= -limit else float(low)
    high = np.inf if high is None or high >= limit else float(high)
    if np.isnan(low) or np.isnan(high):
        node.refuse(f"a bound is NaN: min={low}, max={high}", "give numbers, or leave the bound out")
    if low == -np.inf and high == np.inf:
        return [x]
    return [node.elementwise(x, Expression.single("Clip", min=low, max=high))]


def _clip_between(node: NodeImport) -> Value:
    """Of integers, or with bounds computed at run time."""
    result: Value = node.tensor(0)
    for index, op in ((1, "Max"), (2, "Min")):
        if node.has(index):
            result = binary(node, op, result, numeric(node, index))
    return result


def prelu(node: NodeImport) -> Sequence[Value]:
    if isinstance(node.value(1), str) or node.dtype(node.value(0)) is not DType.FLOAT32:
        return [_prelu_computed(node)]
    x = node.activation(0)
    slope = node.weights(1, "the slope")
    shape = node.graph.tensors[x].shape
    if node.opset < 7 and slope.array.ndim == 1 and len(shape) > 1:  # then one a channel
        slope = slope.reshaped((slope.array.size, *(1,) * (len(shape) - 2)))
    try:
        fits = np.broadcast_shapes(slope.array.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        node.malformed(f"the slope {list(slope.array.shape)} does not broadcast to {list(shape)}")
    full = slope.reshaped((1,) * (len(shape) - slope.array.ndim) + slope.array.shape)
    return [node.emit("PRelu", [x, node.add_constant(full)], clip=UNBOUNDED)]


def _prelu_computed(node: NodeImport) -> Value:
    """max(x, 0) + slope · min(x, 0), of a slope that is computed at run time."""
    x, slope = numeric(node, 0), numeric(node, 1)
    zero = scalar(node, 0, node.dtype(x))
    return binary(node, "Add", binary(node, "Max", x, zero), binary(node, "Mul", slope, binary(node, "Min", x, zero)))


def softmax(node: NodeImport) -> Sequence[Value]:
    """Along one axis; before opset 13 over all dimensions from `axis` on, taken as one."""
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    axis = node.axis(node.attribute("axis", 1 if node.opset < 13 else -1), len(shape))
    if node.opset < 13:
        if prod(shape[axis:-1]) == 1:
            return [node.emit("Softmax", [x], clip=UNBOUNDED)]
        rows = node.reshape(x, (prod(shape[:axis]), prod(shape[axis:])))
        return [node.reshape(node.emit("Softmax", [rows], clip=UNBOUNDED), shape)]
    perm = (*(a for a in range(len(shape)) if a != axis), axis)
    back = tuple(int(a) for a in np.argsort(perm))
    return [node.transpose(node.emit("Softmax", [node.transpose(x, perm)], clip=UNBOUNDED), back)]


ACTIVATION = {
    **{name: Importer(unary) for name in UNARY if name != "Clip"},
    "Relu": Importer(relu),
    "Clip": Importer(clip, "bounds as attributes or inputs, either absent; float32 and integers"),
    "PRelu": Importer(prelu, "slope of any broadcast"),
    "Softmax": Importer(softmax, "any axis; opset < 13: flattening from axis on"),
}
