"""What would help a layer that causes much of the error, and by how much. Errors of layers are taken to add up like independent noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arenite.attribution.figures import LayerFigures, Suggestion, Values
from arenite.quantize.observers import Histogram, least_squares, squared_error
from arenite.quantize.ranges import Range

LEAST_SHARE = 0.1
"""Of the noise at the outputs: layers that cause less are not worth an option."""
LEAST_GAIN_DB = 0.5
SATURATED = 0.01
"""Share of values outside the range that says: calibration has not seen such values."""


@dataclass(frozen=True)
class Evidence:
    share: float
    """Of the noise at the network's outputs that the layer causes."""
    alone: float
    """Σ squared error at the layer's output, with this layer alone quantized."""
    rounding: float
    """The part of it that the rounding of its output to steps causes. The rest is that of its weights."""
    readers: tuple[str, ...]
    """Layers that read its output."""


def suggestions(layer: LayerFigures, evidence: Evidence) -> tuple[Suggestion, ...]:
    """The most helpful first; none for layers that cause little."""
    if layer.dtype == "float32" or evidence.share < LEAST_SHARE:
        return ()
    of_rounding = min(evidence.rounding / evidence.alone, 1.0) if evidence.alone > 0 else 1.0
    weights, steps = evidence.share * (1 - of_rounding), evidence.share * of_rounding
    found = [Suggestion(f"--float-layer {layer.name}", f"its weights cause {weights:.0%} of the error", _gain(weights))]
    if evidence.readers and steps >= LEAST_SHARE:  # its result is rounded for them, whatever computes it
        names = " ".join(f"--float-layer {name}" for name in (layer.name, *evidence.readers))
        found.append(Suggestion(names, f"the steps of {layer.output} cause {steps:.0%} of the error", _gain(evidence.share)))
    if layer.values is not None:
        if layer.values.saturated > SATURATED:
            found.append(
                Suggestion(
                    "calibrate with samples such as these",
                    f"{layer.values.saturated:.1%} of the values lie outside the range from {layer.values.least:.4g} to "
                    f"{layer.values.greatest:.4g} that calibration chose",
                    _gain(steps),
                )
            )
        left = _clipped_error(layer.values)
        if left is not None:
            found.append(
                Suggestion(
                    "--observer mse (or percentile)",
                    "a few extreme values make the steps of all others large",
                    _gain(steps * (1 - left)),
                )
            )
    return tuple(sorted((each for each in found if each.gain_db >= LEAST_GAIN_DB), key=lambda each: -each.gain_db))


def _gain(share: float) -> float:
    """In dB, of taking away this share of the noise; at most 20, as nothing is known of what remains."""
    return -10 * float(np.log10(max(1 - share, 0.01)))


def _clipped_error(values: Values) -> float | None:
    """Σ squared error with the range that makes it least, as a share of that with the range of now; None where it is no less."""
    bins = len(values.counts)
    inside = Histogram(Range(values.least, values.greatest), values.counts[bins // 4 : bins - bins // 4])  # see Values.edges
    used = inside.counts > 0
    centers, counts = inside.centers[used], inside.counts[used].astype(np.float64)
    now, best = (squared_error(centers, counts, chosen) for chosen in (inside.extremes, least_squares(inside)))
    return best / now if 0 < best < now else None
