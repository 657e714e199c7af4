"""fuse_normalization: constant products and sums behind a LayerNormalization, with a Reshape before them or not, become its scale and bias.

InstanceNormalization and GroupNormalization are rows whose scale is one a channel: one a row, or one a part of a row, and the same again
for the next image. As part of the node they cost the int8 form no rounding of their own. A Relu fused into the sum goes along.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.passes.uses import Uses

MOST_GAINS = 4096
"""Beyond this, and the length of a row, a scale is no vector of channels but a tensor of its own."""

Values = NDArray[np.float64]


def fuse_normalization(graph: Graph) -> Graph:
    graph = graph.copy()
    while _fuse_one(graph):
        graph.prune()
    return graph


def _fuse_one(graph: Graph) -> bool:
    uses = Uses(graph)
    for node in graph.nodes:
        if node.op != "LayerNormalization" or not uses.is_free(node.output) or "clip" in node.attributes or not _is_constant(graph, node):
            continue
        reader = uses.readers[node.output][0]
        reshape = reader if reader.op == "Reshape" and uses.is_free(reader.output) else None
        affine = reader if reshape is None else uses.readers[reshape.output][0]
        changed = _with_affine(graph, node, affine, reshape)
        if changed is not None:
            graph.nodes = [other for other in graph.nodes if other is not node and other is not reshape]
            graph.replace_node(affine, changed)
            return True
    return False


def _is_constant(graph: Graph, node: Node) -> bool:
    return all(name is None or graph.tensor(name).is_constant for name in node.inputs[1:])


def _with_affine(graph: Graph, node: Node, affine: Node, reshape: Node | None) -> list[Node] | None:
    """`node` with the product or sum `affine` taken in, and the Reshape between them; None where they do not fit."""
    clip = affine.attributes.get("clip", UNBOUNDED)
    if affine.op not in ("Mul", "Add") or len(affine.inputs) != 2 or (affine.op == "Mul" and clip != UNBOUNDED):
        return None
    source = node.output if reshape is None else reshape.output
    constant = graph.tensor(affine.inputs[1] if affine.inputs[0] == source else affine.inputs[0])
    shape = graph.tensors[source].shape
    if constant.data is None or constant.quantization is not None or graph.tensors[affine.output].shape != shape:
        return None
    length = node.attributes["length"]
    rows = prod(shape) // length
    values = np.broadcast_to(np.asarray(constant.data, np.float64), shape).reshape(rows, length)
    scale, bias = (_operand(graph, node, index, default, rows) for index, default in ((1, 1.0), (2, 0.0)))
    if affine.op == "Mul":
        scale, bias = scale * values, bias * values
    else:
        bias = bias + values
    tables = _collapsed(np.stack([scale, bias]))
    if tables[0].size > max(length, MOST_GAINS):
        return None
    operands = [
        graph.add_constant(f"{affine.output}/{what}", tables[i].astype(np.float32)).name for i, what in enumerate(("scale", "bias"))
    ]
    attributes = {**node.attributes, "period": tables.shape[1], **({} if clip == UNBOUNDED else {"clip": clip})}
    outputs = affine.outputs if reshape is None else node.outputs
    whole = replace(node, inputs=(node.input, *operands), outputs=outputs, attributes=attributes).absorbing(affine)
    return [whole] if reshape is None else [whole, replace(reshape, outputs=affine.outputs)]


def _operand(graph: Graph, node: Node, index: int, default: float, rows: int) -> Values:
    """[rows, length] of the scale or bias that the node has."""
    length, period = node.attributes["length"], node.attributes.get("period", 1)
    data = graph.tensor(node.inputs[index]).data if index < len(node.inputs) and node.inputs[index] is not None else None
    if data is None:
        return np.full((rows, length), default)
    table = np.asarray(data, np.float64).reshape(period, -1)
    return np.tile(np.repeat(table, length // table.shape[1], axis=1), (rows // period, 1))


def _collapsed(values: Values) -> Values:
    """[2, rows, length] as [2, period, blocks], both the least that say the same."""
    rows, length = values.shape[1:]
    period = next(p for p in range(1, rows + 1) if rows % p == 0 and np.array_equal(values[:, p:], values[:, : rows - p]))
    first = values[:, :period]
    blocks = next(b for b in range(1, length + 1) if length % b == 0 and not np.ptp(first.reshape(2, period, b, -1), axis=3).any())
    return np.asarray(first.reshape(2, period, blocks, -1)[..., 0])
