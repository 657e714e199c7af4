"""The bodies of control-flow nodes: planned each on its own, as if alone in memory; the node gets that memory as its scratch memory.

What a body is given from outside lies where the node's operands and results lie. For the plan of the body it is therefore like a constant:
not placed, and never overwritten.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph import Graph, Node


def own_inputs(node: Node) -> int:
    """How many inputs of a body lie in its own memory: the number of the iteration."""
    return 1 if node.op == "Loop" else 0


def planned_part(node: Node, body: Graph) -> Graph:
    """`body` as the planner sees it: what lies elsewhere is constant, and no output."""
    part = body.copy()
    own = own_inputs(node)
    for name in body.inputs[own:]:
        tensor = body.tensors[name]
        part.tensors[name] = replace(tensor, data=np.broadcast_to(np.zeros((), tensor.dtype.numpy), tensor.shape))
    part.inputs = body.inputs[:own]
    part.outputs = [name for name in body.outputs if not part.tensors[name].is_constant]
    return part
