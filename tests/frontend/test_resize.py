"""Resize, Upsample.

`specified` is written after the operator's text (version 19), an axis at a time, and decides; it is the only oracle where a test names no
other. Where the implementations of onnxruntime 1.32 and onnx 1.23 differ from it or from one another:

- align_corners with scales: the text divides by length_resized − 1. ONNX's node tests, which are committed results, and the reference
  take the length before it is cut to an integer; onnxruntime takes the integer. Here as ONNX's tests.
- tf_crop_and_resize: the text's length_resized is the integer, and with scales the region counts in the output's size; the reference
  ignores the region there. Here as the text.
- pytorch_half_pixel with one element: the text says position 0, the reference −0.5, which differs for cubic. Here as the text.
- nearest: onnxruntime computes positions in float32, so that a position half way between two elements may fall to either side.
- antialias: onnxruntime leaves out taps beyond the ends, whatever exclude_outside says; the text and the reference only where it says so.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper


def position(at, mode, size, count, scale, roi):
    width = scale * size
    match mode:
        case "half_pixel":
            return (at + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return size / 2 * (1 - count / width) + (at + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (at + 0.5) / scale - 0.5 if count > 1 else 0.0
        case "align_corners":
            return at * (size - 1) / (width - 1) if width != 1 else 0.0
        case "asymmetric":
            return at / scale
        case "tf_half_pixel_for_nn":
            return (at + 0.5) / scale
    start, end = roi
    return start * (size - 1) + (at * (end - start) * (size - 1) / (count - 1) if count > 1 else 0.5 * (end - start) * (size - 1))


def keys(d, a):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def rounded(at, how):
    low = int(np.floor(at))
    match how:
        case "round_prefer_floor":
            return low + (at - low > 0.5)
        case "round_prefer_ceil":
            return low + (at - low >= 0.5)
        case "floor":
            return low
    return int(np.ceil(at))


def along(x, axis, count, scale, mode, how):
    size = x.shape[axis]
    x = np.moveaxis(x.astype(np.float64), axis, 0)
    rows = []
    for at in range(count):
        place = position(at, how.get("coordinate_transformation_mode", "half_pixel"), size, count, scale, how.get("roi", (0.0, 1.0)))
        if mode == "nearest":
            rows.append(x[min(max(rounded(place, how.get("nearest_mode", "round_prefer_floor")), 0), size - 1)])
            continue
        shrink = min(scale, 1.0) if how.get("antialias") else 1.0
        reach = int(np.ceil(2 / shrink)) + 1
        taps = []
        for i in range(int(np.floor(place)) - reach, int(np.floor(place)) + reach + 1):
            d = (i - place) * shrink
            weight = max(0.0, 1 - abs(d)) if mode == "linear" else keys(d, how.get("cubic_coeff_a", -0.75))
            if not (how.get("exclude_outside") and not 0 <= i < size):
                taps.append((min(max(i, 0), size - 1), weight))
        total = sum(w for _, w in taps) if how.get("exclude_outside") or how.get("antialias") else 1.0
        rows.append(sum(x[i] * w for i, w in taps) / total)
    return np.moveaxis(np.asarray(rows), 0, axis)


def specified(x, counts, scales, mode, **how):
    for axis, (count, scale) in enumerate(zip(counts, scales, strict=True)):
        if count != x.shape[axis] or scale != 1:
            x = along(x, axis, count, scale, mode, how)
    return x


def resize(mode, scales=False, **attributes):
    inputs = ["x", "", "f"] if scales else ["x", "", "", "s"]
    return helper.make_node("Resize", inputs, ["y"], mode=mode, **attributes)


COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
SIZES = [(1, 2, 10, 3), (1, 2, 3, 14), (1, 2, 1, 7), (1, 2, 5, 11)]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("sizes", SIZES)
def test_interpolation_to_sizes(coordinates, mode, sizes, agree, values):
    x = values(1, 2, 5, 7)
    want = specified(x, sizes, [n / m for n, m in zip(sizes, x.shape, strict=True)], mode, coordinate_transformation_mode=coordinates)
    trusted = () if coordinates == "pytorch_half_pixel" and 1 in sizes[2:] else ("reference",)
    node = resize(mode, coordinate_transformation_mode=coordinates)
    agree(node, {"x": x}, {"s": np.array(sizes)}, opset=19, oracles=trusted, expected=[want])


@pytest.mark.parametrize("coordinates", [*COORDINATES, "tf_half_pixel_for_nn"])
@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
@pytest.mark.parametrize("sizes", SIZES)
def test_nearest_to_sizes(coordinates, nearest, sizes, agree, values):
    x = values(1, 2, 5, 7)
    how = {"coordinate_transformation_mode": coordinates, "nearest_mode": nearest}
    want = specified(x, sizes, [n / m for n, m in zip(sizes, x.shape, strict=True)], "nearest", **how)
    opset = 12 if coordinates == "tf_half_pixel_for_nn" else 19
    inputs = ["x", "r", "f", "s"] if opset == 12 else ["x", "", "", "s"]
    empty = {"r": np.zeros(0, np.float32), "f": np.zeros(0, np.float32)} if opset == 12 else {}
    node = helper.make_node("Resize", inputs, ["y"], mode="nearest", **how)
    agree(node, {"x": x}, {**empty, "s": np.array(sizes)}, opset=opset, oracles=(), expected=[want])


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("factor", [0.6, 1.7, 2.0, 0.35])
@pytest.mark.parametrize("how", [{}, {"antialias": 1}, {"exclude_outside": 1}, {"antialias": 1, "exclude_outside": 1}], ids=str)
def test_interpolation_by_scales(mode, factor, how, agree, values):
    x = values(1, 2, 6, 9)
    scales = np.array([1, 1, factor, factor], np.float32)
    counts = [int(np.floor(n * float(s))) for n, s in zip(x.shape, scales, strict=True)]
    want = specified(x, counts, [float(s) for s in scales], mode, **how)
    agree(resize(mode, scales=True, **how), {"x": x}, {"f": scales}, opset=19, oracles=("reference",), expected=[want], tolerance=3e-5)


@pytest.mark.parametrize("a", [-0.5, -1.0])
def test_cubic_coefficient(a, agree, values):
    x = values(1, 1, 5, 5)
    want = specified(x, (1, 1, 8, 8), (1, 1, 1.6, 1.6), "cubic", cubic_coeff_a=a)
    node = resize("cubic", cubic_coeff_a=a)
    agree(node, {"x": x}, {"s": np.array([1, 1, 8, 8])}, opset=19, oracles=("onnxruntime", "reference"), expected=[want])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_region_of_interest(mode, agree, values):
    """Results that stand outside of the tensor are the extrapolation value, in any of the axes."""
    x = values(1, 1, 5, 6)
    roi = np.array([0, 0, -0.4, 0.2, 1, 1, 1.3, 0.9], np.float32)
    sizes = (1, 1, 6, 5)
    how = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    places = [
        [position(at, "tf_crop_and_resize", n, c, 1, (roi[i], roi[4 + i])) for at in range(c)]
        for i, (n, c) in enumerate([(5, 6), (6, 5)], 2)
    ]
    want = along(along(x, 2, 6, 1.2, mode, {**how, "roi": (roi[2], roi[6])}), 3, 5, 5 / 6, mode, {**how, "roi": (roi[3], roi[7])})
    for (i, v), (j, w) in itertools.product(enumerate(places[0]), enumerate(places[1])):
        if not (0 <= v <= 4 and 0 <= w <= 5):
            want[:, :, i, j] = 7.5
    node = helper.make_node("Resize", ["x", "r", "", "s"], ["y"], mode=mode, extrapolation_value=7.5, **how)
    agree(node, {"x": x}, {"r": roi, "s": np.array(sizes)}, opset=13, oracles=("onnxruntime",) if mode == "linear" else (), expected=[want])


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("axes", [[2, 3], [3, 2], [-1, -2]])
def test_policies_and_axes(policy, axes, agree, values):
    x, sizes = values(1, 2, 4, 8), [9, 13]
    factors = [size / x.shape[axis] for size, axis in zip(sizes, axes, strict=True)]
    scale = min(factors) if policy == "not_larger" else max(factors)
    counts = (1, 2, *(int(np.floor(n * scale + 0.5)) for n in x.shape[2:]))
    want = specified(x, counts, (1, 1, scale, scale), "linear")
    node = resize("linear", keep_aspect_ratio_policy=policy, axes=axes)
    agree(node, {"x": x}, {"s": np.array(sizes)}, opset=19, oracles=(), expected=[want])


def test_integer_factors_are_movement(agree, values):
    """One copy for both axes, without tables."""
    node = resize("nearest", scales=True)
    graph = agree(
        node, {"x": values(1, 3, 4, 5)}, {"f": np.array([1, 1, 2, 3], np.float32)}, opset=13, oracles=("onnxruntime", "reference")
    )
    assert [n.op for n in graph.nodes if n.op not in ("Reshape", "Transpose")] == ["Expand"]
    x = values(1, 3, 4, 6)
    half = np.array([1, 1, 0.5, 0.5], np.float32)
    graph = agree(node, {"x": x}, {"f": half}, opset=13, oracles=(), expected=[specified(x, (1, 3, 2, 3), half.tolist(), "nearest")])
    assert {n.op for n in graph.nodes if n.op not in ("Reshape", "Transpose")} == {"Slice"}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.int32])
def test_nearest_moves_any_type(dtype, attempt):
    graph = attempt(resize("nearest"), {"x": np.zeros((1, 1, 3, 4), dtype)}, {"s": np.array([1, 1, 7, 6])}, opset=19)
    assert graph.tensors["y"].shape == (1, 1, 7, 6) and graph.tensors["y"].dtype.numpy == dtype


@pytest.mark.parametrize("shape", [(4, 6), (5,), (2, 3, 4, 3, 3)])
def test_any_rank(shape, agree, values):
    sizes = np.array([n + 3 for n in shape])
    agree(resize("linear"), {"x": values(*shape)}, {"s": sizes}, opset=19, oracles=("reference",))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_older_versions(mode, agree, values):
    """Resize 10 and Upsample have asymmetric positions, rounded down. (onnxruntime rounds up where Resize 10 shrinks.)"""
    x, scales = values(1, 2, 4, 5), np.array([1, 1, 2, 3], np.float32)
    upsample = helper.make_node("Upsample", ["x"], ["y"], mode=mode, scales=[float(s) for s in scales])
    agree(upsample, {"x": x}, opset=7, oracles=("onnxruntime",))
    agree(helper.make_node("Upsample", ["x", "f"], ["y"], mode=mode), {"x": x}, {"f": scales}, opset=9, oracles=("onnxruntime",))
    agree(helper.make_node("Resize", ["x", "f"], ["y"], mode=mode), {"x": x}, {"f": scales}, opset=10, oracles=("onnxruntime",))


@settings(deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 12), st.integers(1, 12)),
    mode=st.sampled_from(["nearest", "linear", "cubic"]),
    coordinates=st.sampled_from(COORDINATES),
)
def test_any_size(data, mode, coordinates, hypothesis_agree, values):
    h, w, out_h, out_w = data
    x, sizes = values(1, 1, h, w), (1, 1, out_h, out_w)
    want = specified(x, sizes, (1, 1, out_h / h, out_w / w), mode, coordinate_transformation_mode=coordinates)
    node = resize(mode, coordinate_transformation_mode=coordinates)
    hypothesis_agree(node, {"x": x}, {"s": np.array(sizes)}, opset=19, oracles=(), expected=[want])


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (resize("nearest", nearest_mode="up"), "nearest_mode is 'up'"),
        (resize("trilinear"), "mode is 'trilinear'"),
        (resize("linear", coordinate_transformation_mode="corners"), "coordinate_transformation_mode is 'corners'"),
    ],
)
def test_refusals(node, message, attempt, values):
    with pytest.raises(UnsupportedModelError, match=message):
        attempt(node, {"x": values(1, 1, 4, 4)}, {"s": np.array([1, 1, 8, 8])}, opset=19)


def test_malformed(attempt, values):
    with pytest.raises(ModelFileError, match="do not fit axes"):
        attempt(resize("linear"), {"x": values(1, 1, 4, 4)}, {"s": np.array([8, 8])}, opset=19)
    with pytest.raises(UnsupportedModelError, match="sizes"):
        attempt(resize("linear"), {"x": values(1, 1, 4, 4), "s": np.array([1, 1, 8, 8])}, opset=19)
