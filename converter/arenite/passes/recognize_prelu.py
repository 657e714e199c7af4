"""recognize_prelu: max(x, 0) + slope · min(x, 0), however it is written, becomes a PRelu.

TensorFlow has no such operator: Keras computes relu(x) − α·relu(−x), and before version 3 relu(x) + α·(x − |x|)/2. One α for all elements
is an expression, which recognize_functions has dealt with; here are those with one α a channel or an element.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.passes.fuse_elementwise import between, chain, dominators, expression_of
from arenite.passes.uses import Uses

POINTS = np.concatenate([np.linspace(-50.0, 50.0, 1001), np.geomspace(1e-6, 1e6, 40), -np.geomspace(1e-6, 1e6, 40)])


def recognize_prelu(graph: Graph) -> Graph:
    graph = graph.copy()
    while _recognize_one(graph):
        graph.prune()
    return graph


@dataclass(frozen=True)
class _Half:
    """A function of x that is a multiple of max(x, 0), or of min(x, 0)."""

    x: str
    nodes: tuple[Node, ...]
    above: float
    """Its slope where x > 0."""
    below: float


def _recognize_one(graph: Graph) -> bool:
    uses, parents = Uses(graph), dominators(graph)
    for node in graph.nodes:
        if node.op not in ("Add", "Sub") or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
            continue
        for positive, product in (node.inputs, node.inputs[::-1])[: 1 if node.op == "Sub" else 2]:
            found = _match(uses, parents, positive, product)
            if found is None:
                continue
            x, slope, inner = found
            constant = graph.add_constant(f"{node.name}/slope", slope if node.op == "Add" else -slope).name
            prelu = replace(node, op="PRelu", inputs=(x, constant)).absorbing(*inner)
            graph.replace_node(node, [prelu])
            return True
    return False


def _match(
    uses: Uses, parents: dict[str, str], positive: str | None, product: str | None
) -> tuple[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]], tuple[Node, ...]] | None:
    """(x, what the negative half is multiplied with, the nodes in between)."""
    graph = uses.graph
    times = uses.writer(product) if product is not None and uses.is_free(product) else None
    if positive is None or product is None or times is None or times.op != "Mul" or not uses.is_free(positive):
        return None
    upper = _half(uses, parents, positive)
    for lower_name, slope_name in (times.inputs, times.inputs[::-1]):
        slope = graph.tensor(slope_name)
        if slope.data is None or slope.quantization is not None or lower_name is None or graph.tensors[lower_name].is_constant:
            continue
        lower = _half(uses, parents, lower_name) if uses.is_free(lower_name) else None
        if upper is None or lower is None or upper.x != lower.x or (upper.above, upper.below, lower.above) != (1.0, 0.0, 0.0):
            return None
        shape = graph.tensors[upper.x].shape
        if len(slope.shape) != len(shape) or np.broadcast_shapes(slope.shape, shape) != shape:
            return None
        return upper.x, (np.asarray(slope.data, np.float64) * lower.below).astype(np.float32), (*upper.nodes, *lower.nodes, times)
    return None


def _half(uses: Uses, parents: dict[str, str], name: str) -> _Half | None:
    """The value as a multiple of max(x, 0) or min(x, 0), of the farthest x."""
    writer = uses.writer(name)
    for root in reversed(chain(parents, name)[1:]):
        inner = between(uses, root, writer) if writer is not None else None
        if inner is None:
            continue
        values = expression_of(uses.graph, root, inner)(POINTS)
        above, below = float(values[POINTS > 1][0] / POINTS[POINTS > 1][0]), float(values[POINTS < -1][0] / POINTS[POINTS < -1][0])
        if np.array_equal(values, np.where(POINTS > 0, above, below) * POINTS) and (above == 0) != (below == 0):
            return _Half(root, tuple(inner), above, below)
    return None
