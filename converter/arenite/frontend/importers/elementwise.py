"""Add, Sub, Mul, Div, Sum, Mean, Pow, Min, Max: operators of two or more tensors, broadcast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.arithmetic import binary, cast, numeric, operands, scalar
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Expression


def _check_finite(node: NodeImport, value: Value) -> None:
    """A constant of floats must hold no NaN and fit float32: weights that do not are an error of the training. (Masks are infinite.)"""
    if isinstance(value, Constant) and value.array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = np.asarray(value.array).astype(np.float32)
        if np.isnan(narrow).any() or (np.isinf(narrow) & np.isfinite(value.array)).any():
            node.finite(value)


def arithmetic(node: NodeImport) -> Sequence[Value]:
    for value in (node.value(0), node.value(1)):
        _check_finite(node, value)
    return [binary(node, node.operator, *operands(node))]


def _total(node: NodeImport) -> Value:
    for index in range(len(node.inputs)):
        _check_finite(node, node.value(index))
    total = numeric(node, 0)
    for index in range(1, len(node.inputs)):
        total = binary(node, "Add", total, numeric(node, index))
    return total


def variadic_sum(node: NodeImport) -> Sequence[Value]:
    return [_total(node)]


def mean(node: NodeImport) -> Sequence[Value]:
    total = _total(node)
    return [binary(node, "Mul", total, scalar(node, 1 / len(node.inputs), DType.FLOAT32)) if len(node.inputs) > 1 else total]


def _one_value(node: NodeImport, value: Constant) -> float | None:
    """The number that a constant repeats, where it is a single one."""
    flat = np.asarray(value.array, np.float64).reshape(-1)
    return float(flat[0]) if flat.size and (flat == flat[0]).all() else None


def power(node: NodeImport) -> Sequence[Value]:
    x = node.value(0)
    exponent = node.value(1)
    constant, first = (x, True) if isinstance(x, Constant) else (exponent, False)
    number = _one_value(node, constant) if isinstance(constant, Constant) and node.dtype(x) is DType.FLOAT32 else None
    if isinstance(constant, Constant) and number is not None and node.dtype(node.value(1 if first else 0)) is DType.FLOAT32:
        return [_with_number(node, "Pow", 1 if first else 0, number, constant, first)]
    base, exponent = operands(node)
    dtype = node.dtype(base)
    computed = dtype if dtype is node.dtype(exponent) else DType.FLOAT32
    if computed is DType.FLOAT32 and dtype is not DType.FLOAT32 and node.dtype(exponent) is not DType.FLOAT32:
        computed = DType.INT64
    return [cast(node, binary(node, "Pow", cast(node, base, computed), cast(node, exponent, computed)), dtype)]


def _with_number(node: NodeImport, op: str, index: int, number: float, constant: Constant, first: bool) -> str:
    """An expression of activation `index` and a number; the constant's shape may still broadcast it."""
    x = node.activation(index)
    shape = node.graph.tensors[x].shape
    if np.broadcast_shapes(shape, constant.array.shape) != shape:
        if constant.array.size != 1:
            node.refuse(
                f"{constant.name} {list(constant.array.shape)} broadcasts {list(shape)}", "expand the other operand before the export"
            )
        x = node.reshape(x, np.broadcast_shapes(shape, constant.array.shape))
    if not np.isfinite(number):
        node.finite(constant)
    return node.elementwise(x, Expression.binary(op, number, constant_first=first))


def extremum(node: NodeImport) -> Sequence[Value]:
    """Of one float tensor and numbers it is a Clip, else one operator after another."""
    constants = [(i, v) for i, v in enumerate(node.inputs) if isinstance(v, Constant)]
    activations = [i for i, v in enumerate(node.inputs) if isinstance(v, str)]
    single = len(activations) == 1 and node.dtype(node.value(activations[0])) is DType.FLOAT32
    if not single or any(_one_value(node, v) is None for _, v in constants):
        result = numeric(node, 0)
        for index in range(1, len(node.inputs)):
            result = binary(node, node.operator, result, numeric(node, index))
        return [result]
    x = node.activation(activations[0])
    pick = np.maximum if node.operator == "Max" else np.minimum
    bound = -np.inf if node.operator == "Max" else np.inf
    for _, constant in constants:
        number = _one_value(node, constant)
        assert number is not None
        if np.isnan(number):
            node.finite(constant)
        bound = float(pick(bound, number))
        shape = np.broadcast_shapes(node.graph.tensors[x].shape, constant.array.shape)
        if shape != node.graph.tensors[x].shape:
            if constant.array.size != 1:
                node.refuse(f"{constant.name} {list(constant.array.shape)} broadcasts the other operand", "expand it before the export")
            x = node.reshape(x, shape)
    if np.isinf(bound):
        return [x]
    low, high = (bound, np.inf) if node.operator == "Max" else (-np.inf, bound)
    return [node.elementwise(x, Expression.single("Clip", min=float(low), max=float(high)))]


_BROADCAST = "broadcasting; constants and activations; float32 and integers"

ELEMENTWISE = {
    "Add": Importer(arithmetic, _BROADCAST),
    "Sub": Importer(arithmetic, _BROADCAST),
    "Mul": Importer(arithmetic, _BROADCAST),
    "Div": Importer(arithmetic, _BROADCAST),
    "Sum": Importer(variadic_sum, _BROADCAST),
    "Mean": Importer(mean, _BROADCAST),
    "Pow": Importer(power, _BROADCAST),
    "Min": Importer(extremum, _BROADCAST),
    "Max": Importer(extremum, _BROADCAST),
}
