"""Layers whose constants are laid out for a C kernel (runtime_c/kernels/paired.h, planes.h): made plain again, then computed as ever.

The inverse of what the converter's emit/arrange_*.py do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels import convolution, matrix
from arenite_runtime.kernels.fixed_point import Array, Int64

BLOCK = 4
WIDE_BLOCK = 8


def conv_paired(p: Any, x: Array, stream: Array, y: Array) -> None:
    taps = p.kernel_h * p.kernel_w * p.in_c // p.group
    run = (p.kernel_w if p.group == 1 and p.dilation_w == 1 else 1) * p.in_c // p.group
    parts = [paired(part, p.out_c // p.group, taps, BLOCK) for part in np.split(np.asarray(stream).reshape(-1), p.group)]
    weights, biases, multipliers = (np.concatenate([part[i] for part in parts]) for i in range(3))
    convolution.conv(p, x, out_of_runs(weights, run), biases, multipliers, y)


def fully_connected_paired(p: Any, x: Array, stream: Array, y: Array) -> None:
    block = WIDE_BLOCK if p.rows == 1 else BLOCK
    matrix.fully_connected(p, x, *paired(stream, p.out_features, p.in_features, block), y)


def depthwise_conv_planes(p: Any, x: Array, stream: Array, y: Array) -> None:
    convolution.depthwise_conv(p, x, *planes(stream, p), y)


def paired(stream: Array, filters: int, taps: int, block: int) -> tuple[Int64, Int64, Int64]:
    """(weights [filters, taps] in the order of the stream, biases, multipliers) of `filters` filters."""
    stored = -(-taps // 4) * 4
    words = 2 * block + block // 4 * stored
    blocks = np.asarray(stream, np.int32).reshape(-1, words)
    starts = blocks[:, :block].reshape(-1, block // 2, 2).astype(np.int64)
    halfwords = np.ascontiguousarray(blocks[:, block:-block].reshape(len(blocks), -1, block // 2).transpose(0, 2, 1)).view(np.int16)
    fours = halfwords.reshape(len(blocks), block // 2, -1, 4)[..., [0, 2, 1, 3]].astype(np.int64)
    low = ((fours & 0xFF) ^ 0x80) - 0x80
    weights = np.stack([low, (fours - low) >> 8], axis=2).reshape(len(blocks) * block, stored)
    biases = np.stack([starts[..., 1], (starts[..., 0] - starts[..., 1]) >> 8], axis=-1).reshape(-1)
    multipliers = blocks[:, -block:].reshape(-1).astype(np.int64)
    return weights[:filters, :taps], biases[:filters], multipliers[:filters]


def out_of_runs(weights: Int64, run: int) -> Int64:
    """Filters [filters, taps] whose taps are in the order of a stream with runs of `run`, in their natural order."""
    count, whole = weights.shape[1] // run, run - run % 4
    body = weights[:, : count * whole].reshape(len(weights), count, whole)
    rest = weights[:, count * whole :].reshape(len(weights), count, run - whole)
    return np.concatenate([body, rest], axis=2).reshape(len(weights), -1)


def planes(stream: Array, p: Any) -> tuple[Int64, Int64, Int64]:
    """(weights [3, 3, C], biases, multipliers) of a depthwise convolution."""
    words = np.asarray(stream, np.int32).reshape(-1, 8)
    halves = np.ascontiguousarray(words[:, :6]).view(np.int16).reshape(-1, 3, 2, 2).astype(np.int64)  # channel, column, word, half
    last = halves[:, :, 1, 1] if p.stride_h == 1 else halves[:, :, 1, 0]
    weights = np.stack([halves[:, :, 0, 0], halves[:, :, 0, 1], last], axis=0).transpose(0, 2, 1)
    return weights, words[:, 6].astype(np.int64), words[:, 7].astype(np.int64)
