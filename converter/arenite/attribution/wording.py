"""The attribution in words, for the terminal and the page alike."""

from __future__ import annotations

import math
from typing import Literal

from arenite.attribution.figures import LEAST_DB, Attribution, LayerFigures
from arenite.attribution.suggestions import LEAST_GAIN_DB

TITLES = (
    "#",
    "layer",
    "operator",
    "kernel",
    "type",
    "MACs",
    "weights, B",
    "SQNR, dB",
    "cosine",
    "alone, dB",
    "outputs, dB",
    "of error",
    "top-1 changed",
    "saturated",
)
JUSTIFY: tuple[Literal["left", "right"], ...] = ("right", "left", "left", "left", "left", *(("right",) * 9))
EXPLANATIONS = (
    "SQNR and cosine: the quantized network's value at the layer's output against the float network's.",
    "Alone: this layer in its quantized form and everything else in float: the signal-to-noise ratio at its own output and at the "
    "network's, its share of the error that all layers cause there, and the samples that get another top-1. That its operands are "
    "rounded is the error of the layers which wrote them. Outputs that are decided by a Softmax or an ArgMax are measured in front of "
    "it, less what all scores have in common.",
    "Kernel: the variant that computes it, with its multiply-accumulates and the bytes of its constants. Saturated: float values more "
    "than a step outside what the output's steps represent.",
)


def row(number: int, layer: LayerFigures, *, labelled: bool) -> list[str]:
    """The cells under TITLES."""
    changed = percent(layer.changed)
    if labelled and layer.lost:
        changed += f" (accuracy {-100 * layer.lost:+.1f})"
    return [
        str(number),
        layer.name,
        layer.op,
        layer.kernel,
        layer.dtype,
        f"{layer.macs:,}" if layer.macs else "",
        f"{layer.weight_bytes:,}" if layer.weight_bytes else "",
        decibels(layer.sqnr_db),
        "" if layer.cosine is None else f"{layer.cosine:.4f}",
        decibels(layer.alone_db),
        decibels(layer.output_db),
        percent(layer.share),
        changed,
        "" if layer.values is None else percent(layer.values.saturated),
    ]


def summary(attribution: Attribution) -> str:
    lost = ""
    if attribution.lost is not None:
        points = f"{-100 * attribution.lost:+.2f}"
        lost = f", accuracy {points} points" if float(points) else ", accuracy unchanged"
    in_front = f" ({_with_unit(attribution.judged_db)} at {_listed(list(attribution.judged))})" if _in_front(attribution) else ""
    return (
        f"{attribution.model}, quantized against float ({attribution.source}) on {attribution.samples} samples: outputs "
        f"{_with_unit(attribution.output_db)}{in_front}, another top-1 for {percent(attribution.changed)}{lost}."
    )


def _in_front(attribution: Attribution) -> bool:
    """The error is measured in front of a Softmax or an ArgMax, not at the last layer's output."""
    outputs = {layer.output for layer in attribution.layers[-1:]}
    return not outputs.intersection(attribution.judged) and len(attribution.judged) == 1


def diverging(attribution: Attribution) -> str:
    first, lowest = attribution.first_diverging, attribution.lowest
    if first is not None:
        cause = "it causes that itself" if first.alone_db is not None and first.alone_db < LEAST_DB else "with what came before it"
        return f"First layer to diverge (below {LEAST_DB:g} dB): {first.name} ({first.op}), {_with_unit(first.sqnr_db)}; {cause}."
    if lowest is None:
        return "No layer of the float network has a quantized value to compare with."
    return f"No layer diverges (below {LEAST_DB:g} dB); the lowest is {lowest.name} ({lowest.op}) with {_with_unit(lowest.sqnr_db)}."


def worst(attribution: Attribution) -> str:
    """Who causes the error, one sentence."""
    layers = attribution.worst
    if not layers:
        return "No layer causes an error at the outputs that could be measured."
    named = [f"{layer.name} ({layer.op}, {percent(layer.share)})" for layer in layers]
    together = f", together {percent(sum(layer.share or 0.0 for layer in layers))}" if len(layers) > 1 else ""
    return f"Most of the error is caused by {_listed(named)}{together}."


METHODS = "--quantize best: not tried yet; often gains as much, at no cost on the target"


def suggestion_lines(attribution: Attribution, most: int | None = None) -> list[str]:
    """The most helpful first, at most so many, each with the option of `convert` that would do it."""
    lines = [
        f"{each.remedy}: {'up to' if each.at_most else 'about'} {each.gain_db:+.1f} dB; {each.reason}"
        for _, each in attribution.suggestions[:most]
    ]
    return [*lines, METHODS] if lines and not attribution.tried_methods else lines


def suggestions_title(attribution: Attribution) -> str:
    if attribution.suggestions:
        where = f" at {_listed(list(attribution.judged))}" if attribution.judged else ""
        return f"What would help, as options of convert; gains of the signal-to-noise ratio{where}, each by itself:"
    return f"No layer causes enough of the error to gain {LEAST_GAIN_DB:g} dB by itself." if attribution.worst else ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _with_unit(value: float | None) -> str:
    text = decibels(value)
    return f"{text} dB" if value is not None and math.isfinite(value) else text


def decibels(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if math.isfinite(value) else "exact" if value > 0 else "no signal"


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"
