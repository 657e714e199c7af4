"""Weights of four bits: scales, factors and steps of one layer. numerics.md §3.8.

Every group of 32 taps has a scale of its own, an integer factor times the scale of the row. Scales, factors and steps are sought for the
least error of the layer's results, dᵀ·H·d (rounding.py): from the scales that suit the weights themselves, steps are chosen one weight
after the other as in GPTQ, then improved weight by weight with the others as they are (coordinate descent), and the scales are fitted to
the steps, which is a linear problem, in turns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arenite.graph.operators.int4 import GROUP, HIGHEST, MOST_FACTOR, groups
from arenite.quantize.scales import SMALLEST_SCALE

Floats = NDArray[np.float64]

SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4)
"""Of the scale with which the largest weight of a group is the last step, tried for the weights themselves."""
LEAST_TOP = 8
"""The largest factor of a row is one of this to MOST_FACTOR: the others are the finer for it."""
TURNS = 4
SWEEPS = 12


def four_bit_rows(exact: Floats, products: Floats | None) -> tuple[Floats, NDArray[np.int64]]:
    """(scale [groups, rows], float32 numbers, 0 for rows of zeros; steps, q · f, [groups, rows, n]).

    `exact`: weights [groups, rows, n]; `products`: H [groups, n, n], None: every weight counts by itself.
    """
    importance = np.ones(exact.shape[::2]) if products is None else np.einsum("gnn->gn", products)
    wanted = _group_scales(exact, importance)
    scale, factors = snapped(wanted, np.ones_like(wanted))
    steps = nearest_steps(exact, scale, factors)
    if products is None:
        return scale, steps * _by_tap(factors, exact.shape[2])
    best_scale, best, least = scale, steps * _by_tap(factors, exact.shape[2]), np.full(scale.shape, np.inf)
    for turn in range(TURNS):
        size = scale[..., None] * _by_tap(factors, exact.shape[2])
        starts = (_compensating(exact, size, products), steps) if turn == 0 else (steps,)
        for start in starts:
            found = _descend(exact, size, start, products)
            error = _errors(exact, found * size, products)
            better = error < least
            least, best_scale = np.where(better, error, least), np.where(better, scale, best_scale)
            best = np.where(better[..., None], found * _by_tap(factors, exact.shape[2]), best)
            steps = np.where(better[..., None], found, steps)
        wanted, weight = _fitted(exact, steps, scale[..., None] * factors, products)
        scale, factors = snapped(wanted, weight)
    return best_scale, best.astype(np.int64)


def nearest_steps(exact: Floats, scale: Floats, factors: NDArray[np.int64]) -> NDArray[np.int64]:
    """q of each weight, [groups, rows, n]."""
    size = scale[..., None] * _by_tap(factors, exact.shape[2])
    return np.clip(np.rint(exact / np.where(size > 0, size, 1)), -HIGHEST, HIGHEST).astype(np.int64)


def nearest_four_bits(exact: Floats) -> NDArray[np.int64]:
    """q · f nearest to `exact` [channels, n], in units of a scale that is given: for rows whose scale has to be another."""
    wanted = np.clip(_group_scales(exact[None], np.ones((1, exact.shape[1]))), 1, MOST_FACTOR)
    factors = np.rint(wanted).astype(np.int64)
    ones = np.ones(factors.shape[:2])
    return np.asarray((nearest_steps(exact[None], ones, factors) * _by_tap(factors, exact.shape[1]))[0])


def snapped(wanted: Floats, weight: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """(scale of each row, float32 numbers, 0 where nothing is wanted; factors): products nearest to `wanted` [..., groups of taps].

    `weight`: what the square of an error counts, likewise.
    """
    most = wanted.max(axis=-1)
    best, least = np.zeros_like(most), np.full(most.shape, np.inf)
    for top in range(MOST_FACTOR, LEAST_TOP - 1, -1):
        scale = np.where(most > 0, np.maximum(most / top, SMALLEST_SCALE), 0).astype(np.float32).astype(np.float64)
        error = np.sum(weight * (scale[..., None] * _factors(wanted, scale) - wanted) ** 2, axis=-1)
        better = error < least
        best, least = np.where(better, scale, best), np.where(better, error, least)
    return best, _factors(wanted, best)


def _factors(wanted: Floats, scale: Floats) -> NDArray[np.int64]:
    return np.clip(np.rint(wanted / np.where(scale > 0, scale, 1)[..., None]), 1, MOST_FACTOR).astype(np.int64)


def _by_tap(factors: NDArray[np.int64], taps: int) -> NDArray[np.int64]:
    return np.repeat(factors, GROUP, axis=-1)[..., :taps]


def _group_scales(exact: Floats, importance: Floats) -> Floats:
    """[groups, rows, groups of taps]: for the least sum of `importance` [groups, n] times the square of the rounding error."""
    taps = exact.shape[2]
    padding = groups(taps) * GROUP - taps
    grouped = np.pad(exact, ((0, 0), (0, 0), (0, padding))).reshape(*exact.shape[:2], -1, GROUP)
    counts = np.pad(importance, ((0, 0), (0, padding))).reshape(len(importance), 1, -1, GROUP)
    whole = np.abs(grouped).max(axis=3) / HIGHEST
    best, least = whole.copy(), np.full(whole.shape, np.inf)
    for share in SHARES:
        size = (whole * share)[..., None]
        steps = np.clip(np.rint(grouped / np.where(size > 0, size, 1)), -HIGHEST, HIGHEST)
        error = np.sum(counts * (steps * size - grouped) ** 2, axis=3)
        better = error < least
        best, least = np.where(better, size[..., 0], best), np.where(better, error, least)
    return np.asarray(best)


def _errors(exact: Floats, stored: Floats, products: Floats) -> Floats:
    difference = stored - exact
    return np.asarray(np.sum((difference @ products) * difference, axis=2))


def _compensating(exact: Floats, size: Floats, products: Floats) -> NDArray[np.int64]:
    """q one weight after the other, each one's error distributed to those behind it as H says."""
    inverse = np.asarray(np.linalg.inv(products), np.float64)
    lower = np.asarray(np.linalg.cholesky((inverse + inverse.transpose(0, 2, 1)) / 2), np.float64)
    factor = lower.transpose(0, 2, 1)  # whose rows hold, for each weight, what its error costs those behind it
    left, result = exact.copy(), np.zeros(exact.shape, np.int64)
    safe = np.where(size > 0, size, 1)
    for i in range(exact.shape[2]):
        result[..., i] = np.clip(np.rint(left[..., i] / safe[..., i]), -HIGHEST, HIGHEST)
        error = (left[..., i] - result[..., i] * size[..., i]) / factor[:, None, i, i]
        left[..., i:] -= error[..., None] * factor[:, None, i, i:]
    return result


