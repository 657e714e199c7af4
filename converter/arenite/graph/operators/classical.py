"""What classical machine learning needs besides layers: support vector machines, label encoding, ONNX's score transforms. Numerics §19."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import DType, Tensor


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def pairs(classes: int) -> int:
    """Binary classifiers of a one-against-one machine."""
    return classes * (classes - 1) // 2


def pair_coefficients(coefficient: NDArray[Any], first: NDArray[Any]) -> NDArray[Any]:
    """SvmDecision as a matrix: [pairs, vectors], with zeros for the vectors of other classes."""
    rows = []
    for i in range(len(first) - 1):
        for j in range(i + 1, len(first) - 1):
            row = np.zeros_like(coefficient[0])
            row[first[i] : first[i + 1]] = coefficient[j - 1, first[i] : first[i + 1]]
            row[first[j] : first[j + 1]] = coefficient[i, first[j] : first[j + 1]]
            rows.append(row)
    return np.stack(rows)


def _distance_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, vectors = given(inputs, 0).shape, given(inputs, 1).shape
    if not x or len(vectors) != 2 or x[-1] != vectors[1]:
        raise ValueError(f"x{x} does not fit vectors{vectors}")
    return (*x[:-1], vectors[0])


def _distance_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    vectors, length = given(inputs, 1).shape
    return {"rows": outputs[0].elements // vectors, "vectors": vectors, "length": length}


_DISTANCE = (Operand("x", "[…, n]"), Operand("vectors", "[V, n]"))

SQUARED_DISTANCE = Operator(
    name="SquaredDistance",
    summary="Of every row to every vector: the sum of squared differences",
    onnx=("ai.onnx.ml.SVMClassifier", "ai.onnx.ml.SVMRegressor"),
    inputs=_DISTANCE,
    shape=_distance_shape,
    code=202,
    variants=("float32",),
    stored=_DISTANCE,
    params=(Param("rows", ""), Param("vectors", "V"), Param("length", "n")),
    record=_distance_record,
    macs=lambda inputs, output: given(inputs, 0).elements * output[-1],
)


def _decision_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    kernel, coefficient, first = given(inputs, 0).shape, given(inputs, 1).shape, given(inputs, 3).shape
    classes = first[0] - 1
    if len(kernel) != 2 or coefficient != (classes - 1, kernel[1]) or given(inputs, 2).shape != (pairs(classes),):
        raise ValueError(f"kernel{kernel} does not fit coefficient{coefficient} of {classes} classes")
    return (kernel[0], pairs(classes))


def _decision_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    rows, vectors = given(inputs, 0).shape
    return {"rows": rows, "vectors": vectors, "classes": given(inputs, 3).shape[0] - 1}


_DECISION = (
    Operand("kernel", "[rows, vectors]: of every row with every support vector"),
    Operand("coefficient", "[classes − 1, vectors], as libsvm stores them", constant=True),
    Operand("rho", "[pairs], added", constant=True),
    Operand("first", "int32[classes + 1]: the vectors of class c are first[c] … first[c + 1]", constant=True),
)

SVM_DECISION = Operator(
    name="SvmDecision",
    summary="Decision values of every pair of classes (0, 1), (0, 2), …",
    onnx=("ai.onnx.ml.SVMClassifier",),
    inputs=_DECISION,
    shape=_decision_shape,
    code=203,
    variants=("float32",),
    stored=_DECISION,
    params=(Param("rows", ""), Param("vectors", ""), Param("classes", "2 or more")),
    record=_decision_record,
    macs=lambda inputs, output: given(inputs, 1).elements * output[0],
)


def _classes_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    decision, classes = given(inputs, 0).shape, int(attributes["classes"])
    if len(decision) != 2 or decision[1] != pairs(classes):
        raise ValueError(f"decision{decision} does not fit {classes} classes")
    return (decision[0], classes)


def _classes_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {"rows": outputs[0].shape[0], "classes": outputs[0].shape[1]}


_DECIDED = Operand("decision", "[rows, pairs]")
_CLASSES = Attribute("classes", "2 or more")

SVM_VOTES = Operator(
    name="SvmVotes",
    summary="How many of its pairs each class wins: a pair's first class where the decision is positive",
    onnx=("ai.onnx.ml.SVMClassifier",),
    inputs=(_DECIDED,),
    attributes=(_CLASSES,),
    shape=_classes_shape,
    code=204,
    variants=("float32",),
    stored=(_DECIDED,),
    params=(Param("rows", ""), Param("classes", "2 or more")),
    record=_classes_record,
)


def _probability_scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    classes = outputs[0].shape[1]
    return 4 * (2 * classes * classes + classes)


_PROBABILITY = (_DECIDED, Operand("a", "[pairs]: slope of the sigmoid", constant=True), Operand("b", "[pairs]: its offset", constant=True))

SVM_PROBABILITY = Operator(
    name="SvmProbability",
    summary="Probabilities of the classes from those of the pairs (Wu, Lin, Weng 2004, second method)",
    onnx=("ai.onnx.ml.SVMClassifier",),
    inputs=_PROBABILITY,
    attributes=(_CLASSES,),
    shape=_classes_shape,
    code=205,
    variants=("float32",),
    stored=_PROBABILITY,
    params=(Param("rows", ""), Param("classes", "2 or more")),
    record=_classes_record,
    scratch=_probability_scratch,
)


def _index_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    return ((given(inputs, 0).shape, DType.INT64),)


def _index_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {"count": outputs[0].elements, "keys": given(inputs, 1).elements, "nan": int(node.attributes["nan"])}


_KEYS = (Operand("x", "any shape"), Operand("keys", "[n], ascending, of the type of x", constant=True))

KEY_INDEX = Operator(
    name="KeyIndex",
    summary="Position of every element among the keys, n where it is none of them",
    onnx=("ai.onnx.ml.LabelEncoder",),
    inputs=_KEYS,
    attributes=(Attribute("nan", "the position that NaN gets"),),
    shape=_same_shape,
    results=_index_results,
    code=206,
    variants=("float32", "int32", "int64"),
    stored=_KEYS,
    params=(Param("count", "elements"), Param("keys", "n"), Param("nan", "the position that NaN gets, not negative")),
    record=_index_record,
)


def _softmax_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    length = outputs[0].shape[-1]
    return {"rows": outputs[0].elements // length, "length": length}


SOFTMAX_ZERO = Operator(
    name="SoftmaxZero",
    summary="Softmax along the last axis in which scores of 0 (up to 1e-7) stay 0",
    onnx=("ai.onnx.ml.TreeEnsemble", "ai.onnx.ml.LinearClassifier", "ai.onnx.ml.SVMClassifier"),
    inputs=(Operand("x", "[…, n]"),),
    shape=_same_shape,
    code=207,
    variants=("float32",),
    stored=(Operand("x", ""),),
    params=(Param("rows", ""), Param("length", "n")),
    record=_softmax_record,
    in_place=(0,),
)


def _count_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {"count": outputs[0].elements}


PROBIT = Operator(
    name="Probit",
    summary="Inverse of the normal distribution function, by Winitzki's approximation",
    onnx=("ai.onnx.ml.TreeEnsemble", "ai.onnx.ml.LinearClassifier", "ai.onnx.ml.SVMClassifier"),
    inputs=(Operand("x", "any shape"),),
    shape=_same_shape,
    code=208,
    variants=("float32",),
    stored=(Operand("x", ""),),
    params=(Param("count", "elements"),),
    record=_count_record,
    in_place=(0,),
)

CLASSICAL = (SQUARED_DISTANCE, SVM_DECISION, SVM_VOTES, SVM_PROBABILITY, KEY_INDEX, SOFTMAX_ZERO, PROBIT)
