"""Means in the forms that other passes and the target want.

expand_reductions: a mean over everything is a ReduceMean, and every ReduceMean keeps its dimensions, so that layouts can change.
arrange_reductions: the reduced axes are neighbours, as in the int8 form, and a Reshape behind a mean joins it.
"""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import Tensor
from arenite.passes.uses import Uses, same_quantization


def expand_reductions(graph: Graph) -> Graph:
    graph = graph.copy()
    for node in list(graph.nodes):
        if node.op == "AveragePool" and _covers_image(graph, node):
            attributes = {"axes": (1, 2), "keepdims": True, "clip": node.attributes["clip"]}
            graph.replace_node(node, [replace(node, op="ReduceMean", attributes=attributes)])
        elif node.op == "ReduceMean" and not node.attributes["keepdims"]:
            x, y = graph.tensors[node.input], graph.tensors[node.output]
            shape = tuple(1 if axis in node.attributes["axes"] else size for axis, size in enumerate(x.shape))
            kept = graph.add(replace(y, name=f"{y.name}_kept", shape=shape))
            reshape = Node("Reshape", node.name, (kept.name,), (y.name,), {"shape": y.shape}, node.origins)
            graph.replace_node(node, [replace(node.with_attributes(keepdims=True), outputs=(kept.name,)), reshape])
    return graph


def _covers_image(graph: Graph, node: Node) -> bool:
    """One window, which is the image."""
    a, x, y = node.attributes, graph.tensors[node.input].shape, graph.tensors[node.output].shape
    return (
        tuple(a["kernel"]) == x[1:3]
        and y[1:3] == (1, 1)
        and not any(a["pads"])
        and not any(a["overhang"])
        and tuple(a["dilations"]) == (1, 1)
    )


def arrange_reductions(graph: Graph) -> Graph:
    graph = graph.copy()
    for node in list(graph.nodes):
        if node.op == "ReduceMean" and not _neighbours(graph, node):
            graph.replace_node(node, _behind_transpose(graph, node))
    uses = Uses(graph)
    for node in list(graph.nodes):
        if node.op != "ReduceMean" or not node.attributes["keepdims"] or not uses.read_once(node.output):
            continue
        reshape = uses.readers[node.output][0]
        squeezed = tuple(size for axis, size in enumerate(graph.tensors[node.input].shape) if axis not in node.attributes["axes"])
        same = reshape.op == "Reshape" and same_quantization(graph, node.output, reshape.output)
        if same and graph.tensors[reshape.output].shape == squeezed:
            graph.nodes = [other for other in graph.nodes if other is not reshape]
            graph.replace_node(node, [replace(node.with_attributes(keepdims=False), outputs=reshape.outputs)])
    graph.prune()
    return graph


def _neighbours(graph: Graph, node: Node) -> bool:
    x, axes = graph.tensors[node.input].shape, node.attributes["axes"]
    wide = [axis for axis in axes if x[axis] > 1]
    return not wide or all(axis in axes or x[axis] == 1 for axis in range(wide[0], wide[-1] + 1))


def _behind_transpose(graph: Graph, node: Node) -> list[Node]:
    """Reduced axes last: their mean needs no order, and what is left is in the order that the result has."""
    x, axes = graph.tensors[node.input], node.attributes["axes"]
    kept = [axis for axis in range(len(x.shape)) if axis not in axes]
    perm = (*kept, *axes)
    moved = graph.add(replace(x, name=f"{x.name}_turned", shape=tuple(x.shape[axis] for axis in perm)))
    transpose = Node("Transpose", node.name, (x.name,), (moved.name,), {"perm": perm}, node.origins)
    y = graph.tensors[node.output]
    flat = graph.add(Tensor(f"{y.name}_flat", tuple(x.shape[axis] for axis in kept), y.dtype, quantization=y.quantization))
    mean = replace(
        node.with_attributes(axes=tuple(range(len(kept), len(perm))), keepdims=False), inputs=(moved.name,), outputs=(flat.name,)
    )
    return [transpose, mean, Node("Reshape", node.name, (flat.name,), (y.name,), {"shape": y.shape}, node.origins)]
