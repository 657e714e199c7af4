"""lower_affine: an affine node with one value a channel that nothing could fold becomes a 1×1 DepthwiseConv.

Its weights are one value a channel, which per-channel quantization holds exactly; as a constant operand of Mul or Add they
would share one scale. Where one value serves all channels, fuse_elementwise makes a table of it, which is exact as well; a
BatchNormalization of that kind is written as an expression here. Constants with an annotation stay: their scale is the model's.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from arenite.errors import Unsupported, UnsupportedModelError
from arenite.graph.expression import Expression, Step
from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import Tensor
from arenite.passes.affine import Affine, affine_of
from arenite.passes.merge_views import emit_view
from arenite.passes.view import View


def lower_affine(graph: Graph) -> Graph:
    graph = graph.copy()
    for node in list(graph.nodes):
        affine = affine_of(graph, node)
        if affine is None and node.op == "BatchNormalization":
            raise UnsupportedModelError(graph.name, [_not_finite(graph, node)])
        if affine is None or (node.op != "BatchNormalization" and (affine.is_scalar or _annotated_constant(graph, node))):
            continue
        graph.replace_node(node, [_expression(node, affine)] if affine.is_scalar else _depthwise(graph, node, affine))
    graph.prune()
    return graph


def _annotated_constant(graph: Graph, node: Node) -> bool:
    return any(graph.tensor(name).is_constant and graph.tensor(name).quantization is not None for name in node.inputs)


def _expression(node: Node, affine: Affine) -> Node:
    steps = (Step("Mul", (0, float(affine.factor))), Step("Add", (1, float(affine.shift))))
    return replace(node, op="Elementwise", inputs=(affine.x,), attributes={"expression": Expression(steps)})


def _depthwise(graph: Graph, node: Node, affine: Affine) -> list[Node]:
    x, y = graph.tensors[affine.x], graph.tensors[node.output]
    channels = x.shape[-1]
    factor, shift = affine.vectors(channels)
    weight = graph.add_constant(f"{node.name}_factor", factor.astype(np.float32).reshape(1, 1, channels))
    inputs = [weight.name, *([graph.add_constant(f"{node.name}_shift", shift.astype(np.float32)).name] if shift.any() else [])]
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "clip": UNBOUNDED}
    node = replace(node, op="DepthwiseConv", inputs=(x.name, *inputs), attributes=attributes)
    if len(x.shape) == 4:
        return [node]
    image = View.identity(x.shape).reshape((1, prod(x.shape[:-1]), 1, channels))
    reshaped = graph.add(replace(x, name=f"{x.name}_image", shape=image.target))
    result = graph.add(Tensor(f"{y.name}_image", image.target, y.dtype, quantization=y.quantization))
    before = emit_view(graph, image, x.name, reshaped, node)
    after = emit_view(graph, image.inverse(), result.name, y, node)
    return [*before, replace(node, inputs=(reshaped.name, *inputs), outputs=(result.name,)), *after]


def _not_finite(graph: Graph, node: Node) -> Unsupported:
    variance = np.asarray(graph.tensor(node.inputs[4]).data)
    return Unsupported(
        node.name,
        "BatchNormalization",
        f"its statistics give no finite factor (least variance {variance.min():.6g}, epsilon {node.attributes['epsilon']:.6g})",
        "export the model with the running statistics of a trained network",
    )
