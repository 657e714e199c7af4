"""Resize and Upsample: nearest neighbours are moved, everything else is a weighted sum along one axis after the other.

Specification: ONNX Resize, version 19. Interpolation is separable in every mode, so that an axis is resized at a time, those that shrink
first. Where the specification leaves a choice, the result is that of ONNX's own tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.selection import take_all
from arenite.frontend.values import Constant, Value

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """How one axis is resized."""

    axis: int
    size: int
    """Of x."""
    count: int
    """Of y."""
    scale: float
    roi: tuple[float, float]

    @property
    def width(self) -> float:
        """Of y before it was cut to an integer."""
        return self.scale * self.size


def half_pixel(at: Float64, a: Axis) -> Float64:
    return (at + 0.5) / a.scale - 0.5


def half_pixel_symmetric(at: Float64, a: Axis) -> Float64:
    return a.size / 2 * (1 - a.count / a.width) + half_pixel(at, a)


def pytorch_half_pixel(at: Float64, a: Axis) -> Float64:
    return half_pixel(at, a) if a.count > 1 else np.zeros_like(at)


def align_corners(at: Float64, a: Axis) -> Float64:
    """By the width before it was cut, as ONNX's tests have it."""
    return at * (a.size - 1) / (a.width - 1) if a.width != 1 else np.zeros_like(at)


def tf_crop_and_resize(at: Float64, a: Axis) -> Float64:
    start, end = a.roi
    if a.count > 1:
        return start * (a.size - 1) + at * (end - start) * (a.size - 1) / (a.count - 1)
    return np.full_like(at, 0.5 * (start + end) * (a.size - 1))


COORDINATES: dict[str, Callable[[Float64, Axis], Float64]] = {
    "half_pixel": half_pixel,
    "half_pixel_symmetric": half_pixel_symmetric,
    "pytorch_half_pixel": pytorch_half_pixel,
    "align_corners": align_corners,
    "asymmetric": lambda at, a: at / a.scale,
    "tf_half_pixel_for_nn": lambda at, a: (at + 0.5) / a.scale,
    "tf_crop_and_resize": tf_crop_and_resize,
}
"""coordinate_transformation_mode: where in x the results stand, by their index."""

ROUNDING: dict[str, Callable[[Float64], Float64]] = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}
"""nearest_mode."""


def resize(node: NodeImport) -> Sequence[Value]:
    if node.opset < 11:  # version 10 is what was Upsample
        return _resized(node, _scales(node, 1), None, _Mode(node, "asymmetric", "floor"))
    mode = _Mode(node, node.attribute("coordinate_transformation_mode", "half_pixel"), node.attribute("nearest_mode", "round_prefer_floor"))
    return _resized(node, _scales(node, 2), node.integers(3, "sizes") or None, mode)


def upsample(node: NodeImport) -> Sequence[Value]:
    scales = _scales(node, 1) if node.opset >= 9 else tuple(float(scale) for scale in node.attribute("scales", ()))
    return _resized(node, scales, None, _Mode(node, "asymmetric", "floor"))


def _scales(node: NodeImport, index: int) -> tuple[float, ...] | None:
    value = node.constant(index, "scales", "give the scales as a constant: they determine the shape of the result")
    return None if value is None or value.array.size == 0 else tuple(float(scale) for scale in np.asarray(value.array).reshape(-1))


