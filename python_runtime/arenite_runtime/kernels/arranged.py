"""Layers whose constants are laid out for a C kernel: made plain, then computed as ever.

runtime_c/kernels/int4.h, int4_lanes.h, paired.h, planes.h, winograd.h and tap_pairs.h say how they lie. This is the inverse of what the
converter's emit/arrange_*.py do.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np

from arenite_runtime.kernels import convolution, matrix
from arenite_runtime.kernels.fixed_point import Array, Int64

BLOCK = 4
WIDE_BLOCK = 8
INT4_GROUP = 32
"""Taps that have a factor in common."""


def conv_int4(p: Any, x: Array, stream: Array, y: Array) -> None:
    taps = p.kernel_h * p.kernel_w * p.in_c // p.group
    parts = [int4(part, p.out_c // p.group, taps) for part in np.split(np.asarray(stream).reshape(-1), p.group)]
    weights, biases, multipliers = (np.concatenate([part[i] for part in parts]) for i in range(3))
    convolution.conv(p, x, weights, biases, multipliers, y)


def fully_connected_int4(p: Any, x: Array, stream: Array, y: Array) -> None:
    matrix.fully_connected(p, x, *int4(stream, p.out_features, p.in_features), y)


def conv_int4_lanes(p: Any, x: Array, stream: Array, y: Array) -> None:
    taps = p.kernel_h * p.kernel_w * p.in_c // p.group
    parts = [int4_lanes(part, p.out_c // p.group, taps) for part in np.split(np.asarray(stream).reshape(-1), p.group)]
    weights, biases, multipliers = (np.concatenate([part[i] for part in parts]) for i in range(3))
    convolution.conv(p, x, weights, biases, multipliers, y)


def fully_connected_int4_lanes(p: Any, x: Array, stream: Array, y: Array) -> None:
    matrix.fully_connected(p, x, *int4_lanes(stream, p.out_features, p.in_features), y)


def conv_paired(p: Any, x: Array, stream: Array, y: Array) -> None:
    taps = p.kernel_h * p.kernel_w * p.in_c // p.group
    run = (p.kernel_w if p.group == 1 and p.dilation_w == 1 else 1) * p.in_c // p.group
    parts = [paired(part, p.out_c // p.group, taps, BLOCK) for part in np.split(np.asarray(stream).reshape(-1), p.group)]
    weights, biases, multipliers = (np.concatenate([part[i] for part in parts]) for i in range(3))
    convolution.conv(p, x, out_of_runs(weights, run), biases, multipliers, y)


def fully_connected_paired(p: Any, x: Array, stream: Array, y: Array) -> None:
    matrix.fully_connected(p, x, *paired(stream, p.out_features, p.in_features, BLOCK), y)


def fully_connected_paired_row(p: Any, x: Array, stream: Array, y: Array) -> None:
    matrix.fully_connected(p, x, *paired(stream, p.out_features, p.in_features, WIDE_BLOCK), y)


def conv_winograd_2(p: Any, x: Array, stream: Array, y: Array) -> None:
    convolution.conv(p, x, *winograd(stream, 2, p.in_c), y)


def conv_winograd_4(p: Any, x: Array, stream: Array, y: Array) -> None:
    convolution.conv(p, x, *winograd(stream, 4, p.in_c), y)


def depthwise_conv_planes(p: Any, x: Array, stream: Array, y: Array) -> None:
    convolution.depthwise_conv(p, x, *planes(stream, p), y)


def depthwise_conv_tap_pairs(p: Any, x: Array, stream: Array, y: Array) -> None:
    convolution.depthwise_conv(p, x, *tap_pairs(stream, p), y)


def int4(stream: Array, filters: int, taps: int) -> tuple[Int64, Int64, Int64]:
    """(weights [filters, taps], biases, multipliers) of `filters` filters."""
    left, groups, words = np.asarray(stream, np.int32).reshape(-1), -(-taps // INT4_GROUP), -(-taps // 8)
    parts: list[tuple[Int64, Int64, Int64]] = []
    for first in range(0, filters, BLOCK):
        count = min(BLOCK, filters - first)
        biases, multipliers, packed, nibbles, left = np.split(left, np.cumsum([count, count, groups, count * words]))
        factors = np.ascontiguousarray(packed).view(np.uint8).reshape(groups, 4).T[:count].astype(np.int64)
        halves = np.ascontiguousarray(nibbles).view(np.uint8).reshape(count, words, 4)
        steps = np.stack([halves & 0xF, halves >> 4], axis=2).reshape(count, -1)[:, :taps].astype(np.int64) - 8
        parts.append((steps * np.repeat(factors, INT4_GROUP, axis=1)[:, :taps], biases.astype(np.int64), multipliers.astype(np.int64)))
    every = [np.concatenate([part[i] for part in parts]) for i in range(3)]
    return every[0], every[1], every[2]


def int4_lanes(stream: Array, filters: int, taps: int) -> tuple[Int64, Int64, Int64]:
    """(weights [filters, taps], biases, multipliers) of `filters` filters."""
    groups, pairs = -(-taps // INT4_GROUP), 2 * -(-taps // 4)
    blocks = np.ascontiguousarray(stream, np.int32).reshape(-1, 2 * BLOCK + pairs + groups)
    at_factors = BLOCK + np.minimum(np.arange(1, groups + 1) * (INT4_GROUP // 2), pairs) + np.arange(groups)
    factors = np.ascontiguousarray(blocks[:, at_factors]).view(np.uint8).reshape(len(blocks), groups, BLOCK)
    words = np.delete(blocks, at_factors, axis=1)[:, BLOCK:-BLOCK]
    halfwords = np.ascontiguousarray(words).view(np.uint16).reshape(len(blocks), -1, 4)[..., [0, 2, 1, 3]].reshape(len(blocks), -1)
    lanes = (halfwords[:, None].astype(np.int64) >> (4 * np.arange(BLOCK))[:, None]) & 0xF
    lanes[:, BLOCK - 1] ^= 8
    scales = np.repeat(factors.astype(np.int64).transpose(0, 2, 1), INT4_GROUP, axis=2)[..., :taps]
    weights = ((lanes[..., :taps] - 8) * scales).reshape(-1, taps)[:filters]
    biases, multipliers = (ends.reshape(-1)[:filters].astype(np.int64) for ends in (blocks[:, :BLOCK], blocks[:, -BLOCK:]))
    return weights, biases, multipliers


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


def winograd(stream: Array, tile: int, depth: int) -> tuple[Int64, Int64, Int64]:
    """(weights [filters, 9 * depth], biases, multipliers) from tiles of `tile` outputs and `depth` input channels."""
    taps = 3 * depth
    blocks = np.asarray(stream, np.int32).reshape(-1, 2 * BLOCK + (2 + 2 * tile) * taps)
    ends = blocks[:, 2 * BLOCK : 2 * BLOCK + 2 * taps].reshape(-1, 2, taps)
    mixed = blocks[:, 2 * BLOCK + 2 * taps : 2 * BLOCK + 4 * taps]  # tile / 2 times the sum of a row, up to the sign
    first, last = (_low_and_high(_halfwords(ends[:, i], BLOCK // 2)) for i in range(2))
    total = _halfwords(mixed, BLOCK).reshape(-1, taps)
    middle = (total if tile == 2 else -(total // 4)) - first - last
    weights = np.stack([g.reshape(-1, 3, depth) for g in (first, middle, last)], axis=2)
    biases, multipliers = (blocks[:, i * BLOCK : (i + 1) * BLOCK].reshape(-1).astype(np.int64) for i in range(2))
    return weights.reshape(len(weights), -1), biases, multipliers


def _halfwords(words: Array, together: int) -> Int64:
    """[blocks, words], of every pair of taps a word of each of `together` rows → halfwords [blocks, together, taps] in natural order."""
    rows = words.reshape(len(words), -1, together).transpose(0, 2, 1)
    halves = np.ascontiguousarray(rows).view(np.int16).reshape(len(words), together, -1, 4)
    return halves[..., [0, 2, 1, 3]].astype(np.int64).reshape(len(words), together, -1)


def _low_and_high(halfwords: Int64) -> Int64:
    """[blocks, pairs, taps] → [outputs, taps]: the two that share a halfword one after the other."""
    low = ((halfwords & 0xFF) ^ 0x80) - 0x80
    return np.stack([low, (halfwords - low) >> 8], axis=2).reshape(-1, halfwords.shape[-1])


def planes(stream: Array, p: Any) -> tuple[Int64, Int64, Int64]:
    """(weights [3, 3, C], biases, multipliers) of a depthwise convolution."""
    words = np.asarray(stream, np.int32).reshape(-1, 8)
    halves = np.ascontiguousarray(words[:, :6]).view(np.int16).reshape(-1, 3, 2, 2).astype(np.int64)  # channel, column, word, half
    last = halves[:, :, 1, 1] if p.stride_h == 1 else halves[:, :, 1, 0]
    weights = np.stack([halves[:, :, 0, 0], halves[:, :, 0, 1], last], axis=0).transpose(0, 2, 1)
    return weights, words[:, 6].astype(np.int64), words[:, 7].astype(np.int64)


def tap_pairs(stream: Array, p: Any) -> tuple[Int64, Int64, Int64]:
    """(weights [kernel_h, kernel_w, out], biases, multipliers) of a depthwise convolution."""
    rows = p.kernel_h > p.kernel_w
    kernel, across = (p.kernel_h, p.kernel_w) if rows else (p.kernel_w, p.kernel_h)
    step, unit = (p.stride_h, p.dilation_h) if rows else (p.stride_w, p.dilation_w)
    stride = step // gcd(step, unit)
    words = np.asarray(stream, np.int32).reshape(p.out_c, -1)
    halves = np.ascontiguousarray(words[:, 1:-1]).view(np.int16).reshape(p.out_c, across, min(stride, kernel), -1)
    tap = np.arange(kernel)
    weights = halves[:, :, tap % stride, tap // stride].astype(np.int64)  # [out, across, along]
    return weights.transpose((2, 1, 0) if rows else (1, 2, 0)), words[:, 0].astype(np.int64), words[:, -1].astype(np.int64)
