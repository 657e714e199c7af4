"""Ranges of activations over calibration data: minimum and maximum, percentiles, least squared error, least divergence.

Values are never kept: a first pass over the samples finds each tensor's extremes, a second one counts values in a histogram between
them. Memory is a few kilobytes a tensor, whatever the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arenite.errors import CalibrationError
from arenite.graph import Graph
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.evaluation import open_evaluator
from arenite.quantize.ranges import Range

BINS = 4096
LEVELS = 256
UNSEEN = 1e-9
"""Of a probability that is 0 where it should not be."""
Progress = Callable[[int, int], None]


class UnboundedError(CalibrationError):
    """A sample makes values of `tensors` NaN or infinite."""

    def __init__(self, source: str, sample: int, tensors: Sequence[str]) -> None:
        super().__init__(
            f"{source}: sample {sample} makes the tensor `{tensors[0]}` NaN or infinite in the float model, so that it has no "
            "range. Check this sample, and the model with onnxruntime."
        )
        self.tensors = frozenset(tensors)


@dataclass(frozen=True)
class Histogram:
    """How often values of a tensor fell into equal bins between its extremes."""

    extremes: Range
    counts: NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def centers(self) -> NDArray[np.float64]:
        """The middle of each bin."""
        bins = len(self.counts)
        return self.extremes.low + (np.arange(bins, dtype=np.float64) + 0.5) * (self.extremes.width / bins)


def observe(graph: Graph, data: Dataset, tensors: Iterable[str], progress: Progress | None = None) -> dict[str, Histogram]:
    """Run the float graph over all samples and count the values of `tensors` (activations of the graph, its inputs included).

    `progress(done, total)` is called after each inference, of which there are two a sample. Raises UnboundedError where values are
    not finite: ranges would mean nothing.
    """
    names = list(dict.fromkeys(tensors))
    run = open_evaluator(graph, names)
    total, done = 2 * len(data), 0
    low = dict.fromkeys(names, np.inf)
    high = dict.fromkeys(names, -np.inf)
    for index, feeds in enumerate(data.samples()):
        unbounded: list[str] = []
        for name, values in run(feeds).items():
            smallest, largest = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
            if not (np.isfinite(smallest) and np.isfinite(largest)) and values.size:
                unbounded.append(name)
            low[name], high[name] = min(low[name], smallest), max(high[name], largest)
        if unbounded:
            raise UnboundedError(data.source, index, unbounded)
        done += 1
        if progress:
            progress(done, total)
    extremes = {name: Range(low[name], high[name]) if low[name] <= high[name] else Range(0.0, 0.0) for name in names}
    counts = {name: np.zeros(BINS, np.int64) for name in names}
    run.reset()
    for feeds in data.samples():
        for name, values in run(feeds).items():
            counts[name] += _count(np.asarray(values, np.float64).ravel(), extremes[name])
        done += 1
        if progress:
            progress(done, total)
    return {name: Histogram(extremes[name], counts[name]) for name in names}


def _count(values: NDArray[np.float64], extremes: Range) -> NDArray[np.int64]:
    if extremes.width <= 0 or not np.isfinite(BINS / extremes.width):
        bins = np.full(values.shape, BINS // 2)
    else:
        bins = np.clip(((values - extremes.low) * (BINS / extremes.width)).astype(np.int64), 0, BINS - 1)
    return np.bincount(bins, minlength=BINS)


def min_max(histogram: Histogram) -> Range:
    return histogram.extremes.with_zero


def percentile(histogram: Histogram, percent: float = 99.99) -> Range:
    """Cuts off (100 − percent) % of the values on either side, to the resolution of a bin."""
    cut = histogram.total * (1 - percent / 100)
    cumulative = np.cumsum(histogram.counts)
    first = int(np.searchsorted(cumulative, cut, side="right"))
    last = int(np.searchsorted(cumulative, histogram.total - cut, side="left"))
    step = histogram.extremes.width / len(histogram.counts)
    low, high = histogram.extremes.low + first * step, histogram.extremes.low + (min(last, len(histogram.counts) - 1) + 1) * step
    return Range(min(low, high), max(low, high)).with_zero


def least_squares(histogram: Histogram) -> Range:
    """The clipping that minimises the mean squared error of rounding and clipping, by search from the extremes inwards."""
    best = histogram.extremes.with_zero
    centers = histogram.centers
    used = histogram.counts > 0
    centers, counts = centers[used], histogram.counts[used].astype(np.float64)
    full, fractions = best, np.linspace(1.0, 0.2, 81)
    least = squared_error(centers, counts, best)
    for _ in range(2):  # one side, then the other, then both again from there
        for candidates in (
            [Range(full.low * f, best.high) for f in fractions],
            [Range(best.low, full.high * f) for f in fractions],
        ):
            for candidate in candidates:
                error = squared_error(centers, counts, candidate)
                if error < least:
                    best, least = candidate, error
    return best


def squared_error(centers: NDArray[np.float64], counts: NDArray[np.float64], chosen: Range) -> float:
    """Sum of squared errors of quantizing values at `centers` over `chosen` in 255 steps."""
    scale = chosen.width / 255
    if scale <= 0:
        return float(np.dot(counts, centers**2))
    zero = np.rint(-chosen.low / scale)
    steps = np.clip(np.rint(centers / scale) + zero, 0, 255) - zero
    return float(np.dot(counts, (steps * scale - centers) ** 2))


def least_divergence(histogram: Histogram) -> Range:
    """The clipping whose 256 steps tell most of the distribution: the least Kullback-Leibler divergence of what is left of it from the same
    in steps, both sides being clipped by the same share (S. Migacz: 8-bit Inference with TensorRT, 2017)."""
    whole, counts = histogram.extremes, histogram.counts.astype(np.float64)
    bins, best, least = len(counts), histogram.extremes, np.inf
    if histogram.total == 0 or whole.width <= 0:
        return min_max(histogram)
    zero = float(np.clip(-whole.low / whole.width * bins, 0, bins))
    for share in np.linspace(1.0, 0.1, 91):
        first, last = int(np.floor(zero - share * zero)), int(np.ceil(zero + share * (bins - zero)))
        if last - first < LEVELS:
            break
        divergence = _divergence(counts, first, last)
        if divergence < least:
            step = whole.width / bins
            best, least = Range(whole.low + first * step, whole.low + last * step), divergence
    return best.with_zero


def _divergence(counts: NDArray[np.float64], first: int, last: int) -> float:
    """Of bins first…last − 1, those outside counted at the ends, from their means over LEVELS steps, which do not see those outside."""
    inside = counts[first:last]
    reference = inside.copy()
    reference[0] += counts[:first].sum()
    reference[-1] += counts[last:].sum()
    step = np.arange(last - first) * LEVELS // (last - first)
    used = inside > 0
    totals, sizes = np.bincount(step, inside, LEVELS), np.bincount(step, used, LEVELS)
    told = np.where(used, (totals / np.maximum(sizes, 1))[step], 0.0)
    if told.sum() <= 0:
        return np.inf
    p, q = reference / reference.sum(), told / told.sum()
    seen = p > 0
    return float(np.sum(p[seen] * np.log(p[seen] / np.maximum(q[seen], UNSEEN))))


OBSERVERS: dict[str, Callable[[Histogram], Range]] = {
    "minmax": min_max,
    "percentile": percentile,
    "mse": least_squares,
    "entropy": least_divergence,
}
"""The values of `--observer`."""
