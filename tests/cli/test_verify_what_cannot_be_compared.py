"""`verify` where the float model, the labels or the figures are not what they should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import CalibrationError
from arenite.verify.metrics import sqnr_db
from arenite.verify.verification import class_labels
from onnx import TensorProto, helper, numpy_helper


def save(path, nodes, x, y=None, initializers=()):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
        list(initializers),
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.mark.parametrize("declared", [None, (1, 2, 6, 6)], ids=["undeclared", "declared as onnxruntime has it"])
def test_onnxruntime_departs_from_the_specification(arenite, tmp_path, declared):
    """A dilated pool with auto_pad SAME_LOWER: the output has the shape of the input (ONNX, MaxPool), onnxruntime's is smaller."""
    node = helper.make_node("MaxPool", ["x"], ["y"], "pool", kernel_shape=[3, 3], dilations=[2, 2], strides=[1, 1], auto_pad="SAME_LOWER")
    save(tmp_path / "m.onnx", [node], (1, 2, 8, 8))
    np.savez(tmp_path / "d.npz", x=np.random.default_rng(0).normal(0, 1, (8, 2, 8, 8)).astype(np.float32))
    assert arenite("convert", tmp_path / "m.onnx", "--calibration", tmp_path / "d.npz").code == 0
    save(tmp_path / "m.onnx", [node], (1, 2, 8, 8), declared)
    outcome = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "d.npz", "--engine", "numpy", "--json")
    assert outcome.code == 10 == outcome.json["error"]["exit_code"]
    for words in ("output y", "[1, 2, 6, 6] in onnxruntime", "[1, 2, 8, 8] in", "onnxruntime does not follow the specification"):
        assert words in outcome.err


def test_a_model_of_another_output_shape(arenite, tmp_path):
    """The same names and another shape: not the file that was converted, and no fault of onnxruntime."""
    for width in (3, 5):
        weights = numpy_helper.from_array(np.ones((4, width), np.float32), "w")
        save(tmp_path / "m.onnx", [helper.make_node("MatMul", ["x", "w"], ["y"], "dense")], (1, 4), initializers=[weights])
        if width == 3:
            np.savez(tmp_path / "d.npz", x=np.random.default_rng(0).normal(0, 1, (8, 4)).astype(np.float32))
            assert arenite("convert", tmp_path / "m.onnx", "--calibration", tmp_path / "d.npz").code == 0
    outcome = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "d.npz", "--engine", "numpy")
    assert outcome.code == 11 and "[1, 5] in onnxruntime" in outcome.err and "[1, 3] in" in outcome.err and "another version" in outcome.err


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_float_model_whose_outputs_are_no_numbers(arenite, project, make_classifier, tmp_path, value):
    model = make_classifier()
    bias = numpy_helper.to_array(model.graph.initializer[3]).copy()
    bias[2] = value
    model.graph.initializer[3].CopyFrom(numpy_helper.from_array(bias, "b2"))
    onnx.save(model, tmp_path / "m.onnx")
    outcome = arenite("verify", tmp_path / "m.onnx", project.built, "--data", project.data, "--engine", "numpy")
    assert outcome.code == 3 and outcome.out == ""
    assert "m.onnx" in outcome.err and "output scores is NaN or infinite for 12 of 12 samples" in outcome.err


@pytest.mark.parametrize(
    ("labels", "outside"), [(np.arange(12) % 5 + 1, "2 of 12 labels"), (np.full(12, -1), "12 of 12 labels"), (np.arange(12) % 5, None)]
)
def test_labels_that_are_no_class(arenite, project, tmp_path, labels, outside):
    """Counted from 1, for example."""
    np.savez(tmp_path / "d.npz", x=np.load(project.data)["x"], y=labels)
    words = ("verify", project.model, project.built, "--data", tmp_path / "d.npz", "--engine", "numpy")
    outcome, value = arenite(*words), arenite(*words, "--json").json
    assert outcome.code == 0
    if outside is None:
        assert outcome.err == "" and value["notes"] == []
    else:
        assert outside in outcome.err and "classes 0 … 4" in outcome.err and "count as wrong" in outcome.err
        assert len(value["notes"]) == 1 and outside in value["notes"][0]


def test_no_difference_and_no_signal_are_not_the_same():
    ones, zeros = [np.ones(3)], [np.zeros(3)]
    assert sqnr_db(ones, ones) == sqnr_db(zeros, zeros) == np.inf
    assert sqnr_db(ones, zeros) is None
    assert sqnr_db([np.array([1.0, 0.9])], [np.ones(2)]) == pytest.approx(10 * np.log10(2 / 0.01))


@pytest.mark.parametrize(
    "labels", [{"classlabels_strings": ["ant", "bee", "cat"]}, {"classlabels_ints": [3, 5, 4]}], ids=["texts", "integers"]
)
@pytest.mark.parametrize("mapped", [False, True], ids=["row", "ZipMap"])
def test_labels_of_classical_models(arenite, tmp_path, labels, mapped):
    """Texts and the maps of a ZipMap are compared as their places among the labels; an integer label is the class itself."""
    weights = [1.0, 0.0, 0.0, 1.0, -1.0, -1.0]
    by_key = {key.replace("ints", "int64s"): values for key, values in labels.items()}
    nodes = [
        helper.make_node(
            "LinearClassifier", ["x"], ["label", "scores"], "classify", domain="ai.onnx.ml",
            coefficients=weights, intercepts=[0.0, 0.1, 0.2], post_transform="SOFTMAX", **labels,
        ),
        helper.make_node("ZipMap", ["scores"], ["p"], "zip", domain="ai.onnx.ml", **by_key)
        if mapped
        else helper.make_node("Identity", ["scores"], ["p"]),
    ]  # fmt: skip
    texts = "classlabels_strings" in labels
    label = helper.make_tensor_value_info("label", TensorProto.STRING if texts else TensorProto.INT64, [1])
    map_of = helper.make_map_type_proto(
        TensorProto.STRING if texts else TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    )
    scores = (
        helper.make_value_info("p", helper.make_sequence_type_proto(map_of))
        if mapped
        else helper.make_tensor_value_info("p", TensorProto.FLOAT, [1, 3])
    )
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])], [label, scores])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8),
        tmp_path / "m.onnx",
    )
    x = np.random.default_rng(0).normal(0, 1, (30, 1, 2)).astype(np.float32)
    place = np.argmax(x[:, 0] @ np.reshape(weights, (3, 2)).T + [0, 0.1, 0.2], axis=1)
    assert set(place) == {0, 1, 2}
    np.savez(tmp_path / "d.npz", x=x, y=place if texts else np.array([3, 5, 4])[place])
    assert arenite("convert", tmp_path / "m.onnx", "--precision", "float32").code == 0
    outcome = arenite(
        "verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "d.npz", "--engine", "numpy", "--engine", "c", "--json"
    )
    assert outcome.code == 0 and outcome.json["float"] == {"metric": "accuracy", "value": 1.0} and outcome.json["notes"] == []
    assert all(
        engine["value"] == 1.0 and (engine["sqnr_db"] is None or engine["sqnr_db"] > 100) for engine in outcome.json["engines"].values()
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("label", [np.nan, np.inf, 0.5])
def test_labels_that_are_no_numbers(label):
    """The message alone, and no warning of NumPy's beside it."""
    with pytest.raises(CalibrationError, match="a class number a sample"):
        class_labels(np.array([0.0, label]), Path("d.npz"))
