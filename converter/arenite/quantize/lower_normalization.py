"""LayerNormalization and its kin: numerics §14."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node
from arenite.graph.operators.normalization import LARGEST_ROW
from arenite.quantize.lowering import Lowering
from arenite.quantize.multipliers import scale_of, zero_point_of

LARGEST_TERM = 1 << 61
LEAST_SHIFT, GREATEST_SHIFT = 1, 24
LARGEST_GAIN, LARGEST_OFFSET = (1 << 31) - 1, (1 << 30) - 1

Values = NDArray[np.float64]


def fits_normalization(graph: Graph, node: Node) -> bool:
    """Whether the int8 form has rows of that length, and scale and bias are constant."""
    return bool(node.attributes["length"] <= LARGEST_ROW) and all(graph.tensor(name).is_constant for name in node.inputs[1:] if name)


def lower_normalization(lowering: Lowering, node: Node) -> None:
    x, x_q = lowering.operand(node.input)
    y, a = lowering.quantization[node.output], node.attributes
    period = int(a.get("period", 1))
    operands = [
        np.full((1, 1), default) if len(node.inputs) <= i or node.inputs[i] is None else _table(lowering.values(node, i), period)
        for i, default in ((1, 1.0), (2, 0.0))
    ]
    scale, bias = np.broadcast_arrays(*operands)
    fraction = 28 - (_log2_up(a["length"]) + 1) // 2
    gain, offset, shift = fixed_point(scale / scale_of(y), bias / scale_of(y) + zero_point_of(y), fraction)
    if np.any(np.abs(gain) >= LARGEST_GAIN):
        lowering.note(node, "the output scale is so small that gains had to be limited")
    epsilon, precision = scaled_epsilon(float(a["epsilon"]) / scale_of(x_q) ** 2, a["length"])
    if epsilon >= LARGEST_TERM:
        lowering.note(node, f"its operand is so small beside epsilon, {a['epsilon']:g}, that it had to be limited: --float-layer is exact")
    lowering.emit(
        node,
        "LayerNormalization",
        (x, lowering.constant(f"{node.output}/gain", gain), lowering.constant(f"{node.output}/offset", offset)),
        length=a["length"],
        period=len(gain),
        centred=a["centred"],
        epsilon=a["epsilon"],
        input_zero_point=zero_point_of(x_q),
        epsilon_low=_signed(epsilon & 0xFFFFFFFF),
        epsilon_high=epsilon >> 32,
        precision=precision,
        fraction=fraction,
        shift=shift,
        **lowering.clamp(node),
    )


def _table(values: NDArray[np.float32], period: int) -> Values:
    return np.asarray(values, np.float64).reshape(period, -1)


def _log2_up(n: int) -> int:
    return (n - 1).bit_length()


def _signed(word: int) -> int:
    return word - (1 << 32) if word >= 1 << 31 else word


def scaled_epsilon(steps: float, length: int) -> tuple[int, int]:
    """(E, k) of §14 for ε in squared steps of x."""
    precision = (45 - 2 * _log2_up(length)) // 2
    while precision > 0 and steps * length**2 * 4.0**precision > LARGEST_TERM:
        precision -= 1
    return int(min(np.rint(steps * length**2 * 4.0**precision), LARGEST_TERM)), precision


def fixed_point(gain: Values, offset: Values, fraction: int) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """(m, b, h) of §14."""
    shift = GREATEST_SHIFT
    while shift > LEAST_SHIFT and (
        np.rint(np.max(np.abs(gain)) * 2.0 ** (shift + 32 - fraction)) > LARGEST_GAIN
        or np.rint(np.max(np.abs(offset + 0.5)) * 2.0**shift) > LARGEST_OFFSET
    ):
        shift -= 1
    gains = np.clip(np.rint(gain * 2.0 ** (shift + 32 - fraction)), -LARGEST_GAIN, LARGEST_GAIN).astype(np.int32)
    offsets = np.clip(np.rint((offset + 0.5) * 2.0**shift), -LARGEST_OFFSET, LARGEST_OFFSET).astype(np.int32)
    return gains, offsets, shift
