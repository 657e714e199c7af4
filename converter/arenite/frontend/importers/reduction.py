"""Reductions, ArgMax and ArgMin, cumulative sums and products, TopK, Hardmax, LogSoftmax."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Expression
from arenite.graph.operators import UNBOUNDED

AXES_AS_INPUT = {"ReduceSum": 13}
"""From which opset on the axes are an input; 18 for all others."""
_REAL_ONLY = frozenset({"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})


def reduced_axes(node: NodeImport, rank: int) -> tuple[int, ...] | None:
    """Ascending; None where the node does nothing (noop_with_empty_axes)."""
    as_input = node.opset >= AXES_AS_INPUT.get(node.operator, 18)
    axes = node.integers(1, "axes") if as_input else node.attributes.get("axes")
    if not axes:
        return None if node.attribute("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted({node.axis(int(a), rank) for a in axes}))


def reduction(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0) if node.operator in _REAL_ONLY else node.tensor(0)
    axes = reduced_axes(node, len(node.graph.tensors[x].shape))
    op = "ReduceSum" if node.operator == "ReduceLogSum" else node.operator
    if axes is None:  # what the function makes of each element alone
        return [_alone(node, x)]
    y = node.results(op, [x], axes=axes, keepdims=bool(node.attribute("keepdims", 1)))[0]
    return [node.elementwise(y, Expression.single("Log")) if node.operator == "ReduceLogSum" else y]


def _alone(node: NodeImport, x: str) -> str:
    match node.operator:
        case "ReduceL1" | "ReduceL2":
            return node.elementwise(x, Expression.single("Abs"))
        case "ReduceSumSquare":
            return node.results("Mul", [x, x], clip=UNBOUNDED)[0]
        case "ReduceLogSum":
            return node.elementwise(x, Expression.single("Log"))
    return x


def arg(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    axis = node.axis(int(node.attribute("axis", 0)), len(node.graph.tensors[x].shape))
    last = bool(node.attribute("select_last_index", 0))
    return [node.results(node.operator, [x], axis=axis, keepdims=bool(node.attribute("keepdims", 1)), last=last)[0]]


def cumulative(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    axis = node.integers(1, "the axis")
    if axis is None or len(axis) != 1:
        node.malformed("the axis is missing")
    exclusive, reverse = bool(node.attribute("exclusive", 0)), bool(node.attribute("reverse", 0))
    along = node.axis(axis[0], len(node.graph.tensors[x].shape))
    return [node.results(node.operator, [x], axis=along, exclusive=exclusive, reverse=reverse)[0]]


def top_k(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    given = node.integers(1, "k") if node.opset >= 10 else (int(node.attribute("k", 0)),)
    axis = node.axis(int(node.attribute("axis", -1)), len(shape))
    if not given or not 0 <= given[0] <= shape[axis]:
        node.malformed(f"k is {given}, axis {axis} of {list(shape)} has {shape[axis]} elements")
    if given[0] == 0:
        node.refuse("k is 0: its result has no elements", "remove the node")
    return list(node.results("TopK", [x], axis=axis, k=given[0], largest=bool(node.attribute("largest", 1))))


def _softmax_axis(node: NodeImport, x: str) -> tuple[str, tuple[int, ...], int]:
    """x, its shape, and the axis; before opset 13 x is flattened into rows from the axis on."""
    shape = node.graph.tensors[x].shape
    axis = node.axis(int(node.attribute("axis", 1 if node.opset < 13 else -1)), len(shape))
    if node.opset < 13:
        return node.reshape(x, (prod(shape[:axis]), prod(shape[axis:]))), shape, 1
    return x, shape, axis


def log_softmax(node: NodeImport) -> Sequence[Value]:
    """x − log Σ exp(x): the reduction takes the greatest out, so that nothing overflows."""
    x, shape, axis = _softmax_axis(node, node.activation(0))
    total = node.results("ReduceLogSumExp", [x], axes=(axis,), keepdims=True)[0]
    return [node.reshape(node.emit("Sub", [x, total], clip=UNBOUNDED), shape)]


def hardmax(node: NodeImport) -> Sequence[Value]:
    """1 at the first greatest along the axis, 0 elsewhere."""
    x, shape, axis = _softmax_axis(node, node.activation(0))
    place = node.results("ArgMax", [x], axis=axis, keepdims=False, last=False)[0]
    values = node.add_constant(Constant("off and on", np.asarray([0, 1], DType.FLOAT32.numpy)))
    depth = node.graph.tensors[x].shape[axis]
    return [node.reshape(node.results("OneHot", [place, values], axis=axis, depth=depth)[0], shape)]


_REDUCES = "any axes, as attribute or constant input; keepdims, noop_with_empty_axes"

REDUCTION = {
    **{
        name: Importer(reduction, _REDUCES)
        for name in (
            "ReduceSum",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "ReduceL1",
            "ReduceL2",
            "ReduceLogSum",
            "ReduceLogSumExp",
            "ReduceSumSquare",
        )
    },
    "ArgMax": Importer(arg, "any axis, keepdims, select_last_index"),
    "ArgMin": Importer(arg, "any axis, keepdims, select_last_index"),
    "CumSum": Importer(cumulative, "constant axis; exclusive, reverse"),
    "CumProd": Importer(cumulative, "constant axis; exclusive, reverse"),
    "TopK": Importer(top_k, "constant k; largest or smallest; always sorted"),
    "Hardmax": Importer(hardmax, "any axis; opset < 13: flattening from axis on"),
    "LogSoftmax": Importer(log_softmax, "any axis; opset < 13: flattening from axis on"),
}
