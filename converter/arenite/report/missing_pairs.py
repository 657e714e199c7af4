"""What a report says of tensors that a quantized model leaves without a pair of QuantizeLinear and DequantizeLinear."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.quantize.missing_pairs import MissingPair

TITLES = ("tensor", "layer", "scale", "zero point", "from")


def sentence(pairs: Sequence[MissingPair]) -> str | None:
    """None where there are none."""
    if not pairs:
        return None
    floats = sum(pair.scale is None for pair in pairs)
    text = f"{len(pairs)} tensors have no QuantizeLinear/DequantizeLinear pair in the file"
    if floats < len(pairs):
        text += f"; {len(pairs) - floats} of them get int8 steps that follow from the rest"
    if floats:
        text += f"; {floats} stay float32, unless --calibration tells their ranges"
    return f"{text}."


def rows(pairs: Sequence[MissingPair]) -> list[tuple[str, ...]]:
    return [(pair.tensor, pair.layer, *_steps(pair), pair.source) for pair in pairs]


def _steps(pair: MissingPair) -> tuple[str, str]:
    return ("", "") if pair.scale is None else (f"{pair.scale:.4g}", str(pair.zero_point))
