"""TreeEnsembleClassifier, TreeEnsembleRegressor (ai.onnx.ml 1, 3) and TreeEnsemble (5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arenite.frontend.importers.scores import (
    Labels,
    best_label,
    class_labels,
    complement,
    floats,
    opposite,
    post_transform,
    real_rows,
    strings,
    transformed,
)
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.tree_layout import MODES, Branch, Leaf, lay_out
from arenite.frontend.values import Constant, Value
from arenite.graph.operators import UNBOUNDED
from arenite.graph.operators.tree_ensemble import AGGREGATES

Votes = dict[tuple[int, int], list[tuple[int, float]]]
"""(score, weight) of every contribution of a leaf, by tree and node."""


def classifier(node: NodeImport) -> Sequence[Value]:
    """onnxruntime's conventions for two classes, where ONNX has none; numerics.md §19 says where it contradicts itself."""
    labels, transform = class_labels(node, "classlabels_int64s"), post_transform(node)
    ids, weights = node.ints("class_ids", ()), floats(node, "class_weights")
    if len(labels) < 2:
        node.refuse(f"it has {len(labels)} class labels", "give the labels of two classes or more")
    votes = _votes(node, "class", ids, weights, len(labels), "SUM")
    if len(labels) == 2 and len(set(ids)) == 1:
        return _binary(node, labels, votes, ids[0], bool((weights >= 0).all()), transform)
    scores = _based(node, _ensemble(node, votes, len(labels), "SUM"), len(labels))
    return [best_label(node, scores, labels), transformed(node, scores, transform)]


def _binary(node: NodeImport, labels: Labels, votes: Votes, scored: int, positive: bool, transform: str) -> Sequence[Value]:
    """Two classes, of which the leaves weigh one: class 0 in name, and the second by convention."""
    if floats(node, "base_values").size > 1 or (scored == 1 and floats(node, "base_values").size):
        node.refuse("two classes have base_values, but the leaves weigh one of them only", "give one base value, and class_ids of 0")
    shifted = {place: [(0, weight) for _, weight in leaf] for place, leaf in votes.items()}
    score = _based(node, _ensemble(node, shifted, 1, "SUM"), 1)
    doubled = complement(node, score) if positive and transform in ("NONE", "PROBIT") else opposite(node, score)
    label = best_label(node, doubled, labels)
    return [label, transformed(node, doubled, transform)]


def regressor(node: NodeImport) -> Sequence[Value]:
    targets, aggregate = int(node.attribute("n_targets", 1)), str(node.attribute("aggregate_function", "SUM"))
    if aggregate not in AGGREGATES:
        node.malformed(f"aggregate_function is {aggregate}, none of {', '.join(AGGREGATES)}")
    votes = _votes(node, "target", node.ints("target_ids", ()), floats(node, "target_weights"), targets, aggregate)
    scores = _based(node, _ensemble(node, votes, targets, aggregate), targets)
    return [transformed(node, scores, post_transform(node))]


def _based(node: NodeImport, scores: str, targets: int) -> str:
    """With base_values added."""
    base = floats(node, "base_values")
    if base.size and base.size != targets:
        node.refuse(f"{base.size} base_values for {targets} scores", "give one a score, or none")
    if not base.any():
        return scores
    constant = node.add_constant(Constant(f"{node.name}/base_values", base.astype(np.float32).reshape(1, -1)))
    return node.emit("Add", [scores, constant], clip=UNBOUNDED)


def _votes(node: NodeImport, kind: str, ids: Sequence[int], weights: Any, scores: int, aggregate: str) -> Votes:
    trees, nodes = node.ints(f"{kind}_treeids", ()), node.ints(f"{kind}_nodeids", ())
    if not len(trees) == len(nodes) == len(ids) == len(weights):
        node.malformed(f"{kind}_treeids, …_nodeids, …_ids and …_weights have {len(trees)}, {len(nodes)}, {len(ids)}, {len(weights)} values")
    if not all(0 <= score < scores for score in ids):
        node.malformed(f"{kind}_ids reach from {min(ids)} to {max(ids)}, there are {scores} scores")
    votes: Votes = {}
    for tree, place, score, weight in zip(trees, nodes, ids, weights, strict=True):
        if weight != 0 or aggregate in ("MIN", "MAX"):
            votes.setdefault((tree, place), []).append((int(score), float(weight)))
    return votes


