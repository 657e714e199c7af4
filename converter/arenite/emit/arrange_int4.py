"""The layout `int4`: runtime_c/kernels/int4.h says what it is, numerics.md §3.8 when it may be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.emit.arrange_paired import data_of
from arenite.graph import Node, Tensor
from arenite.graph.operators.int4 import BLOCK, GROUP, LOWEST, factors, words


def int4(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """`constants`: weight int8 [O, …], bias int32 [O], multiplier int32 [O]. Raises ValueError for weights that do not fit."""
    weight, bias, multiplier = (data_of(tensor) for tensor in constants)
    rows = weight.reshape(len(weight), -1)
    scales = factors(rows)
    if scales is None:
        raise ValueError(f"{node.name}: weights of {rows.shape} have no factors with which they are of four bits")
    nibbles = _words(rows, scales)
    columns = (bias.astype(np.int64), multiplier.astype(np.int64), scales, nibbles)
    parts: list[NDArray[np.int64]] = []
    per_group = len(rows) // int(node.attributes.get("group", 1))
    for first in range(0, len(rows), per_group):
        for begin in range(first, first + per_group, BLOCK):
            b, m, s, n = (column[begin : min(begin + BLOCK, first + per_group)] for column in columns)
            shifts = 8 * np.arange(len(s))[:, None]
            parts += [b, m, (s << shifts).sum(axis=0), n.reshape(-1)]
    return np.concatenate(parts).astype(np.uint32).view(np.int32)


def _words(rows: NDArray[np.generic], scales: NDArray[np.int64]) -> NDArray[np.int64]:
    """[filters, words]: tap k in the low half of byte k, tap 4 + k in the high half."""
    filters, taps = rows.shape
    steps = np.zeros((filters, 8 * words(taps)), np.int64)
    steps[:, :taps] = rows.astype(np.int64) // np.repeat(scales, GROUP, axis=1)[:, :taps]
    eights = (steps - LOWEST).reshape(filters, -1, 2, 4)
    found: NDArray[np.int64] = (eights << np.array([[0, 8, 16, 24], [4, 12, 20, 28]])).sum(axis=(2, 3))
    return found
