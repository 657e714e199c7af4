"""Reductions, run-time indices and recurrent layers in one model: NumPy, the C interpreter and compiled C against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.targets.engine import open_engine
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

NODES = [
    helper.make_node("TopK", ["x", "two"], ["top", "places"], axis=2),
    helper.make_node("ArgMax", ["x"], ["best"], axis=1, keepdims=0),
    helper.make_node("Gather", ["x", "i"], ["chosen"], axis=1),
    helper.make_node("ReduceLogSumExp", ["chosen", "axes"], ["folded"]),
    helper.make_node("CumSum", ["places", "one"], ["walked"]),
    helper.make_node("ScatterND", ["x", "pairs", "folded_rows"], ["scattered"], reduction="add"),
    helper.make_node("Reshape", ["folded", "rows"], ["folded_rows"]),
    helper.make_node("Trilu", ["scattered", "k"], ["triangle"], upper=0),
    helper.make_node("OneHot", ["best", "depth", "pair"], ["hot"]),
    helper.make_node("LayerNormalization", ["triangle", "scale"], ["even"]),
    helper.make_node("LSTM", ["even", "w", "r"], ["", "h", "c"], hidden_size=2, direction="reverse"),
    helper.make_node("Greater", ["x", "zero"], ["positive"]),
    helper.make_node("ReduceMax", ["positive_u8", "axes"], ["any"], keepdims=0),
    helper.make_node("Cast", ["positive"], ["positive_u8"], to=TensorProto.UINT8),
]
ORDER = [0, 1, 2, 3, 4, 6, 5, 7, 8, 9, 10, 11, 13, 12]
OUTPUTS = {
    "top": TensorProto.FLOAT,
    "walked": TensorProto.INT64,
    "hot": TensorProto.FLOAT,
    "h": TensorProto.FLOAT,
    "c": TensorProto.FLOAT,
    "any": TensorProto.UINT8,
}


def model() -> onnx.ModelProto:
    rng = np.random.default_rng(4)
    constants = {
        "two": np.asarray([2]),
        "one": np.asarray(1),
        "axes": np.asarray([0, 1]),
        "rows": np.asarray([1, 5]),
        "depth": np.asarray(4),
        "pair": np.asarray([-1, 1], np.float32),
        "zero": np.asarray(0, np.float32),
        "scale": rng.standard_normal(5).astype(np.float32),
        "w": rng.standard_normal((1, 8, 5)).astype(np.float32),
        "r": rng.standard_normal((1, 8, 2)).astype(np.float32),
    }
    ints = {"i": [3], "pairs": [1, 2], "k": []}
    graph = helper.make_graph(
        [NODES[i] for i in ORDER],
        "typed",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4, 5]),
            *(helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in ints.items()),
        ],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in OUTPUTS.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    return onnx.shape_inference.infer_shapes(made)


@pytest.mark.parametrize("seed", [0, 1])
def test_engines(tmp_path: Path, seed: int) -> None:
    from arenite.cli import app

    onnx.save(model(), tmp_path / "typed.onnx")
    done = CliRunner().invoke(app, ["convert", str(tmp_path / "typed.onnx"), "--precision", "float32", "--output", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    rng = np.random.default_rng(seed)
    feeds = {
        "x": rng.standard_normal((3, 4, 5)).astype(np.float32),
        "i": np.asarray([0, -1, 2]),
        "pairs": np.asarray([[seed, -1]]),
        "k": np.asarray(seed - 1),
    }
    session = onnxruntime.InferenceSession(str(tmp_path / "typed.onnx"), providers=["CPUExecutionProvider"])
    wanted = session.run(list(OUTPUTS), feeds)
    for engine in ("numpy", "c", "compiled"):
        (results,) = open_engine(engine, tmp_path / "out").run([list(feeds.values())])
        for name, result, want in zip(OUTPUTS, results, wanted, strict=True):
            assert result.dtype == want.dtype and result.shape == want.shape, f"{engine}: {name}"
            np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5, err_msg=f"{engine}: {name}")
