"""Minimum cut: the cheapest choice between two labels for every vertex.

Augmenting paths by breadth-first search (Edmonds–Karp, doi:10.1145/321694.321699); the graphs here have some dozens of vertices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

V = TypeVar("V", bound=Hashable)


def cheapest_labels(costs: Mapping[V, tuple[int, int]], edges: Sequence[tuple[V, V, int]]) -> tuple[set[V], int]:
    """The vertices that take label 1 and the total cost: Σ costs[v][label of v] + Σ weight of the edges whose ends differ.

    Costs and weights are not negative. Of several cheapest choices the one with the fewest vertices of label 1 is given.
    """
    index = {vertex: i + 2 for i, vertex in enumerate(costs)}
    source, sink = 0, 1
    capacity: list[dict[int, int]] = [{} for _ in range(len(costs) + 2)]

    def add(a: int, b: int, forth: int, back: int) -> None:
        capacity[a][b] = capacity[a].get(b, 0) + forth
        capacity[b][a] = capacity[b].get(a, 0) + back

    # The sink's side is label 0, so that what the last search reaches from the source, the least such set, is label 1.
    for vertex, (zero, one) in costs.items():
        add(source, index[vertex], zero, 0)
        add(index[vertex], sink, one, 0)
    for a, b, weight in edges:
        add(index[a], index[b], weight, weight)
    total = 0
    while True:
        came_from = {source: source}
        queue = deque([source])
        while queue and sink not in came_from:
            at = queue.popleft()
            for to, room in capacity[at].items():
                if room > 0 and to not in came_from:
                    came_from[to] = at
                    queue.append(to)
        if sink not in came_from:
            return {vertex for vertex, i in index.items() if i in came_from}, total
        path, at = [], sink
        while at != source:
            path.append((came_from[at], at))
            at = came_from[at]
        flow = min(capacity[start][end] for start, end in path)
        for start, end in path:
            capacity[start][end] -= flow
            capacity[end][start] += flow
        total += flow
