"""What picks and places elements by index moves bytes of one quantization; the indices are integers as they were. Numerics §9."""

from __future__ import annotations

from arenite.graph import Graph, Node, Quantization
from arenite.quantize.lower_movement import same_scale
from arenite.quantize.lowering import Lowering, geometry
from arenite.quantize.multipliers import zero_point_of
from arenite.quantize.value_operands import VALUES


def lower_selection(lowering: Lowering, node: Node) -> None:
    """Gather, GatherElements, GatherND, ReverseSequence."""
    rest = tuple(lowering.index(name) for name in node.inputs[1:])
    same_scale(lowering, node, lambda q: {"variant": "bytes"}, rest=rest)


def lower_with_zeros(lowering: Lowering, node: Node) -> None:
    """Trilu, MaxUnpool: zeros are the zero point."""
    rest = tuple(lowering.index(name) for name in node.inputs[1:])
    same_scale(lowering, node, lambda q: {"variant": "bytes", "fill": zero_point_of(q)}, rest=rest)


def keeps_order(graph: Graph, node: Node) -> bool:
    """Whether a Scatter with a reduction chooses among its operands: the greater of two bytes stands for the greater number."""
    return node.attributes["reduction"] in ("max", "min")


def lower_placement(lowering: Lowering, node: Node) -> None:
    """Scatter of every kind, OneHot: all values in the quantization of the output."""
    y: Quantization = lowering.quantization[node.output]
    inputs = tuple(
        lowering.brought_to(node, name, y) if position in VALUES[node.op] else lowering.index(name)
        for position, name in enumerate(node.inputs)
    )
    variant = "plain_int8" if "reduction" in node.attributes else "bytes"
    lowering.emit(node, node.op, inputs, variant=variant, **geometry(node))
