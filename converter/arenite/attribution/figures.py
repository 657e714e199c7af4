"""What the attribution of a model's quantization error consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.verify.execution import finite

LEAST_DB = 20.0
"""Below this a layer's values have diverged: the error has a tenth of their size."""

INPUT = "input"
"""The operator of what is no layer: an input of the model, which is rounded to its steps."""

WORST = 3
LEAST_NAMED = 0.01
"""Of the error: layers that cause less are not named."""

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
    """Share of values more than a step outside (so that the 1 of a Softmax, for which 255/256 is stored, is not)."""
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
    """Of Attribution.judged_db."""
    at_most: bool = False
    """It depends on what else the remedy does."""


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
    """At Attribution.judged, with this layer alone quantized."""
    share: float | None
    """Of the noise at the network's outputs that the layers cause, each alone."""
    changed: float | None
    """Share of samples that get another top-1 with this layer alone quantized."""
    lost: float | None
    """Accuracy lost to it, a share of the samples; None without labels."""
    values: Values | None
    """None where the output is not quantized."""
    kernel: str = ""
    """What computes it in the artifact: the kernel's variant, with the operator where that is another. Empty: nothing does, it is fused
    or a view."""
    macs: int = 0
    weight_bytes: int = 0
    """Of all its constants."""
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True)
class Attribution:
    model: str
    source: str
    samples: int
    output_db: float | None
    """Signal-to-noise ratio of the outputs of the whole quantized network."""
    judged: tuple[str, ...]
    """Activations at which the error that layers cause is measured: the outputs, or what is in front of a Softmax or an ArgMax. A single
    sample that is nearly undecided can make half of a Softmax's error."""
    judged_db: float | None
    """Signal-to-noise ratio of the whole quantized network there; logits without their mean."""
    changed: float
    """Share of samples whose top-1 differs between float and quantized."""
    lost: float | None
    """Accuracy lost to quantization as a whole; None without labels."""
    layers: tuple[LayerFigures, ...]
    """Inputs that are rounded to int8 first, as layers of the operator INPUT."""
    tried_methods: bool = True
    """The artifact has gone through the methods of `--quantize best`, or there are none for it."""

    @property
    def first_diverging(self) -> LayerFigures | None:
        """The first layer below LEAST_DB: what comes after it inherits its error."""
        return next((layer for layer in self.layers if layer.sqnr_db is not None and layer.sqnr_db < LEAST_DB), None)

    @property
    def lowest(self) -> LayerFigures | None:
        known = [layer for layer in self.layers if layer.sqnr_db is not None]
        return min(known, key=lambda layer: layer.sqnr_db or 0.0, default=None)

    @property
    def worst(self) -> tuple[LayerFigures, ...]:
        """At most WORST layers that cause most of the error at the network's outputs, the worst first; none that causes hardly any."""
        causing = [layer for layer in self.layers if layer.share is not None and layer.share >= LEAST_NAMED]
        return tuple(sorted(causing, key=lambda layer: -(layer.share or 0.0))[:WORST])

    @property
    def suggestions(self) -> list[tuple[LayerFigures, Suggestion]]:
        """The most helpful first, and what several layers suggest once."""
        found = sorted(((layer, each) for layer in self.layers for each in layer.suggestions), key=lambda pair: -pair[1].gain_db)
        first: dict[str, tuple[LayerFigures, Suggestion]] = {}
        for pair in found:
            first.setdefault(pair[1].remedy, pair)
        return list(first.values())

    def to_json(self) -> dict[str, Any]:
        """What `arenite verify --layers --json` prints under "layers"; docs/cli.md. Infinite figures (no difference at all) are null."""
        diverging = self.first_diverging
        return {
            "samples": self.samples,
            "output_db": finite(self.output_db),
            "judged": list(self.judged),
            "judged_db": finite(self.judged_db),
            "changed": self.changed,
            "lost": self.lost,
            "first_diverging": None if diverging is None else diverging.name,
            "worst": [layer.name for layer in self.worst],
            "layers": [_layer_to_json(layer) for layer in self.layers],
        }


def _layer_to_json(layer: LayerFigures) -> dict[str, Any]:
    return {
        "name": layer.name,
        "op": layer.op,
        "output": layer.output,
        "dtype": layer.dtype,
        "kernel": layer.kernel,
        "macs": layer.macs,
        "weight_bytes": layer.weight_bytes,
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
        "suggestions": [{"remedy": s.remedy, "reason": s.reason, "gain_db": s.gain_db, "at_most": s.at_most} for s in layer.suggestions],
    }
