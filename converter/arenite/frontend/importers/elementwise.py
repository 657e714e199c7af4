"""Add, Sub, Mul, Div, Sum, Pow, Min, Max: operators of two or more tensors, broadcast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import Expression
from arenite.graph.operators import UNBOUNDED


def _binary(node: NodeImport, op: str, a: Value, b: Value) -> str:
    rank = max(len(node.shape(a)), len(node.shape(b)))
    try:
        np.broadcast_shapes(node.shape(a), node.shape(b))
    except ValueError:
        node.malformed(f"shapes {list(node.shape(a))} and {list(node.shape(b))} do not broadcast")
    return node.emit(op, [node.to_rank(a, rank), node.to_rank(b, rank)], clip=UNBOUNDED)


def _operand(node: NodeImport, index: int) -> Value:
    value = node.value(index)
    return value if isinstance(value, Constant) else node.activation(index)


def binary(node: NodeImport) -> Sequence[Value]:
    return [_binary(node, node.operator, _operand(node, 0), _operand(node, 1))]


def variadic_sum(node: NodeImport) -> Sequence[Value]:
    total = _operand(node, 0)
    for index in range(1, len(node.inputs)):
        total = _binary(node, "Add", total, _operand(node, index))
    return [total]


def _one_value(node: NodeImport, value: Constant) -> float | None:
    """The number that a constant repeats, where it is a single one."""
    flat = np.asarray(value.array, np.float64).reshape(-1)
    return float(flat[0]) if flat.size and (flat == flat[0]).all() else None


def power(node: NodeImport) -> Sequence[Value]:
    x = node.value(0)
    exponent = node.value(1)
    constant, first = (x, True) if isinstance(x, Constant) else (exponent, False)
    if not isinstance(constant, Constant):
        node.refuse("base and exponent are both computed at run time", "Pow needs a constant base or exponent")
    number = _one_value(node, constant)
    if number is None:
        node.refuse(
            f"{constant.name} has {constant.array.size} different values", "Pow needs one number as base or exponent: split the tensor"
        )
    return [_with_number(node, "Pow", 1 if first else 0, number, constant, first)]


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
    """Min or Max of one activation and numbers: a Clip."""
    constants = [(i, v) for i, v in enumerate(node.inputs) if isinstance(v, Constant)]
    activations = [i for i, v in enumerate(node.inputs) if isinstance(v, str)]
    if len(activations) > 1:
        names = ", ".join(str(node.inputs[i]) for i in activations)
        node.refuse(
            f"it compares {len(activations)} computed tensors ({names})",
            "only one tensor and numbers; use Add and Relu: max(a, b) = a + relu(b − a)",
        )
    x = node.activation(activations[0])
    pick = np.maximum if node.operator == "Max" else np.minimum
    bound = -np.inf if node.operator == "Max" else np.inf
    for _, constant in constants:
        number = _one_value(node, constant)
        if number is None:
            node.refuse(
                f"{constant.name} has {constant.array.size} different values", f"{node.operator} needs one number: split the tensor"
            )
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


_BROADCAST = "broadcasting; constants and activations"

ELEMENTWISE = {
    "Add": Importer(binary, _BROADCAST),
    "Sub": Importer(binary, _BROADCAST),
    "Mul": Importer(binary, _BROADCAST),
    "Div": Importer(binary, _BROADCAST),
    "Sum": Importer(variadic_sum, _BROADCAST),
    "Pow": Importer(power, "constant scalar exponent or base"),
    "Min": Importer(extremum, "one activation and constant scalars"),
    "Max": Importer(extremum, "one activation and constant scalars"),
}
