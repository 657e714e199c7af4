"""propagate_annotations: the operands and the result of an operator that only moves elements have the same quantization.

Moving elements and rounding them commute. So a result of Reshape, Transpose, Slice, MaxPool, Pad or Concat is on its operand's grid, which
is then its annotation; and a result that is to be rounded may as well be rounded before it is moved, provided that nobody else
reads the operand (who does reads it unrounded, and perhaps a part of it that is beyond the range).

Where the ends still differ, the value really changes its quantization: that becomes an Elementwise node with the identity
expression, on the target a table, behind the movement (before it for Concat).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph.expression import Expression
from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import Quantization, Tensor
from arenite.passes.uses import Uses

IDENTITY = Expression(())
"""The expression of a node that only requantizes: from the annotation of its operand to that of its result."""
_WHOLE = ("Reshape", "Transpose")
_PARTIAL = ("Slice", "MaxPool", "Pad", "Concat")


def propagate_annotations(graph: Graph) -> Graph:
    """Annotations are only ever added, and a requantization only between two that differ, so this ends."""
    graph = graph.copy()
    while _down(graph) | _up(graph):
        pass
    for node in list(graph.nodes):
        if _moves(graph, node):
            _separate(graph, node)
    return graph


def _moves(graph: Graph, node: Node) -> bool:
    """Whether rounding commutes with the node."""
    if node.op not in (*_WHOLE, *_PARTIAL) or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
        return False
    if node.op == "Pad" and any(node.attributes["pads"]):
        return bool(node.attributes["value"] == 0)  # on every grid; other values may be rounded
    return True


def _operands(graph: Graph, node: Node) -> list[Tensor]:
    return [graph.tensor(name) for name in node.inputs]


def _annotate(graph: Graph, name: str, annotation: Quantization) -> None:
    graph.tensors[name] = replace(graph.tensors[name], quantization=annotation)


def _down(graph: Graph) -> bool:
    changed = False
    for node in graph.nodes:
        if not _moves(graph, node) or graph.tensors[node.output].quantization is not None:
            continue
        first, *others = _operands(graph, node)
        annotation = first.quantization
        if annotation is None or first.is_constant or not annotation.is_per_tensor:
            continue
        if all(annotation.same_as(other.quantization) for other in others):
            _annotate(graph, node.output, annotation)
            changed = True
    return changed


def _up(graph: Graph) -> bool:
    changed, uses = False, Uses(graph)
    for node in reversed(graph.nodes):
        if graph.tensors[node.output].quantization is None or not _moves(graph, node):
            continue
        for tensor in _operands(graph, node):
            wish = None if tensor.quantization is not None or tensor.is_constant else _common_wish(uses, tensor.name)
            if wish is not None:
                _annotate(graph, tensor.name, wish)
                changed = True
    return changed


def _common_wish(uses: Uses, name: str) -> Quantization | None:
    """The annotation that all readers of a tensor want it to have; the finest where they want different ones of all of it."""
    graph, readers = uses.graph, uses.readers[name]
    wishes = [graph.tensors[reader.output].quantization for reader in readers if _moves(graph, reader)]
    given = [wish for wish in wishes if wish is not None]
    if len(given) < len(readers) or name in uses.outputs:
        return None
    if all(wish.same_as(given[0]) for wish in given):
        return given[0]
    return min(given, key=lambda wish: float(wish.scale)) if all(reader.op in _WHOLE for reader in readers) else None


def _separate(graph: Graph, node: Node) -> None:
    """Make the ends of a movement alike with an explicit requantization."""
    y = graph.tensors[node.output]
    if y.quantization is None:
        return
    if node.op == "Concat":
        inputs: list[str] = []
        before: list[Node] = []
        for tensor in _operands(graph, node):
            name = tensor.name
            if not tensor.is_constant and tensor.quantization is not None and not tensor.quantization.same_as(y.quantization):
                name = graph.add(replace(tensor, name=f"{name}_requantized", quantization=y.quantization)).name
                before.append(requantization(node, tensor.name, name))
            inputs.append(name)
        if before:
            graph.replace_node(node, [*before, replace(node, inputs=tuple(inputs))])
        return
    x = graph.tensors[node.input]
    if x.is_constant or y.quantization.same_as(x.quantization):
        return
    moved = graph.add(replace(y, name=f"{y.name}_moved", quantization=x.quantization))
    graph.replace_node(node, [replace(node, outputs=(moved.name,)), requantization(node, moved.name, y.name)])


def requantization(like: Node, x: str, y: str) -> Node:
    return Node("Elementwise", like.name, (x,), (y,), {"expression": IDENTITY}, like.origins)


def quantized_values(data: np.ndarray, q: Quantization) -> np.ndarray:
    """float32 data rounded to the grid of an annotation: scale · (quantize(x) − zero_point). Numerics §1."""
    shape = [1] * data.ndim
    if q.axis is not None:
        shape[q.axis] = -1
    scale, zero_point = q.scale.reshape(shape), q.zero_point.reshape(shape)
    with np.errstate(all="ignore"):
        stored = np.clip(np.rint(data.astype(np.float32) / scale) + zero_point, -128, 127)
    return (scale * (np.where(np.isnan(stored), zero_point, stored) - zero_point).astype(np.float32)).astype(np.float32)
