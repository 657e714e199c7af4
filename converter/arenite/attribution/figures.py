"""What the attribution of a model's quantization error consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.verify.execution import finite

LEAST_DB = 20.0
"""Below this a layer's values have diverged: the error has a tenth of their size."""

BARS = 64
"""Of a histogram that is shown."""


@dataclass(frozen=True)
class Values:
    """The float values of a layer's output over all samples, and the interval that its steps represent."""

    low: float
    high: float
    """Least and greatest value."""
    least: float
    greatest: float
    """What −128 and 127 (or the limits of another integer type) stand for."""
    saturated: float
    """Share of values more than half a step outside."""
    counts: NDArray[np.int64] = field(repr=False)
    """How many values fell into equal bins between `edges`; what lies outside counts in the bins at the ends."""
    edges: tuple[float, float]
    """Half as wide again on either side as from `least` to `greatest`."""

    @property
    def bars(self) -> list[int]:
        """The histogram in BARS bins."""
        return [int(count) for count in self.counts.reshape(BARS, -1).sum(axis=1)]


@dataclass(frozen=True)
class Suggestion:
    """What would help, and how much: an estimate, from errors that are taken to add up as independent noise does."""

    remedy: str
    """An option of `convert`, or advice."""
    reason: str
    gain_db: float
    """Of the signal-to-noise ratio of the network's outputs."""


@dataclass(frozen=True)
class LayerFigures:
    """A layer of the network as users know it (operators that were fused are one), in execution order.

    "Alone" means: this layer in its quantized form and everything else in float. Its error is that of its weights and of its result's
    steps; that its operands are rounded is the error of the layers which wrote them.
    """

    name: str
    op: str
    output: str
    dtype: str
    """Of its result, in the artifact."""
    sqnr_db: float | None
    """Of the whole quantized network at this layer's output: 10·log10(Σ float² / Σ (float − quantized)²). None: no such value there."""
    cosine: float | None
    """Between the float and the quantized values of this output, over all samples."""
    alone_db: float | None
    """Signal-to-noise ratio of this output with this layer alone quantized. None: it computes nothing, or is part of a loop or branch."""
    output_db: float | None
    """Of the network's outputs, with this layer alone quantized."""
    share: float | None
    """Of the noise at the network's outputs that the layers cause, each alone."""
    changed: float | None
    """Share of samples that get another top-1 with this layer alone quantized."""
    lost: float | None
    """Accuracy lost to it, a share of the samples; None without labels."""
    values: Values | None
    """None where the output is not quantized."""
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True)
class Attribution:
    model: str
    source: str
    samples: int
    output_db: float | None
    """Signal-to-noise ratio of the outputs of the whole quantized network."""
    changed: float
    """Share of samples whose top-1 differs between float and quantized."""
    lost: float | None
    """Accuracy lost to quantization as a whole; None without labels."""
    layers: tuple[LayerFigures, ...]

    @property
    def first_diverging(self) -> LayerFigures | None:
        """The first layer below LEAST_DB: what comes after it inherits its error."""
        return next((layer for layer in self.layers if layer.sqnr_db is not None and layer.sqnr_db < LEAST_DB), None)

    @property
    def lowest(self) -> LayerFigures | None:
        known = [layer for layer in self.layers if layer.sqnr_db is not None]
        return min(known, key=lambda layer: layer.sqnr_db or 0.0, default=None)

    @property
    def suggestions(self) -> list[tuple[LayerFigures, Suggestion]]:
        """The most helpful first."""
        found = [(layer, each) for layer in self.layers for each in layer.suggestions]
        return sorted(found, key=lambda pair: -pair[1].gain_db)

    def to_json(self) -> dict[str, Any]:
        """What `arenite verify --layers --json` prints under "layers"; docs/cli.md. Infinite figures (no difference at all) are null."""
        diverging = self.first_diverging
        return {
            "samples": self.samples,
            "output_db": finite(self.output_db),
            "changed": self.changed,
            "lost": self.lost,
            "first_diverging": None if diverging is None else diverging.name,
            "layers": [_layer_to_json(layer) for layer in self.layers],
        }


def _layer_to_json(layer: LayerFigures) -> dict[str, Any]:
    return {
        "name": layer.name,
        "op": layer.op,
        "output": layer.output,
        "dtype": layer.dtype,
        "sqnr_db": finite(layer.sqnr_db),
        "cosine": layer.cosine,
        "alone_db": finite(layer.alone_db),
        "output_db": finite(layer.output_db),
        "share": layer.share,
        "changed": layer.changed,
        "lost": layer.lost,
        "values": None
        if layer.values is None
        else {
            "low": layer.values.low,
            "high": layer.values.high,
            "least": layer.values.least,
            "greatest": layer.values.greatest,
            "saturated": layer.values.saturated,
            "edges": list(layer.values.edges),
            "counts": layer.values.bars,
        },
        "suggestions": [{"remedy": s.remedy, "reason": s.reason, "gain_db": s.gain_db} for s in layer.suggestions],
    }
