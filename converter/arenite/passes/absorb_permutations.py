"""absorb_permutations: FullyConnected reads its features as they lie, and writes them as they are read.

A flattened NHWC tensor that the model wants in NCHW order needs no Transpose: the columns of the weights are permuted instead
(y = W·P·x = (W·P)·x). Likewise the rows where only views of one order read the result.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph.graph import Graph
from arenite.graph.tensor import Quantization, Tensor
from arenite.passes.layout_cost import LayoutCost, within_rows
from arenite.passes.merge_views import emit_view, merge_views
from arenite.passes.uses import put_constant
from arenite.passes.view import View, split_factors


def absorb_permutations(graph: Graph) -> Graph:
    graph = graph.copy()
    while _absorb_columns(graph) or _absorb_rows(graph):
        graph = merge_views(graph)
    return graph


def _row_order(view: View) -> NDArray[np.int64]:
    """Position in a row of the source of each element of a row of the target; `within_rows(view)` holds."""
    length = view.target[-1]
    groups = split_factors(view.factors, (prod(view.target[:-1]), length))
    assert groups is not None
    order = np.zeros(1, np.int64)
    for size, stride in groups[1]:
        order = (order[:, None] + stride * np.arange(size, dtype=np.int64)).reshape(-1)
    return order


def _absorb_columns(graph: Graph) -> bool:
    cost = LayoutCost(graph, "onnx")
    for node in graph.nodes:
        if node.op != "FullyConnected" or node.input not in cost.views:
            continue
        root, view = cost.views[node.input]
        weight = graph.tensors[node.inputs[1] or ""]
        if not view.moves or not within_rows(view) or weight.data is None or _axis(weight) == 1:
            continue
        # x[j] = root[order[j]], so W·x = Σ W[:, j]·root[order[j]]: column order[j] is W's column j.
        columns = np.empty_like(weight.data)
        columns[:, _row_order(view)] = weight.data
        moved = put_constant(graph, weight.name, Tensor.constant(weight.name, columns, weight.quantization))
        x = graph.tensors[node.input]
        flat = graph.add(replace(x, name=f"{x.name}_unpermuted"))
        writer = graph.producer(x.name)
        assert writer is not None  # a view
        reshape = emit_view(graph, View.identity(graph.tensors[root].shape).reshape(x.shape), root, flat, writer)
        graph.replace_node(node, [*reshape, replace(node, inputs=(flat.name, moved, *node.inputs[2:]))])
        return True
    return False


def _absorb_rows(graph: Graph) -> bool:
    cost = LayoutCost(graph, "onnx")
    for node in graph.nodes:
        ends = cost.ends[node.output]
        if node.op != "FullyConnected" or not ends or cost.uses[node.output]:
            continue
        view = cost.views[ends[0]][1]
        if not view.moves or not within_rows(view.inverse()) or any(cost.views[end][1].factors != view.factors for end in ends):
            continue
        # Let the node write what the views read, y[order], and make y itself a view of that.
        permuted = View(view.source, view.source, view.factors)
        order = _row_order(permuted)
        vectors = [None if name is None else put_constant(graph, name, _rows(graph.tensors[name], order)) for name in node.inputs[1:]]
        y = graph.tensors[node.output]
        new = graph.add(replace(y, name=f"{y.name}_permuted"))
        back = emit_view(graph, permuted.inverse(), new.name, y, node)
        graph.replace_node(node, [replace(node, inputs=(node.input, *vectors), outputs=(new.name,)), *back])
        return True
    return False


def _rows(tensor: Tensor, order: NDArray[np.int64]) -> Tensor:
    assert tensor.data is not None
    q = tensor.quantization
    if q is not None and q.axis == 0:
        q = Quantization(q.scale[order], q.zero_point[order], 0, q.bits)
    return Tensor.constant(tensor.name, tensor.data[order], q)


def _axis(tensor: Tensor) -> int | None:
    return None if tensor.quantization is None else tensor.quantization.axis
