"""Nodes of random models that pick and place elements: Gather and Scatter, Trilu, ReverseSequence, Tile, blocks, Pad by copying.

Indices are constants; those that a model computes are tested node by node (test_int8_operators.py).
"""

from __future__ import annotations

from math import prod

import numpy as np
from differential.builder import MAX_ELEMENTS, Builder, Grow
from hypothesis import strategies as st
from numpy.typing import NDArray


def _axis(b: Builder, x: str) -> int:
    return b.integer(0 if len(b.shapes[x]) == 1 else 1, len(b.shapes[x]) - 1)


def _indices(b: Builder, shape: tuple[int, ...], size: int) -> NDArray[np.int64]:
    return np.asarray(b.rng.integers(-size, size, shape), np.int64)


def gather(b: Builder, x: str) -> bool:
    if not b.shapes[x]:
        return False
    shape, axis = b.shapes[x], _axis(b, x)
    count = b.integer(1, 6)
    output = (*shape[:axis], count, *shape[axis + 1 :])
    if prod(output) > MAX_ELEMENTS:
        return False
    b.emit("Gather", [x, b.constant(_indices(b, (count,), shape[axis]))], output, axis=axis)
    return True


def gather_elements(b: Builder, x: str) -> bool:
    if not b.shapes[x]:
        return False
    shape, axis = b.shapes[x], _axis(b, x)
    output = tuple(b.integer(1, 5 if d == axis else n) for d, n in enumerate(shape))
    if prod(output) > MAX_ELEMENTS:
        return False
    b.emit("GatherElements", [x, b.constant(_indices(b, output, shape[axis]))], output, axis=axis)
    return True


def gather_nd(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if not shape:
        return False
    depth, rows = b.integer(1, len(shape)), b.integer(1, 4)
    indices = np.stack([_indices(b, (rows,), n) for n in shape[:depth]], axis=-1)
    output = (1, rows, *shape[depth:])
    if len(output) > 4:
        return False
    b.emit("GatherND", [x, b.constant(indices[None])], output)
    return True


def _peer(b: Builder, shape: tuple[int, ...]) -> str:
    """A value of this shape, or constants."""
    peers = [name for name, other in b.shapes.items() if other == shape]
    return b.draw(st.sampled_from(peers)) if peers and b.draw(st.booleans()) else b.constant(b.rng.normal(0, 1, shape).astype(np.float32))


def scatter_elements(b: Builder, x: str) -> bool:
    if not b.shapes[x]:
        return False
    shape, axis = b.shapes[x], _axis(b, x)
    places = b.rng.permutation(shape[axis])[: b.integer(1, shape[axis])]  # no place twice: ONNX leaves the order open
    updates = (*shape[:axis], len(places), *shape[axis + 1 :])
    spread = np.broadcast_to(places.reshape([-1 if d == axis else 1 for d in range(len(shape))]), updates)
    b.emit("ScatterElements", [x, b.constant(spread.astype(np.int64)), _peer(b, updates)], shape, axis=axis)
    return True


def scatter_nd(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 2:
        return False
    rows = b.rng.permutation(shape[1])[: b.integer(1, shape[1])]
    indices = np.stack([np.zeros_like(rows), rows], axis=-1).astype(np.int64)
    b.emit("ScatterND", [x, b.constant(indices), _peer(b, (len(rows), *shape[2:]))], shape)
    return True


def trilu(b: Builder, x: str) -> bool:
    if len(b.shapes[x]) < 2:
        return False
    b.emit("Trilu", [x, b.constant(np.asarray(b.integer(-2, 2), np.int64))], b.shapes[x], upper=b.integer(0, 1))
    return True


def reverse_sequence(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 2:
        return False
    lengths = np.asarray([b.integer(1, shape[1])] * shape[0], np.int64)
    b.emit("ReverseSequence", [x, b.constant(lengths)], shape, time_axis=1, batch_axis=0)
    return True


def tile(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    repeats = [1, *(b.integer(1, 2) for _ in shape[1:])]
    output = tuple(n * r for n, r in zip(shape, repeats, strict=True))
    if prod(output) > MAX_ELEMENTS:
        return False
    b.emit("Tile", [x, b.constant(np.asarray(repeats, np.int64))], output)
    return True


def blocks(b: Builder, x: str) -> bool:
    """DepthToSpace or SpaceToDepth."""
    shape = b.shapes[x]
    if len(shape) != 4:
        return False
    n, c, h, w = shape
    if c % 4 == 0:
        b.emit("DepthToSpace", [x], (n, c // 4, 2 * h, 2 * w), blocksize=2, mode=b.draw(st.sampled_from(["DCR", "CRD"])))
    elif h % 2 == 0 and w % 2 == 0:
        b.emit("SpaceToDepth", [x], (n, c * 4, h // 2, w // 2), blocksize=2)
    else:
        return False
    return True


def pad_by_copying(b: Builder, x: str) -> bool:
    """Pad with what is at the edge, or mirrored there."""
    shape = b.shapes[x]
    before = [0, *(b.integer(0, min(2, n - 1)) for n in shape[1:])]
    after = [0, *(b.integer(0, min(2, n - 1)) for n in shape[1:])]
    output = tuple(p + d + q for p, d, q in zip(before, shape, after, strict=True))
    if prod(output) > MAX_ELEMENTS:
        return False
    b.emit("Pad", [x, b.constant(np.asarray(before + after, np.int64))], output, mode=b.draw(st.sampled_from(["edge", "reflect"])))
    return True


INDEXING: tuple[Grow, ...] = (
    gather,
    gather_elements,
    gather_nd,
    scatter_elements,
    scatter_nd,
    trilu,
    reverse_sequence,
    tile,
    blocks,
    pad_by_copying,
)
