"""Scalers, encoders, selection, ZipMap: against onnxruntime, or where it leaves the specification against that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import TensorProto, helper, numpy_helper

Make = Callable[..., Any]


@pytest.mark.parametrize("length", [1, 4])
def test_scaler(predict: Make, node: Make, rows: Make, length: int) -> None:
    made = node("Scaler", offset=[0.5, -1.0, 2.0, 0.25][:length], scale=[2.0, 0.125, -3.0, 1.5][:length])
    prediction = predict(made, rows(5, 4))
    prediction.equals(prediction.onnxruntime())


def test_scaler_of_integers(predict: Make, node: Make) -> None:
    prediction = predict(node("Scaler", offset=[1.0], scale=[0.5]), np.arange(6, dtype=np.int64).reshape(2, 3))
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(predict: Make, node: Make, rows: Make, norm: str) -> None:
    """A row of zeros among them, one whose maximum is 0, which stays as it is, and negative ones."""
    x = rows(6, 4)
    x[2], x[3] = 0.0, [-1.0, 0.0, -2.0, -0.5]
    prediction = predict(node("Normalizer", norm=norm), x)
    prediction.equals(prediction.onnxruntime())


def test_binarizer(predict: Make, node: Make, rows: Make) -> None:
    prediction = predict(node("Binarizer", threshold=0.5), rows(5, 4))  # onnxruntime fails on NaN
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("replaced", [float("nan"), 0.5, 0.0])
@pytest.mark.parametrize("values", [[9.0], [1.0, 2.0, 3.0, 4.0]])
def test_imputer(predict: Make, node: Make, rows: Make, replaced: float, values: list[float]) -> None:
    x = rows(8, 4)
    x[::3, 1], x[1::3, 2], x[2::3, 0] = np.nan, 0.5, -0.0
    prediction = predict(node("Imputer", imputed_value_floats=values, replaced_value_float=replaced), x)
    prediction.equals(prediction.onnxruntime())


def test_imputer_of_integers(predict: Make, node: Make) -> None:
    x = np.asarray([[-1, 5, 7], [3, -1, -1]], np.int64)
    prediction = predict(node("Imputer", imputed_value_int64s=[10, 20, 30], replaced_value_int64=-1), x)
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("indices", [[2], [0, 3, 1], [3, 3]])
@pytest.mark.parametrize("run_time", [False, True])
def test_array_feature_extractor(predict: Make, node: Make, rows: Make, indices: list[int], run_time: bool) -> None:
    values = np.asarray(indices, np.int64)
    extract = node("ArrayFeatureExtractor", ("x", "i"))
    if run_time:
        prediction = predict(extract, {"x": rows(5, 4), "i": values})
    else:
        prediction = predict([helper.make_node("Constant", [], ["i"], value=numpy_helper.from_array(values)), extract], rows(5, 4))
    prediction.equals(prediction.onnxruntime())


def test_extraction_from_a_vector(predict: Make, node: Make) -> None:
    x = np.asarray([1.0, 2.0, 3.0], np.float32)
    prediction = predict(node("ArrayFeatureExtractor", ("x", "i")), {"x": x, "i": np.asarray([2, 0], np.int64)})
    prediction.equals(prediction.onnxruntime())


def test_feature_vectorizer(predict: Make, node: Make, rows: Make) -> None:
    made = node("FeatureVectorizer", ("a", "b"), inputdimensions=[2, 3])
    prediction = predict(made, {"a": rows(4, 2), "b": rows(4, 3, seed=1)})
    prediction.equals(prediction.onnxruntime())


def test_feature_vectorizer_cuts_and_fills(predict: Make, node: Make, rows: Make) -> None:
    a, b = rows(4, 3), rows(4, 2, seed=1)
    made = node("FeatureVectorizer", ("a", "b"), inputdimensions=[2, 4])
    predict(made, {"a": a, "b": b}).equals([np.concatenate([a[:, :2], b, np.zeros((4, 2), np.float32)], axis=1)])


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_one_hot_encoder(predict: Make, node: Make, dtype: type) -> None:
    x = np.asarray([[3, 7], [5, 4]], dtype)
    prediction = predict(node("OneHotEncoder", cats_int64s=[5, 3, 7], zeros=1), x)
    prediction.equals(prediction.onnxruntime())


LABELS = [
    ({"keys_int64s": [5, -2, 9], "values_floats": [0.5, 1.5, 2.5], "default_float": -7.0}, np.int64),
    ({"keys_int64s": [5, -2, 9], "values_int64s": [50, 20, 90], "default_int64": 1}, np.int64),
    ({"keys_floats": [0.5, float("nan"), -1.0], "values_int64s": [1, 2, 3]}, np.float32),
    ({"keys_floats": [0.5, float("nan"), -1.0], "values_floats": [1.0, 2.0, 3.0], "default_float": 9.0}, np.float32),
    ({"keys_floats": [0.5, 1.0], "values_strings": ["half", "one"], "default_string": "other"}, np.float32),
    ({"keys_int64s": [5, -2, 9], "values_strings": ["five", "minus two", "nine"]}, np.int64),
]


@pytest.mark.parametrize(("attributes", "dtype"), LABELS)
def test_label_encoder(predict: Make, node: Make, attributes: dict[str, Any], dtype: type) -> None:
    x = np.asarray([[5, -2, 9, 4, 0], [-2, 5, 5, 9, -9]], np.int64) if dtype is np.int64 else SPECIAL
    prediction = predict(node("LabelEncoder", **attributes), x.astype(dtype), version=4)
    prediction.equals(prediction.onnxruntime())


SPECIAL = np.asarray([[0.5, np.nan, -1.0, 1.0], [-0.0, np.inf, -np.inf, 0.25]], np.float32)


def test_repeated_keys(predict: Make, node: Make) -> None:
    """The last one counts."""
    made = node("LabelEncoder", keys_int64s=[1, 2, 1], values_int64s=[10, 20, 30])
    predict(made, np.asarray([1, 2, 3], np.int64), version=4).equals([np.asarray([30, 20, -1], np.int64)])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_label_encoder_of_tensors(predict: Make, node: Make, dtype: type) -> None:
    tensors = {"keys_tensor": np.asarray([7, 1, 4], dtype), "values_tensor": np.asarray([0.5, 1.5, 2.5], np.float32)}
    tensors["default_tensor"] = np.asarray([-1.0], np.float32)
    made = node("LabelEncoder", **{name: numpy_helper.from_array(array, name) for name, array in tensors.items()})
    x = np.asarray([[1, 4], [5, 7]], dtype)
    predict(made, x, version=4).equals([np.asarray([[1.5, 2.5], [-1.0, 0.5]], np.float32)])


def classifier(node: Make) -> onnx.NodeProto:
    return node(
        "LinearClassifier",
        outputs=("label", "p"),
        coefficients=[1.0, 0.0, 0.0, 1.0, -1.0, -1.0],
        intercepts=[0.1, 0.0, 0.0],
        classlabels_strings=["cat", "dog", "emu"],
    )


def test_texts_become_numbers(predict: Make, node: Make, rows: Make) -> None:
    encoder = node("LabelEncoder", ("label",), ("y",), keys_strings=["emu", "cat"], values_int64s=[4, 5], default_int64=6)
    prediction = predict([classifier(node), encoder], rows(9, 2), outputs=["y"], version=2)
    prediction.equals(prediction.onnxruntime())


def test_texts_become_others(predict: Make, node: Make, rows: Make) -> None:
    encoder = node("LabelEncoder", ("label",), ("y",), keys_strings=["emu", "cat"], values_strings=["bird", "pet"], default_string="pet")
    prediction = predict([classifier(node), encoder], rows(9, 2), outputs=["y"], version=2)
    prediction.equals(prediction.onnxruntime())


def test_texts_one_hot(predict: Make, node: Make, rows: Make) -> None:
    encoder = node("OneHotEncoder", ("label",), ("y",), cats_strings=["emu", "cat"], zeros=1)
    prediction = predict([classifier(node), encoder], rows(9, 2), outputs=["y"])
    prediction.equals(prediction.onnxruntime())


def test_texts_are_moved(predict: Make, node: Make, rows: Make) -> None:
    """skl2onnx's way to a label: ArgMax, ArrayFeatureExtractor of texts, Reshape."""
    nodes = [
        helper.make_node(
            "Constant", [], ["classes"], value=helper.make_tensor("classes", TensorProto.STRING, [3], [b"cat", b"dog", b"emu"])
        ),
        helper.make_node("ArgMax", ["x"], ["best"], axis=1),
        node("ArrayFeatureExtractor", ("classes", "best"), ("row",)),
        helper.make_node("Constant", [], ["shape"], value=numpy_helper.from_array(np.asarray([-1], np.int64))),
        helper.make_node("Reshape", ["row", "shape"], ["y"]),
    ]
    prediction = predict(nodes, rows(9, 3), outputs=["y"])
    assert prediction.flat.outputs[0].labels == ("cat", "dog", "emu")
    prediction.equals(prediction.onnxruntime())


