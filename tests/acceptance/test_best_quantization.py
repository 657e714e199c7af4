"""`--quantize best` on models with test data: what INT8 loses, by the C interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acceptance.model_pack import Pack, PackModel, folder
from arenite.pipeline import ConvertOptions, convert
from arenite.quantize import selected
from arenite.targets import open_engine
from arenite.verify.ports import Ports
from numpy.typing import NDArray

LOSS = 0.005
SMALL = ("keras/keras_har_conv1d", "sklearn/digits_mlp_scaler")


def _models() -> dict[str, PackModel]:
    """Those that are not quantized yet and have test data, by name; empty where the pack is not here."""
    at = folder()
    pack = Pack(at).models.values() if (at / "models.json").is_file() else ()
    return {model.name: model for model in pack if model.metric is not None and not model.rounds and not model.is_refused}


MODELS = _models()
pytestmark = pytest.mark.skipif(not MODELS, reason=f"real models are not here: {folder()} (set ARENITE_DATA)")


def outputs(model: PackModel, calibration: dict[str, Any], at: Path) -> list[list[NDArray[Any]]]:
    """Of every test sample, as real values."""
    np.savez(at / "calibration.npz", **calibration)
    np.savez(at / "test.npz", **dict[str, Any](model.test_samples()))
    options = ConvertOptions(
        calibration=at / "calibration.npz", output=at / "folder", shapes=model.shapes, values=model.values, methods=selected("best")
    )
    converted = convert(model.path, options)
    ports = Ports.read(converted.folder)
    samples = [ports.engine_inputs(sample) for sample in ports.load(at / "test.npz").samples()]
    return [ports.real_outputs(result) for result in open_engine("c", converted.folder).run(samples)]


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SMALL else pytest.mark.long) for name in MODELS])
def test_loss_of_best(name: str, tmp_path: Path) -> None:
    model = MODELS[name]
    assert model.recorded is not None
    assert model.figure(outputs(model, dict(model.calibration_samples()), tmp_path)) >= model.recorded - LOSS


@pytest.mark.long
def test_keyword_spotting_on_clips_that_calibration_has_not_seen(tmp_path: Path) -> None:
    """Calibrated on the 204 clips that are marked for it. Float: 91.5 % of all 1000, 91.3 % of the other 796."""
    model = MODELS["mlperf/kws01_fp32"]
    (port,) = model.entry["inputs"]
    x = np.asarray(model.pack.check.load("kws01/f32", "train")[0], np.float32)
    marked = np.load(model.pack.folder / "data/kws01.npz")["is_calib"].astype(bool)
    labels = np.asarray(model.pack.check.load("kws01/f32")[1])
    assert len(x) == marked.sum() == 204
    results = outputs(model, {port["name"]: x.reshape(len(x), *port["sample_shape"])}, tmp_path)
    hits = np.array([int(result[0].argmax()) for result in results]) == labels
    assert hits.mean() >= 0.913
    assert hits[~marked].mean() >= 0.913 - LOSS
