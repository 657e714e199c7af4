"""Figures of merit: how close an engine's outputs are to the float model's, and to the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def top1(output: Array) -> int:
    """The place of the largest value of one sample's output, which for a classifier is the class. The first, where several are equal.

    A single integer is the class itself, as classical models give it; any other single value is a decision: 1 above one half, else 0.
    """
    flat = np.asarray(output).reshape(-1)
    if flat.size == 1 and flat.dtype.kind in "iu":
        return int(flat[0])
    return int(flat[0] > 0.5) if flat.size == 1 else int(flat.argmax())


def accuracy(outputs: Sequence[Array], labels: Array) -> float:
    """The share of samples whose `top1` is the label. `outputs`: real (dequantized) values, one array a sample; `labels`: int [N]."""
    return float(np.mean([top1(output) == label for output, label in zip(outputs, labels, strict=True)]))


def top1_agreement(outputs: Sequence[Array], reference: Sequence[Array]) -> float:
    """The share of samples on which two executions have the same `top1`."""
    return float(np.mean([top1(a) == top1(b) for a, b in zip(outputs, reference, strict=True)]))


def sqnr_db(outputs: Sequence[Array], reference: Sequence[Array]) -> float | None:
    """Signal to quantization noise over all samples: 10 · log10(Σ r² / Σ (r − y)²), in dB.

    Infinite where there is no difference at all, None where it is no number: a reference that is zero throughout, or not finite.
    """
    signal = sum(float(np.sum(np.asarray(r, np.float64) ** 2)) for r in reference)
    noise = sum(
        float(np.sum((np.asarray(r, np.float64) - np.asarray(y, np.float64)) ** 2)) for y, r in zip(outputs, reference, strict=True)
    )
    if noise == 0:
        return math.inf
    if signal == 0 or not math.isfinite(signal) or not math.isfinite(noise):
        return None
    return 10 * math.log10(signal / noise)
