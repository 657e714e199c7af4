"""The example package of docs/own-operators.md, and models that use its operator."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.own_operators import OWN_OPERATORS, used_operators
from arenite_runtime import OwnOperator
from onnx import TensorProto, helper, numpy_helper

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "median_filter"
DECLARATION = EXAMPLE / "median_filter" / "operator.py"
SHAPE = (1, 2, 33)


def filtering_model(window: int = 5, version: int = 1) -> onnx.ModelProto:
    """MedianFilter → Conv → MedianFilter."""
    weights = np.random.default_rng(3).normal(0, 0.4, (4, 2, 5)).astype(np.float32)
    nodes = [
        helper.make_node("MedianFilter", ["x"], ["smooth"], "first", domain="com.example", window=window),
        helper.make_node("Conv", ["smooth", "w"], ["c"], "conv", pads=[2, 2]),
        helper.make_node("MedianFilter", ["c"], ["y"], "second", domain="com.example"),
    ]
    graph = helper.make_graph(
        nodes,
        "filtering",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4, SHAPE[2]))],
        [numpy_helper.from_array(weights, "w")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.fixture(scope="session")
def make_model() -> Callable[..., onnx.ModelProto]:
    return filtering_model


@pytest.fixture(scope="session")
def declaration() -> Path:
    return DECLARATION


@pytest.fixture(scope="session")
def samples() -> np.ndarray:
    return np.random.default_rng(1).normal(0, 1, (4, *SHAPE)).astype(np.float32)


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory, samples: np.ndarray) -> Path:
    """model.onnx and data.npz."""
    folder = tmp_path_factory.mktemp("filtering")
    onnx.save(filtering_model(), folder / "model.onnx")
    np.savez(folder / "data.npz", x=samples)
    return folder


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for sys.path into which the example is installed as a user would, but for the network."""
    folder = tmp_path_factory.mktemp("site")
    offline = ["--no-index", "--no-build-isolation", "--no-deps", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder), str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def own_kernels() -> OwnOperator:
    with used_operators([DECLARATION]):
        return OWN_OPERATORS["com.example::MedianFilter"].kernels


@pytest.fixture(scope="session")
def arenite_command() -> list[str]:
    return [sys.executable, "-c", "from arenite.cli import main; main()"]
