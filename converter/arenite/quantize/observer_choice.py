"""An observer for each tensor, by the error of the outputs that it leads to.

No observer suits all tensors: what clipping saves in the steps of a tensor is worth more or less than the values it cuts off, by what is
made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arenite.graph import Graph
from arenite.quantize.draft import Draft
from arenite.quantize.observers import OBSERVERS, Histogram, percentile
from arenite.quantize.output_error import Judge
from arenite.quantize.ranges import Range

LEAST_GAIN_DB = 0.02
"""What a tensor's range must do for the outputs to be changed."""
LEAST_DIFFERENCE = 0.01
"""Between ranges, as a share of the width: the judge does not see less."""
PERCENTILES = (99.99, 99.9)


def candidates(graph: Graph, histograms: Mapping[str, Histogram]) -> dict[str, dict[str, Range]]:
    """By tensor and observer. An output keeps its extremes, and so does an input: clipping makes equals of different scores, and
    calibration data says less of what a sensor will give than of what comes of it."""
    found: dict[str, dict[str, Range]] = {}
    for name, histogram in histograms.items():
        if name in graph.inputs or name in graph.outputs:
            continue
        found[name] = {observer: choose(histogram) for observer, choose in OBSERVERS.items() if observer != "percentile"}
        found[name] |= {f"percentile {percent:g}": percentile(histogram, percent) for percent in PERCENTILES}
    return found


def chosen(
    draft: Draft, ranges: Mapping[str, Mapping[str, Range]], judge: Judge, advance: Callable[[int, int], None]
) -> tuple[Draft, dict[str, str]]:
    """`draft` with the ranges that `judge` likes best, and the observers of those tensors that differ from the first draft.

    First one observer for all tensors, then tensor by tensor, in order of execution, whatever is better than what there is.
    """
    best, least = draft, judge.figure(draft)
    names: dict[str, str] = {}
    observers = list(dict.fromkeys(observer for by in ranges.values() for observer in by))
    total, done = len(observers) + sum(len(by) for by in ranges.values()), 0
    for observer in observers:
        candidate = draft.with_ranges({name: by[observer] for name, by in ranges.items()})
        if (figure := judge.figure(candidate)).beats(least, LEAST_GAIN_DB):
            best, least, names = candidate, figure, dict.fromkeys(ranges, observer)
        advance(done := done + 1, total)
    for name, by in ranges.items():
        tried = [best.ranges[name]]
        for observer, wanted in by.items():
            advance(done := done + 1, total)
            if any(_alike(wanted, other) for other in tried):
                continue
            tried.append(wanted)
            candidate = best.with_ranges({name: wanted})
            if (figure := judge.figure(candidate)).beats(least, LEAST_GAIN_DB):
                best, least, names[name] = candidate, figure, observer
    return best, names


def _alike(a: Range, b: Range) -> bool:
    tolerance = LEAST_DIFFERENCE * max(a.width, b.width)
    return abs(a.low - b.low) <= tolerance and abs(a.high - b.high) <= tolerance