def _ensemble(node: NodeImport, votes: Votes, targets: int, aggregate: str) -> str:
    """The scores of ai.onnx.ml 1 and 3's description of trees: nodes by tree and number, leaves among them."""
    trees, numbers = node.ints("nodes_treeids", ()), node.ints("nodes_nodeids", ())
    modes = strings(node, "nodes_modes")
    features = node.ints("nodes_featureids", ())
    true, false = node.ints("nodes_truenodeids", ()), node.ints("nodes_falsenodeids", ())
    given = node.attribute("nodes_values_as_tensor")
    values = np.asarray(node.attribute("nodes_values", ()) if given is None else given, np.float64).reshape(-1)
    nan_true = node.ints("nodes_missing_value_tracks_true", ()) or (0,) * len(trees)
    columns = (trees, numbers, modes, features, true, false, values, nan_true)
    if not trees or {len(column) for column in columns} != {len(trees)}:
        node.malformed(f"the nodes_… attributes have {[len(column) for column in columns]} values")
    keys = list(zip(trees, numbers, strict=True))
    if len(set(keys)) != len(keys):
        node.malformed("a node occurs twice in its tree")
    inner = [key for key, mode in zip(keys, modes, strict=True) if mode != "LEAF"]
    branch_of = {key: index for index, key in enumerate(inner)}
    leaf_of = {key: index for index, key in enumerate(key for key, mode in zip(keys, modes, strict=True) if mode == "LEAF")}

    def place(tree: int, number: int) -> int:
        key = (tree, number)
        if key not in branch_of and key not in leaf_of:
            node.malformed(f"tree {tree} has no node {number}")
        return branch_of[key] if key in branch_of else ~leaf_of[key]

    branches = [
        Branch(feature, mode, (float(value),), bool(nan), place(tree, yes), place(tree, no))
        for tree, mode, feature, yes, no, value, nan in zip(trees, modes, features, true, false, values, nan_true, strict=True)
        if mode != "LEAF"
    ]
    leaves = [tuple(votes.get(key, ())) for key in leaf_of]
    first = dict(reversed(keys))
    roots = [place(tree, 0 if (tree, 0) in branch_of or (tree, 0) in leaf_of else first[tree]) for tree in dict.fromkeys(trees)]
    return _emit(node, branches, leaves, roots, targets, aggregate)


def _emit(node: NodeImport, branches: Sequence[Branch], leaves: Sequence[Leaf], roots: Sequence[int], targets: int, aggregate: str) -> str:
    x = real_rows(node)
    count = node.graph.tensors[x].shape[1]
    for branch in branches:
        if not 0 <= branch.feature < count:
            node.malformed(f"a node tests feature {branch.feature}, the input has {count}")
        if branch.mode not in MODES:
            node.malformed(f"nodes_modes holds {branch.mode}, none of {', '.join(MODES)}")
        if np.isnan(branch.values).any():
            node.refuse("a threshold is NaN", "give a number: no comparison with NaN is true")
    if targets == 1 and aggregate in ("SUM", "AVERAGE"):
        leaves = [leaf or ((0, 0.0),) for leaf in leaves]  # one weight each: no list of lists
    try:
        arrays = lay_out(branches, leaves, roots)
    except ValueError as error:
        node.malformed(str(error))
    large = arrays.feature.dtype != np.int16

    def constant(what: str) -> str | None:
        data = getattr(arrays, what)
        return None if data is None else node.add_constant(Constant(f"{node.name}/{what}", data))

    operands = [constant(what) for what in ("feature", "threshold", "child", "root", "start", "target", "weight")]
    return node.emit("LargeTreeEnsemble" if large else "TreeEnsemble", [x, *operands], targets=targets, aggregate=aggregate)


