"""Pools, means and what moves elements: one quantization in and out, or a table between two. Numerics §5, §7–9."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from arenite.errors import QuantizationError
from arenite.graph import Expression, Node, Quantization
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.lowering import Lowering, geometry
from arenite.quantize.multipliers import lookup_table, mean_multiplier, quantize_scalar, scale_of, zero_point_of

CARRYING = ("Reshape", "Transpose", "Slice", "Concat", "Expand")
"""Operators that only move elements, of any type."""
LARGEST_COUNT = 1 << 20
"""Elements of a mean, §7."""

Extra = Callable[[Quantization], dict[str, Any]]


def same_scale(
    lowering: Lowering, node: Node, extra: Extra, clip: tuple[float, float] = UNBOUNDED, rest: tuple[str | None, ...] = ()
) -> None:
    """An operator that leaves values alone. Where input and output differ in quantization the table goes to the smaller side; a constant
    is quantized as the output is.

    `extra` gives attributes that depend on the quantization that the operator works in. `rest`: its further operands.
    """
    y_q = lowering.quantization[node.output]
    if lowering.is_constant(node.input) and clip == UNBOUNDED:
        x, x_q = lowering.constant_as(lowering.source.tensor(node.input), y_q), y_q
    else:
        x, x_q = lowering.operand(node.input)
    if x_q.same_as(y_q):
        lowering.emit(node, node.op, (x, *rest), **geometry(node), **extra(y_q))
        return
    shape = lowering.target.tensors[node.output].shape
    table = lookup_table(Expression.single("Clip", min=clip[0], max=clip[1]), x_q, y_q)
    if prod(shape) <= lowering.target.tensors[x].elements:
        between = lowering.temporary(node.output, shape, x_q)
        lowering.emit(node, node.op, (x, *rest), between, **geometry(node), **extra(x_q))
        lowering.lookup(node, between, node.output, table, "requantize")
    else:
        between = lowering.temporary(x, lowering.target.tensors[x].shape, y_q)
        lowering.lookup(node, x, between, table, "requantize")
        lowering.emit(node, node.op, (between, *rest), **geometry(node), **extra(y_q))


def lower_move(lowering: Lowering, node: Node) -> None:
    """Reshape, Transpose, Slice, Expand, MaxPoolWithIndices."""
    same_scale(lowering, node, lambda q: {})


def lower_pad(lowering: Lowering, node: Node) -> None:
    if len(node.inputs) > 1:
        lower_merge(lowering, node)
        return
    value = float(node.attributes["value"])
    same_scale(lowering, node, lambda q: {"fill": quantize_scalar(value, q)})


def lower_max_pool(lowering: Lowering, node: Node) -> None:
    clip = node.attributes.get("clip", UNBOUNDED)
    same = lowering.quantization[node.input].same_as(lowering.quantization[node.output])
    clamp = lowering.clamp(node) if same else {"activation_min": -128, "activation_max": 127}
    same_scale(lowering, node, lambda q: clamp, clip)


def lower_merge(lowering: Lowering, node: Node) -> None:
    """Concat, and Pad with a computed value: all operands in the quantization of the output."""
    y = lowering.quantization[node.output]
    inputs = tuple(lowering.brought_to(node, name, y) for name in node.inputs)
    lowering.emit(node, node.op, inputs, **geometry(node))


def lower_mean(lowering: Lowering, node: Node) -> None:
    """AveragePool, ReduceMean."""
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    count = mean_count(lowering, node)
    if count > LARGEST_COUNT:
        raise QuantizationError(
            f"{lowering.source.name}: {node.name} ({node.op}) averages {count} elements, at most {LARGEST_COUNT} are supported. "
            "Average in two steps."
        )
    multiplier, shift = mean_multiplier(scale_of(x) / scale_of(y))
    lowering.emit(
        node,
        node.op,
        (node.input,),
        **geometry(node),
        input_zero_point=zero_point_of(x),
        output_zero_point=zero_point_of(y),
        multiplier=multiplier,
        shift=shift,
        **lowering.clamp(node),
    )


def mean_count(lowering: Lowering, node: Node) -> int:
    shape = lowering.source.tensors[node.input].shape
    if node.op == "AveragePool":
        return int(np.prod(node.attributes["kernel"]))
    return prod(shape[axis] for axis in node.attributes["axes"])
