"""The whole order of passes, on real models where they are present."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from arenite.frontend import load
from arenite.graph import DType, Graph
from arenite.graph.onnx_export import evaluate
from arenite.passes import optimize

Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]

FLOAT = {
    "mlperf/kws01_fp32": {"Conv": 5, "DepthwiseConv": 4, "AveragePool": 1, "Reshape": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/sww01_fp32": {"Conv": 4, "DepthwiseConv": 4, "Reshape": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/ic01_fp32": {"Conv": 9, "Add": 3, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/ic01_fp32_h5": {"Conv": 9, "Add": 3, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/vww01_fp32": {"Conv": 14, "DepthwiseConv": 13, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/ad01_fp32": {"FullyConnected": 10},
    "torch/mnist_lenet": {"Conv": 2, "MaxPool": 2, "FullyConnected": 2, "Reshape": 2},
    "torch/mnist_dwsep": {"Conv": 4, "DepthwiseConv": 3, "ReduceMean": 1, "FullyConnected": 1, "Reshape": 1},
    "torch/mnist_mbv3_se_hswish": {
        "Conv": 13,
        "DepthwiseConv": 3,
        "Elementwise": 10,
        "ReduceMean": 4,
        "Mul": 3,
        "Add": 1,
        "FullyConnected": 1,
        "Reshape": 1,
    },
    "torch/har_cnn1d_norm": {"Transpose": 1, "Reshape": 2, "Conv": 2, "MaxPool": 1, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "keras/keras_digits_sepconv": {"Conv": 3, "DepthwiseConv": 2, "Elementwise": 1, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "keras/keras_har_conv1d": {"Conv": 2, "MaxPool": 1, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1, "Reshape": 4},
    "repo/mnist8_cntk": {"Conv": 2, "MaxPool": 2, "FullyConnected": 1, "Reshape": 2},
    "pypi/pulsevad_2.1k": {"Transpose": 1, "Conv": 9, "DepthwiseConv": 4, "Add": 1, "ReduceMean": 1, "FullyConnected": 1, "Reshape": 2},
}
QDQ = {
    "mlperf/kws01_int8_tf2onnx_qdq": {"Conv": 5, "DepthwiseConv": 4, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/kws01_int8_ortq": {"Conv": 5, "DepthwiseConv": 4, "AveragePool": 1, "Reshape": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/sww01_int8_tf2onnx_qdq": {"Conv": 4, "DepthwiseConv": 4, "Reshape": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/ic01_int8_tf2onnx_qdq": {"Conv": 9, "Add": 3, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/vww01_int8_tf2onnx_qdq": {"Conv": 14, "DepthwiseConv": 13, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "mlperf/ad01_int8_tf2onnx_qdq": {"FullyConnected": 10},
    "torch/mnist_lenet__qdq_s8_perch": {"Conv": 2, "MaxPool": 2, "FullyConnected": 2, "Reshape": 2},
    "tflite/tflm_micro_speech_quantized": {"Conv": 1, "FullyConnected": 1, "Softmax": 1, "Reshape": 2},
    "tflite/tinymaix_mnist_valid_q": {"Conv": 3, "ReduceMean": 1, "FullyConnected": 1, "Softmax": 1},
    "pypi/pulsevad_2.1k_int8": {
        "Transpose": 1,
        "Conv": 9,
        "DepthwiseConv": 4,
        "Add": 1,
        "ReduceMean": 1,
        "FullyConnected": 1,
        "Reshape": 2,
    },
}


def opened(models: Path, name: str) -> Graph:
    path = models / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"no {path}")
    return load(path)


@pytest.mark.parametrize("name", FLOAT)
def test_real_float_models(models: Path, same: Same, ops: Ops, name: str) -> None:
    graph = opened(models, name)
    optimized = optimize(graph)
    assert dict(Counter(ops(optimized))) == FLOAT[name]
    same(graph, optimized, tolerance=1e-5, scale=0.25)
    assert {origin for node in graph.nodes for origin in (node.origins or (node.name,)) if node.op not in ("Transpose", "Reshape")} <= {
        origin for node in optimized.nodes for origin in (node.origins or (node.name,))
    }


@pytest.mark.parametrize("name", QDQ)
def test_real_quantized_models(models: Path, ops: Ops, name: str) -> None:
    """Every activation has the scale that the file gives it (but the unrounded result of onnxruntime's float output), and rounding to
    these gives the same values but for the ties that another order of float sums decides otherwise."""
    graph = opened(models, name)
    optimized = optimize(graph)
    assert dict(Counter(ops(optimized))) == QDQ[name]
    scales = {t.quantization.scale.tobytes() for t in graph.tensors.values() if t.quantization is not None}
    for tensor in optimized.tensors.values():
        assert tensor.is_constant or (tensor.quantization is not None and tensor.quantization.scale.tobytes() in scales)
    generator = np.random.default_rng(3)
    raw, real = {}, {}
    for port in graph.inputs:
        q = optimized.tensors[port].quantization
        assert q is not None
        stored = generator.integers(-128, 128, graph.tensors[port].shape).astype(np.int8)
        real[port] = (q.scale * (stored.astype(np.float32) - q.zero_point)).astype(np.float32)
        raw[port] = stored if graph.tensors[port].dtype is DType.INT8 else real[port]
    expected, actual = evaluate(graph, raw), evaluate(optimized, real, fake_quantize=True)
    for port in graph.outputs:
        q = optimized.tensors[port].quantization
        assert q is not None
        want = expected[port].astype(np.float32)
        if expected[port].dtype == np.int8:
            want = q.scale * (want - q.zero_point)
        steps = np.abs(actual[port] - want) / q.scale
        assert steps.max() < 1.01
        assert np.mean(steps > 0.5) <= 0.01


@pytest.mark.parametrize("name", FLOAT)
def test_real_models_in_nhwc(models: Path, ops: Ops, name: str) -> None:
    optimized = optimize(opened(models, name), io_layout="nhwc")
    assert "Transpose" not in ops(optimized)


def network(b: Any) -> Graph:
    x = b.node("Sub", b.input(1, 3, 8, 8, name="image"), b.constant(b.values(1, 3, 1, 1)))
    x = b.relu(b.nchw(b.batch_norm, b.nchw(b.conv, x, 4, kernel=3, pad=0)))
    x = b.transpose(b.pool("MaxPool", b.transpose(x, (0, 2, 3, 1))), (0, 3, 1, 2))
    y = b.nchw(b.depthwise, x)
    x = b.node("Add", x, b.node("Mul", y, b.function("Sigmoid", y)))
    x = b.fully_connected(b.reshape(x, 1, 36), 5, bias=False)
    return b.done(b.node("Softmax", b.node("Add", x, b.constant(b.values(1, 5))), out="classes"))


def test_a_small_network(build: Any, same: Same, ops: Ops) -> None:
    graph = network(build)
    seen: list[str] = []
    optimized = optimize(graph, on_pass=lambda name, _: seen.append(name))
    assert ops(optimized) == ["Transpose", "Conv", "MaxPool", "DepthwiseConv", "Elementwise", "Add", "Reshape", "FullyConnected", "Softmax"]
    same(graph, optimized)
    assert seen[:4] == ["remove_dead", "fold_constants", "annotate_int16", "absorb_qdq"]
    assert "choose_layouts" in seen


def test_in_nhwc_a_network_takes_images_as_they_lie(build: Any) -> None:
    graph = network(build)
    optimized = optimize(graph, io_layout="nhwc")
    assert optimized.tensors["image"].shape == (1, 8, 8, 3)
    x = np.random.default_rng(0).normal(size=(1, 3, 8, 8)).astype(np.float32)
    want = evaluate(graph, {"image": x})["classes"]
    got = evaluate(optimized, {"image": x.transpose(0, 2, 3, 1)})["classes"]
    np.testing.assert_allclose(got, want, atol=1e-6)


def test_optimizing_twice_changes_nothing(build: Any) -> None:
    once = optimize(network(build))
    assert optimize(once).nodes == once.nodes


def test_an_unknown_layout(build: Any) -> None:
    with pytest.raises(ValueError, match="io_layout is 'nchw'; it must be one of onnx, nhwc"):
        optimize(network(build), io_layout="nchw")


def test_errors_pass_through(build: Any) -> None:
    x = build.input(1, 4)
    vectors = [build.constant(np.full(4, value)) for value in (1.0, 0.0, 0.0, -1.0)]
    with pytest.raises(UnsupportedModelError, match="norm1"):
        optimize(build.done(build.node("BatchNormalization", x, *vectors, epsilon=1e-3, name="norm1")))
