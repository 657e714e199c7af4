"""Elements of a tensor by constant indices along an axis, as the cheapest movement: a Slice, a repetition, a few of both, or a Gather."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from arenite.frontend.node_import import NodeImport
from arenite.frontend.values import Constant

MOST_PARTS = 8
"""Copies that one selection may become; with more of them a Gather, which reads its indices from memory, is shorter."""


def take(node: NodeImport, x: str, axis: int, indices: Sequence[int]) -> str:
    """x[…, indices, …], indices not negative and inside; x itself where nothing moves. Any element type."""
    return take_all(node, x, {axis: indices})


def take_all(node: NodeImport, x: str, indices: Mapping[int, Sequence[int]]) -> str:
    """The same along several axes. What is repeated as it stands, along any of them, is repeated by one copy."""
    counts = {}
    for axis, chosen in indices.items():
        count = _repetition(chosen)
        counts[axis] = count if count > 1 and _step(chosen[::count]) is not None else 1
        x = _taken(node, x, axis, chosen[:: counts[axis]])
    return _repeated(node, x, counts)


def _taken(node: NodeImport, x: str, axis: int, indices: Sequence[int]) -> str:
    shape = node.graph.tensors[x].shape
    parts = _runs(indices)
    if len(parts) > MOST_PARTS:
        table = node.add_constant(Constant(f"{node.name}/indices", np.asarray(indices, np.int32)))
        return node.emit("Gather", [x, table], axis=axis)
    if len(parts) > 1:
        return node.emit("Concat", [take(node, x, axis, part) for part in parts], axis=axis)
    step, count = _step(indices) or 1, len(indices)
    if count == shape[axis] and step == 1:
        return x
    starts = tuple(indices[0] if d == axis else 0 for d in range(len(shape)))
    steps = tuple(step if d == axis else 1 for d in range(len(shape)))
    sizes = tuple(count if d == axis else n for d, n in enumerate(shape))
    return node.emit("Slice", [x], starts=starts, steps=steps, sizes=sizes)


def _repeated(node: NodeImport, x: str, counts: Mapping[int, int]) -> str:
    """Every entry along each axis as often as `counts` says, one copy behind the other."""
    shape = node.graph.tensors[x].shape
    times = [counts.get(axis, 1) for axis in range(len(shape))]
    if all(count == 1 for count in times):
        return x
    narrow = [n for size, count in zip(shape, times, strict=True) for n in ((size, 1) if count > 1 else (size,))]
    wide = [n for size, count in zip(shape, times, strict=True) for n in ((size, count) if count > 1 else (size,))]
    copied = node.emit("Expand", [node.reshape(x, narrow)], shape=tuple(wide))
    return node.reshape(copied, [size * count for size, count in zip(shape, times, strict=True)])


def _step(indices: Sequence[int]) -> int | None:
    """The distance of evenly spaced indices, 1 of a single one; None of others, and of an index that repeats."""
    steps = {b - a for a, b in pairwise(indices)} or {1}
    return steps.pop() if len(steps) == 1 and 0 not in steps else None


def _repetition(indices: Sequence[int]) -> int:
    """How often every index stands behind itself; 1 where that differs."""
    count = next((i for i, index in enumerate(indices) if index != indices[0]), len(indices))
    whole = len(indices) % count == 0 and all(indices[i] == indices[i - i % count] for i in range(len(indices)))
    return count if whole else 1


def _runs(indices: Sequence[int]) -> list[list[int]]:
    """Evenly spaced pieces, and pieces that repeat one index, as long as they come."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and (len(runs[-1]) == 1 or index - runs[-1][-1] == runs[-1][-1] - runs[-1][-2]):
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs
