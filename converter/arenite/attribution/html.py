"""The attribution as one HTML page that needs nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from arenite.attribution import wording
from arenite.attribution.figures import BARS, LEAST_DB, Attribution, LayerFigures
from arenite.report.page import render_page

_HEIGHT, _BAR = 70, 4
_CHART_HEIGHT, _MOST_DB = 220, 60.0
_COLUMN = 26


@dataclass(frozen=True)
class Histogram:
    """A layer's values, in pixels. Heights are logarithmic: outliers are few."""

    layer: LayerFigures
    bars: tuple[tuple[float, float, float], ...]
    """x, y and height of each."""
    least: float
    greatest: float
    """x of the ends of what can be represented."""


@dataclass(frozen=True)
class Column:
    """A layer in the chart of signal-to-noise ratios, in pixels."""

    title: str
    x: float
    along: float | None
    alone: float | None
    """y; None: unknown."""


def to_html(attribution: Attribution) -> str:
    labelled = attribution.lost is not None
    return render_page(
        Path(__file__).parent / "templates" / "layers.html.j2",
        attribution=attribution,
        wording=wording,
        rows=[wording.row(number, layer, labelled=labelled) for number, layer in enumerate(attribution.layers)],
        columns=[_column(number, layer) for number, layer in enumerate(attribution.layers)],
        width=_COLUMN * len(attribution.layers) + 60,
        chart_height=_CHART_HEIGHT,
        limit=_y(LEAST_DB),
        histograms=[_histogram(layer) for layer in attribution.layers if layer.values is not None],
        height=_HEIGHT,
        bar=_BAR,
        histogram_width=BARS * _BAR,
    )


def _column(number: int, layer: LayerFigures) -> Column:
    title = f"{layer.name}: {wording.decibels(layer.sqnr_db)} dB, alone {wording.decibels(layer.alone_db) or 'unknown'}"
    along, alone = (None if value is None else _y(value) for value in (layer.sqnr_db, layer.alone_db))
    return Column(title, 50 + _COLUMN * number, along, alone)


def _y(decibels: float) -> float:
    return _CHART_HEIGHT - 20 - (min(max(decibels, 0.0), _MOST_DB) / _MOST_DB) * (_CHART_HEIGHT - 40)


def _histogram(layer: LayerFigures) -> Histogram:
    assert layer.values is not None
    counts = layer.values.bars
    most = math.log1p(max(counts)) or 1.0
    heights = [(_HEIGHT - 14) * math.log1p(count) / most for count in counts]
    bars = tuple((index * _BAR, _HEIGHT - height, height) for index, height in enumerate(heights) if height > 0)
    return Histogram(layer, bars, BARS * _BAR / 4, 3 * BARS * _BAR / 4)
