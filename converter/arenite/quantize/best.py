"""The search for the best quantization: method after method is tried on the draft, and kept where the outputs become better.

Methods learn from some of the calibration samples and are judged by others, which they have not seen: what helps only where it was learned
is not kept, so that no method makes a network worse than it was without, as far as data can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from arenite.quantize.bias_correction import corrected
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.equalize import equalized
from arenite.quantize.methods import METHODS
from arenite.quantize.observer_choice import candidates, chosen
from arenite.quantize.observers import Histogram, observe
from arenite.quantize.output_error import Figure, Judge
from arenite.quantize.ranges import Range
from arenite.quantize.rounding import rounded
from arenite.quantize.weight_scales import searched

JUDGED, LEARNED, TRIED = 64, 128, 32
"""Samples, at most: that a method is judged by, that it learns from, and that ranges are tried on, one after the other."""
FEW = 8
"""Samples that are not worth being divided."""
LEAST_GAIN_DB = 0.1
"""What a method must do for the outputs to be kept."""
BALANCES = (0.5, 0.75, 1.0)
"""Of activations against weights in equalization; the best is taken."""

Advance = Callable[[str, int, int], None]
"""(method, units done, units in all)."""


@dataclass(frozen=True)
class MethodEffect:
    """What a method did."""

    name: str
    kept: bool
    before_db: float | None
    """Signal to noise of the outputs over samples that it had not seen; None where there was nothing to do."""
    after_db: float | None
    detail: str = ""

    def __str__(self) -> str:
        if self.before_db is None or self.after_db is None:
            return f"{self.name}: nothing to do"
        figures = f"{self.before_db:.1f} → {self.after_db:.1f} dB"
        return f"{self.name}: {figures}{'' if self.kept else ', not kept'}{f' ({self.detail})' if self.detail else ''}"


@dataclass(frozen=True)
class Found:
    draft: Draft
    effects: tuple[MethodEffect, ...]
    judged: int
    """Samples that the methods were judged by."""


def search(
    draft: Draft,
    histograms: dict[str, Histogram],
    data: Dataset,
    methods: frozenset[str],
    range_of: Callable[[str, Histogram], Range],
    advance: Advance | None = None,
) -> Found:
    """The best of what `methods` make of `draft`, which has what range_of(tensor, histogram) gives for each of `histograms`."""
    learned, judged = divided(data, bool(draft.graph.states))
    judge = Judge(draft.graph, judged)
    figure, effects = judge.figure(draft), []
    for method in (name for name in METHODS if name in methods and name in _METHODS):
        best: tuple[Draft, Figure, str] | None = None
        work = _Work(method, histograms, data, learned, range_of, advance or (lambda stage, done, total: None))
        for candidate, detail in _METHODS[method](draft, work):
            found = judge.figure(candidate)
            if best is None or found.sqnr_db > best[1].sqnr_db:
                best = candidate, found, detail
        if best is None:
            effects.append(MethodEffect(method, False, None, None))
            continue
        kept = best[1].beats(figure, LEAST_GAIN_DB)
        effects.append(MethodEffect(method, kept, figure.sqnr_db, best[1].sqnr_db, best[2]))
        if kept:
            if best[0].graph is not draft.graph:  # its tensors have other ranges
                histograms = observe(best[0].graph, data, list(histograms))
            draft, figure = best[0], best[1]
    return Found(draft, tuple(effects), len(judge))


def divided(data: Dataset, in_time: bool) -> tuple[Dataset, Dataset]:
    """(what methods learn from, what they are judged by): every third sample judges. One and the same where there are few samples, and
    where each depends on those before."""
    if in_time:
        return data.first(JUDGED), data.first(JUDGED)
    if len(data) <= FEW:
        return data, data
    judges = list(range(0, len(data), 3))
    others = [i for i in range(len(data)) if i % 3]
    return data.select(others).spread(LEARNED), data.select(judges).spread(JUDGED)


@dataclass(frozen=True)
class _Work:
    """What a method works with."""

    name: str
    histograms: dict[str, Histogram]
    data: Dataset
    learned: Dataset
    range_of: Callable[[str, Histogram], Range]
    advance: Advance

    def units(self, done: int, total: int) -> None:
        self.advance(self.name, done, total)


Candidates = Iterator[tuple[Draft, str]]
"""Drafts, with what is to be said of each."""


def _equalize(draft: Draft, work: _Work) -> Candidates:
    for done, balance in enumerate(BALANCES):
        graph = equalized(draft.graph, work.learned, balance)
        work.units(2 * done + 1, 2 * len(BALANCES))
        if graph is None:
            return
        observed = observe(graph, work.data, list(work.histograms))
        ranges = {name: work.range_of(name, histogram) for name, histogram in observed.items()}
        work.units(2 * done + 2, 2 * len(BALANCES))
        yield replace(draft, graph=graph).with_ranges(ranges), f"balance {balance:g}"


def _observers(draft: Draft, work: _Work) -> Candidates:
    ranges = {name: by for name, by in candidates(draft.graph, work.histograms).items() if name not in draft.steps}
    if not ranges:
        return
    judge = Judge(draft.graph, work.learned if draft.graph.states else work.learned.spread(TRIED))
    better, names = chosen(draft, ranges, judge, work.units)
    if better is not draft:
        counts = {observer: list(names.values()).count(observer) for observer in sorted(set(names.values()))}
        yield better, ", ".join(f"{observer} for {count} of {len(ranges)} tensors" for observer, count in counts.items())


def _scales(draft: Draft, work: _Work) -> Candidates:
    if (better := searched(draft, work.learned, work.units)) is not draft:
        yield better, ""


def _rounding(draft: Draft, work: _Work) -> Candidates:
    if (better := rounded(draft, work.learned, work.units)) is not draft:
        yield better, ""


def _bias(draft: Draft, work: _Work, *, calibrated: bool) -> Candidates:
    if (better := corrected(draft, work.learned, work.units, calibrated=calibrated)) is not draft:
        yield better, ""


_METHODS: dict[str, Callable[[Draft, _Work], Candidates]] = {
    "equalize": _equalize,
    "observers": _observers,
    "scales": _scales,
    "rounding": _rounding,
    "bias-analytic": lambda draft, work: _bias(draft, work, calibrated=False),
    "bias-calibrated": lambda draft, work: _bias(draft, work, calibrated=True),
}
