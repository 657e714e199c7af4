"""Fixed-point numbers of the kernels: multipliers, shifts and tables (docs/numerics.md §2–7).

Everything is derived in float64 from float32 scales (§10), so that two machines that convert the same model write the same file.
"""

from __future__ import annotations

from math import frexp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arenite.graph import Expression, Quantization

MULTIPLIER_BITS = 31
SHORT_MULTIPLIER_BITS = 22
SHORT_LIMIT = 1 << SHORT_MULTIPLIER_BITS


def requantization(effective: ArrayLike, max_shift: int = 30) -> tuple[NDArray[np.int64], int]:
    """Multipliers and the common left shift of §2 for effective scales M = s_x·s_w / s_y (signed where the kernel allows it).

    Returns (m, shift): the least shift in 0…max_shift for which every |m| = rint(|M|·2^(32 − shift)) is below 2^31. Where not even
    max_shift is enough, the multipliers that do not fit are clamped to ±(2^31 − 1): the caller decides whether that is acceptable.
    """
    scales = np.asarray(effective, np.float64)
    largest = float(np.max(np.abs(scales), initial=0.0))
    limit = 1 << MULTIPLIER_BITS
    shift = min(max(frexp(largest)[1] + 1, 0), max_shift) if np.isfinite(largest) else max_shift
    while shift > 0 and np.rint(largest * 2.0 ** (32 - (shift - 1))) < limit:
        shift -= 1
    while shift < max_shift and np.rint(largest * 2.0 ** (32 - shift)) >= limit:
        shift += 1
    multipliers = np.clip(np.rint(scales * 2.0 ** (32 - shift)), -(limit - 1), limit - 1)
    return multipliers.astype(np.int64), shift


def fits(effective: ArrayLike, max_shift: int = 30) -> bool:
    """Whether requantization() represents these scales without clamping."""
    largest = float(np.max(np.abs(np.asarray(effective, np.float64)), initial=0.0))
    return bool(np.rint(largest * 2.0 ** (32 - max_shift)) < 1 << MULTIPLIER_BITS)


def requantize(accumulator: int, multiplier: int, shift: int) -> int:
    """⌊(acc·2^shift·m + 2^31) / 2^32⌋ in unbounded integers: what the kernel computes where the accumulator proof holds."""
    return (((accumulator << shift) * multiplier) + (1 << 31)) >> 32


def wide_multipliers(effective: ArrayLike) -> NDArray[np.int32]:
    """Pairs (m, r) of §3.3, int32[out, 2]: M ≈ m / 2^r with m in [2^21, 2^22), 1 ≤ r ≤ 62."""
    return pairs_of(effective, SHORT_MULTIPLIER_BITS)


def pairs_of(effective: ArrayLike, bits: int) -> NDArray[np.int32]:
    """Pairs (m, r), int32[out, 2]: M ≈ m / 2^r with m in [2^(bits − 1), 2^bits), 1 ≤ r ≤ 62, or as near to M as that allows."""
    limit = 1 << bits
    pairs = []
    for scale in np.asarray(effective, np.float64).ravel():
        if scale >= limit / 2:
            pairs.append((limit - 1, 1))
            continue
        right = bits - frexp(scale)[1] if scale > 0 else 62
        multiplier = int(np.rint(scale * 2.0 ** min(right, 62)))
        if multiplier == limit:  # rounded up to the next power of two
            multiplier, right = limit // 2, right - 1
        pairs.append((multiplier, min(right, 62)) if right >= 1 else (limit - 1, 1))
    return np.array(pairs, np.int32).reshape(-1, 2)


def sum_multipliers(ratio_a: float, ratio_b: float) -> tuple[int, int, int]:
    """(m_a, m_b, shift) of Add, §4: ratios s_a / s_y and ±s_b / s_y; |m| < 2^22, 1 ≤ shift ≤ 24 the greatest possible."""
    largest = max(abs(ratio_a), abs(ratio_b))
    shift = 24
    while shift > 1 and np.rint(largest * 2.0**shift) >= SHORT_LIMIT:
        shift -= 1

    def multiplier(ratio: float) -> int:
        return int(np.clip(np.rint(ratio * 2.0**shift), -(SHORT_LIMIT - 1), SHORT_LIMIT - 1))

    return multiplier(ratio_a), multiplier(ratio_b), shift


