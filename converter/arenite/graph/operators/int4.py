"""The layouts `int4` and `int4_lanes`: weights of four bits, each of 32 taps with a factor of its own; the twin of runtime_c/kernels/int4.h
and int4_lanes.h."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph.operators.declaration import Shape

BLOCK = 4
"""Filters whose factors share a word."""
GROUP = 32
"""Taps that have a factor in common."""
CHUNK = 128
"""Taps that are unpacked at a time where they are used once."""
PLACES = 8
"""Outputs of a filter, at least, that a convolution makes of weights that it has unpacked, in whole rows."""
LOWEST, HIGHEST = -8, 7
"""Steps that four bits hold."""
MOST_FACTOR = 15
"""Eight times it is below 128, sixteen times it below 256: words of four weights are unpacked at once."""


def groups(taps: int) -> int:
    return -(-taps // GROUP)


def words(taps: int) -> int:
    """Of eight weights each, of a filter."""
    return -(-taps // 8)


def band(out_w: int) -> int:
    """arn_int4_band: rows of outputs that a convolution makes at a time."""
    return -(-PLACES // out_w)


def factors(rows: NDArray[np.generic]) -> NDArray[np.int64] | None:
    """The least factor of every group of the filters `rows` [filters, taps], [filters, groups]; None where a group has none.

    With a factor f of its group a weight is q · f, LOWEST ≤ q ≤ HIGHEST.
    """
    filters, taps = rows.shape
    padded = np.zeros((filters, groups(taps) * GROUP), np.int64)
    padded[:, :taps] = rows
    grouped = padded.reshape(filters, -1, GROUP)
    found = np.zeros(grouped.shape[:2], np.int64)
    for factor in range(MOST_FACTOR, 0, -1):
        steps, rest = np.divmod(grouped, factor)
        fits = np.all((rest == 0) & (steps >= LOWEST) & (steps <= HIGHEST), axis=2)
        found = np.where(fits, factor, found)
    return found if np.all(found > 0) else None


def stream_bytes(filters: int, taps: int, conv_groups: int = 1) -> int:
    """Of the constants of a layer with `filters` filters in each of `conv_groups` groups."""
    return 4 * conv_groups * (-(-filters // BLOCK) * groups(taps) + filters * (2 + words(taps)))


def lanes_bytes(filters: int, taps: int, conv_groups: int = 1) -> int:
    """The same in the layout `int4_lanes`."""
    return 4 * conv_groups * -(-filters // BLOCK) * (2 * BLOCK + 2 * -(-taps // 4) + groups(taps))


def columns_bytes(taps: int) -> int:
    """arn_int4_lanes_columns: two columns as int16, and the sums of their groups."""
    return 16 * -(-taps // 4) + 8 * groups(taps)


def scratch_bytes(weight: Shape, conv_groups: int = 1, rows: int | None = None) -> int:
    """arn_conv_int4_scratch for weights [out, …]; for FullyConnected, which has `rows`, arn_fully_connected_int4_scratch."""
    filters, taps = weight[0] // conv_groups, prod(weight[1:])
    if rows == 1:
        taps = min(taps, CHUNK)
    return 8 * words(taps) * min(filters, BLOCK)