class _Mode:
    """The attributes. Refuses values that the specification does not have."""

    def __init__(self, node: NodeImport, coordinates: str, rounding: str) -> None:
        self.kind = node.attribute("mode", "nearest")
        self.kind = {"bilinear": "linear"}.get(self.kind, self.kind)
        self.coordinates, self.rounding = coordinates, rounding
        self.policy = node.attribute("keep_aspect_ratio_policy", "stretch")
        for name, value, known in (
            ("mode", self.kind, ("nearest", "linear", "cubic")),
            ("coordinate_transformation_mode", coordinates, COORDINATES),
            ("nearest_mode", rounding, ROUNDING),
            ("keep_aspect_ratio_policy", self.policy, ("stretch", "not_larger", "not_smaller")),
        ):
            if value not in known:
                node.refuse(f"{name} is {value!r}", f"use one of {', '.join(known)}")
        self.antialias = bool(node.attribute("antialias", 0))
        self.exclude_outside = bool(node.attribute("exclude_outside", 0))
        self.cubic_a = float(node.attribute("cubic_coeff_a", -0.75))
        self.extrapolation = float(node.attribute("extrapolation_value", 0.0))


def _resized(node: NodeImport, scales: tuple[float, ...] | None, sizes: tuple[int, ...] | None, mode: _Mode) -> Sequence[Value]:
    x = node.tensor(0) if mode.kind == "nearest" else node.activation(0)
    shape = node.graph.tensors[x].shape
    axes = [each for each in _axes(node, shape, scales, sizes, mode) if not _is_identity(each, mode)]
    counts = {each.axis: each.count for each in axes}
    node.check_size([counts.get(axis, n) for axis, n in enumerate(shape)], node.graph.tensors[x].dtype)  # before there are indices of it
    axes.sort(key=lambda each: each.count / each.size)
    last = len(shape) in (3, 4, 5) and all(each.axis >= 2 for each in axes)  # channels last, as the neighbours have them
    if last:
        x = node.transpose(x, (0, *range(2, len(shape)), 1))
        axes = [replace(each, axis=each.axis - 1) for each in axes]
    inside = {each: _inside(node, each, mode) for each in axes}
    if mode.kind == "nearest":
        x = take_all(node, x, {each.axis: _nearest(at, each, mode) for each, (at, _) in inside.items()})
    else:
        for each, (at, _) in inside.items():
            x = _resampled(node, x, at, each, mode)
    pads = [0] * 2 * len(shape)
    for each, (_, (before, after)) in inside.items():
        pads[each.axis], pads[len(shape) + each.axis] = before, after
    if any(pads):
        x = node.emit("Pad", [x], pads=tuple(pads), value=float(np.float32(mode.extrapolation)))
    return [node.transpose(x, (0, len(shape) - 1, *range(1, len(shape) - 1))) if last else x]


def _axes(
    node: NodeImport, shape: tuple[int, ...], scales: tuple[float, ...] | None, sizes: tuple[int, ...] | None, mode: _Mode
) -> list[Axis]:
    rank = len(shape)
    given = node.ints("axes", range(rank))
    axes = [node.axis(axis, rank) for axis in given]
    if (scales is None) == (sizes is None):
        node.malformed("it must have either scales or sizes")
    roi = (0.0,) * len(axes) + (1.0,) * len(axes)
    if mode.coordinates == "tf_crop_and_resize":
        value = node.constant(1, "roi", "give the region of interest as a constant")
        if value is None or value.array.size != 2 * len(axes):
            node.malformed(f"roi must have {2 * len(axes)} values")
        roi = tuple(float(edge) for edge in np.asarray(value.array).reshape(-1))
    values = sizes if scales is None else scales
    if values is None or len(values) != len(axes) or min(values, default=1) <= 0:
        node.malformed(f"{'sizes' if scales is None else 'scales'} {list(values or ())} do not fit axes {axes} of {list(shape)}")
    if scales is None:
        factors = [size / shape[axis] for size, axis in zip(values, axes, strict=True)]
        counts = [int(size) for size in values]
        if mode.policy != "stretch":
            factors = [min(factors) if mode.policy == "not_larger" else max(factors)] * len(axes)
            counts = [int(np.floor(factor * shape[axis] + 0.5)) for factor, axis in zip(factors, axes, strict=True)]
    else:
        factors = [float(scale) for scale in values]
        extents = [roi[len(axes) + i] - roi[i] for i in range(len(axes))]
        counts = [int(np.floor(shape[axis] * extents[i] * factors[i])) for i, axis in enumerate(axes)]
    if min(counts, default=1) < 1:
        node.refuse(f"its result has {counts} elements along axes {axes}", "choose a size that leaves elements")
    return [Axis(axis, shape[axis], counts[i], factors[i], (roi[i], roi[len(axes) + i])) for i, axis in enumerate(axes)]


