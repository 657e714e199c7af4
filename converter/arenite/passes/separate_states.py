"""separate_states: the end of a state that would lie in the bytes of a state's beginning gets bytes of its own.

The ends are copied to the beginnings one after another, after the last layer. What merely repeats a beginning (a delay line: this state is
what that one was) would be overwritten before it is read.
"""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.graph import Graph, Node


def separate_states(graph: Graph) -> Graph:
    graph = graph.copy()
    beginnings = {state.input for state in graph.states}
    for state in graph.states:
        producers = graph.producers()
        root = state.output
        while root in producers and producers[root].op == "Reshape":
            root = producers[root].input
        if root not in beginnings:
            continue
        tensor = graph.tensors[state.output]
        shape = tensor.shape
        writer = producers[state.output]
        repeated = graph.add(replace(tensor, name=f"{state.output}_repeated")).name
        copy = {"starts": (0,) * len(shape), "steps": (1,) * len(shape), "sizes": shape}
        renamed = replace(writer, outputs=(repeated,))
        graph.replace_node(writer, [renamed, Node("Slice", writer.name, (repeated,), (state.output,), copy, writer.origins)])
    return graph
