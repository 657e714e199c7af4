"""scikit-learn's models from skl2onnx, and a forest of another tool: the recorded figures hold exactly, on every engine."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from arenite.errors import ToolError
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite_runtime import Model
from numpy.typing import NDArray

FIGURES = {
    "bc_gbdt": 0.964789,
    "diabetes_ridge": 0.491959,
    "digits_mlp_scaler": 0.957778,
    "digits_rf20": 0.942222,
    "digits_svc_rbf": 0.988889,
    "iris_tree_zipmap": 0.916667,
    "wine_gnb": 1.0,
}
Array = NDArray[Any]


class Classical:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        spec = importlib.util.spec_from_file_location("model_pack", folder / "check.py")
        assert spec is not None and spec.loader is not None
        self.check: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.check)
        self.entries = {entry["path"]: entry for entry in json.loads((folder / "models.json").read_text())["models"]}

    def path(self, name: str) -> Path:
        return self.folder / "models" / f"{name}.onnx"

    def samples(self, name: str) -> list[Array]:
        """Every test example, as the model takes one."""
        entry = self.entries[f"models/{name}.onnx"]
        shape = entry["inputs"][0]["sample_shape"]
        if not entry.get("eval"):
            return list(np.random.default_rng(0).normal(2, 2, (200, *shape)).astype(np.float32))
        x, _ = self.check.load(entry["eval"]["data"])
        return [np.asarray(row, np.float32).reshape(shape) for row in x]

    def figure(self, name: str, outputs: list[list[Array]]) -> float:
        """The model's metric of the outputs of every test example."""
        entry = self.entries[f"models/{name}.onnx"]
        results = iter(outputs)
        return float(self.check.evaluate(entry, run=lambda x: next(results)[entry["eval"].get("output", 0)]))

    def onnxruntime(self, name: str, samples: list[Array]) -> list[list[Array]]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.path(name), options, providers=["CPUExecutionProvider"])
        feed = session.get_inputs()[0].name
        return [[_plain(value) for value in session.run(None, {feed: x})] for x in samples]


def _plain(value: Any) -> Array:
    """A ZipMap's sequence of maps as rows."""
    return np.asarray([list(row.values()) for row in value], np.float32) if isinstance(value, list) else np.asarray(value)


@pytest.fixture(scope="module")
def classical(data: Path) -> Classical:
    return Classical(data)


@pytest.fixture(scope="module")
def converted(classical: Classical, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Conversion]:
    root = tmp_path_factory.mktemp("classical")

    @cache
    def make(name: str) -> Conversion:
        return convert(classical.path(name), ConvertOptions(precision="float32", output=root / Path(name).name))

    return make


def run(conversion: Conversion, engine: str, samples: list[Array]) -> list[list[Array]]:
    return open_engine(engine, conversion.folder).run([[x] for x in samples])


def same(have: list[list[Array]], want: list[list[Array]]) -> None:
    """Labels exactly, scores within the tolerance of float engines."""
    for outputs, wanted in zip(have, want, strict=True):
        for a, b in zip(outputs, wanted, strict=True):
            assert a.shape == b.shape
            if b.dtype.kind == "i":
                assert a.dtype == np.int64
                np.testing.assert_array_equal(a, b)
            else:
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * float(np.abs(b).max()) + 1e-6)


@pytest.mark.parametrize("engine", ["numpy", "c", "compiled"])
@pytest.mark.parametrize("name", FIGURES)
def test_figures(classical: Classical, converted: Callable[[str], Conversion], name: str, engine: str) -> None:
    samples = classical.samples(f"sklearn/{name}")
    outputs = run(converted(f"sklearn/{name}"), engine, samples)
    assert round(classical.figure(f"sklearn/{name}", outputs), 6) == FIGURES[name]
    same(outputs, classical.onnxruntime(f"sklearn/{name}", samples))


@pytest.mark.parametrize("engine", ["numpy", "c", "compiled"])
def test_another_tools_forest(classical: Classical, converted: Callable[[str], Conversion], engine: str) -> None:
    """On noise, there is no data: every label and every score."""
    samples = classical.samples("repo/onnx2c_treeens")
    same(run(converted("repo/onnx2c_treeens"), engine, samples), classical.onnxruntime("repo/onnx2c_treeens", samples))


@pytest.mark.emulated
@pytest.mark.parametrize("engine", ["emulated", "emulated-compiled"])
@pytest.mark.parametrize("name", ["bc_gbdt", "digits_rf20", "digits_svc_rbf", "wine_gnb"])
def test_emulated(classical: Classical, converted: Callable[[str], Conversion], name: str, engine: str) -> None:
    samples = classical.samples(f"sklearn/{name}")[:25]
    try:
        outputs = run(converted(f"sklearn/{name}"), engine, samples)
    except ToolError as error:
        pytest.skip(str(error))
    same(outputs, classical.onnxruntime(f"sklearn/{name}", samples))


def test_a_forest_is_small(converted: Callable[[str], Conversion]) -> None:
    """4,100 nodes of which 2,040 are inner: 10 bytes each, and the leaves that differ."""
    (arn,) = converted("sklearn/digits_rf20").folder.glob("*.arn")
    assert arn.stat().st_size < 32_000


def test_labels_of_a_zip_map(converted: Callable[[str], Conversion]) -> None:
    (arn,) = converted("sklearn/iris_tree_zipmap").folder.glob("*.arn")
    assert [port.labels for port in Model.load(arn).outputs] == [(), ("0", "1", "2")]
