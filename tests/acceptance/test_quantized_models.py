"""Models that come quantized (QDQ, QOperator, dynamic): in float32 with the rounding of their activations, in INT8 with their scales."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from acceptance.test_float32 import Pack
from arenite.frontend import load
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify import Criterion
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[Any]
MODELS = (
    "mlperf/kws01_int8_ortq",
    "mlperf/kws01_int8_tf2onnx_qdq",
    "mlperf/ic01_int8_tf2onnx_qdq",
    "mlperf/vww01_int8_tf2onnx_qdq",
    "mlperf/sww01_int8_tf2onnx_qdq",
    "tflite/tflm_micro_speech_quantized",
    "tflite/tinymaix_mnist_valid_q",
    "torch/mnist_lenet__qdq_s8_perch",
    "torch/mnist_lenet__dynq",
)
"""With a recorded figure. (That of mnist_lenet__qoperator is of a processor on which onnxruntime's sums saturate.)"""
SMALL = ("mlperf/kws01_int8_ortq", "tflite/tinymaix_mnist_valid_q", "torch/mnist_lenet__qdq_s8_perch", "torch/mnist_lenet__dynq")
"""Run every time."""
LARGE = ("mlperf/ic01_int8_tf2onnx_qdq", "mlperf/vww01_int8_tf2onnx_qdq", "torch/mnist_lenet__dynq")
POINTS = 0.002
QOPERATOR = "torch/mnist_lenet__qoperator"


@pytest.fixture(scope="module")
def pack(data: Path) -> Pack:
    return Pack(data)


@pytest.fixture(scope="module")
def converted(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("quantized")

    @cache
    def make(model: str, precision: str, calibration: Path | None = None) -> Conversion:
        io = "model" if precision == "int8" else None
        folder = root / f"{Path(model).name}_{precision}"
        return convert(pack.path(model), ConvertOptions(precision=precision, output=folder, io=io, calibration=calibration))

    return make


def runner(pack: Pack, model: str, conversion: Conversion, engine: str = "c") -> Callable[[Array], Array]:
    """From a sample as the ONNX file declares it to the first output; bytes become the real numbers that they stand for."""
    opened, port = open_engine(engine, conversion.folder), conversion.report.inputs[0]
    source = load(pack.path(model))
    quantization = source.tensors[source.inputs[0]].quantization

    def run(x: Array) -> Array:
        if port.dtype == "float32" and x.dtype in (np.int8, np.uint8):
            assert quantization is not None
            steps = x.astype(np.int32) - (128 if x.dtype == np.uint8 else 0) - int(quantization.zero_point)
            x = steps.astype(np.float32) * np.float32(quantization.scale)
        return opened.run([[np.asarray(x, port.dtype).reshape(port.shape)]])[0][0]

    return run


@pytest.mark.parametrize("model", [pytest.param(m, marks=() if m in SMALL else pytest.mark.long) for m in MODELS])
def test_float32_holds_the_recorded_figure(model: str, pack: Pack, converted: Any) -> None:
    entry = pack.entry(model)
    if entry["eval"] is None:
        pytest.skip(f"the test data of {model} is not here")
    conversion = converted(model, "float32")
    assert [port.dtype for port in conversion.report.outputs] == ["float32"]
    figure = pack.check.evaluate(entry, run=runner(pack, model, conversion))
    assert abs(figure - entry["eval"]["value"]) <= POINTS


@pytest.mark.parametrize("model", [pytest.param(m, marks=pytest.mark.long if m in LARGE else ()) for m in MODELS])
def test_engines_agree_in_float32(model: str, pack: Pack, converted: Any) -> None:
    """But for a step where a sum lies at a half."""
    conversion = converted(model, "float32")
    samples = [[one.reshape(conversion.report.inputs[0].shape)] for one in pack.samples(model, 4)]
    expected = open_engine("numpy", conversion.folder).run(samples)
    for engine in ("c", "compiled"):
        for ours, theirs in zip(open_engine(engine, conversion.folder).run(samples), expected, strict=True):
            assert not any(Criterion.STEP.differing(a, b) for a, b in zip(ours, theirs, strict=True)), engine


def test_dynamically_quantized_layers_run_in_int8(pack: Pack, converted: Any, tmp_path: Path) -> None:
    """Calibrated on 200 training digits; all of it is INT8."""
    model = "torch/mnist_lenet__dynq"
    x, _ = pack.check.load("mnist/nchw01", "train")
    np.savez(tmp_path / "digits.npz", input=np.asarray(x[:200], np.float32))
    conversion = converted(model, "int8", tmp_path / "digits.npz")
    assert conversion.report.precision == "int8" and not {"ConvInteger", "DynamicQuantizeLinear"} & {
        node.op for node in conversion.quantized.graph.nodes
    }
    entry = pack.entry(model)
    assert pack.check.evaluate(entry, run=runner(pack, model, conversion)) >= entry["eval"]["value"] - 0.005


# QOperator


def exact_qoperator(path: Path, x: Array) -> Array:
    """mnist_lenet__qoperator in integers, rounded with float32 multipliers as onnxruntime does: the logits' bytes, and the real logits."""
    graph = onnx.load(path).graph
    values: dict[str, Array] = {init.name: numpy_helper.to_array(init) for init in graph.initializer}
    values[graph.input[0].name] = x
    for node in graph.node:
        i = [values[name] for name in node.input]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = _QOPERATOR[node.op_type](i, attributes)
    return values[graph.output[0].name]


def _requantized(acc: Array, x_scale: Array, w_scale: Array, y_scale: Array, y_zero: Array) -> Array:
    factor = (x_scale * w_scale / y_scale).reshape(1, -1, *(1,) * (acc.ndim - 2))
    return np.clip(np.rint(acc.astype(np.float32) * factor) + int(y_zero), 0, 255).astype(np.uint8)


def _conv(i: list[Array], a: dict[str, Any]) -> Array:
    top, left, bottom, right = a["pads"]
    x = np.pad(i[0].astype(np.int64) - int(i[2]), ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(x, i[3].shape[2:], axis=(2, 3))
    acc = np.einsum("nchwij,ocij->nohw", windows, i[3].astype(np.int64) - i[5].reshape(-1, 1, 1, 1), optimize=True)
    return _requantized(acc + i[8].reshape(1, -1, 1, 1), i[1], i[4], i[6], i[7])


def _gemm(i: list[Array], a: dict[str, Any]) -> Array:
    acc = (i[0].astype(np.int64) - int(i[2])) @ (i[3].astype(np.int64) - i[5].reshape(-1, 1)).T + i[6]
    return _requantized(acc, i[1], i[4], i[7], i[8])


def _pool(i: list[Array], a: dict[str, Any]) -> Array:
    n, c, h, w = i[0].shape
    return np.asarray(i[0].reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5)))


_QOPERATOR: dict[str, Callable[[list[Array], dict[str, Any]], Array]] = {
    "QuantizeLinear": lambda i, a: np.clip(np.rint(i[0] / i[1]) + int(i[2]), 0, 255).astype(np.uint8),
    "DequantizeLinear": lambda i, a: (i[0].astype(np.int32) - int(i[2])).astype(np.float32) * i[1],
    "QLinearConv": _conv,
    "QGemm": _gemm,
    "MaxPool": _pool,
    "Flatten": lambda i, a: i[0].reshape(len(i[0]), -1),
}


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_qoperator_is_exact(precision: str, pack: Pack, converted: Any) -> None:
    """Every logit of 200 digits, but for one step where a product of scales lies at a half; and the same classes."""
    conversion = converted(QOPERATOR, precision)
    assert conversion.report.precision == precision
    x, _ = pack.check.load("mnist/nchw01")
    x = np.asarray(x[:200], np.float32)
    wanted = exact_qoperator(pack.path(QOPERATOR), x)
    run = runner(pack, QOPERATOR, conversion)
    got = np.stack([run(one[None])[0] for one in x])
    step = np.unique(np.abs(np.diff(np.unique(wanted)))).min()
    assert np.abs(got - wanted).max() <= step * 1.001
    assert np.mean(np.abs(got - wanted) > step / 2) < 0.002
    assert np.mean(got.argmax(1) == wanted.argmax(1)) == 1