def ensemble(node: NodeImport) -> Sequence[Value]:
    """ai.onnx.ml 5: inner nodes and leaves in lists of their own."""
    targets, aggregate = int(node.attribute("n_targets", 1)), int(node.attribute("aggregate_function", 1))
    if not 0 <= aggregate < len(AGGREGATES):
        node.malformed(f"aggregate_function is {aggregate}")
    target_ids = node.ints("leaf_targetids", ())
    weights = np.asarray(node.attribute("leaf_weights"), np.float64).reshape(-1)
    if len(target_ids) != len(weights) or not all(0 <= target < targets for target in target_ids) or not np.isfinite(weights).all():
        node.malformed(f"{len(target_ids)} leaf_targetids and {len(weights)} leaf_weights do not fit {targets} targets")
    leaves: list[Leaf] = [((target, float(weight)),) for target, weight in zip(target_ids, weights, strict=True)]
    branches, roots = _listed_branches(node, len(leaves)), node.ints("tree_roots", ())
    if not roots or not all(0 <= root < len(branches) for root in roots):
        node.malformed(f"tree_roots {list(roots)} do not name some of {len(branches)} nodes")
    return [transformed(node, _emit(node, branches, leaves, roots, targets, AGGREGATES[aggregate]), post_transform(node))]


def _listed_branches(node: NodeImport, leaves: int) -> list[Branch]:
    features = node.ints("nodes_featureids", ())
    modes = [int(mode) for mode in np.asarray(node.attribute("nodes_modes")).reshape(-1)]
    splits = np.asarray(node.attribute("nodes_splits"), np.float64).reshape(-1)
    true, false = node.ints("nodes_truenodeids", ()), node.ints("nodes_falsenodeids", ())
    true_leaf, false_leaf = node.ints("nodes_trueleafs", ()), node.ints("nodes_falseleafs", ())
    nan_true = node.ints("nodes_missing_value_tracks_true", ()) or (0,) * len(features)
    columns = (features, modes, splits, true, false, true_leaf, false_leaf, nan_true)
    if {len(column) for column in columns} != {len(features)} or not all(0 <= mode < len(MODES) for mode in modes):
        node.malformed(f"the nodes_… attributes have {[len(column) for column in columns]} values, or unknown modes")

    def place(index: int, is_leaf: int) -> int:
        if not 0 <= index < (leaves if is_leaf else len(features)):
            node.malformed(f"{'leaf' if is_leaf else 'node'} {index} does not exist")
        return ~index if is_leaf else index

    members = _members(node, modes)
    branches = []
    for index, (feature, mode) in enumerate(zip(features, modes, strict=True)):
        values = next(members) if MODES[mode] == "BRANCH_MEMBER" else (float(splits[index]),)
        yes, no = place(true[index], true_leaf[index]), place(false[index], false_leaf[index])
        branches.append(Branch(feature, MODES[mode], values, bool(nan_true[index]), yes, no))
    return branches


def _members(node: NodeImport, modes: Sequence[int]) -> Any:
    """The sets of the BRANCH_MEMBER nodes, in their order: they end with a NaN each."""
    flat = np.asarray(node.attribute("membership_values", ()), np.float64).reshape(-1)
    sets: list[tuple[float, ...]] = [()]
    for value in flat:
        if np.isnan(value):
            sets.append(())
        else:
            sets[-1] = (*sets[-1], float(value))
    wanted = modes.count(MODES.index("BRANCH_MEMBER"))
    if len(sets) - (not sets[-1]) < wanted:
        node.malformed(f"membership_values holds {len(sets) - (not sets[-1])} sets, {wanted} nodes test membership")
    return iter(sets)


_ALL = "all modes, missing values, aggregate functions and post_transforms"

TREE_ENSEMBLES = {
    "ai.onnx.ml.TreeEnsemble": Importer(ensemble, _ALL + ", sets"),
    "ai.onnx.ml.TreeEnsembleClassifier": Importer(classifier, "all modes, missing values and post_transforms; text labels as indices"),
    "ai.onnx.ml.TreeEnsembleRegressor": Importer(regressor, _ALL),
}
