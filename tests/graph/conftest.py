"""A small float graph that uses most of what a graph can say."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.graph import DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED


@pytest.fixture
def small() -> Graph:
    """x[1, 6, 5, 2] → Conv(pads, Relu6) → Elementwise → FullyConnected on the flat image."""
    random = np.random.default_rng(0)
    graph = Graph("small", inputs=["x"], outputs=["y"])

    def constant(name, *shape):
        graph.add_constant(name, random.normal(size=shape).astype(np.float32))

    def node(op, name, inputs, output, size, quantization=None, **attributes):
        graph.tensors[output] = Tensor(output, size, DType.FLOAT32, None, quantization)
        graph.nodes.append(Node(op, name, inputs, (output,), attributes))

    graph.tensors["x"] = Tensor("x", (1, 6, 5, 2), DType.FLOAT32)
    constant("w", 3, 3, 3, 2)
    constant("b", 3)
    constant("dense", 4, 90)
    window = {"strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)}
    node("Conv", "conv1", ("x", "w", "b"), "c", (1, 6, 5, 3), Quantization.per_tensor(0.05, -128), **window, group=1, clip=(0.0, 6.0))
    node("Elementwise", "act", ("c",), "e", (1, 6, 5, 3), expression=Expression.single("Sigmoid").then(Expression.binary("Mul", 2.0)))
    node("Reshape", "flat", ("e",), "f", (1, 90), shape=(1, 90))
    node("FullyConnected", "head", ("f", "dense", None), "y", (1, 4), clip=UNBOUNDED)
    return graph
