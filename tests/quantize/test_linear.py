"""Integers of convolutions and matrix products: the accumulator proof, and the value against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.lower_linear import NARROW_LIMIT, Channels, Linear, channels_of, own_scale, solve
from arenite.quantize.lowering import Lowering
from arenite.quantize.multipliers import requantize
from arenite.quantize.proof import WIDE_BIAS_LIMIT, accumulator_bound, product_extremes, saturating_bias
from hypothesis import given, settings
from hypothesis import strategies as st

FULL = (-128, 127)


def outputs(result: Linear, x: np.ndarray, y: Quantization, bounds: tuple[int, int] = FULL) -> list[int]:
    """numerics.md §3.1 and §3.3 in unbounded integers, checking that nothing leaves its width."""
    values = []
    for channel, weights in enumerate(result.weights):
        acc = int(result.bias[channel]) + sum(int(w) * int(v) for w, v in zip(weights, x, strict=True))
        if result.variant == "wide":
            assert abs(acc) < 2**40
            multiplier, right = (int(v) for v in result.multiplier[channel])
            value = (acc * multiplier + (1 << (right - 1))) >> right
        else:
            assert -(2**31) <= acc << result.shift < 2**31
            value = requantize(acc, int(result.multiplier[channel]), result.shift)
        values.append(max(bounds[0], min(bounds[1], int(y.zero_point) + value)))
    return values


def exact(result: Linear, bias: np.ndarray, x: np.ndarray, x_q: Quantization, y: Quantization) -> list[Fraction]:
    """z_y + (s_x·s_w·Σ w(x − z_x) + b) / s_y with the stored weights and the real bias, clamped to int8."""
    values = []
    for channel, weights in enumerate(result.weights):
        product = Fraction(float(x_q.scale)) * Fraction(float(result.scale[channel]))
        total = product * sum(int(w) * (int(v) - int(x_q.zero_point)) for w, v in zip(weights, x, strict=True))
        value = int(y.zero_point) + (total + Fraction(float(bias[channel]))) / Fraction(float(y.scale))
        values.append(max(Fraction(-128), min(Fraction(127), value)))
    return values


def own(weights: np.ndarray, bias: np.ndarray, x: Quantization, y: Quantization) -> Channels:
    return Channels(weights, bias, own_scale(weights, x, y), False)


def lowered_channels(weights: np.ndarray, bias: np.ndarray, scale: np.ndarray, x: Quantization, y: Quantization) -> Channels:
    """What lowering makes of a FullyConnected whose weights carry an annotation per channel."""
    graph = Graph("g", inputs=["x"], outputs=["y"])
    for name, width in (("x", weights.shape[1]), ("y", weights.shape[0])):
        graph.tensors[name] = Tensor(name, (1, width), DType.FLOAT32)
    graph.add_constant("w", weights.astype(np.float32), Quantization.per_channel(scale, 0))
    graph.add_constant("b", bias.astype(np.float32))
    node = Node("FullyConnected", "layer", ("x", "w", "b"), ("y",), {"clip": UNBOUNDED})
    channels, remark = channels_of(Lowering.of(graph, {"x": x, "y": y}), node)
    assert remark is None
    return channels


def check(result: Linear, bias: np.ndarray, x_q: Quantization, y: Quantization, seed: int) -> None:
    generator = np.random.default_rng(seed)
    columns = result.weights.shape[1]
    if result.variant == "int8":
        bound = accumulator_bound(result.weights, result.bias.tolist())
        assert all(b << result.shift < 2**31 for b in bound)
        assert result.multiplier.min() >= 0
    for x in (np.full(columns, -128), np.full(columns, 127), *generator.integers(-128, 128, (4, columns))):
        for channel, (got, real) in enumerate(zip(outputs(result, x, y), exact(result, bias, x, x_q, y), strict=True)):
            effective = float(x_q.scale) * float(result.scale[channel]) / float(y.scale)
            # 0.5 of the rounding, 0.25 of the multiplier's, half an accumulator step of the bias's, 22-bit multipliers where wide
            assert abs(got - real) <= 0.75 + 0.5 * effective + (256 / 2**21 if result.variant == "wide" else 0)


exponents = st.floats(-30, 30)


@settings(deadline=None, derandomize=True, max_examples=120)
@given(exponents, st.integers(-128, 127), exponents, st.integers(-128, 127), exponents, exponents, st.integers(0, 10**6))
def test_own_scales_satisfy_the_proof_at_any_magnitude(sx: float, zx: int, sy: float, zy: int, w: float, b: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = Quantization.per_tensor(10.0**sx, zx), Quantization.per_tensor(10.0**sy, zy)
    rows = 10.0 ** generator.uniform(-6, 0, (4, 1))
    weights = (generator.standard_normal((4, 9)) * 10.0**w * rows).astype(np.float32).astype(np.float64)
    weights[1] = 0.0
    bias = (generator.standard_normal(4) * 10.0**b).astype(np.float32).astype(np.float64)
    result = solve(own(weights, bias, x, y), x, y, FULL)
    assert np.all(np.isfinite(result.scale)) and np.all(result.scale > 0)
    assert np.abs(result.weights).max(initial=0) <= 127
    check(result, bias, x, y, seed)


@settings(deadline=None, derandomize=True, max_examples=120)
@given(exponents, st.integers(-128, 127), exponents, exponents, st.integers(-(2**31), 2**31 - 1), st.integers(0, 10**6))
def test_imported_weights_are_kept_exactly(sx: float, zx: int, sy: float, sw: float, bias_steps: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = Quantization.per_tensor(10.0**sx, zx), Quantization.per_tensor(10.0**sy, -128)
    scale = (10.0 ** np.clip(sw + generator.uniform(-3, 3, 3), -30, 30)).astype(np.float32)
    steps = generator.integers(-128, 128, (3, 7))
    steps[:, 0] = -128
    weights = steps * scale.astype(np.float64)[:, None]
    bias = np.array([bias_steps, -bias_steps // 3, 5]) * float(x.scale) * scale.astype(np.float64)
    result = solve(Channels(weights, bias, scale, True), x, y, FULL)
    np.testing.assert_array_equal(result.weights, steps)
    np.testing.assert_array_equal(result.scale, scale)
    check(result, bias, x, y, seed)


def test_an_ordinary_layer_needs_no_remark() -> None:
    generator = np.random.default_rng(1)
    x, y = Quantization.per_tensor(0.05, 3), Quantization.per_tensor(0.1, -20)
    weights = generator.standard_normal((8, 27))
    result = solve(own(weights, np.ones(8), x, y), x, y, FULL)
    assert (result.variant, result.shift, result.notes) == ("int8", 0, ())
    assert np.all(np.abs(result.weights).max(axis=1) == 127)


def test_bias_holds_the_input_zero_point() -> None:
    x, y = Quantization.per_tensor(0.5, 7), Quantization.per_tensor(1.0, 0)
    result = solve(Channels(np.array([[2.0, -1.0, 4.0]]), np.array([3.0]), np.array([0.25], np.float32), True), x, y, FULL)
    assert result.weights.tolist() == [[8, -4, 16]]
    assert result.bias.tolist() == [3 / 0.125 - 7 * 20]


def test_dead_channel_gives_its_bias_exactly() -> None:
    x, y = Quantization.per_tensor(1.0, 0), Quantization.per_tensor(0.01, 0)
    weights = np.array([[50.0, -50.0], [0.0, 0.0]])
    result = solve(own(weights, np.array([0.0, 0.37]), x, y), x, y, FULL)
    assert outputs(result, np.array([127, -128]), y)[1] == 37


def test_tiny_weights_beside_a_real_bias_do_not_overflow() -> None:
    x, y = Quantization.per_tensor(0.02, 0), Quantization.per_tensor(0.05, -10)
    weights = np.array([[0.3, -0.2], [1e-13, -1e-13]])
    result = solve(own(weights, np.array([0.1, 2.0]), x, y), x, y, FULL)
    assert result.variant == "int8"
    assert "enlarged in 1 channels" in result.notes[0]
    assert outputs(result, np.array([100, -100]), y)[1] == 30


def test_imported_saturating_bias_moves_to_the_nearest_that_saturates() -> None:
    x, y = Quantization.per_tensor(1.0, 0), Quantization.per_tensor(1e-3, 0)
    scale = np.array([1.0, 1.0], np.float32)
    bias = np.array([2.0**31 - 1, -(2.0**30)])
    result = solve(Channels(np.array([[3.0, -2.0], [1.0, 1.0]]), bias, scale, True), x, y, FULL)
    assert result.variant == "int8"
    assert "2 channels" in result.notes[0]
    for values in ([-128, 127], [127, -128]):
        assert outputs(result, np.array(values), y) == [127, -128]
    assert abs(int(result.bias[0])) < 1000


def test_imported_scales_that_need_it_take_the_wide_variant() -> None:
    """A large bias that the weights can cancel, and a second channel that asks for a shift."""
    x, y = Quantization.per_tensor(1.0, 0), Quantization.per_tensor(1.0, 0)
    scale = np.array([1e-3, 2.0**10], np.float32)
    weights = np.array([[127.0] * 40, [1.0] + [0.0] * 39]) * scale.astype(np.float64)[:, None]
    bias = np.array([-40 * 127 * 127 * 1e-3, 0.0])
    result = solve(Channels(weights, bias, scale, True), x, y, FULL)
    assert result.variant == "wide"
    assert result.bias.dtype == np.int64
    assert "wide" in result.notes[0]
    check(result, bias, x, y, 0)


def test_own_scales_that_cannot_help_take_the_wide_variant() -> None:
    """Every channel asks for the same shift, so that larger weight scales would only raise it."""
    x, y = Quantization.per_tensor(1.0, 0), Quantization.per_tensor(1e-4, 0)
    weights = np.random.default_rng(0).uniform(0.5, 1.0, (2, 3000))
    result = solve(own(weights, np.zeros(2), x, y), x, y, FULL)
    assert result.variant == "wide"
    assert np.all(np.abs(result.weights).max(axis=1) == 127)
    check(result, np.zeros(2), x, y, 0)


def test_accumulators_are_narrowed_where_that_costs_no_accuracy() -> None:
    """A dead channel, one that is nearly dead, one with weights far below an output step, and one whose precision matters."""
    generator = np.random.default_rng(5)
    x, y = Quantization.per_tensor(0.02, -128), Quantization.per_tensor(0.05, -128)
    weights = generator.standard_normal((4, 640)) * np.array([[0.0], [1e-30], [1e-4], [0.3]])
    weights[3] = np.sign(weights[3]) * generator.uniform(0.28, 0.3, 640)
    bias = np.array([4.0, 4.0, 5.0, 0.0])
    result = solve(own(weights, bias, x, y), x, y, FULL)
    bounds = accumulator_bound(result.weights, result.bias.tolist())
    assert (result.variant, result.shift) == ("int8", 0)
    assert [bound < NARROW_LIMIT for bound in bounds] == [True, True, True, False]
    assert np.abs(result.weights[3]).max() == 127
    assert np.abs(result.weights[2]).max() < 127
    errors = 255 * 0.02 / 0.05 * np.linalg.norm(weights - result.weights * result.scale.astype(np.float64)[:, None], axis=1)
    assert np.all(errors[:3] < 1 / 16)
    check(result, bias, x, y, 0)


def test_imported_channel_of_zeros_with_a_tiny_scale_gives_its_bias() -> None:
    x, y = Quantization.per_tensor(0.02, 5), Quantization.per_tensor(0.05, -10)
    weights = np.array([[0.25, -0.5], [0.0, 0.0]])
    x_int = np.array([17, -99])
    net_scale = np.array([0.25, 1e-13], np.float32)
    lowered = lowered_channels(weights, np.array([0.0, 2.0]), net_scale, x, y)
    assert lowered.imported
    result = solve(lowered, x, y, FULL)
    assert (result.variant, result.notes) == ("int8", ())
    assert result.weights.tolist() == [[1, -2], [0, 0]]
    assert float(result.scale[0]) == 0.25
    assert outputs(result, x_int, y)[1] == 30


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    st.integers(-(2**40), 2**40),
    st.integers(0, 2**31 - 1),
    st.integers(0, 12),
    st.integers(-128, 127),
    st.lists(st.integers(-128, 127), min_size=1, max_size=5),
)
def test_saturating_bias_is_least_and_changes_nothing(bias: int, multiplier: int, shift: int, zero_point: int, weights: list[int]) -> None:
    low, high = (v[0] for v in product_extremes(np.array([weights], np.int64)))
    moved = saturating_bias(bias, (low, high), multiplier, shift, zero_point, FULL)

    def clamped(b: int, product: int) -> int:
        return max(-128, min(127, zero_point + requantize(b + product, multiplier, shift)))

    assert abs(moved) <= abs(bias)
    for product in (low, 0, high):
        assert clamped(moved, product) == clamped(bias, product)
    if moved != bias and moved != 0:
        towards_zero = moved - 1 if moved > 0 else moved + 1
        assert clamped(towards_zero, low if moved > 0 else high) != clamped(moved, low if moved > 0 else high)


@pytest.mark.parametrize("weights", [[-128, 127], [5], [0, 0]])
def test_product_extremes_are_reached(weights: list[int]) -> None:
    low, high = (v[0] for v in product_extremes(np.array([weights], np.int64)))
    assert low == sum(min(w * -128, w * 127) for w in weights)
    assert high == sum(max(w * -128, w * 127) for w in weights)
    assert WIDE_BIAS_LIMIT + high < 2**40
