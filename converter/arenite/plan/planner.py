"""The planner: order, aliases, places."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph import OPERATORS, Graph
from arenite.plan.memory_plan import Memory, MemoryPlan, Placement


def plan(
    graph: Graph, *, keep_inputs: bool = False, memories: Sequence[Memory] = (Memory("arena"),), order: Sequence[int] | None = None
) -> MemoryPlan:
    """Place every tensor of `graph`."""
    order = tuple(order) if order is not None else tuple(range(len(graph.nodes)))
    end, steps, placements, aliases, scratch = 0, len(order), {}, {}, {}
    for name in graph.inputs:
        placements[name] = Placement(0, end, graph.tensors[name].bytes, -1, steps)
        end += -(-graph.tensors[name].bytes // 16) * 16
    for step, index in enumerate(order):
        node = graph.nodes[index]
        for name in node.outputs:
            if node.op == "Reshape" and node.input in placements:
                placements[name] = placements[node.input]
                aliases[name] = node.input
                continue
            placements[name] = Placement(0, end, graph.tensors[name].bytes, step, steps)
            end += -(-graph.tensors[name].bytes // 16) * 16
        operator = OPERATORS[node.op]
        needed = operator.scratch(node, [graph.tensors.get(n or "") for n in node.inputs], [graph.tensors[n] for n in node.outputs])
        if needed:
            scratch[index] = Placement(0, end, needed, step, step)
            end += -(-needed // 16) * 16
    return MemoryPlan(order, placements, scratch, aliases, tuple(memories), (end,), end, False, 0)
