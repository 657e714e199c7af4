"""A small quantized graph with every kind of call, built by hand, and what it needs to become a program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from arenite.emit import Program, build_program
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.plan import plan


def quantized(name: str, shape: tuple[int, ...], scale: float = 0.125, zero_point: int = -3) -> Tensor:
    return Tensor(name, shape, DType.INT8, quantization=Quantization.per_tensor(scale, zero_point))


def conv_node(name: str, x: str, y: str, constants: tuple[str, str, str], **attributes: object) -> Node:
    given = {
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads": (1, 1, 1, 1),
        "group": 1,
        "input_zero_point": -3,
        "output_zero_point": -3,
        "shift": 2,
        "activation_min": -128,
        "activation_max": 127,
        "variant": "int8",
        **attributes,
    }
    return Node("Conv", name, (x, *constants), (y,), given)


def build_graph(layer: str = "block/conv") -> Graph:
    """x [1,4,4,2] → Conv (wide Conv) → Lookup → Add with x → Pad → Transpose → Reshape → FullyConnected → Softmax."""
    rng = np.random.default_rng(7)
    graph = Graph("example.onnx", inputs=["x"], outputs=["y"], labels={"y": ("cat", "dog", "fish")})
    add = graph.add
    for tensor in (
        quantized("x", (1, 4, 4, 2)),
        quantized("c", (1, 4, 4, 2)),
        quantized("w", (1, 4, 4, 2)),
        quantized("l", (1, 4, 4, 2)),
        quantized("s", (1, 4, 4, 2)),
        quantized("p", (1, 5, 4, 2)),
        quantized("t", (1, 2, 5, 4)),
        quantized("r", (1, 40)),
        quantized("f", (1, 3)),
        quantized("y", (1, 3), 1 / 256, -128),
    ):
        add(tensor)
    weight = rng.integers(-127, 128, (2, 3, 3, 2), np.int8)
    graph.add_constant("c.weight", weight)
    graph.add_constant("c.bias", np.array([-2147483648, 5], np.int32))
    graph.add_constant("c.multiplier", np.array([1 << 30, 3], np.int32))
    graph.add_constant("w.weight", weight)  # equal to c.weight: stored once
    graph.add_constant("w.bias", np.array([1 << 38, -(1 << 38)], np.int64))
    graph.add_constant("w.multiplier", np.array([[1 << 21, 30], [5, 2]], np.int32))
    graph.add_constant("table", np.arange(-128, 128).astype(np.int8))
    graph.add_constant("f.weight", rng.integers(-128, 128, (3, 40), np.int8))
    graph.add_constant("f.bias", np.array([1, 2, 3], np.int32))
    graph.add_constant("f.multiplier", np.array([1, 2, 3], np.int32))
    graph.add_constant("exp", np.arange(256).astype(np.int32))
    clamp = {"activation_min": -128, "activation_max": 127}
    points = {"a_zero_point": -3, "b_zero_point": -3, "output_zero_point": -3}
    graph.nodes = [
        conv_node(layer, "x", "c", ("c.weight", "c.bias", "c.multiplier")),
        conv_node(layer, "c", "w", ("w.weight", "w.bias", "w.multiplier"), shift=0, variant="wide"),
        Node("Lookup", "act*/ive/*", ("w", "table"), ("l",), {}),
        Node("Add", "int", ("l", "x"), ("s",), {**points, **clamp, "a_multiplier": 1 << 20, "b_multiplier": -(1 << 20), "shift": 20}),
        Node("Pad", "0pad", ("s",), ("p",), {"pads": (0, 1, 0, 0, 0, 0, 0, 0), "value": 0.0, "fill": -3}),
        Node("Transpose", "Ümläut", ("p",), ("t",), {"perm": (0, 3, 1, 2)}),
        Node("Reshape", "flat", ("t",), ("r",), {"shape": (1, 40)}),
        Node("FullyConnected", "", ("r", "f.weight", "f.bias", "f.multiplier"), ("f",), {"output_zero_point": -3, "shift": 1, **clamp}),
        Node("Softmax", "return", ("f", "exp"), ("y",), {"output_zero_point": -128, "numerator": (1 << 40) - 1, **clamp}),
    ]
    return graph


@pytest.fixture
def make_program() -> Callable[..., Program]:
    def make(graph: Graph | None = None, name: str = "example", calibrated: bool = True, **options: object) -> Program:
        graph = graph or build_graph()
        return build_program(graph, plan(graph, **options), name=name, calibrated=calibrated)  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_graph() -> Callable[..., Graph]:
    return build_graph