def test_numbers_and_their_texts_both(predict: Make, node: Make, rows: Make) -> None:
    """The positions stay numbers where they are an output of their own."""
    nodes = [
        helper.make_node("ArgMax", ["x"], ["best"], axis=1, keepdims=0),
        node("LabelEncoder", ("best",), ("name",), keys_int64s=[0, 1, 2], values_strings=["cat", "dog", "emu"]),
    ]
    prediction = predict(nodes, rows(9, 3), outputs=["best", "name"], version=2)
    assert not prediction.flat.outputs[0].labels
    prediction.equals(prediction.onnxruntime())


def test_category_mapper(predict: Make, node: Make) -> None:
    made = node("CategoryMapper", cats_int64s=[3, 1], cats_strings=["three", "one"], default_string="none")
    prediction = predict(made, np.asarray([[1, 2, 3]], np.int64))
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [4, 5, 6]}, {"classlabels_strings": ["a", "b", "c"]}])
def test_zip_map(predict: Make, node: Make, rows: Make, labels: dict[str, Any]) -> None:
    nodes = [helper.make_node("Softmax", ["x"], ["p"], axis=1), node("ZipMap", ("p",), ("z",), **labels)]
    prediction = predict(nodes, rows(3, 3), outputs=["z"])
    wanted = prediction.onnxruntime()[0]
    names = prediction.flat.outputs[0].labels
    assert names == tuple(str(key) for key in wanted[0])
    prediction.equals([np.asarray([list(row.values()) for row in wanted], np.float32)])