def _descend(exact: Floats, size: Floats, start: NDArray[np.int64], products: Floats) -> NDArray[np.int64]:
    """Each weight in turn takes the step that is best with the others as they are, in all rows at once, as long as any of them moves."""
    steps = start.copy()
    gradient = (steps * size - exact) @ products
    safe = np.where(size > 0, size, 1)
    for _ in range(SWEEPS):
        moved = False
        for i in range(exact.shape[2]):
            curvature = products[:, None, i, i]
            best = np.clip(np.rint(steps[..., i] - gradient[..., i] / (curvature * safe[..., i])), -HIGHEST, HIGHEST).astype(np.int64)
            change = (best - steps[..., i]) * size[..., i]
            gain = 2 * change * gradient[..., i] + change**2 * curvature
            group, row = np.nonzero(gain < -1e-9 * curvature * size[..., i] ** 2)
            if len(row):
                moved = True
                steps[group, row, i] = best[group, row]
                gradient[group, row] += change[group, row, None] * products[group, i]
        if not moved:
            break
    return steps


def _fitted(exact: Floats, steps: NDArray[np.int64], now: Floats, products: Floats) -> tuple[Floats, Floats]:
    """(scales of the groups of taps with which `steps` give the least error, what the square of an error of each counts).

    A scale that would not be positive stays as it is `now`, [groups, rows, groups of taps].
    """
    starts = np.arange(0, exact.shape[2], GROUP)
    count = len(starts)
    normal, right = np.zeros((*exact.shape[:2], count, count)), np.zeros((*exact.shape[:2], count))
    for k, start in enumerate(starts):
        part = slice(start, start + GROUP)
        product = steps[..., part] @ products[:, part, :]
        normal[..., k, :] = np.add.reduceat(product * steps, starts, axis=2)
        right[..., k] = np.sum(product * exact, axis=2)
    weight = np.einsum("...kk->...k", normal).copy()
    unused = weight <= 0
    normal += np.eye(count) * (1e-6 * weight.max(axis=-1, initial=0)[..., None, None] + unused[..., None, :] + np.finfo(np.float32).tiny)
    found = np.linalg.solve(normal, right[..., None])[..., 0]
    return np.where((found > 0) & ~unused, found, np.where(unused, 0, now)), np.where(unused, 0, weight)
