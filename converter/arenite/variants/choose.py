"""choose_variants(): which of the variants on offer every layer takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arenite.graph import Graph
from arenite.variants.offers import Offer

CodeBytes = Callable[[Collection[tuple[str, str]]], int]
"""(operator, variant) of all kernels of a model → their code. A further kernel makes it no smaller."""

MOST_KEPT = 1000
"""Partial choices with the same kernels that are kept; beyond it the fastest of those with about as many bytes."""


@dataclass(frozen=True)
class Goal:
    """What --optimize asks for: the least flash with which a model is within `slack` times the least cycles."""

    growth: float
    """Bytes of constants, at most, for each byte that the first variants need. Padding to whole blocks counts too."""
    slack: float


GOALS = {"size": Goal(1.25, 1.5), "balanced": Goal(1.25, 1.01), "speed": Goal(2.1, 1.0)}
"""By --optimize."""


@dataclass(frozen=True)
class Choice:
    """A graph whose layers have variants, and what they could have had."""

    graph: Graph
    offers: Mapping[int, tuple[Offer, ...]] = field(default_factory=dict)
    """Of every node that has a choice, by its index."""
    cycles: float = 0.0
    """Of the layers that have a choice."""
    bytes: int = 0
    """Of their constants and of their kernels' code."""
    least: bool = True
    """No other choice needs less flash."""


def choose_variants(
    graph: Graph,
    offers: Mapping[int, tuple[Offer, ...]],
    code_bytes: CodeBytes,
    optimize: str = "balanced",
    most_bytes: int | None = None,
) -> Choice:
    """`graph` (int8 form) with one of the `offers` for each of its nodes, as GOALS[optimize] says.

    Constants of these layers and the code of the kernels that they need, `code_bytes`, stay within `most_bytes`; where not even
    the fewest do, they are the choice.
    """
    goal = GOALS[optimize]
    plain = sum(offered[0].bytes for offered in offers.values())
    kernels = sorted({(graph.nodes[index].op, offer.variant) for index, offered in offers.items() for offer in offered})
    bits = {kernel: 1 << bit for bit, kernel in enumerate(kernels)}
    layers = [[(offer, bits[graph.nodes[index].op, offer.variant]) for offer in offered] for index, offered in offers.items()]
    finished = []
    for used, front in _fronts(layers).items():
        code = code_bytes([kernel for kernel in kernels if used & bits[kernel]])
        finished += [_Total(part.bytes + code, part.cycles, part.bytes, part) for part in front]
    least = min(finished, key=lambda total: (total.flash, total.cycles))
    fitting = [total for total in finished if total.constants <= goal.growth * plain and (most_bytes is None or total.flash <= most_bytes)]
    picked = least
    if fitting:
        limit = goal.slack * min(total.cycles for total in fitting)
        picked = min((total for total in fitting if total.cycles <= limit), key=lambda total: (total.flash, total.cycles))
    result = graph.copy()
    for index, offer in zip(offers, picked.part.offers(), strict=True):
        result.nodes[index] = graph.nodes[index].with_attributes(variant=offer.variant)
    return Choice(result, offers, picked.cycles, picked.flash, picked.flash == least.flash)


class _Part(NamedTuple):
    """A choice for the layers so far."""

    bytes: int
    cycles: float
    offer: Offer | None
    before: _Part | None

    def offers(self) -> list[Offer]:
        chosen: list[Offer] = []
        part: _Part | None = self
        while part is not None and part.offer is not None:
            chosen.append(part.offer)
            part = part.before
        return chosen[::-1]


class _Total(NamedTuple):
    flash: int
    cycles: float
    constants: int
    part: _Part


def _fronts(layers: Sequence[Sequence[tuple[Offer, int]]]) -> dict[int, list[_Part]]:
    """By the set of kernels in use: the choices that no other with the same kernels beats in both bytes and cycles."""
    fronts = {0: [_Part(0, 0.0, None, None)]}
    for offers in layers:
        grown: dict[int, list[_Part]] = {}
        for used, front in fronts.items():
            for offer, kernel in offers:
                grown.setdefault(used | kernel, []).extend(
                    _Part(part.bytes + offer.bytes, part.cycles + offer.cycles, offer, part) for part in front
                )
        fronts = {used: _thinned(_front(parts)) for used, parts in grown.items()}
    return fronts


def _front(parts: list[_Part]) -> list[_Part]:
    """Those that no other beats, by bytes."""
    kept: list[_Part] = []
    for part in sorted(parts, key=lambda part: part[:2]):
        if not kept or part.cycles < kept[-1].cycles:
            kept.append(part)
    return kept


def _thinned(front: list[_Part]) -> list[_Part]:
    """At most MOST_KEPT + 1 of a front: its ends, and the fastest in each of as many equal ranges of bytes."""
    if len(front) <= MOST_KEPT:
        return front
    start, span = front[0].bytes, front[-1].bytes - front[0].bytes + 1
    ranges = {(part.bytes - start) * MOST_KEPT // span: part for part in front}
    return [front[0], *(part for part in ranges.values() if part is not front[0])]
