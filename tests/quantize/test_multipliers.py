"""Fixed-point numbers against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from arenite.graph import Expression, Quantization
from arenite.quantize import multipliers as m
from hypothesis import given, settings
from hypothesis import strategies as st

scales = st.floats(1e-30, 1e30)
ratios = st.floats(1e-12, 1e9)
modest = settings(deadline=None, derandomize=True, max_examples=150)


@modest
@given(st.lists(ratios, min_size=1, max_size=6))
def test_requantization_takes_the_least_shift_and_rounds_to_nearest(effective: list[float]) -> None:
    multipliers, shift = m.requantization(effective)
    if not m.fits(effective):
        assert shift == 30
        assert max(effective) >= 2**29 * (1 - 2**-30)
        return
    assert all(0 <= v < 2**31 for v in multipliers)
    for scale, multiplier in zip(effective, multipliers, strict=True):
        assert abs(Fraction(scale) * Fraction(2) ** (32 - shift) - int(multiplier)) <= Fraction(1, 2)
    if shift > 0:
        assert round(Fraction(max(effective)) * 2 ** (33 - shift)) >= 2**31


@modest
@given(st.integers(-(2**31), 2**31 - 1), st.floats(1e-12, 0.49))
def test_requantize_is_within_three_quarters_of_exact(accumulator: int, scale: float) -> None:
    multipliers, shift = m.requantization([scale])
    assert shift == 0
    assert abs(m.requantize(accumulator, int(multipliers[0]), shift) - accumulator * Fraction(scale)) <= Fraction(3, 4)


def test_requantize_rounds_half_up() -> None:
    assert m.requantize(1, 1 << 31, 0) == 1  # 0.5
    assert m.requantize(-1, 1 << 31, 0) == 0  # −0.5
    assert m.requantize(-3, 1 << 31, 0) == -1  # −1.5


@pytest.mark.parametrize(("scale", "shift"), [(0.0, 0), (0.25, 0), (0.5, 1), (0.5 - 2**-34, 1), (0.5 - 2**-32, 0), (1.0, 2), (2.0**28, 30)])
def test_requantization_at_powers_of_two(scale: float, shift: int) -> None:
    assert m.requantization([scale])[1] == shift


@modest
@given(st.floats(1e-35, 1e35), st.integers(-(2**40) + 1, 2**40 - 1))
def test_wide_multipliers_are_normalised_and_close(scale: float, accumulator: int) -> None:
    multiplier, right = (int(v) for v in m.wide_multipliers([scale])[0])
    assert 0 <= multiplier < 2**22
    assert 1 <= right <= 62
    result = (accumulator * multiplier + (1 << (right - 1))) >> right
    assert abs(accumulator * multiplier) + (1 << (right - 1)) < 2**63
    if scale >= 2**21:
        assert (multiplier, right) == (2**22 - 1, 1)
        assert accumulator == 0 or abs(result) > 2**20
        return
    if right < 62:
        assert multiplier >= 2**21
    exact = accumulator * Fraction(scale)
    assert abs(result - exact) <= Fraction(1, 2) + abs(exact) / 2**22 + Fraction(abs(accumulator), 2**63)


@modest
@given(scales, scales, scales, st.integers(-255, 255), st.integers(-255, 255), st.booleans())
def test_sum_multipliers_fit_and_their_error_is_bounded(a: float, b: float, y: float, qa: int, qb: int, negative: bool) -> None:
    ratio_a, ratio_b = a / y, (-b if negative else b) / y
    m_a, m_b, shift = m.sum_multipliers(ratio_a, ratio_b)
    assert max(abs(m_a), abs(m_b)) < 2**22
    assert 1 <= shift <= 24
    total = qa * m_a + qb * m_b + (1 << (shift - 1))
    assert -(2**31) <= total < 2**31
    if max(abs(ratio_a), abs(ratio_b)) >= 2**21 - 1:
        assert shift == 1
        return
    exact = qa * Fraction(ratio_a) + qb * Fraction(ratio_b)
    assert abs((total >> shift) - exact) <= Fraction(1, 2) + Fraction(255, 2**shift)
    if shift < 24:
        assert max(round(abs(r) * 2.0 ** (shift + 1)) for r in (ratio_a, ratio_b)) >= 2**22


@modest
@given(scales, scales)
def test_mean_multiplier_is_odd_or_unshifted(x: float, y: float) -> None:
    multiplier, shift = m.mean_multiplier(x / y)
    assert 0 <= multiplier < 2**22
    assert 0 <= shift <= 30
    assert shift == 0 or multiplier % 2 == 1
    if x / y < 2**22 - 1:
        assert abs(Fraction(multiplier, 2**shift) - Fraction(x / y)) <= max(Fraction(x / y) / 2**21, Fraction(1, 2**31))


def test_means_of_equal_scales_are_exact() -> None:
    assert m.mean_multiplier(1.0) == (1, 0)


@modest
@given(scales, scales, scales)
def test_divisor_multiplier(a: float, b: float, y: float) -> None:
    ratio = a / (b * y)
    multiplier, shift = m.short_multiplier(ratio, 40)
    assert 0 <= multiplier < 2**22
    assert 0 <= shift <= 40
    if ratio < 2**22 - 1:
        assert abs(Fraction(multiplier, 2**shift) - Fraction(ratio)) <= Fraction(1, 2 ** (shift + 1))


@modest
@given(scales, st.integers(-128, 127), scales, st.integers(-128, 127))
def test_requantizing_tables_are_correctly_rounded(s_x: float, z_x: int, s_y: float, z_y: int) -> None:
    x, y = Quantization.per_tensor(s_x, z_x), Quantization.per_tensor(s_y, z_y)
    table = m.lookup_table(None, x, y)
    ratio = Fraction(float(x.scale)) / Fraction(float(y.scale))
    for q in (-128, -1, 0, 1, z_x, 127):
        exact = ratio * (q - z_x)
        candidates = {
            max(-128, min(127, round(value) + z_y)) for value in (exact, exact * (1 + Fraction(1, 2**51)), exact * (1 - Fraction(1, 2**51)))
        }
        assert int(table[q + 128]) in candidates


def test_tables_of_functions_that_are_not_finite() -> None:
    x, y = Quantization.per_tensor(0.1, 0), Quantization.per_tensor(0.05, -3)
    logarithm = m.lookup_table(Expression.single("Log"), x, y)
    assert logarithm[128] == -128  # −∞
    assert logarithm[127] == -3  # NaN
    reciprocal = m.lookup_table(Expression.single("Reciprocal"), x, y)
    assert reciprocal[128] == 127  # +∞
    assert reciprocal[128 + 10] == 20 - 3


@modest
@given(st.floats(1e-30, 1e30), st.integers(1, 3000))
def test_softmax_table_cannot_overflow(scale: float, length: int) -> None:
    table = m.softmax_table(float(np.float32(scale)), length)
    assert table.shape == (256,)
    assert table[0] >= 256
    assert int(table[0]) * length < 2**32
    assert np.all(np.diff(table) <= 0)
    assert np.all(table >= 0)
    expected = float(table[0]) * exp(-float(np.float32(scale)) * 3)
    assert abs(int(table[3]) - expected) <= 0.5 + 1e-6


@pytest.mark.parametrize(("scale", "numerator"), [(1 / 256, 1 << 40), (1 / 4096, 1 << 44), (1e-10, 1 << 62), (1 / 128, 1 << 39), (1e30, 0)])
def test_softmax_numerator(scale: float, numerator: int) -> None:
    assert m.softmax_numerator(scale) == numerator


@pytest.mark.parametrize(
    ("clip", "scale", "zero_point", "bounds"),
    [
        ((float("-inf"), float("inf")), 0.1, 5, (-128, 127)),
        ((0.0, float("inf")), 0.1, 5, (5, 127)),
        ((0.0, 6.0), 6 / 255, -128, (-128, 127)),
        ((0.0, 6.0), 0.1, -128, (-128, -68)),
        ((1.0, 2.0), 0.1, 127, (127, 127)),
        ((3.0, 1.0), 0.1, 0, (10, 10)),
        ((-1e30, 1e30), 1e-30, 127, (-128, 127)),
    ],
)
def test_activation_bounds(clip: tuple[float, float], scale: float, zero_point: int, bounds: tuple[int, int]) -> None:
    assert m.activation_bounds(clip, Quantization.per_tensor(scale, zero_point)) == bounds


def test_quantize_values_rounds_half_to_even_and_saturates() -> None:
    q = Quantization.per_tensor(2.0, 10)
    values = [1.0, 3.0, 5.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e300]
    assert m.quantize_values(values, q).tolist() == [10, 12, 12, 10, 10, 127, -128, 127]
