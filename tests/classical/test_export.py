"""What calibration measures, the graph as ONNX nodes in onnxruntime, is what the engines compute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.frontend import load
from arenite.graph.onnx_export import evaluate

Make = Callable[..., Any]


def numbers(seed: int, *shape: int) -> list[float]:
    return [float(v) for v in np.random.default_rng(seed).normal(size=shape).astype(np.float32).reshape(-1)]


def machine(node: Make, classes: int, **more: Any) -> Any:
    pairs = classes * (classes - 1) // 2
    attributes = {
        "support_vectors": numbers(1, 2 * classes, 4),
        "coefficients": numbers(2, classes - 1, 2 * classes),
        "rho": numbers(3, pairs),
    }
    kernel = {"kernel_type": "RBF", "kernel_params": [0.4, 0.0, 0.0], "vectors_per_class": [2] * classes}
    return node("SVMClassifier", outputs=("l", "p"), classlabels_ints=list(range(classes)), **attributes, **kernel, **more)


@pytest.fixture(
    params=["trees", "minimum", "sets of leaves", "machine", "probabilities", "softmax zero", "probit", "labels", "integer labels"]
)
def made(request: pytest.FixtureRequest, node: Make, forest: Make) -> Any:
    modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_EQ")
    return {
        "trees": lambda: node("TreeEnsembleRegressor", n_targets=1, **forest(1, modes=modes, missing=True)),
        "minimum": lambda: node("TreeEnsembleRegressor", n_targets=2, aggregate_function="MIN", **forest(2, scores=2)),
        "sets of leaves": lambda: node("TreeEnsembleRegressor", n_targets=3, **forest(3, scores=3, per_leaf=2)),
        "machine": lambda: machine(node, 3),
        "probabilities": lambda: machine(node, 4, prob_a=[-1.5, -1.4, -1.3, -1.2, -1.1, -1.0], prob_b=numbers(4, 6)),
        "softmax zero": lambda: node("LinearRegressor", targets=3, coefficients=numbers(1, 3, 4), post_transform="SOFTMAX_ZERO"),
        "probit": lambda: node("LinearRegressor", targets=2, coefficients=[0.01] * 8, intercepts=[0.3, 0.6], post_transform="PROBIT"),
        "labels": lambda: node("LabelEncoder", keys_floats=[0.5, float("nan"), 1.0], values_floats=[1.0, 2.0, 3.0]),
        "integer labels": lambda: node("LabelEncoder", keys_int64s=[1, 5, 0], values_int64s=[10, 50, 0]),
    }[request.param]()


def test_the_same_values(predict: Make, made: Any, rows: Make, tmp_path: Path) -> None:
    integers = made.op_type == "LabelEncoder" and any(a.name == "keys_int64s" for a in made.attribute)
    x = rows(6, 5 if made.op_type.startswith("Tree") else 4, missing=made.op_type in ("TreeEnsembleRegressor", "LabelEncoder"))
    if integers:
        x = np.nan_to_num(x, posinf=1, neginf=0).astype(np.int64)
    prediction = predict(made, x, version=4 if made.op_type == "LabelEncoder" else 3)
    (tmp_path / "case.onnx").write_bytes(prediction.model.SerializeToString())
    values = evaluate(load(tmp_path / "case.onnx"), {"x": x})
    prediction.equals([values[name] for name in values])
