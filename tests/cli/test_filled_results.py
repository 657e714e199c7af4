"""A detector and a mask through the whole program: as many rows as there can be results, compared with onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


def detector(path):
    """Boxes of a dense layer's making, selected, and gathered row by row."""
    rng = np.random.default_rng(5)
    constants = {
        "w": rng.normal(0, 0.4, (8, 60)).astype(np.float32),
        "boxes": np.array([1, 10, 4]),
        "scores": np.array([1, 2, 10]),
        "parts": np.array([40, 20]),
        "most": np.array([4]),
        "iou": np.array([0.2], np.float32),
        "least": np.array([0.3], np.float32),
        "two": np.array(2),
        "first": np.array([0]),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["d"], "dense"),
        helper.make_node("Split", ["d", "parts"], ["b", "s"], axis=1),
        helper.make_node("Reshape", ["b", "boxes"], ["b3"]),
        helper.make_node("Reshape", ["s", "scores"], ["s3"]),
        helper.make_node("NonMaxSuppression", ["b3", "s3", "most", "iou", "least"], ["found"], "select"),
        helper.make_node("Gather", ["found", "two"], ["index"], axis=1),
        helper.make_node("Squeeze", ["b3", "first"], ["all"]),
        helper.make_node("Gather", ["all", "index"], ["chosen"], axis=0),
    ]
    outputs = [("found", TensorProto.INT64, ["n", 3]), ("chosen", TensorProto.FLOAT, ["n", 4])]
    save(path, nodes, [1, 8], outputs, constants)


def save(path, nodes, x, outputs, constants):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info(*output) for output in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.mark.parametrize("engine", ["c", "compiled"])
def test_detector(arenite, tmp_path, engine):
    detector(tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.random.default_rng(0).normal(0, 1, (16, 8)).astype(np.float32))
    assert arenite("convert", tmp_path / "m.onnx", "--precision", "float32").code == 0
    outcome = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "d.npz", "--engine", engine, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["agree"]
    assert outcome.json["engines"][engine]["sqnr_db"] > 80
    assert arenite("run", tmp_path / "m", "--input", tmp_path / "d.npz", "--output", tmp_path / "y.npz").code == 0
    found = np.load(tmp_path / "y.npz")["found"]
    filled = (found == -1).all(axis=-1)
    assert found.shape[1:] == (8, 3) and 0 < filled.sum() < filled.size
    assert (np.diff(filled.astype(int), axis=1) >= 0).all()  # behind the results


def test_mask(arenite, tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("NonZero", ["r"], ["y"], "places")]
    save(tmp_path / "m.onnx", nodes, [3, 4], [("y", TensorProto.INT64, [2, "n"])], {})
    np.savez(tmp_path / "d.npz", x=np.random.default_rng(0).normal(0, 1, (8, 3, 4)).astype(np.float32))
    assert arenite("convert", tmp_path / "m.onnx", "--precision", "float32").code == 0
    outcome = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "d.npz", "--engine", "c", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.json["agree"]
    assert outcome.json["engines"]["c"]["top1_agreement"] == 1
    assert arenite("run", tmp_path / "m", "--input", tmp_path / "d.npz", "--output", tmp_path / "y.npz").code == 0
    x = np.load(tmp_path / "d.npz")["x"]
    for sample, places in zip(x, np.load(tmp_path / "y.npz")["y"], strict=True):
        found = np.stack(np.nonzero(sample > 0))
        np.testing.assert_array_equal(places[:, : found.shape[1]], found)
        assert (places[:, found.shape[1] :] == -1).all()
