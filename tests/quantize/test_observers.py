"""Histograms over calibration data, and the ranges that observers make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.errors import CalibrationError
from arenite.graph import Graph
from arenite.quantize import Dataset, input_specs
from arenite.quantize import observers as o


def data_for(graph: Graph, values: np.ndarray) -> Dataset:
    return Dataset(input_specs(graph), {graph.inputs[0]: values.astype(np.float32)}, None, "made up")


def histogram(values: np.ndarray) -> o.Histogram:
    counts, edges = np.histogram(values, o.BINS)
    return o.Histogram(o.Range(float(edges[0]), float(edges[-1])), counts)


def test_observe_counts_every_value_and_reports_progress(net: Any) -> None:
    n = net(x=(1, 50))
    graph = n.done(n.function("x", "Neg"))
    values = np.random.default_rng(0).normal(size=(20, 1, 50))
    calls: list[tuple[int, int]] = []
    found = o.observe(graph, data_for(graph, values), ["x", "neg"], lambda done, total: calls.append((done, total)))
    assert calls == [(i, 40) for i in range(1, 41)]
    assert found["x"].total == found["neg"].total == 1000
    assert found["x"].extremes == o.Range(float(np.float32(values.min())), float(np.float32(values.max())))
    np.testing.assert_array_equal(found["neg"].counts, found["x"].counts[::-1])
    expected, _ = np.histogram(values.astype(np.float32).astype(np.float64), o.BINS, (found["x"].extremes.low, found["x"].extremes.high))
    assert np.abs(expected - found["x"].counts).sum() <= 4  # values on the edge of a bin


@pytest.mark.parametrize("value", [0.0, 3.5, -1e-40, 1e-44])
def test_constant_and_denormal_tensors(net: Any, value: float) -> None:
    n = net(x=(1, 4))
    graph = n.done(n.function("x", "Abs"))
    found = o.observe(graph, data_for(graph, np.full((3, 1, 4), value)), ["x"])["x"]
    assert found.total == 12
    for observer in o.OBSERVERS.values():
        chosen = observer(found)
        assert chosen.low <= min(0.0, value * 0.2) or value >= 0
        assert chosen.low <= 0 <= chosen.high


def test_values_that_are_not_finite_are_refused(net: Any) -> None:
    n = net(x=(1, 4))
    graph = n.done(n.function("x", "Log"))
    with pytest.raises(CalibrationError, match="sample 1 makes the tensor `log`"):
        o.observe(graph, data_for(graph, np.array([[[1, 2, 3, 4]], [[1, 0, 1, 1]]])), ["log"])


def test_min_max_includes_zero() -> None:
    assert o.min_max(histogram(np.linspace(2, 5, 100))) == o.Range(0.0, 5.0)
    assert o.min_max(histogram(np.linspace(-5, -2, 100))) == o.Range(-5.0, 0.0)


def test_percentile_cuts_outliers() -> None:
    values = np.append(np.random.default_rng(0).uniform(-1, 1, 100_000), [40.0, -60.0])
    chosen = o.percentile(histogram(values), 99.99)
    assert -1.1 < chosen.low < -0.97
    assert 0.97 < chosen.high < 1.1
    whole, extremes = o.percentile(histogram(values), 100.0), o.min_max(histogram(values))
    assert (whole.low, whole.high) == pytest.approx((extremes.low, extremes.high))


def exhaustive_error(values: np.ndarray, chosen: o.Range) -> float:
    scale = chosen.width / 255
    zero = np.rint(-chosen.low / scale)
    return float(np.mean(((np.clip(np.rint(values / scale) + zero, 0, 255) - zero) * scale - values) ** 2))


@pytest.mark.parametrize("kind", ["normal", "student", "relu", "negative", "even"])
def test_least_squares_finds_the_best_clipping(kind: str) -> None:
    generator = np.random.default_rng(0)
    values = {
        "normal": lambda: generator.normal(1, 1, 20_000),
        "student": lambda: generator.standard_t(4, 20_000),
        "relu": lambda: np.maximum(generator.laplace(0, 1, 20_000), 0),
        "negative": lambda: np.append(generator.uniform(-1, 0, 500_000), -2.5),
        "even": lambda: generator.uniform(-1, 3, 20_000),
    }[kind]()
    full = o.min_max(histogram(values))
    fractions = np.linspace(0.2, 1.0, 17)
    best = min(
        exhaustive_error(values, o.Range(full.low * f, full.high * g)) for f in (fractions if full.low < 0 else [1.0]) for g in fractions
    )
    found = exhaustive_error(values, o.least_squares(histogram(values)))
    assert found <= 1.03 * best
    assert found <= exhaustive_error(values, full)
    if kind == "negative":
        assert found < 0.8 * exhaustive_error(values, full)
