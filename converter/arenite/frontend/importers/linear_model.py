"""LinearRegressor, LinearClassifier, SVMRegressor, SVMClassifier (ai.onnx.ml 1): made of layers wherever they can be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.frontend.importers.scores import (
    best_label,
    class_labels,
    complement,
    floats,
    opposite,
    post_transform,
    real_rows,
    transformed,
)
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Expression
from arenite.graph.operators import UNBOUNDED
from arenite.graph.operators.classical import pair_coefficients, pairs

Matrix = NDArray[np.float64]


def linear_regressor(node: NodeImport) -> Sequence[Value]:
    x, targets = real_rows(node), int(node.attribute("targets", 1))
    weight = _matrix(node, "coefficients", targets, node.graph.tensors[x].shape[1])
    return [transformed(node, _layer(node, x, weight, _vector(node, "intercepts", targets)), post_transform(node))]


def linear_classifier(node: NodeImport) -> Sequence[Value]:
    """One row of coefficients for two labels: its score, and by onnxruntime's convention 1 − s, which the labels do not depend on."""
    x, labels, transform = real_rows(node), class_labels(node, "classlabels_ints"), post_transform(node)
    features = node.graph.tensors[x].shape[1]
    rows = floats(node, "coefficients").size // features
    score = _layer(node, x, _matrix(node, "coefficients", rows, features), _vector(node, "intercepts", rows))
    if rows > 1:
        if len(labels) != rows:
            node.malformed(f"{len(labels)} labels do not fit {rows} rows of coefficients")
        return [best_label(node, score, labels), transformed(node, score, transform)]
    if len(labels) == 1:
        node.refuse("it has one class label", "give the labels of two classes")
    label = best_label(node, opposite(node, score), labels)
    if not labels:
        return [label, transformed(node, score, transform)]
    doubled = complement(node, score) if transform in ("NONE", "PROBIT") else opposite(node, score)
    return [label, transformed(node, doubled, transform)]


def svm_regressor(node: NodeImport) -> Sequence[Value]:
    x = real_rows(node)
    features, vectors = node.graph.tensors[x].shape[1], int(node.attribute("n_supports", 0))
    rho = _vector(node, "rho", 1)
    if vectors == 0:
        y = _layer(node, x, _matrix(node, "coefficients", 1, features), rho)
    else:
        y = _combined(node, x, _matrix(node, "support_vectors", vectors, features), _matrix(node, "coefficients", 1, vectors), rho)
    if node.attribute("one_class", 0):  # 1 where positive, −1 elsewhere
        zero = node.add_constant(Constant(f"{node.name}/zero", np.zeros((1, 1), np.float32)))
        inside = node.results("Cast", [node.results("Less", [zero, y])[0]], to=DType.FLOAT32.value)[0]
        doubled = node.elementwise(inside, Expression.binary("Mul", 2.0))
        y = node.elementwise(doubled, Expression.binary("Sub", 1.0))
    return [transformed(node, y, post_transform(node))]


def svm_classifier(node: NodeImport) -> Sequence[Value]:
    """libsvm's one against one, or with no support vectors liblinear's one against all."""
    x, labels, transform = real_rows(node), class_labels(node, "classlabels_ints"), post_transform(node)
    classes, features = len(labels), node.graph.tensors[x].shape[1]
    if classes < 2:
        node.refuse(f"it has {classes} class labels", "give the labels of two classes or more")
    supports = node.ints("vectors_per_class", ())
    if not any(supports):
        offset = np.repeat(_vector(node, "rho", 1, at_least=True), classes)
        scores = _layer(node, x, _matrix(node, "coefficients", classes, features), offset)
        return [best_label(node, scores, labels), transformed(node, scores, transform)]
    decision = _decisions(node, x, supports, classes)
    label = best_label(node, node.emit("SvmVotes", [decision], classes=classes), labels)
    if node.attribute("prob_a"):
        a, b = _vector(node, "prob_a", pairs(classes)), _vector(node, "prob_b", pairs(classes))
        operands = [decision, _constant(node, "prob_a", a), _constant(node, "prob_b", b)]
        return [label, transformed(node, node.emit("SvmProbability", operands, classes=classes), transform)]
    if classes == 2:
        decision = complement(node, decision) if transform == "PROBIT" else opposite(node, decision)
    return [label, transformed(node, decision, transform)]


