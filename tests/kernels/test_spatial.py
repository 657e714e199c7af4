"""Resample, pools with indices and of bytes, sampling at computed positions: NumPy, portable C and onnxruntime agree; positions and
indices that hold anything never make C leave its operands (the guards of run_c, the sanitizer)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph
from arenite.graph.onnx_export import to_onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, assert_close, run_c, run_numpy, run_onnxruntime
from kernels.portable_library import PortableLibrary
from onnx.reference import ReferenceEvaluator

WILD = np.asarray([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, -1, 1, 0, -0.0], np.float32)


def real(draw: DrawFn, *shape: int) -> Array:
    return generator(draw).standard_normal(shape).astype(np.float32)


def sizes(draw: DrawFn, rank: int, most: int = 6) -> tuple[int, ...]:
    return tuple(draw(st.integers(1, most)) for _ in range(rank))


@st.composite
def resample(draw: DrawFn, wild: bool) -> NodeCall:
    x = real(draw, *sizes(draw, draw(st.integers(1, 4))))
    axis = draw(st.integers(0, x.ndim - 1))
    taps, count = draw(st.integers(1, x.shape[axis])), draw(st.integers(1, 7))
    first = generator(draw).integers(0, x.shape[axis] - taps + 1, count).astype(np.int32)
    return NodeCall("Resample", "float32", [x, first, real(draw, count, taps)], {"axis": axis})


@st.composite
def max_pool_with_indices(draw: DrawFn, wild: bool) -> NodeCall:
    rank = draw(st.integers(1, 3)) if wild else 2
    kernel, strides, dilations = ((1,) * (3 - rank) + sizes(draw, rank, 3) for _ in range(3))
    dilations = dilations if wild else (1, 1, 1)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    least = [1] * (3 - rank) + [0] * rank
    pads = [0 if fixed else draw(st.integers(0, min(2, e - 1))) for fixed, e in zip(least * 2, extents * 2, strict=True)]
    if wild:  # windows wholly in the padding too
        pads = [p + (draw(st.sampled_from([0, 0, 3])) if not fixed else 0) for p, fixed in zip(pads, least * 2, strict=True)]
    spatial = tuple(max(1, e - pads[i] - pads[3 + i]) + draw(st.integers(0, 4)) for i, e in enumerate(extents))[3 - rank :]
    x = real(draw, *sizes(draw, 2, 2), *spatial)
    if wild:
        rng = generator(draw)
        x = np.where(rng.random(x.shape) < 0.3, rng.choice(np.asarray([np.nan, -np.inf, 1, 1], np.float32), x.shape), x)
    attributes = {"kernel": kernel, "strides": strides, "dilations": dilations, "pads": tuple(pads), "column_major": draw(st.booleans())}
    if wild and draw(st.booleans()):
        return NodeCall(
            "MaxPoolWithIndices", "int8", [generator(draw).choice(np.asarray([-128, -1, 0, 127], np.int8), x.shape)], attributes
        )
    return NodeCall("MaxPoolWithIndices", "float32", [np.asarray(x, np.float32)], attributes)


@st.composite
def max_unpool(draw: DrawFn, wild: bool) -> NodeCall:
    shape = sizes(draw, draw(st.integers(3, 5)), 3)
    inferred = (*shape[:2], *(2 * n for n in shape[2:]))
    whole = (*inferred[:2], *(n + draw(st.integers(0, 2)) for n in inferred[2:]))
    rng = generator(draw)
    indices = rng.permutation(int(np.prod(inferred)))[: int(np.prod(shape))].astype(np.int64).reshape(shape)
    if wild:
        far = rng.choice(np.asarray([-1, -(2**63), 2**63 - 1, np.prod(inferred), 2**32]), shape)
        indices = np.where(rng.random(shape) < 0.3, far, indices)
    attributes: dict[str, Any] = {"inferred": inferred, "shape": whole}
    if wild and draw(st.booleans()):
        x = rng.integers(-128, 127, shape, endpoint=True).astype(draw(st.sampled_from([np.int8, np.int16, np.int64])))
        return NodeCall("MaxUnpool", "bytes", [x, indices], {**attributes, "fill": draw(st.integers(-128, 127))})
    return NodeCall("MaxUnpool", "bytes", [real(draw, *shape), indices], attributes)


@st.composite
def max_pool(draw: DrawFn, wild: bool) -> NodeCall:
    kernel, strides = sizes(draw, 2, 3), sizes(draw, 2, 3)
    pads = tuple(draw(st.integers(0, k - 1)) for k in kernel * 2)
    dtype, variant = draw(st.sampled_from([(np.uint8, "uint8"), (np.int8, "plain_int8")]))
    spatial = tuple(k + draw(st.integers(0, 5)) for k in kernel)
    limits = np.iinfo(dtype)
    x = generator(draw).integers(limits.min, limits.max, (draw(st.integers(1, 2)), *spatial, draw(st.integers(1, 3))), dtype, endpoint=True)
    attributes = {"kernel": kernel, "strides": strides, "dilations": (1, 1), "pads": pads, "overhang": (0, 0)}
    clips = [(-np.inf, np.inf), (0.0, 6.0), (-1e9, 1e9), (200.0, np.inf), (-np.inf, -3.5)]
    return NodeCall("MaxPool", variant, [x], {**attributes, "clip": draw(st.sampled_from(clips)) if wild else (-np.inf, np.inf)})


@st.composite
def grid_sample(draw: DrawFn, wild: bool) -> NodeCall:
    rank = draw(st.integers(1, 3)) if wild else draw(st.integers(2, 3))
    mode = draw(st.sampled_from(["nearest", "linear", "cubic"] if wild or rank == 2 else ["nearest", "linear"]))
    batch, least = draw(st.integers(1, 2)), 1 if wild else 2
    x = real(draw, batch, draw(st.integers(1, 3)), *(draw(st.integers(least, 6)) for _ in range(rank)))
    grid = (generator(draw).standard_normal((batch, *sizes(draw, rank, 4), rank)) * draw(st.sampled_from([0.5, 1, 4]))).astype(np.float32)
    if wild:
        rng = generator(draw)
        grid = np.where(rng.random(grid.shape) < 0.3, rng.choice(WILD, grid.shape), grid)
    padding = draw(st.sampled_from(["zeros", "border", "reflection"]))
    return NodeCall("GridSample", "float32", [x, grid], {"mode": mode, "padding_mode": padding, "align_corners": draw(st.booleans())})


@st.composite
def roi_align(draw: DrawFn, wild: bool) -> NodeCall:
    x = real(draw, draw(st.integers(1, 2)), draw(st.integers(1, 2)), *sizes(draw, 2, 8))
    rng, count = generator(draw), draw(st.integers(1, 3))
    corner = rng.uniform(-1, 6, (count, 2))
    rois = np.concatenate([corner, corner + rng.uniform(0.1, 8, (count, 2))], axis=1).astype(np.float32)
    batch = rng.integers(0, x.shape[0], count)
    if wild:
        rois = np.where(rng.random(rois.shape) < 0.2, rng.choice(WILD, rois.shape), rois)
        batch = rng.choice(np.asarray([-(2**63), 2**63 - 1, 0, 1, 7]), count)
    attributes = {
        "output_height": draw(st.integers(1, 3)),
        "output_width": draw(st.integers(1, 3)),
        "sampling_ratio": draw(st.integers(1 if wild else 0, 3)),
        "half_pixel": draw(st.booleans()),
        "mode": draw(st.sampled_from(["avg", "max"])),
        "spatial_scale": draw(st.sampled_from([1.0, 0.5])),
    }
    return NodeCall("RoiAlign", "float32", [x, rois, batch], attributes)


@st.composite
def deform_conv(draw: DrawFn, wild: bool) -> NodeCall:
    batch, offset_group = draw(st.integers(1, 2)), draw(st.sampled_from([1, 2]))
    group = draw(st.sampled_from([1, 2]))
    channels, filters = 2 * draw(st.integers(1, 2)), group * draw(st.integers(1, 2))
    kernel, strides, dilations = sizes(draw, 2, 3), sizes(draw, 2, 2), sizes(draw, 2, 2)
    pads = sizes(draw, 4, 2)
    spatial = tuple((k - 1) * d + 1 + draw(st.integers(0 if wild else 1, 3)) for k, d in zip(kernel, dilations, strict=True))
    out = [
        (n + pads[i] + pads[2 + i] - (k - 1) * d - 1) // s + 1
        for i, (n, k, d, s) in enumerate(zip(spatial, kernel, dilations, strides, strict=True))
    ]
    taps = kernel[0] * kernel[1]
    offset = real(draw, batch, offset_group * taps * 2, *out)
    if wild:
        rng = generator(draw)
        offset = np.where(rng.random(offset.shape) < 0.3, rng.choice(WILD, offset.shape), offset)
    bias = draw(st.sampled_from([None, real(draw, filters)]))
    mask = draw(st.sampled_from([None, real(draw, batch, offset_group * taps, *out)]))
    inputs = [real(draw, batch, channels, *spatial), real(draw, filters, channels // group, *kernel), offset, bias, mask]
    attributes = {"strides": strides, "dilations": dilations, "pads": pads, "group": group, "offset_group": offset_group}
    return NodeCall("DeformConv", "float32", inputs, attributes)


@st.composite
def col2im(draw: DrawFn, wild: bool) -> NodeCall:
    rank = draw(st.integers(1, 3)) if wild else 2  # onnxruntime 1.32 mixes up the channels of a volume with dilations
    block, strides, dilations = (sizes(draw, rank, 3) for _ in range(3))
    pads = tuple(draw(st.integers(0, 2)) for _ in range(2 * rank))
    image = tuple(
        max(1, (k - 1) * d + 1 - pads[i] - pads[rank + i]) + draw(st.integers(0, 5))
        for i, (k, d) in enumerate(zip(block, dilations, strict=True))
    )
    columns = [
        (n + pads[i] + pads[rank + i] - (k - 1) * d - 1) // s + 1
        for i, (n, k, d, s) in enumerate(zip(image, block, dilations, strides, strict=True))
    ]
    x = real(draw, *sizes(draw, 1, 2), draw(st.integers(1, 2)) * int(np.prod(block)), int(np.prod(columns)))
    attributes = {"image_shape": image, "block_shape": block, "strides": strides, "dilations": dilations, "pads": pads}
    return NodeCall("Col2Im", "float32", [x], attributes)


def run_reference(call: NodeCall) -> list[Array]:
    graph = Graph("node")
    for tensor in (*call.tensors, *call.results):
        if tensor is not None:
            graph.add(tensor)
    graph.inputs = [tensor.name for tensor in call.tensors if tensor is not None]
    graph.outputs = [tensor.name for tensor in call.results]
    graph.nodes = [call.node]
    feeds = {tensor.name: x for tensor, x in zip(call.tensors, call.inputs, strict=True) if tensor is not None}
    return [np.asarray(y) for y in ReferenceEvaluator(to_onnx(graph)).run(None, feeds)]


CALLS = {
    "Resample": resample,
    "MaxPoolWithIndices": max_pool_with_indices,
    "MaxUnpool": max_unpool,
    "MaxPool": max_pool,
    "GridSample": grid_sample,
    "RoiAlign": roi_align,
    "DeformConv": deform_conv,
    "Col2Im": col2im,
}


@pytest.mark.parametrize("op", CALLS)
def test_numpy_and_c(portable: PortableLibrary, op: str) -> None:
    """With positions, indices and elements that hold anything."""

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(CALLS[op](wild=True))
    def check(call: NodeCall) -> None:
        assert_close(run_c(portable, call), run_numpy(call), call)

    check()


@pytest.mark.parametrize("op", ["MaxPool", "MaxPoolWithIndices", "MaxUnpool", "Col2Im"])
def test_numpy_and_onnxruntime(op: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=25)
    @given(CALLS[op](wild=False))
    def check(call: NodeCall) -> None:
        assert_close(run_numpy(call), run_onnxruntime(call), call)

    check()


@pytest.mark.parametrize("op", ["GridSample", "RoiAlign", "DeformConv", "Col2Im"])
def test_numpy_and_the_reference(op: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=25)
    @given(CALLS[op](wild=False))
    def check(call: NodeCall) -> None:
        assert_close(run_numpy(call), run_reference(call), call)

    check()
