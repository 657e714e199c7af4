"""The layouts `int4` and `int4_lanes`: runtime_c/kernels/int4.h and int4_lanes.h; numerics.md §3.8 says when they may be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.emit.arrange_paired import data_of, packed
from arenite.graph import Node, Tensor
from arenite.graph.operators.int4 import BLOCK, GROUP, LOWEST, factors, words


def int4(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """`constants`: weight int8 [O, …], bias int32 [O], multiplier int32 [O]. Raises ValueError for weights that do not fit."""
    rows, scales, bias, multiplier = _parts(node, constants)
    columns = (bias, multiplier, scales, _words(rows, scales))
    parts: list[NDArray[np.int64]] = []
    per_group = len(rows) // int(node.attributes.get("group", 1))
    for first in range(0, len(rows), per_group):
        for begin in range(first, first + per_group, BLOCK):
            b, m, s, n = (column[begin : min(begin + BLOCK, first + per_group)] for column in columns)
            shifts = 8 * np.arange(len(s))[:, None]
            parts += [b, m, (s << shifts).sum(axis=0), n.reshape(-1)]
    return np.concatenate(parts).astype(np.uint32).view(np.int32)


def int4_lanes(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """As int4."""
    convolution_groups = int(node.attributes.get("group", 1))
    blocks = [_in_blocks(part, convolution_groups) for part in _parts(node, constants)]
    rows, scales, bias, multiplier = blocks  # [blocks, BLOCK, …]
    taps = rows.shape[2]
    steps = np.zeros((*rows.shape[:2], -(-taps // 4) * 4), np.int64)
    steps[..., :taps] = rows // np.maximum(np.repeat(scales, GROUP, axis=2)[..., :taps], 1)
    lanes = np.concatenate([steps[:, : BLOCK - 1] - LOWEST, steps[:, BLOCK - 1 :]], axis=1) & 0xF
    halfwords = (lanes << (4 * np.arange(BLOCK))[:, None]).sum(axis=1)  # [blocks, taps]
    words, factor = packed(halfwords), (scales << (8 * np.arange(BLOCK))[:, None]).sum(axis=1)
    parts = [bias]
    for group in range(factor.shape[1]):
        parts += [words[:, GROUP // 2 * group : GROUP // 2 * (group + 1)], factor[:, group : group + 1]]
    return np.concatenate([*parts, multiplier], axis=1).astype(np.uint32).view(np.int32).reshape(-1)


def _parts(node: Node, constants: Sequence[Tensor]) -> tuple[NDArray[np.int64], ...]:
    """(filters [O, taps], their factors [O, groups], biases, multipliers)."""
    weight, bias, multiplier = (data_of(tensor).astype(np.int64) for tensor in constants)
    rows = weight.reshape(len(weight), -1)
    scales = factors(rows)
    if scales is None:
        raise ValueError(f"{node.name}: weights of {rows.shape} have no factors with which they are of four bits")
    return rows, scales, bias, multiplier


def _in_blocks(part: NDArray[np.int64], convolution_groups: int) -> NDArray[np.int64]:
    """[O, …] → [blocks, BLOCK, …]: those of every group of a convolution filled up with zeros."""
    filters = part.reshape(convolution_groups, -1, *part.shape[1:])
    padded = np.zeros((convolution_groups, -(-filters.shape[1] // BLOCK) * BLOCK, *part.shape[1:]), np.int64)
    padded[:, : filters.shape[1]] = filters
    return padded.reshape(-1, BLOCK, *part.shape[1:])


def _words(rows: NDArray[np.generic], scales: NDArray[np.int64]) -> NDArray[np.int64]:
    """[filters, words]: tap k in the low half of byte k, tap 4 + k in the high half."""
    filters, taps = rows.shape
    steps = np.zeros((filters, 8 * words(taps)), np.int64)
    steps[:, :taps] = rows.astype(np.int64) // np.repeat(scales, GROUP, axis=1)[:, :taps]
    eights = (steps - LOWEST).reshape(filters, -1, 2, 4)
    found: NDArray[np.int64] = (eights << np.array([[0, 8, 16, 24], [4, 12, 20, 28]])).sum(axis=(2, 3))
    return found
