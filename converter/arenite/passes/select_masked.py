"""select_masked: a constant mask that is added (0 where a value stays, −∞ or a number far below where it does not) becomes a Where.

Attention adds it in front of a Softmax. The sum has no range that int8 could resolve, while Where puts a stand-in for −∞ below the
range of the values that stay; and float32 copies instead of adding. Other numbers than infinities must be so far below that adding changes
nothing: either float32 absorbs what is added to them, or a Softmax makes 0 of both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import DType, Tensor
from arenite.passes.uses import Uses

ABSORBING = -1e30
"""Of a sum with this, float32 keeps no trace of values below 1e22."""
VANISHING = -1e4
"""exp of this much less than the greatest value of a row is 0 in float32, unless values differ by thousands."""


def select_masked(graph: Graph) -> Graph:
    graph = graph.copy()
    uses = Uses(graph)
    for node in list(graph.nodes):
        found = _mask(uses, node)
        if found is not None:
            x, mask = found
            graph.replace_node(node, [_choice(graph, node, x, mask)])
    graph.prune()
    return graph


def _mask(uses: Uses, node: Node) -> tuple[str, Tensor] | None:
    graph = uses.graph
    if node.op != "Add" or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED or len(node.inputs) != 2:
        return None
    for x, other in (node.inputs, node.inputs[::-1]):
        mask = graph.tensor(other)
        if x is None or graph.tensors[x].is_constant or mask.data is None or mask.data.dtype != np.float32 or mask.quantization is not None:
            continue
        away = mask.data[mask.data != 0]
        if not away.size or not np.all(away == away[0]) or graph.tensors[node.output].quantization is not None:
            return None
        if away[0] <= ABSORBING or (away[0] <= VANISHING and _every_row_counts(uses, node, mask)):
            return x, mask
    return None


def _every_row_counts(uses: Uses, node: Node, mask: Tensor) -> bool:
    """Nothing but Softmax reads the sum, and no row is masked as a whole (its Softmax would tell values apart)."""
    readers = uses.readers[node.output]
    shape = uses.graph.tensors[node.output].shape
    assert mask.data is not None
    rows = np.broadcast_to(mask.data == 0, shape).any(axis=-1)
    last = all(reader.op == "Softmax" and reader.attributes.get("axis", -1) in (-1, len(shape) - 1) for reader in readers)
    return bool(readers) and node.output not in uses.outputs and last and bool(rows.all())


def _choice(graph: Graph, node: Node, x: str, mask: Tensor) -> Node:
    assert mask.data is not None
    kept = graph.add_constant(f"{mask.name}/kept", np.ascontiguousarray(mask.data == 0)).name
    fill = np.full((1,) * len(mask.shape), mask.data.min(), np.float32)
    away = graph.add_constant(f"{mask.name}/fill", fill).name
    assert graph.tensors[x].dtype is DType.FLOAT32
    return replace(node, op="Where", inputs=(kept, x, away), attributes={})
