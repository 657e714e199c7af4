"""`--precision float32` on real models: the recorded figure held, every engine within the design's tolerance of the others."""

from __future__ import annotations

import importlib.util
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify import Criterion
from numpy.typing import NDArray

LONG = bool(os.environ.get("ARENITE_LONG"))
MODELS = (
    "mlperf/kws01_fp32",
    "mlperf/ic01_fp32",
    "mlperf/vww01_fp32",
    "mlperf/ad01_fp32",
    "mlperf/sww01_fp32",
    "torch/mnist_lenet",
    "torch/mnist_dwsep",
    "torch/mnist_mbv3_se_hswish",
    "keras/keras_digits_sepconv",
    "keras/keras_har_conv1d",
)
POINTS = 0.002
"""The recorded figure is held this closely."""
EMULATED = ("mlperf/kws01_fp32", "mlperf/sww01_fp32", "torch/mnist_mbv3_se_hswish", "keras/keras_digits_sepconv", "keras/keras_har_conv1d")


class Pack:
    """The models with their recorded figures, and the data that gave them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        spec = importlib.util.spec_from_file_location("model_pack", folder / "check.py")
        assert spec is not None and spec.loader is not None
        self.check: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.check)
        listed = json.loads((folder / "models.json").read_text())["models"]
        self.entries = {entry["path"]: entry for entry in listed}

    def path(self, model: str) -> Path:
        return self.folder / "models" / f"{model}.onnx"

    def entry(self, model: str) -> dict[str, Any]:
        return dict(self.entries[f"models/{model}.onnx"])

    def samples(self, model: str, count: int) -> NDArray[np.float32]:
        """[count, *input shape]: test data where the pack has it, else noise."""
        entry = self.entry(model)
        shape = entry["inputs"][0]["sample_shape"]
        if entry["eval"] is None:
            return np.random.default_rng(3).normal(0, 1, (count, *shape)).astype(np.float32)
        x = np.asarray(self.check.load(entry["eval"]["data"])[0], np.float32)
        x = x[np.linspace(0, len(x) - 1, min(count, len(x))).astype(int)]
        return x.reshape(len(x), *shape)


@pytest.fixture(scope="module")
def pack(data: Path) -> Pack:
    return Pack(data)


@pytest.fixture(scope="module")
def converted(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("float32")

    @cache
    def make(model: str) -> Conversion:
        return convert(pack.path(model), ConvertOptions(precision="float32", output=root / Path(model).name))

    return make


@pytest.mark.parametrize("model", MODELS)
def test_recorded_figure_is_held(model: str, pack: Pack, converted: Any) -> None:
    entry = pack.entry(model)
    if entry["eval"] is None:
        pytest.skip(f"the test data of {model} is not here")
    engine = open_engine("c", converted(model).folder)
    port = converted(model).report.inputs[0]
    figure = pack.check.evaluate(entry, run=lambda x: engine.run([[np.asarray(x, np.float32).reshape(port.shape)]])[0][0])
    assert abs(figure - entry["eval"]["value"]) <= POINTS


@pytest.mark.parametrize("model", MODELS)
def test_engines_agree_with_each_other_and_onnxruntime(model: str, pack: Pack, converted: Any) -> None:
    conversion = converted(model)
    session = onnxruntime.InferenceSession(str(pack.path(model)), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    x = pack.samples(model, 100 if LONG else 6)
    samples = [[one] for one in x]
    theirs = [session.run(None, {name: one}) for one in x]
    by_numpy = open_engine("numpy", conversion.folder).run(samples)
    for engine in ("c", "compiled"):
        for ours, expected in zip(open_engine(engine, conversion.folder).run(samples), by_numpy, strict=True):
            assert not any(Criterion.TOLERANCE.differing(a, b) for a, b in zip(ours, expected, strict=True)), engine
    for ours, expected in zip(by_numpy, theirs, strict=True):
        for a, b in zip(ours, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-4 * float(np.abs(b).max()) + 1e-6)


@pytest.mark.emulated
@pytest.mark.parametrize("model", EMULATED)
@pytest.mark.parametrize("engine", ["emulated", "emulated-compiled"])
def test_emulated_engines_agree(engine: str, model: str, pack: Pack, converted: Any) -> None:
    conversion = converted(model)
    samples = [[one] for one in pack.samples(model, 2)]
    expected = open_engine("numpy", conversion.folder).run(samples)
    for ours, theirs in zip(open_engine(engine, conversion.folder).run(samples), expected, strict=True):
        assert not any(Criterion.TOLERANCE.differing(a, b) for a, b in zip(ours, theirs, strict=True))
