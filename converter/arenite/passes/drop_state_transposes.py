"""drop_state_transposes: a state that is transposed where it is read, and back where it is written, is kept as it is used.

No caller sees it, and its first value is 0 in any layout.
"""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.graph import Graph, Node, State


def drop_state_transposes(graph: Graph) -> Graph:
    graph = graph.copy()
    for state in graph.states:
        found = _transposes(graph, state)
        if found is None:
            continue
        reader, writer = found
        inside, outside = reader.output, writer.input
        graph.tensors[state.input] = replace(graph.tensors[inside], name=state.input)
        graph.tensors[state.output] = replace(graph.tensors[outside], name=state.output)
        graph.nodes = [node for node in graph.nodes if node is not reader and node is not writer]
        graph.replace_uses(inside, state.input)
        graph.nodes = [
            replace(
                node,
                inputs=tuple(state.output if name == outside else name for name in node.inputs),
                outputs=tuple(state.output if name == outside else name for name in node.outputs),
            )
            for node in graph.nodes
        ]
    graph.prune()
    return graph


def _transposes(graph: Graph, state: State) -> tuple[Node, Node] | None:
    """The one behind the state's beginning and the one, its inverse, before its end, where nobody else looks at either."""
    consumers = graph.consumers()
    readers, writer = consumers[state.input], graph.producer(state.output)
    if len(readers) != 1 or writer is None or consumers[state.output] or (readers[0].op, writer.op) != ("Transpose", "Transpose"):
        return None
    reader = readers[0]
    ports = {*graph.inputs, *graph.outputs}
    back = tuple(writer.attributes["perm"])
    inverse = all(back[axis] == i for i, axis in enumerate(reader.attributes["perm"]))
    if not inverse or reader is writer or reader.output in ports or writer.input in ports:
        return None
    return reader, writer
