"""separate_states: the end of a state that would lie in the bytes of a state's beginning gets bytes of its own.

The ends are copied to the beginnings one after another, after the last layer. What merely repeats a beginning (a delay line: this state is
what that one was) would be overwritten before it is read. And an end that this invocation reads as well is given another name, so that
quantization may treat what is kept and what is used differently.
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
        tensor = graph.tensors[state.output]
        if root not in beginnings:
            if graph.consumers()[state.output]:
                _rename_used(graph, state.output)
            continue
        shape = tensor.shape
        writer = producers[state.output]
        repeated = graph.add(replace(tensor, name=f"{state.output}_repeated")).name
        copy = {"starts": (0,) * len(shape), "steps": (1,) * len(shape), "sizes": shape}
        renamed = replace(writer, outputs=(repeated,))
        graph.replace_node(writer, [renamed, Node("Slice", writer.name, (repeated,), (state.output,), copy, writer.origins)])
    return graph


def _rename_used(graph: Graph, name: str) -> None:
    """Everybody reads the tensor under a new name; that of the state's end is a Reshape of it, which costs nothing."""
    used = graph.add(replace(graph.tensors[name], name=f"{name}_used")).name
    outputs, graph.outputs = graph.outputs, []
    graph.replace_uses(name, used)
    graph.outputs = outputs
    written = next(node for node in graph.nodes if name in node.outputs)
    renamed = replace(written, outputs=tuple(used if output == name else output for output in written.outputs))
    end = Node("Reshape", written.name, (used,), (name,), {"shape": graph.tensors[name].shape}, written.origins)
    graph.replace_node(written, [renamed, end])
