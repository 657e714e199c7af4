"""Tree ensembles against onnxruntime, and against the specification where onnxruntime leaves it (numerics.md §19)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper, numpy_helper

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
SMALL: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}
"""One node and two leaves."""
Make = Callable[..., Any]


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_regressor(predict: Make, node: Make, forest: Make, rows: Make, seed: int, aggregate: str, targets: int) -> None:
    """Every mode, missing values on either side, infinities and signed zeros. (Of NaN and BRANCH_NEQ see below.)"""
    trees = forest(seed, modes=MODES[:5], missing=True, scores=targets, per_leaf=targets if seed % 2 else 1)
    base = [0.25, -0.5, 0.125][:targets] if seed % 2 else []  # see test_a_target_that_no_leaf_adds_to
    extra = {"base_values": base} if base else {}
    made = node("TreeEnsembleRegressor", n_targets=targets, aggregate_function=aggregate, **extra, **trees)
    prediction = predict(made, rows(9, 5, seed=seed, missing=True))
    prediction.equals(prediction.onnxruntime())


def test_a_target_that_no_leaf_adds_to(predict: Make, node: Make) -> None:
    """It is the base value, as in the specification and its reference; onnxruntime gives 0."""
    made = node("TreeEnsembleRegressor", **(SMALL | {"n_targets": 2, "base_values": [0.25, -0.5]}))
    prediction = predict(made, np.asarray([[0.0], [1.0]], np.float32))
    prediction.equals([np.asarray([[1.25, -0.5], [2.25, -0.5]], np.float32)])
    prediction.equals(prediction.reference())


@pytest.mark.parametrize("seed", range(3))
def test_not_equal(predict: Make, node: Make, forest: Make, rows: Make, seed: int) -> None:
    prediction = predict(node("TreeEnsembleRegressor", n_targets=1, **forest(seed, modes=MODES)), rows(9, 5, seed=seed))
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("tracks", [0, 1])
def test_not_equal_and_missing(predict: Make, node: Make, tracks: int) -> None:
    """nodes_missing_value_tracks_true decides; onnxruntime goes by C's NaN != t, which is true."""
    trees: dict[str, Any] = SMALL | {"nodes_modes": ["BRANCH_NEQ", "LEAF", "LEAF"], "nodes_missing_value_tracks_true": [tracks, 0, 0]}
    wanted = np.asarray([[1.0 if tracks else 2.0], [1.0], [2.0]], np.float32)
    predict(node("TreeEnsembleRegressor", **trees), np.asarray([[np.nan], [1.0], [0.5]], np.float32)).equals([wanted])


@pytest.mark.parametrize("transform", ["SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"])
def test_regressor_transforms(predict: Make, node: Make, forest: Make, rows: Make, transform: str) -> None:
    trees = forest(5, scores=3, per_leaf=3, low=0.05 if transform == "PROBIT" else -1.0)
    mean = {"aggregate_function": "AVERAGE"} if transform == "PROBIT" else {}  # PROBIT is of probabilities
    prediction = predict(node("TreeEnsembleRegressor", n_targets=3, post_transform=transform, **mean, **trees), rows(7, 5))
    prediction.equals(prediction.onnxruntime())


def test_a_single_target_is_transformed(predict: Make, node: Make, forest: Make, rows: Make) -> None:
    """onnxruntime applies PROBIT only, the specification makes no such difference."""
    x, trees = rows(7, 5), forest(5)
    plain = predict(node("TreeEnsembleRegressor", n_targets=1, **trees), x).onnxruntime()[0]
    predict(node("TreeEnsembleRegressor", n_targets=1, post_transform="LOGISTIC", **trees), x).equals([logistic(plain).astype(np.float32)])


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("labels", [[0, 1, 2, 3], [10, -3, 7, 4], ["ant", "bee", "cat", "dog"]])
def test_classifier(predict: Make, node: Make, forest: Make, rows: Make, transform: str, labels: list[Any]) -> None:
    trees = forest(3, kind="class", scores=4, per_leaf=4, trees=4)
    named = {"classlabels_strings": labels} if isinstance(labels[0], str) else {"classlabels_int64s": labels}
    made = node(
        "TreeEnsembleClassifier", outputs=("label", "p"), post_transform=transform, base_values=[0.1, 0.0, -0.2, 0.3], **named, **trees
    )
    prediction = predict(made, rows(12, 5))
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("low", [0.0, -1.0])
@pytest.mark.parametrize("base", [[], [0.25]])
def test_two_classes_one_weight(predict: Make, node: Make, forest: Make, rows: Make, transform: str, low: float, base: list[float]) -> None:
    """What gradient boosting and binary forests are exported as."""
    trees = forest(8, kind="class", trees=2, low=low)
    trees["class_weights"] = [w / 2 for w in trees["class_weights"]]
    extra = {"base_values": base} if base else {}
    made = node("TreeEnsembleClassifier", outputs=("label", "p"), classlabels_int64s=[3, 5], post_transform=transform, **extra, **trees)
    prediction = predict(made, rows(12, 5))
    label, scores = prediction.onnxruntime()
    if low == 0.0 and transform == "LOGISTIC":  # onnxruntime's labels contradict its probabilities: it compares the raw score with 1/2
        label = np.where(scores[:, 1] > 0.5, 5, 3)
    prediction.equals([label, scores])


