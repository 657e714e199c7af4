"""Ensembles of decision trees: ai.onnx.ml TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor. Numerics §19.

One comparison serves all seven modes of ONNX: the importer turns them into x ≤ threshold with the children exchanged, the threshold moved
to the float below, or several nodes in place of one. Equal leaves are stored once. That makes a node of 10 bytes (feature, threshold,
two children; int16 indices) and nothing for a leaf.
"""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import Tensor

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
"""How the weights of the trees' leaves make a score; the record has the position in this list, which is also ONNX's number."""


def _shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x = given(inputs, 0).shape
    if len(x) != 2:
        raise ValueError(f"x{x} is not [rows, features]")
    return (x[0], int(attributes["targets"]))


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    rows, features = given(inputs, 0).shape
    return {
        "rows": rows,
        "features": features,
        "trees": given(inputs, 4).elements,
        "targets": outputs[0].shape[1],
        "aggregate": AGGREGATES.index(node.attributes["aggregate"]),
    }


def _tree_ensemble(name: str, code: int, index: str) -> Operator:
    operands = (
        Operand("x", "[rows, features]"),
        Operand("feature", f"{index}[nodes]: f, or ~f where NaN goes to the first child", constant=True),
        Operand("threshold", "[nodes]", constant=True),
        Operand(
            "child",
            f"{index}[nodes, 2]: where x[f] <= threshold, and where not; n: node n, after its parent; ~n: leaf n",
            constant=True,
        ),
        Operand("root", f"{index}[trees]: like child", constant=True),
        Operand(
            "start", "int32[leaves + 1]: the weights of leaf n are start[n] … start[n + 1]; absent: weight n", constant=True, optional=True
        ),
        Operand("target", f"{index}[weights]: the score that each adds to; absent: score 0", constant=True, optional=True),
        Operand("weight", "[weights]", constant=True),
    )
    return Operator(
        name=name,
        summary=f"Scores of decision trees, of {index} indices",
        onnx=("ai.onnx.ml.TreeEnsemble", "ai.onnx.ml.TreeEnsembleClassifier", "ai.onnx.ml.TreeEnsembleRegressor"),
        inputs=operands,
        attributes=(
            Attribute("targets", "scores a row"),
            Attribute("aggregate", "AVERAGE, SUM, MIN or MAX; a score that no leaf adds to is 0"),
        ),
        shape=_shape,
        code=code,
        variants=("float32",),
        stored=operands,
        params=(
            Param("rows", ""),
            Param("features", ""),
            Param("trees", ""),
            Param("targets", "scores a row"),
            Param("aggregate", "0: mean over the trees, 1: sum, 2: minimum, 3: maximum"),
        ),
        record=_record,
    )


TREE_ENSEMBLE = (_tree_ensemble("TreeEnsemble", 200, "int16"), _tree_ensemble("LargeTreeEnsemble", 201, "int32"))
