"""Choosing scales: ranges, groups that share a quantization, annotations that are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.errors import QuantizationError
from arenite.graph import Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.ranges import Range
from arenite.quantize.scales import asymmetric, choose_scales, representable, undetermined
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.floats(-1e38, 1e38), st.floats(0, 1e38), st.floats(-38, 0))
def test_asymmetric_covers_the_range_with_zero_on_a_step(low: float, width: float, exponent: float) -> None:
    low, width = low * 10**exponent, width * 10**exponent
    chosen = asymmetric(Range(low, low + width))
    scale, zero_point = float(chosen.scale), int(chosen.zero_point)
    assert np.isfinite(scale) and scale > 0
    assert -128 <= zero_point <= 127
    limits, wanted = representable(chosen), Range(low, low + width).with_zero
    assert limits.low <= wanted.low + 0.501 * scale
    assert limits.high >= wanted.high - 0.501 * scale
    if wanted.width > 1e-34:
        assert limits.width <= wanted.width * 1.0001


@pytest.mark.parametrize(
    ("low", "high", "zero_point"), [(0.0, 1.0, -128), (-1.0, 0.0, 127), (3.0, 5.0, -128), (-5.0, -3.0, 127), (0.0, 0.0, 0), (-0.0, 0.0, 0)]
)
def test_one_sided_ranges_end_at_zero(low: float, high: float, zero_point: int) -> None:
    assert int(asymmetric(Range(low, high)).zero_point) == zero_point


def test_movement_shares_one_scale_and_only_its_source_is_observed(net: Any) -> None:
    n = net(x=(1, 4, 4, 2))
    a = n.function("x", "Tanh")
    pooled = n.pool("MaxPool", a, (2, 2))
    moved = n.node("Transpose", pooled, perm=(0, 3, 1, 2))
    flat = n.node("Reshape", moved, shape=(1, 8))
    part = n.node("Slice", flat, starts=(0, 7), steps=(1, -1), sizes=(1, 4))
    graph = n.done(part)
    assert undetermined(graph) == ["x", "tanh"]
    chosen = choose_scales(graph, {"x": Range(-3, 3), "tanh": Range(-0.4, 0.2)})
    assert all(chosen[name].same_as(chosen["tanh"]) for name in (pooled, moved, flat, part))
    assert float(chosen["tanh"].scale) == pytest.approx(0.6 / 255)


@pytest.mark.parametrize(("seen", "natural"), [(Range(0, 0.9), True), (Range(0.2, 0.4), False)])
def test_bounded_functions_get_their_natural_range(net: Any, seen: Range, natural: bool) -> None:
    n = net(x=(1, 4))
    graph = n.done(n.function("x", "Sigmoid"))
    limits = representable(choose_scales(graph, {"x": Range(-3, 3), "sigmoid": seen})["sigmoid"])
    assert limits.high == pytest.approx(1.0 if natural else seen.high)


def test_softmax_and_what_moves_it_have_a_fixed_scale(net: Any) -> None:
    n = net(x=(1, 4))
    graph = n.done(n.node("Reshape", n.node("Softmax", "x"), shape=(4,)))
    assert undetermined(graph) == ["x"]
    chosen = choose_scales(graph, {"x": Range(-3, 3)})
    assert float(chosen["reshape"].scale) == 1 / 256
    assert int(chosen["reshape"].zero_point) == -128


def test_annotations_win_and_reach_forwards_and_backwards(net: Any) -> None:
    n = net(x=(1, 4), z=(1, 4))
    n.annotate("x", 0.25, 7)
    forwards = n.node("Reshape", "x", shape=(4,))
    function = n.function("z", "Abs")
    backwards = n.annotate(n.node("Reshape", function, shape=(2, 2)), 0.5, -9)
    graph = n.done(forwards, backwards)
    assert undetermined(graph) == ["z"]
    chosen = choose_scales(graph, {"z": Range(-1, 1)})
    assert (float(chosen[forwards].scale), int(chosen[forwards].zero_point)) == (0.25, 7)
    assert (float(chosen[function].scale), int(chosen[function].zero_point)) == (0.5, -9)


def test_different_annotations_stay(net: Any) -> None:
    n = net(x=(1, 4))
    n.annotate("x", 0.25, 7)
    y = n.annotate(n.node("Reshape", "x", shape=(4,)), 0.5, 0)
    chosen = choose_scales(n.done(y), {})
    assert float(chosen["x"].scale) == 0.25
    assert float(chosen[y].scale) == 0.5


def test_an_annotated_part_does_not_clip_its_source_for_other_readers(net: Any) -> None:
    n = net(x=(1, 8))
    source = n.function("x", "Neg")
    part = n.annotate(n.node("Slice", source, starts=(0, 0), steps=(1, 1), sizes=(1, 2)), 0.001, 0)
    other = n.function(source, "Abs")
    graph = n.done(part, other)
    assert source in undetermined(graph)
    ranges = {"x": Range(-5, 5), source: Range(-5, 5), other: Range(0, 5)}
    assert representable(choose_scales(graph, ranges)[source]).high == pytest.approx(5.0, rel=0.01)


def concat(net: Any, first: Range, second: Range, shared: bool) -> dict[str, Quantization]:
    n = net(x=(1, 4), z=(1, 4))
    a, b = n.function("x", "Neg"), n.function("z", "Abs")
    joined = n.node("Concat", a, b, axis=1)
    outputs = [joined, n.function(a, "Sign")] if shared else [joined]
    graph = n.done(*outputs)
    assert joined not in undetermined(graph)
    return choose_scales(graph, {"x": first, "z": second, "neg": first, "abs": second, "sign": Range(-1, 1)})


def test_concat_inputs_take_its_scale(net: Any) -> None:
    chosen = concat(net, Range(-0.1, 0.1), Range(0, 10), shared=False)
    assert chosen["neg"].same_as(chosen["concat"])
    assert chosen["abs"].same_as(chosen["concat"])
    limits = representable(chosen["concat"])
    assert (limits.low, limits.high) == (pytest.approx(-0.1, abs=0.02), pytest.approx(10, abs=0.03))


def test_concat_inputs_that_others_read_keep_their_precision(net: Any) -> None:
    assert not concat(net, Range(-0.1, 0.1), Range(0, 10), shared=True)["neg"].same_as(
        concat(net, Range(-0.1, 0.1), Range(0, 10), False)["neg"]
    )
    close = concat(net, Range(-6, 6), Range(0, 10), shared=True)
    assert close["neg"].same_as(close["concat"])


def test_concat_of_equal_annotations(net: Any) -> None:
    n = net(x=(1, 4), z=(1, 4))
    for name in ("x", "z"):
        n.annotate(name, 0.5, 3)
    graph = n.done(n.node("Concat", "x", "z", axis=1))
    chosen = choose_scales(graph, {})
    assert (float(chosen["concat"].scale), int(chosen["concat"].zero_point)) == (0.5, 3)


def test_concat_of_different_annotations_covers_both(net: Any) -> None:
    n = net(x=(1, 4), z=(1, 4))
    n.annotate("x", 0.5, 0)
    n.annotate("z", 0.1, -128)
    chosen = choose_scales(n.done(n.node("Concat", "x", "z", axis=1)), {})
    assert float(chosen["x"].scale) == 0.5
    limits = representable(chosen["concat"])
    assert limits.low <= -63.9
    assert limits.high >= 63.4


def test_concat_range_includes_constants(net: Any) -> None:
    n = net(x=(1, 2))
    graph = n.done(n.node("Concat", "x", n.constant([[9.0, -4.0]]), axis=1))
    limits = representable(choose_scales(graph, {"x": Range(-1, 1)})["concat"])
    assert (limits.low, limits.high) == (pytest.approx(-4, abs=0.05), pytest.approx(9, abs=0.05))


@pytest.mark.parametrize(("value", "high"), [(2.5, 2.5), (float("inf"), 1.0), (3.4e38, 1.0)])
def test_pad_value_is_representable_unless_it_stands_for_infinity(net: Any, value: float, high: float) -> None:
    n = net(x=(1, 3))
    graph = n.done(n.node("Pad", "x", pads=(0, 1, 0, 1), value=value))
    assert undetermined(graph) == ["x"]
    assert representable(choose_scales(graph, {"x": Range(-1, 1)})["pad"]).high == pytest.approx(high, abs=0.02)


@pytest.mark.parametrize(("high", "shared"), [(1.0, False), (3.9, True)])
def test_means_take_their_own_scale_where_it_is_finer(net: Any, high: float, shared: bool) -> None:
    n = net(x=(1, 4, 4, 2))
    graph = n.done(n.node("ReduceMean", "x", axes=(1, 2), keepdims=False, clip=UNBOUNDED))
    chosen = choose_scales(graph, {"x": Range(0, 4), "reducemean": Range(0, high)})
    assert chosen["reducemean"].same_as(chosen["x"]) == shared


def test_annotations_that_make_no_sense_are_refused(net: Any) -> None:
    n = net(x=(1, 2))
    graph = n.done(n.function("x", "Abs"))
    tensor = graph.tensors["abs"]
    per_channel = Quantization.per_channel(np.array([1, 2], np.float32), 1)
    for wrong, message in (
        (per_channel, "per channel"),
        (Quantization.per_tensor(0, 0), "scale 0"),
        (Quantization.per_tensor(np.nan, 0), "nan"),
    ):
        graph.tensors["abs"] = Tensor(tensor.name, tensor.shape, tensor.dtype, None, wrong)
        with pytest.raises(QuantizationError, match=message):
            choose_scales(graph, {"x": Range(0, 1)})
