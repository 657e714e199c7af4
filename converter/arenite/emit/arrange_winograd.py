"""The layouts `winograd_2` and `winograd_4` of Conv: runtime_c/kernels/winograd.h says what they are, numerics.md §3.6 when to use them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.emit.arrange_paired import data_of, packed
from arenite.graph import Node, Tensor

BLOCK = 4
MIXES = {2: ((1, 1, 1), (1, -1, 1)), 4: ((-4, -4, -4), (-4, 4, -4), (1, 2, 4), (1, -2, 4))}
"""By outputs of a tile: what the weights of a row are multiplied by, for each mixed one."""


def conv_winograd_2(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    return _stream(2, constants)


def conv_winograd_4(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    return _stream(4, constants)


def _stream(tile: int, constants: Sequence[Tensor]) -> NDArray[np.int32]:
    """`constants`: weight int8 OHWI with 3x3 taps, bias int32 [O], multiplier int32 [O]; O and I are multiples of four."""
    weight, bias, multiplier = (data_of(tensor).astype(np.int64) for tensor in constants)
    by_tap = weight.transpose(2, 0, 1, 3).reshape(3, len(weight), -1)  # g0, g1, g2 of [outputs, taps]
    blocks = len(weight) // BLOCK
    ends = [_steps(256 * g[1::2] + g[::2], BLOCK // 2) for g in (by_tap[0], by_tap[2])]
    mixed = [_steps(np.tensordot(mix, by_tap, 1), BLOCK) for mix in MIXES[tile]]
    parts = (bias.reshape(blocks, -1), multiplier.reshape(blocks, -1), *ends, *mixed)
    return np.concatenate(parts, axis=1).astype(np.uint32).view(np.int32).reshape(-1)


def _steps(halfwords: NDArray[np.int64], together: int) -> NDArray[np.int64]:
    """[rows, taps] → [rows / together, words]: for every pair of taps a word of each of `together` rows."""
    return packed(halfwords).reshape(-1, together, halfwords.shape[1] // 2).transpose(0, 2, 1).reshape(len(halfwords) // together, -1)
