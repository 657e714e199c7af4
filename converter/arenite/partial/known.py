"""What operators declare of nodes, asked once for all bands that are alike: a search looks at thousands of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.variants.cost import cycles

REAL_MAC = 3.0
"""Cycles of a multiply-accumulate of float32."""


@dataclass(frozen=True)
class Figures:
    scratch: int = 0
    """Bytes."""
    saved: tuple[tuple[int, int], ...] = ()
    """(position, bytes): how much of an operand the result lies over at best, where that dies at the node."""
    macs: int = 0
    cycles: float = 0.0
    """Estimated, of the products of Conv and DepthwiseConv; 0 of what is not counted."""


@dataclass
class Known:
    """Of the nodes of one graph, in any bands and with any kernels."""

    features: frozenset[str]
    """Of the core, for the estimate of cycles."""
    _found: dict[tuple[object, ...], Figures] = field(default_factory=dict)

    def of(self, graph: Graph, node: Node) -> Figures:
        if node.bodies or node.op in VIEWS or (node.band is not None and node.op in ("Slice", "Concat")):
            return Figures()
        layer = node.output if node.band is None else node.band.tensor
        shapes = tuple(graph.tensors[name].shape for name in (*node.inputs, *node.outputs) if name is not None)
        key = (layer, node.op, *(node.attributes.get(name) for name in ("variant", "pads", "overhang")), shapes)
        if key not in self._found:
            self._found[key] = _figures(graph, node, self.features)
        return self._found[key]


def _figures(graph: Graph, node: Node, features: frozenset[str]) -> Figures:
    operator = OPERATORS[node.op]
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    results = [graph.tensors[name] for name in node.outputs]
    macs, spent = operator.macs(operands, results[0].shape), 0.0
    if node.op in ("Conv", "DepthwiseConv"):
        variant = str(node.attributes["variant"])
        spent = REAL_MAC * macs if variant == "float32" else cycles(graph, node, variant, features)
    saved: tuple[tuple[int, int], ...] = ()
    if len(results) == 1:
        distances = {position: overlap.distance for position, overlap in operator.overlaps(node, operands, results).items()}
        for position in operator.in_place:
            if position < len(operands) and (x := operands[position]) is not None and x.elements == results[0].elements:
                distances.setdefault(position, 0)
        size = results[0].bytes
        saved = tuple(
            (position, x.bytes + size - max(distance + x.bytes, size))
            for position, distance in distances.items()
            if (x := operands[position]) is not None
        )
    return Figures(operator.scratch(node, operands, results), saved, macs, spent)
