"""drop_edge_transposes: with io_layout "nhwc" the caller gives and takes tensors in the layout of the operators inside.

An input that only one Transpose reads, and an output that a Transpose writes, change their shape and keep their name.
"""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.graph import Graph
from arenite.passes.uses import Uses


def drop_edge_transposes(graph: Graph) -> Graph:
    graph = graph.copy()
    for name in graph.input_ports:
        uses = Uses(graph)
        reader = uses.readers[name][0] if uses.read_once(name) else None
        if reader is not None and reader.op == "Transpose" and reader.output not in graph.outputs:
            graph.tensors[name] = replace(graph.tensors[reader.output], name=name)
            graph.nodes = [node for node in graph.nodes if node is not reader]
            graph.replace_uses(reader.output, name)
    for name in graph.output_ports:
        writer = graph.producer(name)
        if writer is None or writer.op != "Transpose" or writer.input in graph.inputs or writer.input in graph.outputs:
            continue
        inside = writer.input
        graph.tensors[name] = replace(graph.tensors[inside], name=name)
        graph.nodes = [node for node in graph.nodes if node is not writer]
        graph.rename_value(inside, name)
    graph.prune()
    return graph
