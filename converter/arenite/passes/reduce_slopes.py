"""reduce_slopes: PRelu's slope becomes a vector over the channels; one slope for all makes a LeakyRelu of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph.expression import Expression, Step
from arenite.graph.graph import Graph
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import Quantization, Tensor
from arenite.passes.uses import put_constant


def reduce_slopes(graph: Graph) -> Graph:
    graph = graph.copy()
    for node in list(graph.nodes):
        if node.op != "PRelu":
            continue
        slope, x = graph.tensor(node.inputs[1]), graph.tensors[node.input]
        data = np.asarray(slope.data)
        if np.all(data == data.flat[0]):
            steps = [Step("LeakyRelu", (0,), {"alpha": float(data.flat[0])})]
            low, high = node.attributes.get("clip", UNBOUNDED)
            if (low, high) != UNBOUNDED:
                steps.append(Step("Clip", (1,), {"min": low, "max": high}))
            graph.replace_node(
                node, [replace(node, op="Elementwise", inputs=(x.name,), attributes={"expression": Expression(tuple(steps))})]
            )
        elif data.ndim > 1 or data.size != x.shape[-1]:
            q = slope.quantization
            whole = data.size == data.shape[-1] and data.size == x.shape[-1]
            data = data.reshape(-1) if whole else np.ascontiguousarray(np.broadcast_to(data, x.shape))
            if q is not None and q.axis is not None:
                q = Quantization(q.scale, q.zero_point, 0) if whole and q.scale.size == data.size else None
            new = put_constant(graph, slope.name, Tensor.constant(slope.name, data, q))
            graph.replace_node(node, [replace(node, inputs=(x.name, new))])
    graph.prune()
    return graph
