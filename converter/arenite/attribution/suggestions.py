"""What would help a layer that causes much of the error, and by how much. Errors of layers are taken to add up like independent noise."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import numpy as np

from arenite.attribution.figures import INPUT, LayerFigures, Suggestion, Values
from arenite.graph import OPERATORS
from arenite.quantize.lower_movement import CARRYING
from arenite.quantize.observers import Histogram, least_squares, squared_error
from arenite.quantize.ranges import Range

LEAST_SHARE = 0.1
"""Of the noise at the outputs: layers that cause less are not worth an option."""
LEAST_GAIN_DB = 0.5
SATURATED = 0.01
"""Share of values outside the range that says: calibration has not seen such values."""


BECOMES = {"Elementwise": "Lookup", "Sub": "Add"}
"""What float operators are called that have another name when they are quantized."""


@dataclass(frozen=True)
class Reader:
    """A layer that reads another one's output."""

    name: str
    op: str


@dataclass(frozen=True)
class Evidence:
    share: float
    """Of the noise at the network's outputs that the layer causes."""
    alone: float
    """Σ squared error at the layer's output, with this layer alone quantized."""
    rounding: float
    """The part of it that the rounding of its output to steps causes. The rest is that of its weights."""
    readers: tuple[Reader, ...]
    """Layers that read its output, those behind layers that only move elements among them."""
    is_float: bool = False
    """It is computed in float32, and rounded for its readers."""


def suggestions(layer: LayerFigures, evidence: Evidence) -> tuple[Suggestion, ...]:
    """The most helpful first; none for layers that cause little."""
    if layer.dtype == "float32" or evidence.share < LEAST_SHARE:
        return ()
    if layer.op == INPUT:
        names = " ".join(_wider(reader.name, reader.op, layer.dtype) for reader in evidence.readers)
        reason = f"the steps of the input cause {evidence.share:.0%} of the error"
        found = [Suggestion(f"--io float32 {names}", reason, _gain(evidence.share))]
        return tuple(each for each in found if each.gain_db >= LEAST_GAIN_DB)
    of_rounding = min(evidence.rounding / evidence.alone, 1.0) if evidence.alone > 0 else 1.0
    weights, steps = evidence.share * (1 - of_rounding), evidence.share * of_rounding
    own = [] if evidence.is_float else [_wider(layer.name, layer.op, layer.dtype)]
    found = [Suggestion(option, f"the weights of {layer.name} cause {weights:.0%} of the error", _gain(weights)) for option in own]
    if steps >= LEAST_SHARE:  # its result is rounded for its readers, or for the caller, whatever computes it
        readers = [_wider(reader.name, reader.op, layer.dtype) for reader in evidence.readers]
        names = " ".join([*own, *readers] if readers else ["--io float32", *own])
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
                    "--method observers",
                    f"a few extreme values of {layer.output} make the steps of all others large; it chooses a range for each tensor",
                    _gain(steps * (1 - left)),
                    at_most=True,
                )
            )
    return tuple(sorted((each for each in found if each.gain_db >= LEAST_GAIN_DB), key=lambda each: -each.gain_db))


def _wider(name: str, op: str, dtype: str) -> str:
    """The option that gives a layer more steps: 16 bits where it has such a form and has not got it yet, else float32."""
    variants = OPERATORS[BECOMES.get(op, op)].forms if BECOMES.get(op, op) in OPERATORS else ()
    able = op in CARRYING or any(variant.startswith("int16_") for form in variants for variant in form.variants)
    return f"{'--int16-layer' if able and dtype == 'int8' else '--float-layer'} {shlex.quote(name)}"


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
