"""Methods that make a quantized network more accurate, by name, and the sets of them that `--quantize` names."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from arenite.errors import QuantizationError

METHODS = {
    "features": "inputs whose features differ too much in size for one scale stay float32, up to the layer that brings them to like sizes",
    "equalize": "cross-layer equalization: ranges of channels are made alike by moving factors into neighbouring layers",
    "observers": "the observer of each tensor is chosen by the error of the outputs",
    "scales": "scales of weights are chosen by the error of the layer's results",
    "rounding": "weights are rounded up or down by the error of the layer's results (AdaRound's problem)",
    "bias-analytic": "biases make up for the mean error of rounded weights",
    "bias-calibrated": "biases make up for the mean error of a layer in the quantized network",
}
"""In the order in which they are applied, and what each does."""

LEVELS = {"default": frozenset({"features"}), "best": frozenset(METHODS)}
"""The values of `--quantize`."""


def selected(level: str, added: Sequence[str] = (), removed: Sequence[str] = ()) -> frozenset[str]:
    """The methods of `--quantize level`, with `--method` and `--no-method`. Raises QuantizationError for unknown names."""
    if level not in LEVELS:
        raise QuantizationError(f"--quantize {level}: not known. Choose one of {', '.join(LEVELS)}.")
    for option, names in (("--method", added), ("--no-method", removed)):
        for name in names:
            if name not in METHODS:
                near = get_close_matches(name, METHODS)
                hint = f"Did you mean {near[0]}?" if near else f"Choose from {', '.join(METHODS)}."
                raise QuantizationError(f"{option} {name}: there is no such method. {hint}")
    return (LEVELS[level] | set(added)) - set(removed)


def method_flags(methods: frozenset[str]) -> list[str]:
    """What to give `convert` for these: selected() turned around, with as few words as there can be."""

    def flags(level: str) -> list[str]:
        words = [] if level == "default" else ["--quantize", level]
        for name in METHODS:
            if (name in methods) != (name in LEVELS[level]):
                words += ["--method" if name in methods else "--no-method", name]
        return words

    return min((flags(level) for level in LEVELS), key=len)
