"""remove_idle: operators that change nothing become Reshapes, which merge_views takes out.

Exporters leave them behind: a Slice of everything, a Pad by nothing, a Concat of one tensor, a 1×1 pool, a mean over
dimensions of 1, a Clip without bounds, a product with 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.passes.affine import affine_of
from arenite.passes.fuse_activation import clip_bounds
from arenite.passes.uses import same_quantization


def remove_idle(graph: Graph) -> Graph:
    """An Elementwise node that only requantizes does something, and stays."""
    graph = graph.copy()
    for node in list(graph.nodes):
        x = _unchanged(graph, node)
        if x is not None:
            shape = graph.tensors[node.output].shape
            graph.replace_node(node, [replace(node, op="Reshape", inputs=(x,), attributes={"shape": shape})])
    graph.prune()
    return graph


def _unchanged(graph: Graph, node: Node) -> str | None:
    """The operand that the node passes on; None where it does something."""
    affine = affine_of(graph, node)
    if affine is not None:
        return affine.x if np.all(affine.factor == 1) and np.all(affine.shift == 0) else None
    if not node.inputs or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
        return None
    a, x, y = node.attributes, graph.tensors[node.input], graph.tensors[node.output]
    idle = False
    if node.op == "Elementwise":
        expression = a["expression"]
        nothing = not expression.steps or clip_bounds(expression) == UNBOUNDED
        idle = nothing and same_quantization(graph, x.name, y.name)
    elif node.op == "Slice":
        idle = x.shape == y.shape and all(step > 0 or size == 1 for step, size in zip(a["steps"], y.shape, strict=True))
    elif node.op == "Pad":
        idle = not any(a["pads"])
    elif node.op == "Concat":
        idle = len(node.inputs) == 1
    elif node.op == "ReduceMean":
        idle = all(x.shape[axis] == 1 for axis in a["axes"])
    elif node.op in ("MaxPool", "AveragePool"):
        idle = tuple(a["kernel"]) == tuple(a["strides"]) == (1, 1) and x.shape == y.shape
    return x.name if idle else None
