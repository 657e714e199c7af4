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

LARGEST_COUNT = 1 << 20
"""Elements of a mean, §7."""

Extra = Callable[[Quantization], dict[str, Any]]


def _same_scale(lowering: Lowering, node: Node, extra: Extra, clip: tuple[float, float] = UNBOUNDED) -> None:
    """An operator that leaves values alone. Where input and output differ in quantization the table goes to the smaller side.

    `extra` gives attributes that depend on the quantization that the operator works in.
    """
    x, x_q = lowering.operand(node.input)
    y_q = lowering.quantization[node.output]
    if x_q.same_as(y_q):
        lowering.emit(node, node.op, (x,), **geometry(node), **extra(y_q))
        return
    shape = lowering.target.tensors[node.output].shape
    table = lookup_table(Expression.single("Clip", min=clip[0], max=clip[1]), x_q, y_q)
    if prod(shape) <= lowering.target.tensors[x].elements:
        between = lowering.temporary(node.output, shape, x_q)
        lowering.emit(node, node.op, (x,), between, **geometry(node), **extra(x_q))
        lowering.lookup(node, between, node.output, table, "requantize")
    else:
        between = lowering.temporary(x, lowering.target.tensors[x].shape, y_q)
        lowering.lookup(node, x, between, table, "requantize")
        lowering.emit(node, node.op, (between,), **geometry(node), **extra(y_q))


def lower_move(lowering: Lowering, node: Node) -> None:
    """Reshape, Transpose, Slice."""
    _same_scale(lowering, node, lambda q: {})


def lower_pad(lowering: Lowering, node: Node) -> None:
    value = float(node.attributes["value"])
    _same_scale(lowering, node, lambda q: {"fill": quantize_scalar(value, q)})


def lower_max_pool(lowering: Lowering, node: Node) -> None:
    clip = node.attributes.get("clip", UNBOUNDED)
    same = lowering.quantization[node.input].same_as(lowering.quantization[node.output])
    clamp = lowering.clamp(node) if same else {"activation_min": -128, "activation_max": 127}
    _same_scale(lowering, node, lambda q: clamp, clip)


def lower_concat(lowering: Lowering, node: Node) -> None:
    y = lowering.quantization[node.output]
    inputs = []
    for name in node.inputs:
        tensor = lowering.source.tensor(name)
        if tensor.is_constant:
            inputs.append(lowering.constant_as(tensor, y))
        elif lowering.quantization[tensor.name].same_as(y):
            inputs.append(tensor.name)
        else:
            between = lowering.temporary(tensor.name, tensor.shape, y)
            lowering.requantize(node, tensor.name, between)
            inputs.append(between)
    lowering.emit(node, "Concat", tuple(inputs), **geometry(node))


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
