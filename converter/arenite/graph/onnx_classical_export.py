"""Trees, support vector machines, encoders and score transforms as ONNX nodes, of ai.onnx.ml where that has them. See onnx_export.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph.node import Node
from arenite.graph.onnx_typed_export import Export, Exporter
from arenite.graph.operators.classical import pair_coefficients, pairs

ML = "ai.onnx.ml"
ML_VERSION = 3
Array = NDArray[Any]


def _data(export: Export, node: Node, index: int) -> Array:
    data = export.operand(node, index).data
    if data is None:
        raise ValueError(f"{node.name}: operand {index} is not constant")
    return data


def _trees(export: Export, node: Node) -> str:
    """Shared subtrees are written out: ONNX's nodes have one parent each."""
    feature, threshold, child, root = (_data(export, node, index) for index in range(1, 5))
    weight = _data(export, node, 7)
    start = np.arange(weight.size + 1) if node.inputs[5] is None else _data(export, node, 5)
    target = np.zeros(weight.size, int) if node.inputs[6] is None else _data(export, node, 6)
    a: dict[str, list[Any]] = {f"nodes_{name}": [] for name in _NODE} | {f"target_{name}": [] for name in _WEIGHT}
    for tree, place in enumerate(root.tolist()):
        pending, count = [(place, -1, "")], 0
        while pending:
            place, parent, side = pending.pop()
            number, count = count, count + 1
            if parent >= 0:
                a[f"nodes_{side}nodeids"][parent] = number
            leaf = place < 0
            f = 0 if leaf else int(feature[place])
            row = (
                tree,
                number,
                ~f if f < 0 else f,
                0.0 if leaf else float(threshold[place]),
                "LEAF" if leaf else "BRANCH_LEQ",
                0,
                0,
                int(f < 0),
            )
            for name, value in zip(_NODE, row, strict=True):
                a[f"nodes_{name}"].append(value)
            if not leaf:
                here = len(a["nodes_treeids"]) - 1
                pending += [(int(child[place, 1]), here, "false"), (int(child[place, 0]), here, "true")]
            for i in range(start[~place], start[~place + 1]) if leaf else ():
                for name, value in zip(_WEIGHT, (tree, number, int(target[i]), float(weight[i])), strict=True):
                    a[f"target_{name}"].append(value)
    trees: dict[str, Any] = {"n_targets": node.attributes["targets"], "aggregate_function": node.attributes["aggregate"], **a}
    return export.emit("TreeEnsembleRegressor", [node.input], None, domain=ML, **trees)


_NODE = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")
_WEIGHT = ("treeids", "nodeids", "ids", "weights")


def _squared_distance(export: Export, node: Node) -> str:
    shape = export.operand(node, 0).shape
    x = export.emit("Reshape", [node.input, export.constant((*shape[:-1], 1, shape[-1]), np.int64)])
    difference = export.emit("Sub", [x, str(node.inputs[1])])
    return export.emit("ReduceSum", [export.emit("Mul", [difference, difference]), export.constant([len(shape)], np.int64)], keepdims=0)


def _svm_decision(export: Export, node: Node) -> str:
    matrix = pair_coefficients(_data(export, node, 1), _data(export, node, 3))
    product = export.emit("MatMul", [node.input, export.constant(matrix.T)])
    return export.emit("Add", [product, str(node.inputs[2])])


def _svm_votes(export: Export, node: Node) -> str:
    """The second class of every pair has a vote, unless it moves to the first."""
    classes = node.attributes["classes"]
    first, second = (np.eye(classes)[index] for index in np.triu_indices(classes, 1))
    won = export.emit("Cast", [export.emit("Greater", [node.input, export.constant(0)])], to=1)
    return export.emit("Add", [export.emit("MatMul", [won, export.constant(first - second)]), export.constant(second.sum(axis=0))])


def _svm_probability(export: Export, node: Node) -> str:
    """An SVMClassifier whose kernel values are the decisions: every class has the unit vectors for its support vectors."""
    classes = node.attributes["classes"]
    count = pairs(classes)
    coefficient = np.zeros((classes - 1, classes, count))
    for pair, (i, j) in enumerate(zip(*np.triu_indices(classes, 1), strict=True)):
        coefficient[j - 1, i, pair] = 1
    machine = {
        "classlabels_ints": list(range(classes)),
        "coefficients": coefficient.reshape(-1).tolist(),
        "kernel_params": [0.0, 0.0, 0.0],
        "kernel_type": "LINEAR",
        "prob_a": _data(export, node, 1).tolist(),
        "prob_b": _data(export, node, 2).tolist(),
        "rho": [0.0] * count,
        "support_vectors": np.tile(np.eye(count), (classes, 1)).reshape(-1).tolist(),
        "vectors_per_class": [count] * classes,
    }
    return export.emit_all("SVMClassifier", [node.input], 2, domain=ML, **machine)[1]


def _key_index(export: Export, node: Node) -> str:
    keys = _data(export, node, 1)
    real = keys.dtype.kind == "f"
    x = node.input if real else export.emit("Cast", [node.input], to=7)
    named = {"keys_floats" if real else "keys_int64s": keys.tolist(), "values_int64s": list(range(keys.size)), "default_int64": keys.size}
    found = export.emit("LabelEncoder", [x], domain=ML, **named)
    if not real or node.attributes["nan"] == keys.size:
        return found
    missing = export.emit("IsNaN", [node.input])
    return export.emit("Where", [missing, export.constant(node.attributes["nan"], np.int64), found])


def _softmax_zero(export: Export, node: Node) -> str:
    axis = export.constant([len(export.operand(node, 0).shape) - 1], np.int64)
    exponential = export.emit("Exp", [export.emit("Sub", [node.input, export.emit("ReduceMax", [node.input, axis])])])
    counts = export.emit("Greater", [export.emit("Abs", [node.input]), export.constant(1e-7)])
    kept = export.emit("Where", [counts, exponential, export.constant(0)])
    total = export.emit("Max", [export.emit("ReduceSum", [kept, axis]), export.constant(np.finfo(np.float32).tiny)])
    return export.emit("Div", [kept, total])


def _probit(export: Export, node: Node) -> str:
    def number(value: float) -> str:
        return export.constant(np.float32(value))

    v = export.emit("Sub", [export.emit("Mul", [node.input, number(2)]), number(1)])
    product = export.emit("Mul", [export.emit("Sub", [number(1), v]), export.emit("Add", [number(1), v])])
    logarithm = export.emit("Log", [product])
    half = export.emit("Add", [export.emit("Mul", [logarithm, number(0.5)]), number(2 / (3.14159 * 0.147))])
    inner = export.emit("Sub", [export.emit("Mul", [half, half]), export.emit("Div", [logarithm, number(0.147)])])
    root = export.emit("Sqrt", [export.emit("Sub", [export.emit("Sqrt", [inner]), half])])
    return export.emit("Mul", [export.emit("Mul", [export.emit("Sign", [v]), root]), number(1.41421356)])


EXPORTERS: dict[str, Exporter] = {
    "TreeEnsemble": _trees,
    "LargeTreeEnsemble": _trees,
    "SquaredDistance": _squared_distance,
    "SvmDecision": _svm_decision,
    "SvmVotes": _svm_votes,
    "SvmProbability": _svm_probability,
    "KeyIndex": _key_index,
    "SoftmaxZero": _softmax_zero,
    "Probit": _probit,
}