def _decisions(node: NodeImport, x: str, supports: Sequence[int], classes: int) -> str:
    """[rows, pairs of classes]. A linear kernel, or a single pair, needs no more than layers."""
    if len(supports) != classes or min(supports) < 0:
        node.malformed(f"vectors_per_class {list(supports)} does not fit {classes} classes")
    first = np.cumsum([0, *supports])
    count, features = int(first[-1]), node.graph.tensors[x].shape[1]
    vectors, coefficient = _matrix(node, "support_vectors", count, features), _matrix(node, "coefficients", classes - 1, count)
    rho = _vector(node, "rho", pairs(classes), at_least=True)
    if classes == 2 or node.attribute("kernel_type", "LINEAR") == "LINEAR":
        return _combined(node, x, vectors, pair_coefficients(coefficient, first), rho)
    operands = [_constant(node, "coefficients", coefficient), _constant(node, "rho", rho)]
    starts = node.add_constant(Constant(f"{node.name}/first", first.astype(np.int32)))
    return node.emit("SvmDecision", [_kernel(node, x, vectors), *operands, starts])


def _combined(node: NodeImport, x: str, vectors: Matrix, coefficient: Matrix, rho: Matrix) -> str:
    """Σ coefficient · kernel(x, vector) + rho, [rows, rows of coefficient]; with a linear kernel one layer, formed in float64."""
    if node.attribute("kernel_type", "LINEAR") == "LINEAR":
        return _layer(node, x, coefficient @ vectors, rho)
    return _layer(node, _kernel(node, x, vectors), coefficient, rho)


def _kernel(node: NodeImport, x: str, vectors: Matrix) -> str:
    """kernel(x, vector), [rows, vectors]."""
    kind, params = node.attribute("kernel_type", "LINEAR"), floats(node, "kernel_params")
    if params.size not in (0, 3):
        node.malformed(f"kernel_params has {params.size} values instead of gamma, coef0 and degree")
    gamma, offset, degree = (float(v) for v in params) if params.size else (0.0, 0.0, 0.0)
    if kind == "RBF":
        distance = node.emit("SquaredDistance", [x, _constant(node, "support_vectors", vectors)])
        return node.elementwise(node.elementwise(distance, Expression.binary("Mul", -gamma)), Expression.single("Exp"))
    if kind not in ("POLY", "SIGMOID"):
        node.malformed(f"kernel_type is {kind}, none of LINEAR, POLY, RBF, SIGMOID")
    product = _layer(node, x, gamma * vectors, np.full(len(vectors), offset))
    if kind == "SIGMOID":
        return node.elementwise(product, Expression.single("Tanh"))
    return node.elementwise(product, Expression.binary("Pow", degree))


def _layer(node: NodeImport, x: str, weight: Matrix, bias: Matrix) -> str:
    operands = [x, _constant(node, "weight", weight), _constant(node, "bias", bias) if bias.any() else None]
    return node.emit("FullyConnected", operands if bias.any() else operands[:2], clip=UNBOUNDED)


def _constant(node: NodeImport, what: str, data: Matrix) -> str:
    return node.add_constant(Constant(f"{node.name}/{what}", data.astype(np.float32)))


def _matrix(node: NodeImport, name: str, rows: int, columns: int) -> Matrix:
    values = floats(node, name)
    if values.size != rows * columns or not values.size:
        node.malformed(f"{name} has {values.size} values instead of {rows} times {columns}")
    return values.reshape(rows, columns)


def _vector(node: NodeImport, name: str, length: int, at_least: bool = False) -> Matrix:
    """`length` values, zeros where the attribute is absent."""
    values = floats(node, name)
    if values.size and not (values.size == length or (at_least and values.size > length)):
        node.malformed(f"{name} has {values.size} values instead of {length}")
    return values[:length] if values.size else np.zeros(length)


_TRANSFORMS = "all post_transforms; text labels as indices"

LINEAR_MODELS = {
    "ai.onnx.ml.LinearRegressor": Importer(linear_regressor, "all post_transforms"),
    "ai.onnx.ml.LinearClassifier": Importer(linear_classifier, _TRANSFORMS),
    "ai.onnx.ml.SVMRegressor": Importer(svm_regressor, "linear, poly, rbf, sigmoid; one_class"),
    "ai.onnx.ml.SVMClassifier": Importer(svm_classifier, f"linear, poly, rbf, sigmoid; probabilities; {_TRANSFORMS}"),
}
