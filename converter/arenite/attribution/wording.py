"""The attribution in words, for the terminal and the page alike."""

from __future__ import annotations

import math
from typing import Literal

from arenite.attribution.figures import LEAST_DB, Attribution, LayerFigures

TITLES = ("#", "layer", "operator", "type", "SQNR, dB", "cosine", "alone, dB", "outputs, dB", "of error", "top-1 changed", "saturated")
JUSTIFY: tuple[Literal["left", "right"], ...] = ("right", "left", "left", "left", *(("right",) * 7))
EXPLANATIONS = (
    "SQNR and cosine: the quantized network's value at the layer's output against the float network's.",
    "Alone: this layer in its quantized form and everything else in float: the signal-to-noise ratio at its own output and at the "
    "network's, its share of the error that all layers cause there, and the samples that get another top-1. That its operands are "
    "rounded is the error of the layers which wrote them.",
    "Saturated: float values outside what the output's steps represent.",
)


def row(number: int, layer: LayerFigures, *, labelled: bool) -> list[str]:
    """The cells under TITLES."""
    changed = percent(layer.changed)
    if labelled and layer.lost:
        changed += f" ({-100 * layer.lost:+.1f} points)"
    return [
        str(number),
        layer.name,
        layer.op,
        layer.dtype,
        decibels(layer.sqnr_db),
        "" if layer.cosine is None else f"{layer.cosine:.4f}",
        decibels(layer.alone_db),
        decibels(layer.output_db),
        percent(layer.share),
        changed,
        "" if layer.values is None else percent(layer.values.saturated),
    ]


def summary(attribution: Attribution) -> str:
    lost = "" if attribution.lost is None else f", accuracy {-100 * attribution.lost:+.2f} points"
    return (
        f"Quantized against float on {attribution.samples} samples: outputs {decibels(attribution.output_db)} dB, "
        f"another top-1 for {percent(attribution.changed)}{lost}."
    )


def diverging(attribution: Attribution) -> str:
    first, lowest = attribution.first_diverging, attribution.lowest
    if first is not None:
        cause = "it causes that itself" if first.alone_db is not None and first.alone_db < LEAST_DB else "with what came before it"
        return f"First layer to diverge (below {LEAST_DB:g} dB): {first.name}, {decibels(first.sqnr_db)} dB; {cause}."
    if lowest is None:
        return "No layer of the float network has a quantized value to compare with."
    return f"No layer diverges (below {LEAST_DB:g} dB); the lowest is {lowest.name} with {decibels(lowest.sqnr_db)} dB."


def suggestion_lines(attribution: Attribution) -> list[str]:
    """The most helpful first."""
    return [f"{each.remedy}: {each.reason}; about {each.gain_db:+.1f} dB." for _, each in attribution.suggestions]


def decibels(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if math.isfinite(value) else "exact" if value > 0 else "no signal"


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