def _is_identity(a: Axis, mode: _Mode) -> bool:
    return a.count == a.size and a.scale == 1 and a.roi == (0.0, 1.0)


def _inside(node: NodeImport, a: Axis, mode: _Mode) -> tuple[Float64, tuple[int, int]]:
    """Where the results stand, without those that a region of interest takes from outside of x, which are counted: they are the first
    and the last ones, for a position grows or falls with its index."""
    at = COORDINATES[mode.coordinates](np.arange(a.count, dtype=np.float64), a)
    if mode.coordinates != "tf_crop_and_resize":
        return at, (0, 0)
    inside = np.flatnonzero((at >= 0) & (at <= a.size - 1))
    if not len(inside):
        node.refuse(f"roi {a.roi} lies outside of axis {a.axis}", "choose a region that meets the tensor")
    return at[inside], (int(inside[0]), a.count - 1 - int(inside[-1]))


def _nearest(at: Float64, a: Axis, mode: _Mode) -> list[int]:
    return [int(index) for index in np.clip(ROUNDING[mode.rounding](at), 0, a.size - 1)]


def _resampled(node: NodeImport, x: str, at: Float64, a: Axis, mode: _Mode) -> str:
    first, weight = _taps(np.stack([_weights(float(position), a, mode) for position in at]))
    tables = [Constant(f"{node.name}/first_{a.axis}", first), Constant(f"{node.name}/weight_{a.axis}", weight)]
    return node.emit("Resample", [x, *(node.add_constant(table) for table in tables)], axis=a.axis)


def _weights(at: float, a: Axis, mode: _Mode) -> Float64:
    """Of all elements of the axis in the result that stands at `at`. Elements beyond the ends are those at the ends."""
    stretch = min(a.scale, 1.0) if mode.antialias else 1.0
    reach = int(np.ceil((1 if mode.kind == "linear" else 2) / stretch)) + 1
    indices = np.floor(at).astype(int) + np.arange(-reach, reach + 1)
    distance = np.abs(indices - at) * stretch
    values = np.maximum(1 - distance, 0) if mode.kind == "linear" else _cubic(distance, mode.cubic_a)
    if mode.exclude_outside:
        values = np.where((indices >= 0) & (indices < a.size), values, 0)
    weights = np.zeros(a.size)
    np.add.at(weights, np.clip(indices, 0, a.size - 1), values)
    return weights / weights.sum() if mode.antialias or mode.exclude_outside else weights


def _cubic(distance: Float64, a: float) -> Float64:
    """Keys's kernel: R. Keys, Cubic convolution interpolation for digital image processing, 1981, eq. 4 with a free parameter."""
    d = distance
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _taps(weights: Float64) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """A dense matrix [count, size] as the first tap of every row and as many weights as the widest row needs."""
    rounded = weights.astype(np.float32)
    used = [np.flatnonzero(row) for row in rounded]
    taps = max(int(columns[-1] - columns[0]) + 1 if len(columns) else 1 for columns in used)
    size = weights.shape[1]
    first = np.asarray([min(int(columns[0]) if len(columns) else 0, size - taps) for columns in used], np.int32)
    return first, np.ascontiguousarray(np.take_along_axis(rounded, first[:, None] + np.arange(taps)[None, :], axis=1))


RESIZE = {
    "Resize": Importer(resize, "constant scales, sizes and roi; every mode, coordinate transformation and policy; nearest on any type"),
    "Upsample": Importer(upsample, "constant scales; nearest, linear"),
}
