"""A small image classifier with its data, converted once a session, and the command line as a function."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.cli import app
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

CLASSES = 5


def classifier(dimensions: tuple[int | str, ...] = (1, 3, 6, 6), *, name: str = "classifier") -> onnx.ModelProto:
    """Conv 3×3 → Relu → GlobalAveragePool → Flatten → Gemm: float, NCHW, seeded."""
    random = np.random.default_rng(7)
    weights = {
        "w1": random.normal(0, 0.3, (4, 3, 3, 3)),
        "b1": random.normal(0, 0.2, 4),
        "w2": random.normal(0, 1.0, (CLASSES, 4)),
        "b2": random.normal(0, 0.2, CLASSES),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w2", "b2"], ["scores"], "gemm", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dimensions)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value.astype(np.float32), key) for key, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def samples(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 1, (count, 3, 6, 6)).astype(np.float32)


@dataclass(frozen=True)
class Project:
    """A folder with model.onnx, calibration.npz, labelled test.npz, and `built`, converted from them."""

    folder: Path

    @property
    def model(self) -> Path:
        return self.folder / "model.onnx"

    @property
    def calibration(self) -> Path:
        return self.folder / "calibration.npz"

    @property
    def data(self) -> Path:
        return self.folder / "test.npz"

    @property
    def built(self) -> Path:
        return self.folder / "built"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON object that it must be."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


Arenite = Callable[..., Outcome]


@pytest.fixture(scope="session")
def arenite() -> Arenite:
    """`arenite(*words)`: the command line in this process."""

    def run(*words: object) -> Outcome:
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, arenite: Arenite) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    onnx.save(classifier(), project.model)
    np.savez(project.calibration, x=samples(16))
    np.savez(project.data, x=samples(12, seed=1), y=np.arange(12) % CLASSES)
    outcome = arenite("convert", project.model, "--calibration", project.calibration, "--output", project.built)
    assert outcome.code == 0, outcome.err
    return project


@pytest.fixture(scope="session")
def make_classifier() -> Callable[..., onnx.ModelProto]:
    return classifier
