"""Who writes and who reads each tensor: what preconditions of rewrites ask."""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import Tensor


class Uses:
    """A snapshot of a graph's edges; stale once the graph changes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.writers = graph.producers()
        self.readers = graph.consumers()
        self.outputs = frozenset(graph.outputs)

    def writer(self, name: str) -> Node | None:
        """The node that writes `name`; None for inputs and constants."""
        return self.writers.get(name)

    def read_once(self, name: str) -> bool:
        """Exactly one operand of one node reads it, and it is no output of the graph: nobody sees it change."""
        return len(self.readers[name]) == 1 and name not in self.outputs

    def is_free(self, name: str) -> bool:
        """Read once, and not required to exist with a given quantization: a rewrite may do away with it."""
        return self.read_once(name) and self.graph.tensors[name].quantization is None


def put_constant(graph: Graph, old: str, new: Tensor) -> str:
    """Add `new`, which stands for `old` in one place, and give its name: `old` where nobody else reads that, else a fresh one."""
    readers = sum(name == old for node in graph.nodes for name in node.inputs)
    if readers > 1 or old in graph.outputs:
        return graph.add(replace(new, name=old)).name
    graph.tensors[old] = replace(new, name=old)
    return old


def same_quantization(graph: Graph, a: str, b: str) -> bool:
    """Both tensors have the same annotation, or neither has one."""
    first, second = graph.tensors[a].quantization, graph.tensors[b].quantization
    return first.same_as(second) if first is not None else second is None
