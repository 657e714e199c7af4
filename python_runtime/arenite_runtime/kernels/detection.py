"""Selecting boxes: docs/numerics.md §11. In float32, in the order of the C kernel: comparisons decide what is selected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array


def _extent(boxes: Array, axis: int, centred: int) -> tuple[Array, Array]:
    a, b = boxes[:, axis], boxes[:, axis + 2]
    if centred:
        return a - b / np.float32(2), a + b / np.float32(2)
    return np.where(a >= b, b, a), np.where(a >= b, a, b)


def _covered(boxes: Array, best: int, centred: int, threshold: np.float32) -> Array:
    """Which boxes share more of their union with box `best` than the threshold."""
    shared, own, other = (np.ones(len(boxes), np.float32) for _ in range(3))
    together = np.ones(len(boxes), bool)
    for axis in (1, 0):
        least, most = _extent(boxes, axis, centred)
        low, high = np.where(least > least[best], least, least[best]), np.where(most < most[best], most, most[best])
        together &= high > low
        shared, own, other = shared * (high - low), own * (most - least), other * (most[best] - least[best])
    whole = own + other - shared
    return together & (shared > 0) & (own > 0) & (other > 0) & (whole > 0) & (shared / whole > threshold)


def non_max_suppression(p: Any, boxes: Array, scores: Array, iou_threshold: Array | None, score_threshold: Array | None, y: Array) -> None:
    boxes, scores = boxes.reshape(p.batch, p.boxes, 4), scores.reshape(p.batch, p.classes, p.boxes)
    iou = np.float32(0) if iou_threshold is None else iou_threshold.reshape(-1)[0]
    rows: list[tuple[int, int, int]] = []
    with np.errstate(all="ignore"):
        for b, c in np.ndindex(p.batch, p.classes):
            own = scores[b, c]
            left = ~np.isnan(own) if score_threshold is None else own > score_threshold.reshape(-1)[0]
            for _ in range(p.limit):
                if not left.any():
                    break
                best = int(np.argmax(np.where(left, own, -np.inf)) if (own[left] > -np.inf).any() else np.flatnonzero(left)[0])
                rows.append((b, c, best))
                left = left & ~_covered(boxes[b], best, p.centred, iou)
                left[best] = False
    y[...] = -1
    y.reshape(-1, 3)[: len(rows)] = np.asarray(rows, np.int64).reshape(-1, 3)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {("NonMaxSuppression", "float32"): non_max_suppression}
"""By operator and variant."""