def test_zip_map_beside_its_operand(predict: Make, node: Make, rows: Make) -> None:
    nodes = [helper.make_node("Softmax", ["x"], ["p"], axis=1), node("ZipMap", ("p",), ("z",), classlabels_int64s=[4, 5, 6])]
    prediction = predict(nodes, rows(3, 3), outputs=["p", "z"])
    assert [port.labels for port in prediction.flat.outputs] == [(), ("4", "5", "6")]
    p = prediction.onnxruntime()[0]
    prediction.equals([p, p])


def test_texts_at_run_time_are_refused(attempt: Make, node: Make) -> None:
    made = node("LabelEncoder", keys_strings=["a"], values_int64s=[1])
    with pytest.raises(UnsupportedModelError, match="its element type is string"):
        attempt(made, np.asarray(["a"]), version=2)


def test_texts_are_not_numbers(attempt: Make, node: Make, rows: Make) -> None:
    nodes = [classifier(node), helper.make_node("Concat", ["label", "label"], ["y"], axis=0)]
    with pytest.raises(UnsupportedModelError, match="label holds texts"):
        attempt(nodes, rows(2, 2))


@pytest.mark.parametrize(
    ("op", "attributes", "message"),
    [
        ("Scaler", {"offset": [1.0, 2.0]}, "offset has 2 values"),
        ("Normalizer", {"norm": "L3"}, "norm is L3"),
        ("Imputer", {"imputed_value_int64s": [1]}, "imputed_value_floats is missing"),
        ("OneHotEncoder", {}, "neither cats_int64s nor cats_strings"),
        ("LabelEncoder", {"keys_floats": [1.0], "values_floats": [1.0, 2.0]}, "1 keys and 2 values"),
        ("LabelEncoder", {"values_floats": [1.0, 2.0]}, "keys are given 0 times"),
        ("ZipMap", {"classlabels_int64s": [1]}, "1 labels do not fit"),
        ("FeatureVectorizer", {"inputdimensions": [1, 2]}, "does not fit 1 inputs"),
    ],
)
def test_contradictions(attempt: Make, node: Make, op: str, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        attempt(node(op, **attributes), np.zeros((2, 3), np.float32), version=2)
