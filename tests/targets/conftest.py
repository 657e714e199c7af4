"""A small model with two inputs and two outputs, as `convert` would write it, and samples for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from arenite.emit import build_program
from arenite.emit.c import write_sources
from arenite.emit.flat import serialize
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.plan import plan
from numpy.typing import NDArray

CLAMP = {"activation_min": -128, "activation_max": 127}


def two_headed_graph() -> Graph:
    """a + b → Conv → y0 [1, 5, 5, 3]; → Reshape → FullyConnected → Softmax → y1 [1, 4]."""
    rng = np.random.default_rng(20)
    graph = Graph("two_headed.onnx", inputs=["a", "b"], outputs=["y0", "y1"])
    for name, shape, scale, zero_point in (
        ("a", (1, 5, 5, 2), 0.05, 3),
        ("b", (1, 5, 5, 2), 0.02, -7),
        ("s", (1, 5, 5, 2), 0.06, 1),
        ("y0", (1, 5, 5, 3), 0.1, -20),
        ("r", (1, 75), 0.1, -20),
        ("f", (1, 4), 0.3, 5),
        ("y1", (1, 4), 1 / 256, -128),
    ):
        graph.add(Tensor(name, shape, DType.INT8, quantization=Quantization.per_tensor(scale, zero_point)))
    graph.add_constant("conv.weight", rng.integers(-127, 128, (3, 3, 3, 2), np.int8))
    graph.add_constant("conv.bias", rng.integers(-3000, 3000, 3, np.int32))
    graph.add_constant("conv.multiplier", rng.integers(1 << 22, 1 << 23, 3, np.int32))
    graph.add_constant("fc.weight", rng.integers(-127, 128, (4, 75), np.int8))
    graph.add_constant("fc.bias", rng.integers(-3000, 3000, 4, np.int32))
    graph.add_constant("fc.multiplier", rng.integers(1 << 15, 1 << 16, 4, np.int32))
    graph.add_constant("exp", np.rint(2.0**23 * np.exp(-0.3 * np.arange(256))).astype(np.int32))
    add = {"a_zero_point": 3, "b_zero_point": -7, "output_zero_point": 1, "a_multiplier": 3495253, "b_multiplier": 1398101, "shift": 22}
    conv = {
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads": (1, 1, 1, 1),
        "group": 1,
        "variant": "int8",
        "input_zero_point": 1,
        "output_zero_point": -20,
        "shift": 3,
        **CLAMP,
    }
    graph.nodes = [
        Node("Add", "add", ("a", "b"), ("s",), {**add, **CLAMP}),
        Node("Conv", "conv", ("s", "conv.weight", "conv.bias", "conv.multiplier"), ("y0",), conv),
        Node("Reshape", "flatten", ("y0",), ("r",), {"shape": (1, 75)}),
        Node("FullyConnected", "fc", ("r", "fc.weight", "fc.bias", "fc.multiplier"), ("f",), {"output_zero_point": 5, "shift": 4, **CLAMP}),
        Node("Softmax", "softmax", ("f", "exp"), ("y1",), {"output_zero_point": -128, "numerator": 1 << 40, **CLAMP}),
    ]
    return graph


@pytest.fixture(scope="session")
def write_artifact() -> Callable[[Path, str], None]:
    """Write what engines read of the model's folder, under a name."""

    def write(folder: Path, name: str) -> None:
        graph = two_headed_graph()
        program = build_program(graph, plan(graph), name=name, calibrated=True)
        arn = serialize(program)
        (folder / f"{name}.arn").write_bytes(arn)
        for file, text in write_sources(program, arn).items():
            (folder / file).write_text(text)

    return write


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory, write_artifact: Callable[[Path, str], None]) -> Path:
    folder = tmp_path_factory.mktemp("two_headed")
    write_artifact(folder, "two_headed")
    return folder


@pytest.fixture(scope="session")
def samples() -> list[list[NDArray[np.int8]]]:
    rng = np.random.default_rng(21)
    return [[rng.integers(-128, 128, (1, 5, 5, 2), np.int8) for _ in "ab"] for _ in range(9)]
