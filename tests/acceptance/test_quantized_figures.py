"""Models that come quantized give onnxruntime's figures in INT8, to 0.1 points, and are nearer to exact arithmetic than it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from acceptance import quantized
from acceptance.model_pack import Pack

POINTS = 0.001
STATIC = (
    "mlperf/ad01_int8_tf2onnx_qdq",
    "mlperf/ic01_int8_tf2onnx_qdq",
    "mlperf/kws01_int8_ortq",
    "mlperf/kws01_int8_tf2onnx_qdq",
    "mlperf/sww01_int8_tf2onnx_qdq",
    "mlperf/vww01_int8_tf2onnx_qdq",
    "pypi/pulsevad_2.1k_int8",
    "tflite/mcunet_vww",
    "tflite/tflm_hello_world_int8",
    "tflite/tflm_micro_speech_quantized",
    "tflite/tinymaix_mnist_valid_q",
    "torch/mnist_lenet__qdq_s8_perch",
)
SHORT = (
    "mlperf/sww01_int8_tf2onnx_qdq",
    "pypi/pulsevad_2.1k_int8",
    "tflite/tflm_hello_world_int8",
    "tflite/tflm_micro_speech_quantized",
    "torch/mnist_lenet__qdq_s8_perch",
)
"""Run every time."""
NEARLY_EXACT = 0.96
"""Share of the outputs that are as exact arithmetic has them: sums that lie within 2^-31 of a half may be rounded the other way, and what
follows differs."""


@pytest.fixture(scope="module")
def pack(data: Path) -> Pack:
    return Pack(data)


def model_of(pack: Pack, name: str) -> quantized.PackModel:
    return pack.models[f"models/{name}.onnx"]


def test_every_quantized_model_is_listed(pack: Pack) -> None:
    others = {quantized.DYNAMIC, quantized.QOPERATOR}
    assert {model.name for model in pack.models.values() if quantized.is_quantized(model)} == {*STATIC, *others}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in SHORT else pytest.mark.long) for name in STATIC])
def test_static(name: str, pack: Pack, tmp_path: Path) -> None:
    row = quantized.measure(model_of(pack, name), tmp_path)
    assert row.precision == "int8"
    if row.onnxruntime is not None and row.ours is not None:
        assert abs(row.ours - row.onnxruntime) <= POINTS
    assert row.onnxruntime_exact is not None and row.ours_exact is not None
    assert row.ours_exact >= NEARLY_EXACT
    assert row.ours_exact >= row.onnxruntime_exact - POINTS
    assert row.agreement is None or row.agreement >= 0.99


@pytest.mark.parametrize("precision", [pytest.param("int8", marks=pytest.mark.long), pytest.param("float32", marks=pytest.mark.long)])
def test_dynamic(precision: str, pack: Pack, tmp_path: Path) -> None:
    """The float32 form measures the ranges of activations with every inference, as the file does; the INT8 form is calibrated."""
    row = quantized.measure(model_of(pack, quantized.DYNAMIC), tmp_path, precision)
    assert row.onnxruntime is not None and row.ours is not None
    assert abs(row.ours - row.onnxruntime) <= POINTS
    assert precision == "int8" or row.equal > 0.999


@pytest.mark.long
def test_qoperator(pack: Pack, tmp_path: Path) -> None:
    """Against exact integers: onnxruntime's kernels saturate on processors without VNNI."""
    row = quantized.measure(model_of(pack, quantized.QOPERATOR), tmp_path)
    assert row.exact is not None and row.ours is not None
    assert abs(row.ours - row.exact) <= POINTS
    assert row.ours_exact is not None and row.ours_exact >= 0.999
