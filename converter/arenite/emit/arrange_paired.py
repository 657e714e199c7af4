"""The layouts `paired` and `paired_row`: runtime_c/kernels/paired.h says what they are, numerics.md §3.4 when they may be used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Node, Tensor

BLOCK = 4
WIDE_BLOCK = 8
"""Of `paired_row`."""


def conv_paired(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """`constants`: weight int8 OHWI, bias int32 [O], multiplier int32 [O]."""
    weight, bias, multiplier = (data_of(tensor) for tensor in constants)
    group = int(node.attributes["group"])
    joined = group == 1 and node.attributes["dilations"][1] == 1
    run = weight.shape[3] * (weight.shape[2] if joined else 1)
    return np.concatenate(
        [
            stream(in_runs(w.reshape(len(w), -1), run), b, m, BLOCK)
            for w, b, m in zip(np.split(weight, group), np.split(bias, group), np.split(multiplier, group), strict=True)
        ]
    )


def fully_connected_paired(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """`constants`: weight int8 [out, in], bias int32 [out], multiplier int32 [out]."""
    weight, bias, multiplier = (data_of(tensor) for tensor in constants)
    return stream(weight, bias, multiplier, BLOCK)


def fully_connected_paired_row(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """As fully_connected_paired, for an input of one row."""
    weight, bias, multiplier = (data_of(tensor) for tensor in constants)
    return stream(weight, bias, multiplier, WIDE_BLOCK)


def in_runs(weight: NDArray[np.generic], run: int) -> NDArray[np.generic]:
    """The taps of filters [filters, taps] in the order of the stream: the whole fours of every run of `run` taps, then the rest of each."""
    runs = weight.reshape(len(weight), -1, run)
    whole = run - run % 4
    return np.concatenate([runs[:, :, :whole].reshape(len(weight), -1), runs[:, :, whole:].reshape(len(weight), -1)], axis=1)


def stream(weight: NDArray[np.generic], bias: NDArray[np.generic], multiplier: NDArray[np.generic], block: int) -> NDArray[np.int32]:
    """Words for filters [filters, taps], taps in the order of the stream, in blocks of `block` filters."""
    filters, taps = weight.shape
    padded = np.zeros((-(-filters // block) * block, -(-taps // 4) * 4), np.int64)
    padded[:filters, :taps] = weight
    blocks = padded.reshape(-1, block // 2, 2, padded.shape[1])
    halfwords = 256 * blocks[:, :, 1] + blocks[:, :, 0]  # [blocks, pairs of filters, taps]
    weights = packed(halfwords).transpose(0, 2, 1)  # pair of taps, then pair of filters
    biases = _padded(bias, len(padded)).reshape(-1, block // 2, 2)
    starts = np.stack([256 * biases[..., 1] + biases[..., 0], biases[..., 0]], axis=-1)
    parts = (starts, weights, _padded(multiplier, len(padded)))
    return np.concatenate([part.reshape(len(blocks), -1) for part in parts], axis=1).astype(np.uint32).view(np.int32).reshape(-1)


def packed(halfwords: NDArray[np.int64]) -> NDArray[np.int64]:
    """[…, taps] → […, taps / 2]: of every four taps two words, of (0, 2) and of (1, 3)."""
    fours = halfwords.reshape(*halfwords.shape[:-1], -1, 4)
    words = np.stack([word(fours[..., 0], fours[..., 2]), word(fours[..., 1], fours[..., 3])], axis=-1)
    return words.reshape(*halfwords.shape[:-1], -1)


def word(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two int16 values as a word, the low halfword first."""
    return (low & 0xFFFF) | (high & 0xFFFF) << 16


def _padded(values: NDArray[np.generic], length: int) -> NDArray[np.int64]:
    out = np.zeros(length, np.int64)
    out[: len(values)] = values
    return out


def data_of(tensor: Tensor) -> NDArray[np.generic]:
    if tensor.data is None:
        raise ValueError(f"{tensor.name} is not constant")
    return tensor.data
