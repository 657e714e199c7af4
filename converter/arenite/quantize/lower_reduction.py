"""Reductions, sums along an axis, and what only compares: numerics §15."""

from __future__ import annotations

from dataclasses import replace
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node, Quantization, Tensor
from arenite.quantize.lower_movement import same_scale
from arenite.quantize.lowering import Lowering, constant_quantization, geometry
from arenite.quantize.multipliers import quantize_values, scale_of, softmax_table, wide_multipliers, zero_point_of
from arenite.quantize.scales import asymmetric, representable

LARGEST_COUNT = {
    "ReduceSum": 1 << 23,
    "ReduceL1": 1 << 23,
    "ReduceSumSquare": 1 << 16,
    "ReduceL2": 1 << 16,
    "ReduceLogSumExp": 1 << 20,
    "CumSum": 1 << 23,
}
"""Elements of a sum."""
LARGEST_RATIO, LARGEST_LOGARITHM = 2.0**10, 2.0**16


def fits_reduction(graph: Graph, node: Node) -> bool:
    """Whether the int8 form proves its sums for so many elements."""
    shape, a = graph.tensor(node.input).shape, node.attributes
    axes = (a["axis"],) if node.op == "CumSum" else a["axes"]
    return bool(prod(shape[axis] for axis in axes) <= LARGEST_COUNT[node.op])


def lower_reduction(lowering: Lowering, node: Node) -> None:
    """ReduceSum, ReduceL1, ReduceL2, ReduceSumSquare, CumSum."""
    x, x_q = lowering.operand(node.input)
    y, s_x = lowering.quantization[node.output], scale_of(x_q)
    unit = {"ReduceSumSquare": s_x**2, "ReduceL2": s_x / 2.0**16}.get(node.op, s_x)
    multiplier, shift = (int(v) for v in wide_multipliers(unit / scale_of(y))[0])
    lowering.emit(
        node,
        node.op,
        (x,),
        **geometry(node),
        input_zero_point=zero_point_of(x_q),
        output_zero_point=zero_point_of(y),
        multiplier=multiplier,
        shift=shift,
        **lowering.clamp(node),
    )


def lower_log_sum_exp(lowering: Lowering, node: Node) -> None:
    x, x_q = lowering.operand(node.input)
    y, shape = lowering.quantization[node.output], lowering.source.tensor(node.input).shape
    count = prod(shape[axis] for axis in node.attributes["axes"])
    table = softmax_table(scale_of(x_q), count)
    greatest = int(np.rint(2.0**40 * min(scale_of(x_q) / scale_of(y), LARGEST_RATIO)))
    logarithm = int(np.rint(2.0**20 * min(log(2) / scale_of(y), LARGEST_LOGARITHM)))
    lowering.emit(
        node,
        node.op,
        (x, lowering.constant(f"{node.output}/table", table)),
        **geometry(node),
        input_zero_point=zero_point_of(x_q),
        output_zero_point=zero_point_of(y),
        exponent=int(table[0]).bit_length() - 1,
        greatest_low=_low(greatest),
        greatest_high=greatest >> 32,
        logarithm_low=_low(logarithm),
        logarithm_high=logarithm >> 32,
        **lowering.clamp(node),
    )


def _low(value: int) -> int:
    word = value & 0xFFFFFFFF
    return word - (1 << 32) if word >= 1 << 31 else word


def lower_extremum(lowering: Lowering, node: Node) -> None:
    """ReduceMax, ReduceMin."""
    same_scale(lowering, node, lambda q: {"variant": "plain_int8"})


def lower_greater(lowering: Lowering, node: Node) -> None:
    """Max, Min: both operands in the quantization of the output."""
    y = lowering.quantization[node.output]
    a, b = (lowering.brought_to(node, name, y) for name in node.inputs)
    lowering.emit(node, node.op, (a, b), variant="plain_int8", **geometry(node))


def lower_choice(lowering: Lowering, node: Node) -> None:
    """Where."""
    y = lowering.quantization[node.output]
    x, z = (lowering.brought_to(node, name, y) for name in node.inputs[1:])
    lowering.emit(node, "Where", (lowering.index(node.inputs[0]), x, z), variant="bytes", **geometry(node))


def lower_arg(lowering: Lowering, node: Node) -> None:
    """ArgMax, ArgMin: integers of the order of the stored bytes."""
    x, _ = lowering.operand(node.input)
    _as_it_is(lowering, node.output)
    lowering.emit(node, node.op, (x,), variant="plain_int8", **geometry(node))


def lower_top_k(lowering: Lowering, node: Node) -> None:
    x, x_q = lowering.operand(node.input)
    y, (values, indices) = lowering.quantization[node.output], node.outputs
    _as_it_is(lowering, indices)
    same = x_q.same_as(y)
    found = values if same else lowering.temporary(values, lowering.source.tensor(values).shape, x_q)
    attributes = {**geometry(node), "variant": "plain_int8"}
    lowering.target.nodes.append(replace(node, inputs=(x,), outputs=(found, indices), attributes=attributes))
    if not same:
        lowering.requantize(node, found, values)


def _as_it_is(lowering: Lowering, name: str) -> None:
    """Integers and truths stand for themselves."""
    tensor = lowering.source.tensor(name)
    lowering.target.tensors[name] = Tensor(name, tensor.shape, tensor.dtype)


def lower_comparison(lowering: Lowering, node: Node) -> None:
    """Less, LessOrEqual, Equal: with one number by a table, else of bytes in a quantization that spans both operands."""
    _as_it_is(lowering, node.output)
    a, b = (lowering.source.tensor(name) for name in node.inputs)
    shape = lowering.source.tensor(node.output).shape
    for x, other, swapped in ((a, b, False), (b, a, True)):
        if not x.is_constant and other.data is not None and x.shape == shape and np.all(other.data == other.data.flat[0]):
            table = comparison_table(node.op, lowering.quantization[x.name], float(other.data.flat[0]), swapped)
            lowering.lookup(node, x.name, node.output, table, f"{node.op} {float(other.data.flat[0]):g}")
            return
    common = _common(*(_quantization(lowering, tensor) for tensor in (a, b)))
    left, right = (lowering.brought_to(node, name, common) for name in node.inputs)
    lowering.emit(node, node.op, (left, right), variant="plain_int8", **geometry(node))


def comparison_table(op: str, x: Quantization, constant: float, swapped: bool) -> NDArray[np.int8]:
    """The truths of x op constant, or with `swapped` of constant op x. Equal is with the nearest step, where x has it."""
    steps = np.arange(-128, 128)
    values = scale_of(x) * (steps - zero_point_of(x)).astype(np.float64)
    a, b = (np.full(256, constant), values) if swapped else (values, np.full(256, constant))
    if op == "Equal":
        limits, half = representable(x), scale_of(x) / 2
        inside = limits.low - half <= constant <= limits.high + half
        return np.asarray(inside & (steps == int(quantize_values(constant, x))), np.int8)
    return np.asarray(a < b if op == "Less" else a <= b, np.int8)


def _quantization(lowering: Lowering, tensor: Tensor) -> Quantization:
    return constant_quantization(tensor) if tensor.is_constant else lowering.quantization[tensor.name]


def _common(a: Quantization, b: Quantization) -> Quantization:
    return a if a.same_as(b) else asymmetric(representable(a).union(representable(b)))