def test_two_classes_two_weights(predict: Make, node: Make, forest: Make, rows: Make) -> None:
    """The label of the greater score; onnxruntime gives 0 or 1 here whatever the labels are, and looks at the second score only."""
    trees = forest(8, kind="class", trees=3, scores=2, per_leaf=2)
    prediction = predict(node("TreeEnsembleClassifier", outputs=("label", "p"), classlabels_int64s=[3, 5], **trees), rows(12, 5))
    scores = prediction.onnxruntime()[1]
    prediction.equals([np.where(scores[:, 1] > scores[:, 0], 5, 3), scores])


@pytest.mark.parametrize("transform", ["SOFTMAX", "PROBIT"])
def test_transforms_of_two_classes_are_the_references(predict: Make, node: Make, forest: Make, rows: Make, transform: str) -> None:
    """onnxruntime leaves SOFTMAX out here, and PROBIT undefined in the second column."""
    trees = forest(4, kind="class", trees=1, low=0.1)
    made = node("TreeEnsembleClassifier", outputs=("label", "p"), classlabels_int64s=[0, 1], post_transform=transform, **trees)
    prediction = predict(made, rows(12, 5))
    prediction.equals(prediction.reference(), tolerance=1e-4)


def test_integers_and_vectors_as_input(predict: Make, node: Make, forest: Make) -> None:
    made = node("TreeEnsembleRegressor", n_targets=1, **forest(2))
    prediction = predict(made, np.arange(-5, 5, dtype=np.int64).reshape(2, 5) // 2)
    as_floats = predict(made, (np.arange(-5, 5).reshape(2, 5) // 2).astype(np.float32))
    prediction.equals(as_floats.onnxruntime())


def test_double_thresholds(predict: Make, node: Make) -> None:
    """x ≤ 0.1 in float64: the float32 next to 0.1 is above it."""
    trees = {name: value for name, value in SMALL.items() if name not in ("nodes_values", "target_weights")} | {
        "nodes_values_as_tensor": numpy_helper.from_array(np.asarray([0.1, 0, 0])),
        "target_weights_as_tensor": numpy_helper.from_array(np.asarray([1.0, 2.0])),
    }
    x = np.asarray([[np.float32(0.1)], [np.nextafter(np.float32(0.1), np.float32(0))]], np.float32)
    predict(node("TreeEnsembleRegressor", **trees), x).equals([np.asarray([[2.0], [1.0]], np.float32)])


def _version_5(forest: dict[str, Any], members: bool, aggregate: int, transform: int, targets: int) -> onnx.NodeProto:
    """The trees of a TreeEnsembleRegressor as ai.onnx.ml 5 has them."""
    modes = {mode: i for i, mode in enumerate(MODES)}
    inner = [i for i, mode in enumerate(forest["nodes_modes"]) if mode != "LEAF"]
    keys = list(zip(forest["nodes_treeids"], forest["nodes_nodeids"], strict=True))
    leaf_of = {key: i for i, key in enumerate(zip(forest["target_treeids"], forest["target_nodeids"], strict=True))}
    branch_of = {keys[i]: place for place, i in enumerate(inner)}
    child: dict[str, list[int]] = {name: [] for name in ("nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids", "nodes_falseleafs")}
    for i in inner:
        for side in ("true", "false"):
            key = (forest["nodes_treeids"][i], forest[f"nodes_{side}nodeids"][i])
            child[f"nodes_{side}leafs"].append(int(key in leaf_of))
            child[f"nodes_{side}nodeids"].append(leaf_of[key] if key in leaf_of else branch_of[key])
    numbers = [modes[forest["nodes_modes"][i]] for i in inner]
    sets: list[float] = []
    for place in range(0, len(numbers), 3) if members else ():
        numbers[place] = 6
        sets += [1.0, 2.0, 3.0, np.nan]  # onnxruntime has sets of positive integers only
    splits = np.asarray([forest["nodes_values"][i] for i in inner], np.float32)
    tensors = {
        "nodes_splits": splits,
        "nodes_modes": np.asarray(numbers, np.uint8),
        "leaf_weights": np.asarray(forest["target_weights"], np.float32),
    }
    if sets:
        tensors["membership_values"] = np.asarray(sets, np.float32)
    return helper.make_node(
        "TreeEnsemble",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=targets,
        aggregate_function=aggregate,
        post_transform=transform,
        tree_roots=[branch_of[tree, 0] for tree in dict.fromkeys(forest["nodes_treeids"])],
        nodes_featureids=[forest["nodes_featureids"][i] for i in inner],
        nodes_missing_value_tracks_true=[forest["nodes_missing_value_tracks_true"][i] for i in inner],
        leaf_targetids=forest["target_ids"],
        **child,
        **{name: numpy_helper.from_array(array) for name, array in tensors.items()},
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("members", [False, True])
def test_version_5(predict: Make, forest: Make, rows: Make, seed: int, members: bool) -> None:
    targets = 1 + seed % 3
    made = _version_5(
        forest(seed, modes=MODES[:5], missing=not members, scores=targets), members, aggregate=seed % 4, transform=0, targets=targets
    )
    prediction = predict(made, rows(11, 5, seed=seed, missing=not members), version=5)
    prediction.equals(prediction.onnxruntime())


@pytest.mark.parametrize(("transform", "name"), [(1, "SOFTMAX"), (2, "LOGISTIC"), (3, "SOFTMAX_ZERO")])
def test_version_5_transforms(predict: Make, node: Make, forest: Make, rows: Make, transform: int, name: str) -> None:
    """By the numbers of the specification; onnxruntime takes 1 for LOGISTIC and 2 for SOFTMAX."""
    x, trees = rows(8, 5), forest(1, scores=3)
    before = predict(node("TreeEnsembleRegressor", n_targets=3, post_transform=name, **trees), x)
    predict(_version_5(trees, False, 1, transform, 3), x, version=5).equals(before.onnxruntime())


def test_large_indices(predict: Make, node: Make) -> None:
    """More leaves than int16 counts: the other kernel."""
    depth = 16
    count = (1 << (depth + 1)) - 1
    inner = (1 << depth) - 1
    levels = np.floor(np.log2(np.arange(1, inner + 1))).astype(int)
    trees: dict[str, Any] = {
        "nodes_treeids": [0] * count,
        "nodes_nodeids": list(range(count)),
        "nodes_featureids": [*levels.tolist(), *[0] * (count - inner)],
        "nodes_values": [0.0] * count,
        "nodes_modes": ["BRANCH_LEQ"] * inner + ["LEAF"] * (count - inner),
        "nodes_truenodeids": [*range(1, 2 * inner, 2), *[0] * (count - inner)],
        "nodes_falsenodeids": [*range(2, 2 * inner + 1, 2), *[0] * (count - inner)],
        "target_treeids": [0] * (count - inner),
        "target_nodeids": list(range(inner, count)),
        "target_ids": [0] * (count - inner),
        "target_weights": [float(i) for i in range(count - inner)],
    }
    x = np.random.default_rng(0).normal(size=(20, depth)).astype(np.float32)
    wanted = ((x > 0) * (1 << np.arange(depth)[::-1])).sum(axis=1, keepdims=True).astype(np.float32)
    prediction = predict(node("TreeEnsembleRegressor", n_targets=1, **trees), x)
    assert {call.op for call in prediction.flat.nodes} == {"LargeTreeEnsemble"}
    prediction.equals([wanted])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nodes_truenodeids": [0, 0, 0]}, "leads back"),
        ({"nodes_truenodeids": [7, 0, 0]}, "no node 7"),
        ({"nodes_featureids": [3, 0, 0]}, "feature 3"),
        ({"nodes_modes": ["BRANCH_XOR", "LEAF", "LEAF"]}, "BRANCH_XOR"),
        ({"nodes_values": [0.0]}, "nodes_… attributes"),
        ({"nodes_nodeids": [0, 1, 1]}, "occurs twice"),
        ({"target_ids": [0, 1]}, "target_ids"),
        ({"target_weights": [1.0]}, "target_treeids"),
        ({"target_weights": [1.0, float("nan")]}, "target_weights holds nan"),
        ({"post_transform": "SQUARE"}, "post_transform"),
        ({"aggregate_function": "MEDIAN"}, "aggregate_function"),
    ],
)
def test_contradictions(attempt: Make, node: Make, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        attempt(node("TreeEnsembleRegressor", **(SMALL | changes)), np.zeros((1, 2), np.float32))


def test_a_threshold_that_is_nan(attempt: Make, node: Make, forest: Make) -> None:
    trees = forest(1)
    trees["nodes_values"][0] = float("nan")
    with pytest.raises(UnsupportedModelError, match="a threshold is NaN"):
        attempt(node("TreeEnsembleRegressor", n_targets=1, **trees), np.zeros((1, 5), np.float32))
