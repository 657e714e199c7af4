"""Public models: the import computes what onnxruntime computes, float and QDQ alike."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from arenite.frontend import load
from arenite.graph import DType
from arenite.graph.onnx_export import Evaluator

DATA = Path(os.environ.get("ARENITE_DATA", Path(__file__).parents[3] / "shared" / "data"))
MODELS = [
    *(f"mlperf/{name}_fp32" for name in ("ad01", "ic01", "kws01", "sww01", "vww01")),
    *(f"mlperf/{name}_int8_tf2onnx_qdq" for name in ("ad01", "ic01", "kws01", "sww01", "vww01")),
    "mlperf/ic01_fp32_h5",
    "mlperf/kws01_int8_ortq",
    "torch/mnist_dwsep",
    "torch/mnist_lenet",
    "torch/mnist_lenet__qdq_s8_perch",
    "torch/mnist_mbv3_se_hswish",
    "torch/har_cnn1d_norm",
    "torch/digits_vit",
    "keras/keras_digits_sepconv",
    "keras/keras_har_conv1d",
    "repo/mnist8_cntk",
    "repo/edge_autoencoder",
    "repo/neustack_orca_actor",
    "pypi/pulsevad_2.1k",
    "pypi/pulsevad_2.1k_int8",
    "tflite/mcunet_vww",
    "tflite/oww_okay_nabu",
    "tflite/tflm_micro_speech_quantized",
    "tflite/tinymaix_mnist_valid_q",
]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no model collection at {DATA} (set ARENITE_DATA)")
@pytest.mark.parametrize("model", MODELS)
def test_model(model):
    path = DATA / "models" / f"{model}.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    graph = load(path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # its fusions of QDQ saturate on some x86
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    assert graph.inputs == [i.name for i in session.get_inputs()]
    assert graph.outputs == [o.name for o in session.get_outputs()]
    run, random = Evaluator(graph), np.random.default_rng(0)
    outputs = []
    for _ in range(3):
        feeds = {}
        for name in graph.inputs:
            tensor = graph.tensors[name]
            draw = random.integers(-128, 128, tensor.shape) if tensor.dtype is DType.INT8 else random.normal(0, 1, tensor.shape)
            feeds[name] = draw.astype(tensor.dtype.numpy)
        have = run(feeds)
        for name, want in zip(graph.outputs, session.run(None, feeds), strict=True):
            assert have[name].shape == want.shape
            if want.dtype == np.int8:
                np.testing.assert_array_equal(have[name], want)
            else:
                np.testing.assert_allclose(have[name], want, rtol=0, atol=1e-4 * np.abs(want).max())
            outputs.append(np.asarray(want, np.float64).reshape(-1))
    assert np.ptp(np.concatenate(outputs)) > 0, "an output that never varies proves nothing"
