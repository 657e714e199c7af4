"""TreeEnsemble, LargeTreeEnsemble: docs/numerics.md §19. All in float32, tree after tree, as the C kernel: the scores are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array

AVERAGE, SUM, MIN, MAX = range(4)


def tree_ensemble(
    p: Any,
    x: Array,
    feature: Array,
    threshold: Array,
    child: Array,
    root: Array,
    start: Array | None,
    target: Array | None,
    weight: Array,
    y: Array,
) -> None:
    rows, scores = x.reshape(p.rows, p.features), y.reshape(p.rows, p.targets)
    feature, child, weight = feature.reshape(-1), child.reshape(-1, 2), weight.reshape(-1)
    starts = np.arange(weight.size + 1) if start is None else start.reshape(-1)
    targets = np.zeros(weight.size, np.int64) if target is None else target.reshape(-1)
    _verify(p, feature, child, root, starts, targets, weight.size)
    leaves = _leaves(rows, feature, threshold.reshape(-1), child, root.reshape(-1))
    scores[...] = {MIN: np.inf, MAX: -np.inf}.get(p.aggregate, 0.0)
    add = {MIN: np.minimum, MAX: np.maximum}.get(p.aggregate, np.add)
    for tree in range(p.trees):
        first, count = starts[leaves[:, tree]], starts[leaves[:, tree] + 1] - starts[leaves[:, tree]]
        for i in range(int(count.max())):
            has = np.flatnonzero(i < count)
            at = first[has] + i
            scores[has, targets[at]] = add(scores[has, targets[at]], weight[at])
    if p.aggregate == AVERAGE:
        scores /= np.float32(p.trees)
    elif p.aggregate != SUM:
        scores[np.isinf(scores)] = 0  # no leaf adds to this one


def _verify(p: Any, feature: Array, child: Array, root: Array, starts: Array, targets: Array, weights: int) -> None:
    """As the check of the C kernel. Raises ValueError."""
    leaves = starts.size - 1
    behind = np.arange(1, feature.size + 1)[:, None]
    if not (np.where(feature < 0, ~feature, feature) < p.features).all():
        raise ValueError("a node tests a feature that the rows do not have")
    if not np.where(child < 0, ~child < leaves, (child >= behind) & (child < feature.size)).all():
        raise ValueError("a child is no node behind its parent and no leaf")
    if root.size != p.trees or not np.where(root < 0, ~root < leaves, root < feature.size).all():
        raise ValueError("a root is no node and no leaf")
    if leaves < 1 or starts[0] < 0 or starts[-1] > weights or (np.diff(starts) < 0).any():
        raise ValueError("the weights of a leaf do not exist")
    if targets.size != weights or not ((targets >= 0) & (targets < p.targets)).all():
        raise ValueError("a weight belongs to no score")


def _leaves(x: Array, feature: Array, threshold: Array, child: Array, root: Array) -> Array:
    """The leaf that every row ends in, [rows, trees]."""
    place = np.repeat(root.astype(np.int64)[None, :], x.shape[0], axis=0)
    row = np.arange(x.shape[0])[:, None].repeat(root.size, axis=1)
    while (place >= 0).any():
        inner = place >= 0
        node = place[inner]
        f = feature[node].astype(np.int64)
        value = x[row[inner], np.where(f < 0, ~f, f)]
        with np.errstate(invalid="ignore"):
            first = np.where(f >= 0, value <= threshold[node], ~(value > threshold[node]))
        place[inner] = child[node, np.where(first, 0, 1)]
    return ~place


KERNELS: dict[tuple[str, str], Callable[..., None]] = {(op, "float32"): tree_ensemble for op in ("TreeEnsemble", "LargeTreeEnsemble")}
"""By operator and variant."""
