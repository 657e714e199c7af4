"""fuse_pad: a Pad over height and width becomes the padding of the operators that read it.

Convolutions and AveragePool with count_include_pad pad with zeros; MaxPool's padding never wins, which equals a padding with −∞, or with
any value that no window's true elements fall below. Every reader must be able to take the padding, or the Pad would have to stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arenite.graph.graph import Graph, Node
from arenite.passes.merge_views import emit_view
from arenite.passes.relayout import axis_map_to
from arenite.passes.uses import Uses, same_quantization
from arenite.passes.view import View


def fuse_pad(graph: Graph) -> Graph:
    """Every fusion removes a Pad."""
    graph = graph.copy()
    while _fuse_one(graph):
        graph.prune()
    return graph


def _fuse_one(graph: Graph) -> bool:
    uses = Uses(graph)
    for node in graph.nodes:
        if node.op != "Pad" or node.output in graph.outputs or not same_quantization(graph, node.input, node.output):
            continue
        pad, reshapes = _behind_reshape(graph, uses, node)
        if len(graph.tensors[pad.output].shape) != 4 or not uses.readers[pad.output]:
            continue
        fused = [_with_padding(graph, uses, pad, reader) for reader in uses.readers[pad.output]]
        if all(fused):
            graph.replace_node(node, reshapes)
            for reader, new in zip(uses.readers[pad.output], fused, strict=True):
                assert new is not None
                graph.replace_node(reader, [new.absorbing(node)])
            return True
    return False


def _behind_reshape(graph: Graph, uses: Uses, pad: Node) -> tuple[Node, list[Node]]:
    """The Pad as it would be behind the Reshape that alone reads it, and that Reshape in front of it.

    Keras pads causal one-dimensional convolutions as [N, L, C] and then inserts the height of 1.
    """
    reshape = uses.readers[pad.output][0] if uses.read_once(pad.output) else None
    if (
        reshape is None
        or reshape.op != "Reshape"
        or reshape.output in graph.outputs
        or not same_quantization(graph, pad.output, reshape.output)
    ):
        return pad, []
    padded, x = graph.tensors[reshape.output], graph.tensors[pad.input]
    axes = axis_map_to(View.identity(padded.shape).reshape(graph.tensors[pad.output].shape))
    attributes = None if axes is None else axes.attributes(graph, pad)
    change = None if axes is None else axes.view(x.shape)
    if attributes is None or change is None or change.moves:
        return pad, []
    target = graph.add(replace(x, name=f"{x.name}_reshaped", shape=change.target))
    return (
        replace(pad.with_attributes(**attributes), inputs=(target.name,), outputs=(padded.name,)),
        emit_view(graph, change, x.name, target, reshape),
    )


def _with_padding(graph: Graph, uses: Uses, pad: Node, reader: Node) -> Node | None:
    """The reader, reading what `pad` reads; None where that is not the same."""
    before, after = pad.attributes["pads"][:4], pad.attributes["pads"][4:]
    if before[0] or before[3] or after[0] or after[3] or reader.op not in ("Conv", "DepthwiseConv", "AveragePool", "MaxPool"):
        return None
    top, left, bottom, right = reader.attributes["pads"]
    pads = (top + before[1], left + before[2], bottom + after[1], right + after[2])
    value = pad.attributes["value"]
    changes: dict[str, Any] = {"pads": pads}
    if reader.op == "MaxPool":
        if value > _lower_bound(uses, pad.input) or not _windows_touch(graph.tensors[pad.input].shape, reader, pads):
            return None
    elif value != 0:
        return None
    if reader.op == "AveragePool":
        if any(reader.attributes["pads"]) and not reader.attributes["count_include_pad"]:
            return None
        changes["count_include_pad"] = True
    return replace(reader.with_attributes(**changes), inputs=(pad.input, *reader.inputs[1:]))


def _lower_bound(uses: Uses, name: str) -> float:
    """A value that no element is below."""
    writer = uses.writer(name)
    if writer is None:
        return float("-inf")
    if writer.op == "Elementwise":
        clip = writer.attributes["expression"].clip
        return float("-inf") if clip is None else float(clip[0])
    return float(writer.attributes.get("clip", (float("-inf"),))[0])


def _windows_touch(shape: tuple[int, ...], pool: Node, pads: tuple[int, ...]) -> bool:
    """Whether every window has an element inside the image."""
    a = pool.attributes
    for axis in (0, 1):
        size, before, after = shape[1 + axis], pads[axis], pads[axis + 2] + a["overhang"][axis]
        kernel, stride, dilation = a["kernel"][axis], a["strides"][axis], a["dilations"][axis]
        count = (before + size + after - (kernel - 1) * dilation - 1) // stride + 1
        for start in range(-before, count * stride - before, stride):
            if not any(0 <= start + i * dilation < size for i in range(kernel)):
                return False
    return True
