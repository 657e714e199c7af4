"""fold_affine: BatchNormalization, per-channel Mul and Add, MatMul's bias, input normalization become part of the weights beside them.

After a linear operator: factor · (W·x + b) + shift = (factor·W)·x + (factor·b + shift). The operator's result must be read by the affine
node alone, have no fused activation, and no annotation (it would no longer exist).
Before one: W·(factor·x + shift) + b = (W·factor)·x + (b + W·shift). Padding reads zeros *after* the affine node, so with padding
only shift = 0 is exact. All readers of the affine node must be linear, so that it disappears.
Neither folds where a weight would leave float32. Annotated weights are not rescaled: their scale is exact. A bias that an Add
brings keeps its annotation.

Statistics are constants by the operator's declaration; a BatchNormalization in training mode is refused by the frontend.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import Quantization, Tensor
from arenite.passes.affine import Affine, Vector, affine_of
from arenite.passes.linear import (
    Weights,
    bias_of,
    is_linear,
    is_padded,
    output_channels,
    scaled_inputs,
    scaled_outputs,
    weight_of,
    with_weights,
)
from arenite.passes.uses import Uses, put_constant


def fold_affine(graph: Graph) -> Graph:
    """Every fold removes a node, so this ends."""
    graph = graph.copy()
    while _fold_one(graph):
        graph.prune()
    return graph


def _fold_one(graph: Graph) -> bool:
    uses = Uses(graph)
    for node in graph.nodes:
        affine = affine_of(graph, node)
        if affine is not None and (_fold_after(graph, uses, node, affine) or _fold_before(graph, uses, node, affine)):
            return True
    return False


def _fold_after(graph: Graph, uses: Uses, node: Node, affine: Affine) -> bool:
    """Into the linear operator that writes affine.x, Reshapes that keep the last axis in between."""
    channels = graph.tensors[affine.x].shape[-1] if graph.tensors[affine.x].shape else 1
    writer = uses.writer(affine.x)
    name = affine.x
    while writer is not None and uses.is_free(name) and writer.op == "Reshape" and graph.tensors[writer.input].shape[-1:] == (channels,):
        name = writer.input
        writer = uses.writer(name)
    if writer is None or not is_linear(graph, writer) or not uses.is_free(name):
        return False
    if tuple(writer.attributes["clip"]) != UNBOUNDED or output_channels(graph, writer) != channels:
        return False
    factor, shift = affine.vectors(channels)
    folded = _with_bias(graph, writer, affine, shift) if np.all(factor == 1) else _rescaled(graph, writer, factor, shift)
    if folded is None:
        return False
    graph.replace_node(writer, [folded.absorbing(node)])
    _remove(graph, node, affine.x)
    return True


def _with_bias(graph: Graph, linear: Node, affine: Affine, shift: Vector) -> Node | None:
    bias = bias_of(graph, linear)
    if bias is None:
        inputs = (linear.input, linear.inputs[1], _bias_constant(graph, linear, affine, shift))
        return replace(linear, inputs=inputs)
    if bias.quantization is not None:
        return None
    new = Tensor.constant(bias.name, (np.asarray(bias.data, np.float64) + shift).astype(np.float32))
    return replace(linear, inputs=(linear.input, linear.inputs[1], put_constant(graph, bias.name, new)))


def _bias_constant(graph: Graph, linear: Node, affine: Affine, shift: Vector) -> str:
    source = None if affine.constant is None else graph.tensors[affine.constant]
    q = None if source is None else source.quantization
    if q is not None and q.axis is not None:
        q = Quantization(q.scale, q.zero_point, 0) if q.scale.size == shift.size else None
    if source is None:
        return graph.add_constant(f"{linear.name}_bias", shift.astype(np.float32)).name
    return put_constant(graph, source.name, Tensor.constant(source.name, shift.astype(np.float32), q))


def _rescaled(graph: Graph, linear: Node, factor: Vector, shift: Vector) -> Node | None:
    bias = bias_of(graph, linear)
    if weight_of(graph, linear).quantization is not None or (bias is not None and bias.quantization is not None):
        return None
    weights = scaled_outputs(graph, linear, factor, shift)
    return None if weights is None else with_weights(graph, linear, weights)


def _remove(graph: Graph, node: Node, x: str) -> None:
    """Take `node` out: whoever read its result reads `x`, or `x`'s writer writes it where it is an output of the graph."""
    y = node.output
    graph.nodes = [other for other in graph.nodes if other is not node]
    old, new = (x, y) if y in graph.outputs or graph.tensors[y].quantization is not None else (y, x)
    graph.nodes = [
        replace(
            other,
            inputs=tuple(new if name == old else name for name in other.inputs),
            outputs=tuple(new if name == old else name for name in other.outputs),
        )
        for other in graph.nodes
    ]


def _fold_before(graph: Graph, uses: Uses, node: Node, affine: Affine) -> bool:
    """Into all the linear operators that read the result, a Reshape in between."""
    y = graph.tensors[node.output]
    if y.quantization is not None or y.name in graph.outputs or not uses.readers[y.name]:
        return False
    found: list[tuple[Node | None, Node, Weights]] = []
    for reader in uses.readers[y.name]:
        reshape = reader if reader.op == "Reshape" else None
        if reshape is not None and not uses.is_free(reshape.output):
            return False
        linear = reader if reshape is None else uses.readers[reshape.output][0]
        if not is_linear(graph, linear) or not _takes(graph, linear, affine):
            return False
        # Element j of a row of the linear operator's input is of channel j % C, also behind a Reshape.
        channels = graph.tensors[linear.input].shape[-1]
        factor, shift = (np.tile(v, channels // v.size) for v in affine.vectors(max(affine.factor.size, affine.shift.size)))
        weights = scaled_inputs(graph, linear, factor, shift)
        if weights is None:
            return False
        found.append((reshape, linear, weights))
    for reshape, linear, weights in found:
        scaled = with_weights(graph, linear, weights)
        graph.replace_node(
            linear, [replace(scaled, inputs=(affine.x if reshape is None else linear.input, *scaled.inputs[1:])).absorbing(node)]
        )
        if reshape is not None:
            graph.replace_node(reshape, [replace(reshape, inputs=(affine.x,))])
    graph.nodes = [other for other in graph.nodes if other is not node]
    return True


def _takes(graph: Graph, linear: Node, affine: Affine) -> bool:
    bias = bias_of(graph, linear)
    if weight_of(graph, linear).quantization is not None or (bias is not None and bias.quantization is not None):
        return False
    if is_padded(linear) and np.any(affine.shift != 0):
        return False
    return graph.tensors[linear.input].shape[-1] % max(affine.factor.size, affine.shift.size) == 0
