"""Decision trees as ONNX describes them → the arrays of a TreeEnsemble (graph/operators/tree_ensemble.py).

ONNX has seven comparisons of a float with a threshold, and a bit that says where NaN goes. One is enough, x ≤ t with a bit for NaN: since
elements are float32, x < t is x ≤ the float below t; x > t is not x ≤ t; x = t is x ≤ t and not x < t; and x ∈ {a, b} is x = a, or else
x = b. Nodes may share children: a set costs two nodes a member and no copy of the subtrees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""In the order of ONNX's numbers."""
_OPPOSITE = {"BRANCH_GT": "BRANCH_LEQ", "BRANCH_GTE": "BRANCH_LT", "BRANCH_NEQ": "BRANCH_EQ"}

Indices = NDArray[np.int16] | NDArray[np.int32]
Leaf = tuple[tuple[int, float], ...]
"""(score, weight) of each contribution, in order."""


@dataclass(frozen=True)
class Branch:
    """An inner node. A child is the index of a branch, or ~index of a leaf."""

    feature: int
    mode: str
    values: tuple[float, ...]
    """The threshold, or the members of BRANCH_MEMBER."""
    nan_true: bool
    true: int
    false: int


@dataclass(frozen=True)
class TreeArrays:
    """The constant operands, in order."""

    feature: Indices
    threshold: NDArray[np.float32]
    child: Indices
    root: Indices
    start: NDArray[np.int32] | None
    target: Indices | None
    weight: NDArray[np.float32]


def lay_out(branches: Sequence[Branch], leaves: Sequence[Leaf], roots: Sequence[int]) -> TreeArrays:
    """Parents come before their children, equal leaves are one, and what no root reaches is left out.

    Raises ValueError where a path leads back to where it came from.
    """
    order = _order(branches, roots)
    lowered = [_lower(branches[i].mode, branches[i].values, branches[i].nan_true) for i in order]
    first = dict(zip(order, np.cumsum([0, *map(len, lowered)]).tolist(), strict=False))
    stored: dict[Leaf, int] = {}

    def place(reference: int) -> int:
        return first[reference] if reference >= 0 else ~stored.setdefault(leaves[~reference], len(stored))

    features: list[int] = []
    thresholds: list[np.float32] = []
    children: list[int] = []
    for index, nodes in zip(order, lowered, strict=True):
        branch, begin = branches[index], len(features)
        for offset, node in enumerate(nodes):
            features.append(~branch.feature if node.nan_first else branch.feature)
            thresholds.append(node.threshold)
            ways = (node.first, node.second)
            children += [begin + offset + way if way > 0 else place(branch.true if way == _TRUE else branch.false) for way in ways]
    places = [place(root) for root in roots]
    if not features:  # a tree of one leaf; a tensor needs an element
        features, thresholds, children = [0], [np.float32(0)], [~0, ~0]
    scores = (score for leaf in stored for score, _ in leaf)
    most = max(len(features), len(stored), 1 + max(scores, default=0), 1 + max(f if f >= 0 else ~f for f in features))
    index_type = np.dtype(np.int16 if most <= 1 << 15 else np.int32)
    start, target, weight = _contributions(list(stored), index_type)
    return TreeArrays(
        np.asarray(features, index_type),
        np.asarray(thresholds, np.float32),
        np.asarray(children, index_type).reshape(-1, 2),
        np.asarray(places, index_type),
        start,
        target,
        weight,
    )


def _contributions(
    leaves: Sequence[Leaf], index_type: np.dtype[Any]
) -> tuple[NDArray[np.int32] | None, Indices | None, NDArray[np.float32]]:
    """start, target, weight: as few of them as these leaves need."""
    flat = [contribution for leaf in leaves for contribution in leaf] or [(0, 0.0)]
    target = np.asarray([score for score, _ in flat])
    weight = np.asarray([value for _, value in flat], np.float32)
    if all(len(leaf) == 1 for leaf in leaves):
        return None, None if not target.any() else target.astype(index_type), weight
    start = np.cumsum([0, *map(len, leaves)]).astype(np.int32)
    return start, target.astype(index_type), weight


def _order(branches: Sequence[Branch], roots: Sequence[int]) -> list[int]:
    """Every branch that a root reaches, before those below it; along the true side consecutive, for locality."""
    done: set[int] = set()
    order: list[int] = []
    for root in reversed(roots):
        above = set() if root < 0 or root in done else {root}
        path = [(index, _children(branches[index])) for index in above]
        while path:
            index, children = path[-1]
            child = next(children, None)
            if child is None:
                path.pop()
                above.discard(index)
                done.add(index)
                order.append(index)
            elif child in above:
                raise ValueError("a path through the tree leads back to a node that it came from")
            elif child not in done:
                above.add(child)
                path.append((child, _children(branches[child])))
    return order[::-1]


def _children(branch: Branch) -> Iterator[int]:
    """Its branches; the true one last, which is next to its parent in the reversed order."""
    return (child for child in (branch.false, branch.true) if child >= 0)


_TRUE, _FALSE = 0, -1
"""Where a lowered node leads: to a child of the branch, or as many nodes ahead as a positive number says."""


@dataclass(frozen=True)
class _Node:
    threshold: np.float32
    nan_first: bool
    first: int
    second: int


def _lower(mode: str, values: Sequence[float], nan_true: bool, true: int = _TRUE, false: int = _FALSE) -> list[_Node]:
    """The nodes that stand for a branch, in order."""
    if mode in _OPPOSITE:
        return _lower(_OPPOSITE[mode], values, not nan_true, false, true)
    if mode == "BRANCH_LEQ":
        return [_Node(_greatest(values[0], strictly=False), nan_true, true, false)]
    if mode == "BRANCH_LT":
        return _never(nan_true, true, false) if values[0] == -np.inf else [_Node(_greatest(values[0], True), nan_true, true, false)]
    members = list(dict.fromkeys(value for value in values if float(_nearest(value)) == value))
    nodes: list[_Node] = []
    for position, value in enumerate(members, start=1):
        last = position == len(members)
        if value == -np.inf:
            nodes.append(_Node(_nearest(value), nan_true, true, false if last else 1))
            continue
        nodes.append(_Node(_nearest(value), nan_true, 1, false if last else 2))
        nodes.append(_Node(_greatest(value, True), not nan_true, false if last else 1, true))
    return nodes or _never(nan_true, true, false)


def _never(nan_true: bool, true: int, false: int) -> list[_Node]:
    """A condition that no number fulfils."""
    return [_Node(np.float32(np.inf), False, false, true)] if nan_true else [_Node(np.float32(0), False, false, false)]


def _nearest(value: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(value)


def _greatest(value: float, strictly: bool) -> np.float32:
    """The greatest float32 that is at most `value`, or less than it."""
    nearest = _nearest(value)
    if float(nearest) > value or (strictly and float(nearest) == value):
        return np.float32(np.nextafter(nearest, np.float32(-np.inf)))
    return nearest
