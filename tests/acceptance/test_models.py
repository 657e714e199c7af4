"""Every model of the pack converts, holds its recorded figure in float32, and gives the same results on every engine.

In the default suite the small ones, with `make test-long` all; docs/models.md is the table of all (tests/acceptance/models.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance.model_pack import Pack, PackModel, folder
from acceptance.sweep import measure, refusal

POINTS = 0.002
"""float32 holds the recorded figure this closely."""
EXACT = {"torch/mnist_lenet__qoperator": 0.9565}
"""In place of recorded figures whose sums saturated in onnxruntime (test_quantized_models.py computes the exact results)."""
LEAST_DB = 90.0
"""float32 against onnxruntime, where there is no figure."""
LOSS = 0.005
"""What INT8 may cost with default options, in accuracy, R² or IoU."""
SMALL = (
    "keras/keras_digits_sepconv",
    "repo/edge_autoencoder",
    "sklearn/bc_gbdt",
    "sklearn/diabetes_ridge",
    "sklearn/digits_mlp_scaler",
    "sklearn/wine_gnb",
    "torch/vowels_bigru",
    "tflite/tflm_hello_world_int8",
)
REASONS = {
    "refuse/deeploy_kws_dscnn": "RequantShift",
    "refuse/har_cnn1d_norm__qdq_s8_perch": "opset 13",
    "refuse/keras3_digits_cnn_export": "Erfc",
}


def _models() -> dict[str, PackModel]:
    """By name, empty where the pack is not here."""
    at = folder()
    return {model.name: model for model in Pack(at).models.values()} if (at / "models.json").is_file() else {}


MODELS = _models()
pytestmark = pytest.mark.skipif(not MODELS, reason=f"real models are not here: {folder()} (set ARENITE_DATA)")
CONVERTED = [pytest.param(name, marks=() if name in SMALL else pytest.mark.long) for name, model in MODELS.items() if not model.is_refused]


@pytest.mark.parametrize("name", CONVERTED)
def test_figures_and_engines(name: str, tmp_path: Path) -> None:
    row = measure(MODELS[name], tmp_path)
    assert row.float32.disagreements == ()
    if row.recorded is not None:
        assert row.float32.figure is not None
        assert abs(row.float32.figure - EXACT.get(name, row.recorded)) <= POINTS
    elif not MODELS[name].rounds:
        assert row.float32.sqnr_db >= LEAST_DB
    if row.int8 is None:
        return
    assert row.int8.disagreements == ()
    assert row.int8.bytes_compared or row.int8.float_layers or row.int8.precision == "mixed"
    if row.int8.figure is not None and row.float32.figure is not None:
        assert row.float32.figure - row.int8.figure <= LOSS


@pytest.mark.parametrize("name", REASONS if MODELS else ())
def test_invalid_models_are_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    assert REASONS[name] in refusal(MODELS[name], tmp_path / "folder")
