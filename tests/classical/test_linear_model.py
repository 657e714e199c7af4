"""Linear models and support vector machines against onnxruntime, or where it leaves the specification against that (numerics.md §19)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError

Make = Callable[..., Any]
KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "POLY": [0.3, 0.5, 3.0], "RBF": [0.4, 0.0, 0.0], "SIGMOID": [0.2, -0.1, 0.0]}


def numbers(seed: int, *shape: int) -> list[float]:
    return [float(v) for v in np.random.default_rng(seed).normal(size=shape).astype(np.float32).reshape(-1)]


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("intercepts", [True, False])
def test_linear_regressor(predict: Make, node: Make, rows: Make, transform: str, intercepts: bool) -> None:
    extra = {"intercepts": numbers(1, 3)} if intercepts else {}
    made = node("LinearRegressor", targets=3, coefficients=numbers(2, 3, 4), post_transform=transform, **extra)
    prediction = predict(made, rows(6, 4))
    prediction.equals(prediction.onnxruntime())


def test_one_target_is_transformed(predict: Make, node: Make, rows: Make) -> None:
    """By the specification; onnxruntime leaves LOGISTIC out."""
    x = rows(6, 4)
    plain = predict(node("LinearRegressor", coefficients=numbers(2, 4)), x).onnxruntime()[0]
    made = node("LinearRegressor", coefficients=numbers(2, 4), post_transform="LOGISTIC")
    predict(made, x).equals([(1 / (1 + np.exp(-plain))).astype(np.float32)])


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("labels", [[0, 1, 2], [4, 9, -1], ["a", "b", "c"]])
def test_linear_classifier(predict: Make, node: Make, rows: Make, transform: str, labels: list[Any]) -> None:
    named = {"classlabels_strings": labels} if isinstance(labels[0], str) else {"classlabels_ints": labels}
    made = node(
        "LinearClassifier",
        outputs=("label", "p"),
        coefficients=numbers(2, 3, 4),
        intercepts=numbers(3, 3),
        post_transform=transform,
        **named,
    )
    prediction = predict(made, rows(8, 4))
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("labels", [[3, 5], []])
def test_one_row_of_coefficients(predict: Make, node: Make, rows: Make, transform: str, labels: list[int]) -> None:
    named = {"classlabels_ints": labels} if labels else {}
    made = node(
        "LinearClassifier", outputs=("label", "p"), coefficients=numbers(2, 4), intercepts=[0.25], post_transform=transform, **named
    )
    prediction = predict(made, rows(8, 4))
    label, scores = prediction.onnxruntime()
    if not labels and transform == "LOGISTIC":  # which onnxruntime leaves out of a single score
        scores = 1 / (1 + np.exp(-scores))
    prediction.equals([label, scores])


@pytest.mark.parametrize("kernel", KERNELS)
def test_svm_regressor(predict: Make, node: Make, rows: Make, kernel: str) -> None:
    made = node(
        "SVMRegressor",
        support_vectors=numbers(1, 7, 4),
        coefficients=numbers(2, 7),
        n_supports=7,
        rho=[0.3],
        kernel_type=kernel,
        kernel_params=KERNELS[kernel],
    )
    prediction = predict(made, rows(6, 4))
    prediction.equals(prediction.onnxruntime())


def test_svm_regressor_without_vectors(predict: Make, node: Make, rows: Make) -> None:
    prediction = predict(node("SVMRegressor", coefficients=numbers(2, 4), rho=[0.3], kernel_params=[0.0, 0.0, 0.0]), rows(6, 4))
    prediction.equals(prediction.onnxruntime())


def test_one_class(predict: Make, node: Make, rows: Make) -> None:
    made = node(
        "SVMRegressor",
        support_vectors=numbers(1, 7, 4),
        coefficients=numbers(2, 7),
        n_supports=7,
        rho=[-0.2],
        kernel_type="RBF",
        kernel_params=KERNELS["RBF"],
        one_class=1,
    )
    prediction = predict(made, rows(20, 4))
    wanted = prediction.onnxruntime()
    assert set(np.unique(wanted[0])) == {-1.0, 1.0}
    prediction.equals(wanted)


def machine(node: Make, kernel: str, supports: Sequence[int], labels: Sequence[Any], probabilities: bool, transform: str = "NONE") -> Any:
    classes, count = len(supports), sum(supports)
    pairs = classes * (classes - 1) // 2
    named = {"classlabels_strings": list(labels)} if isinstance(labels[0], str) else {"classlabels_ints": list(labels)}
    platt = {"prob_a": [-1.5 + 0.1 * i for i in range(pairs)], "prob_b": numbers(5, pairs)} if probabilities else {}
    return node(
        "SVMClassifier",
        outputs=("label", "p"),
        support_vectors=numbers(1, count, 4),
        coefficients=numbers(2, classes - 1, count),
        vectors_per_class=list(supports),
        rho=numbers(4, pairs),
        kernel_type=kernel,
        kernel_params=KERNELS[kernel],
        post_transform=transform,
        **named,
        **platt,
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("probabilities", [False, True])
@pytest.mark.parametrize("supports", [(3, 2), (2, 3, 1), (1, 2, 2, 3, 1)])
def test_svm_classifier(predict: Make, node: Make, rows: Make, kernel: str, probabilities: bool, supports: tuple[int, ...]) -> None:
    made = machine(node, kernel, supports, list(range(len(supports))), probabilities)
    prediction = predict(made, rows(9, 4))
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("transform", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("probabilities", [False, True])
def test_svm_transforms(predict: Make, node: Make, rows: Make, transform: str, probabilities: bool) -> None:
    prediction = predict(machine(node, "RBF", (2, 3, 1), ["x", "y", "z"], probabilities, transform), rows(9, 4))
    prediction.equals(prediction.onnxruntime())


def test_two_classes_softmax(predict: Make, node: Make, rows: Make) -> None:
    """Of −d and d, as the reference; onnxruntime leaves it out and gives 1 − d and d."""
    x = rows(9, 4)
    decision = predict(machine(node, "RBF", (3, 2), [7, 8], False), x).onnxruntime()
    scores = np.exp(decision[1]) / np.exp(decision[1]).sum(axis=1, keepdims=True)
    predict(machine(node, "RBF", (3, 2), [7, 8], False, "SOFTMAX"), x).equals([decision[0], scores])


@pytest.mark.parametrize("classes", [2, 3])
def test_liblinear(predict: Make, node: Make, rows: Make, classes: int) -> None:
    """One against all. The label is that of the greatest score; for two classes onnxruntime goes by the sign of the greater one."""
    made = node(
        "SVMClassifier",
        outputs=("label", "p"),
        coefficients=numbers(2, classes, 4),
        rho=[0.1],
        kernel_params=[0.0, 0.0, 0.0],
        classlabels_ints=[5, 6, 7][:classes],
    )
    prediction = predict(made, rows(9, 4))
    scores = prediction.onnxruntime()[1]
    prediction.equals([np.asarray([5, 6, 7])[scores.argmax(axis=1)], scores])


def test_contradictions(attempt: Make, node: Make) -> None:
    x = np.zeros((1, 4), np.float32)
    for made, message in (
        (node("LinearRegressor", coefficients=numbers(1, 3)), "coefficients has 3 values instead of 1 times 4"),
        (node("LinearRegressor", coefficients=numbers(1, 4), intercepts=[0.0, 1.0]), "intercepts has 2 values"),
        (
            node("LinearClassifier", outputs=("l", "p"), coefficients=numbers(1, 8), classlabels_ints=[1, 2, 3]),
            "3 labels do not fit 2 rows",
        ),
        (node("SVMRegressor", coefficients=numbers(1, 2), n_supports=2, support_vectors=numbers(1, 7), rho=[0.0]), "support_vectors has 7"),
    ):
        with pytest.raises(ModelFileError, match=message):
            attempt(made, x)
    with pytest.raises(UnsupportedModelError, match="one class label"):
        attempt(node("LinearClassifier", outputs=("l", "p"), coefficients=numbers(1, 4), classlabels_ints=[1]), x)