def short_multiplier(ratio: float, max_shift: int) -> tuple[int, int]:
    """(m, shift) with ratio ≈ m / 2^shift, m < 2^22, 0 ≤ shift ≤ max_shift the greatest possible (Div, means)."""
    shift = max_shift
    while shift > 0 and np.rint(ratio * 2.0**shift) >= SHORT_LIMIT:
        shift -= 1
    return int(min(np.rint(ratio * 2.0**shift), SHORT_LIMIT - 1)), shift


def mean_multiplier(ratio: float) -> tuple[int, int]:
    """(m, shift) of §7 for s_x / s_y: as short_multiplier, then reduced until m is odd or the shift is 0; (1, 0) for equal scales."""
    multiplier, shift = short_multiplier(ratio, 30)
    while shift > 0 and multiplier % 2 == 0:
        multiplier, shift = multiplier // 2, shift - 1
    return multiplier, shift


def scale_of(quantization: Quantization) -> float:
    """The per-tensor scale, exactly, in float64. Raises ValueError where it is per channel."""
    if not quantization.is_per_tensor:
        raise ValueError("a per-channel quantization where a per-tensor one is needed")
    return float(quantization.scale)


def zero_point_of(quantization: Quantization) -> int:
    return int(quantization.zero_point)


def quantize_values(values: ArrayLike, quantization: Quantization) -> NDArray[np.int8]:
    """clamp8(rint(v / s) + z) in float64; NaN → z, ±∞ saturates (§1, §5)."""
    zero_point = zero_point_of(quantization)
    with np.errstate(over="ignore"):
        steps = np.asarray(values, np.float64) / scale_of(quantization)
    steps = np.where(np.isnan(steps), 0.0, np.rint(steps))
    return np.clip(steps + zero_point, -128, 127).astype(np.int8)


def quantize_steps(values: ArrayLike, quantization: Quantization) -> NDArray[np.int16]:
    """clamp16(rint(v / s)) in float64; NaN → 0 (§12)."""
    steps = np.rint(np.asarray(values, np.float64) / scale_of(quantization))
    return np.clip(np.where(np.isnan(steps), 0.0, steps), -(1 << 15), (1 << 15) - 1).astype(np.int16)


def step_multiplier(ratio: float) -> tuple[int, int]:
    """(m, r) of §12, int16 to int8: ratio s / s_y = m / 2^r with m < 2^15, 1 ≤ r ≤ 30 the greatest possible."""
    shift = 30
    while shift > 1 and np.rint(ratio * 2.0**shift) >= 1 << 15:
        shift -= 1
    return int(min(np.rint(ratio * 2.0**shift), (1 << 15) - 1)), shift


def quantize_scalar(value: float, quantization: Quantization) -> int:
    return int(quantize_values(value, quantization))


def activation_bounds(clip: tuple[float, float], output: Quantization) -> tuple[int, int]:
    """The clamp of a fused activation, §3.1: (activation_min, activation_max)."""
    high = quantize_scalar(clip[1], output)
    return min(quantize_scalar(clip[0], output), high), high  # ONNX: min > max gives max


def lookup_table(expression: Expression | None, source: Quantization, target: Quantization) -> NDArray[np.int8]:
    """The 256 entries of §5 for a function (None: the identity, that is, a change of scale)."""
    steps = np.arange(-128, 128, dtype=np.float64)
    values = scale_of(source) * (steps - zero_point_of(source))
    return quantize_values(values if expression is None else expression(values), target)


def softmax_table(scale: float, length: int) -> NDArray[np.int32]:
    """rint(2^k·exp(−s_x·d)) for d = 0…255, §6; below 2^31 because k ≤ 23."""
    exponent = min(23, 31 - max(length - 1, 0).bit_length())
    return np.rint(2.0**exponent * np.exp(-scale * np.arange(256, dtype=np.float64))).astype(np.int32)


def softmax_numerator(scale: float) -> int:
    """N = min(rint(2^32 / s_y), 2^62), §6."""
    return int(min(np.rint(2.0**32 / scale), 2.0**62))
