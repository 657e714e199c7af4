"""Weights of four bits: scales and factors, what they are sought by, and whole models."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import QuantizationError
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.graph.operators.int4 import GROUP, HIGHEST, MOST_FACTOR, factors
from arenite.quantize import Dataset, QuantizedModel, QuantizeOptions, input_specs, quantize
from arenite.quantize.four_bit_scales import four_bit_rows, nearest_four_bits, snapped
from arenite.quantize.lower_linear import Channels, solve
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def uneven(rng: np.random.Generator, rows: int, taps: int) -> Floats:
    """Weights whose groups of taps have sizes of their own."""
    sizes = np.repeat(np.exp(rng.normal(0, 1, (rows, -(-taps // GROUP)))), GROUP, axis=1)[:, :taps]
    return np.asarray(rng.normal(0, 0.1, (rows, taps)) * sizes)


def moments(rng: np.random.Generator, taps: int) -> Floats:
    """E[x·xᵀ] of inputs that depend on each other."""
    x = rng.normal(size=(4 * taps, taps)) @ (np.eye(taps) + 0.3 * rng.normal(size=(taps, taps)))
    return np.asarray(x.T @ x / len(x))


def error(exact: Floats, stored: Floats, products: Floats) -> Floats:
    return np.asarray(np.einsum("rn,nm,rm->r", stored - exact, products, stored - exact))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 100), st.integers(0, 2**32 - 1), st.sampled_from([1e-13, 1.0, 1e6]))
def test_the_steps_are_of_four_bits(rows: int, taps: int, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    exact = uneven(rng, rows, taps) * size
    exact[0, : taps // 2] = 0
    for products in (None, moments(rng, taps)[None]):
        scale, steps = four_bit_rows(exact[None], products)
        found = factors(steps[0])
        assert found is not None and found.max() <= MOST_FACTOR
        assert np.abs(steps).max() <= HIGHEST * MOST_FACTOR
        np.testing.assert_array_equal(scale, scale.astype(np.float32))
        assert (np.abs(steps[0] * scale[0][:, None] - exact) <= np.abs(exact).max(axis=1)[:, None] + 1e-37).all()
    assert factors(nearest_four_bits(exact / np.abs(exact).max() * 100)) is not None


def test_rows_of_zeros() -> None:
    scale, steps = four_bit_rows(np.zeros((1, 2, 40)), np.eye(40)[None])
    assert not scale.any() and not steps.any()


def test_results_count_more_than_weights() -> None:
    """By the error of the results steps are better than the nearest ones, and factors of groups better than one scale a row."""
    rng = np.random.default_rng(3)
    exact, products = uneven(rng, 16, 96), moments(rng, 96)
    scale, steps = four_bit_rows(exact[None], products[None])
    plain_scale, nearest = four_bit_rows(exact[None], None)
    one = np.abs(exact).max(axis=1, keepdims=True) / HIGHEST
    sought = error(exact, steps[0] * scale[0][:, None], products).sum()
    grouped = error(exact, nearest[0] * plain_scale[0][:, None], products).sum()
    whole = error(exact, np.rint(exact / one) * one, products).sum()
    assert sought < 0.7 * grouped < 0.7 * whole


def test_one_group_is_exact_in_its_scale() -> None:
    """Weights that are of four bits already are found again."""
    rng = np.random.default_rng(4)
    steps = rng.integers(-HIGHEST, HIGHEST + 1, (5, 24))
    steps[:, 0] = HIGHEST
    exact = np.asarray(steps * 0.0625 * np.arange(1, 6)[:, None], np.float64)
    scale, found = four_bit_rows(exact[None], moments(rng, 24)[None])
    np.testing.assert_allclose(found[0] * scale[0][:, None], exact, rtol=1e-5, atol=1e-9)


def test_factors_are_snapped_by_weight() -> None:
    wanted = np.array([[15.0, 7.4, 1.0]])
    for weight, index in ((np.array([[0.0, 1.0, 0.0]]), 1), (np.array([[1.0, 0.0, 0.0]]), 0)):
        scale, found = snapped(wanted, weight)
        assert scale[0] * found[0, index] == pytest.approx(wanted[0, index], rel=0.015)  # 15 : 7.4 is nearly 8 : 4 or 14 : 7


def test_a_scale_that_must_grow_leaves_four_bits() -> None:
    """The accumulator proof doubles a scale: the weights are chosen anew, of four bits again."""
    rng = np.random.default_rng(5)
    weights = rng.normal(0, 1, (2, 64)) * [[1.0], [1e-13]]
    scale, steps = four_bit_rows(weights[None], None)
    x, y = Quantization.per_tensor(0.02, 0), Quantization.per_tensor(0.05, -10)
    channels = Channels(weights, np.array([0.1, 2.0]), scale[0].astype(np.float32), False, steps[0], four_bits=True)
    solved = solve(channels, x, y, (-128, 127))
    assert "enlarged in 1 channels" in solved.notes[0]
    assert solved.variant == "int8" and factors(solved.weights) is not None
    np.testing.assert_array_equal(solved.weights[0], steps[0, 0])


def _network(rng: np.random.Generator) -> tuple[Graph, Dataset]:
    """Conv, DepthwiseConv, FullyConnected, a wide layer behind them."""
    graph = Graph("net.onnx", inputs=["x"], outputs=["y"])
    graph.add(Tensor("x", (1, 8, 8, 4), DType.FLOAT32))
    shapes = {"c": (1, 8, 8, 12), "d": (1, 8, 8, 12), "f": (1, 768), "y": (1, 10)}
    for name, shape in shapes.items():
        graph.add(Tensor(name, shape, DType.FLOAT32))
    for name, shape in {"cw": (12, 3, 3, 4), "dw": (3, 3, 12), "yw": (10, 768)}.items():
        graph.add_constant(name, (rng.normal(0, 1, shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))
    graph.add_constant("cb", rng.normal(0, 0.1, 12).astype(np.float32))
    window = {"strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "clip": (0.0, float("inf"))}
    graph.nodes += [
        Node("Conv", "first", ("x", "cw", "cb"), ("c",), {**window, "group": 1}),
        Node("DepthwiseConv", "spread", ("c", "dw"), ("d",), window),
        Node("Reshape", "flat", ("d",), ("f",), {"shape": (1, 768)}),
        Node("FullyConnected", "last", ("f", "yw"), ("y",), {"clip": (float("-inf"), float("inf"))}),
    ]
    data = Dataset(input_specs(graph), {"x": rng.normal(0, 1, (48, 1, 8, 8, 4)).astype(np.float32)})
    return graph, data


def _variants(model: QuantizedModel) -> dict[str, str]:
    return {node.name: node.attributes["variant"] for node in model.graph.nodes if node.op != "StridedCopy" and node.op != "Reshape"}


def test_a_whole_model() -> None:
    graph, data = _network(np.random.default_rng(6))
    eight = quantize(graph, data, QuantizeOptions())
    four = quantize(graph, data, QuantizeOptions(int4_layers=None))
    assert _variants(eight) == {"first": "int8", "spread": "int8", "last": "int8"}
    assert _variants(four) == {"first": "int4", "spread": "int8", "last": "int4"}
    assert four.sqnr_db["y"] > 15
    assert [(effect.name, effect.kept) for effect in four.methods] == [("int4", True)]
    one = quantize(graph, data, QuantizeOptions(int4_layers=("last",)))
    assert _variants(one) == {"first": "int8", "spread": "int8", "last": "int4"}
    assert four.sqnr_db["y"] < one.sqnr_db["y"] < eight.sqnr_db["y"]


def test_layers_that_lose_too_much_keep_eight_bits() -> None:
    graph, data = _network(np.random.default_rng(7))
    model = quantize(graph, data, QuantizeOptions(int4_layers=None, int4_loss_db=0.01))
    assert _variants(model)["first"] == "int8"
    assert "first" in model.methods[-1].detail


@pytest.mark.parametrize(("name", "words"), [("spread", "depthwise"), ("frist", "first")])
def test_layers_that_cannot_be(name: str, words: str) -> None:
    graph, data = _network(np.random.default_rng(8))
    with pytest.raises(QuantizationError, match=words):
        quantize(graph, data, QuantizeOptions(int4_layers=(name,)))
