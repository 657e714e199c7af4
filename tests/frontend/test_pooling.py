"""MaxPool, AveragePool, LpPool, the global pools, MaxUnpool, ReduceMean.

`specified` is written after the operators' text (version 22): with ceil_mode a last window counts unless it would start in the padding
behind the image; an average divides by the positions inside the image, or, with count_include_pad, inside the padded image, never by
what ceil_mode adds. onnxruntime 1.32 agrees with it, but refuses pads that reach the undilated kernel size. The reference implementation of
onnx 1.23 does not in some cases, which the tests below leave out: a MaxPool of one dimension with pads, or with SAME_LOWER; an
AveragePool where ceil_mode adds two positions or more (half of them in front); a GlobalMaxPool that is not two-dimensional.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper


def specified(op, x, kernel, strides, dilations, pads, ceil_mode=0, count_include_pad=0):
    """Pooling of an NC… array, position by position."""
    spatial, rank = x.shape[2:], x.ndim - 2
    out = []
    for n, k, s, d, before, after in zip(spatial, kernel, strides, dilations, pads[:rank], pads[rank:], strict=True):
        span = n + before + after - (k - 1) * d - 1
        count = -(-span // s) + 1 if ceil_mode else span // s + 1
        if ceil_mode and (count - 1) * s >= n + before:
            count -= 1
        out.append(count)
    y = np.zeros((*x.shape[:2], *out))
    for place in itertools.product(*map(range, out)):
        taken, counted = [], 0
        for offset in itertools.product(*map(range, kernel)):
            at = [p * s - b + o * d for p, s, b, o, d in zip(place, strides, pads[:rank], offset, dilations, strict=True)]
            inside = all(0 <= a < n for a, n in zip(at, spatial, strict=True))
            padded = all(-b <= a < n + e for a, n, b, e in zip(at, spatial, pads[:rank], pads[rank:], strict=True))
            counted += padded if count_include_pad else inside
            if inside:
                taken.append(x[(slice(None), slice(None), *at)])
        y[(slice(None), slice(None), *place)] = np.max(taken, axis=0) if op == "MaxPool" else np.sum(taken, axis=0) / counted
    return y


FORMS = {
    "plain": ((1, 3, 8, 7), {"kernel_shape": [2, 2]}),
    "strides": ((2, 3, 8, 7), {"kernel_shape": [2, 3], "strides": [2, 2]}),
    "pads": ((1, 3, 8, 7), {"kernel_shape": [3, 3], "pads": [1, 2, 0, 1], "strides": [2, 1]}),
    "ceil_mode": ((1, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "ceil_mode, last window in the padding": ((1, 1, 4, 4), {"kernel_shape": [1, 1], "strides": [2, 2], "ceil_mode": 1}),
    "1-D": ((1, 3, 9), {"kernel_shape": [3], "strides": [2]}),
    "1-D pads": ((1, 3, 9), {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_form(op, form, agree, values):
    shape, attributes = FORMS[form]
    oracles = ("onnxruntime",) if (op, form) == ("MaxPool", "1-D pads") else ("onnxruntime", "reference")
    agree(helper.make_node(op, ["x"], ["y"], **attributes), {"x": values(*shape)}, opset=12, oracles=oracles)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize(("size", "kernel", "stride"), [(7, 3, 2), (8, 3, 2), (6, 2, 2), (7, 4, 3), (5, 2, 1)])
def test_auto_pad(op, auto_pad, size, kernel, stride, agree, values):
    x = values(1, 2, size, size)
    total = 0 if auto_pad == "VALID" else max(0, (-(-size // stride) - 1) * stride + kernel - size)
    less, more = total // 2, total - total // 2
    before, after = (less, more) if auto_pad == "SAME_UPPER" else (more, less)
    want = specified(op, x, (kernel,) * 2, (stride,) * 2, (1, 1), (before, before, after, after))
    node = helper.make_node(op, ["x"], ["y"], kernel_shape=[kernel] * 2, strides=[stride] * 2, auto_pad=auto_pad)
    oracles = ("onnxruntime",) if (op, auto_pad) == ("MaxPool", "SAME_LOWER") else ("onnxruntime", "reference")
    for opset in (12, 22):
        agree(node, {"x": x}, opset=opset, oracles=oracles, expected=[want])


@pytest.mark.parametrize("count_include_pad", [0, 1])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("opset", [10, 19, 22])
def test_average_counts(count_include_pad, ceil_mode, opset, agree, values):
    x = values(1, 2, 6, 7)
    how = {"strides": (2, 2), "pads": (1, 0, 0, 1), "ceil_mode": ceil_mode, "count_include_pad": count_include_pad}
    want = specified("AveragePool", x, (3, 3), dilations=(1, 1), **how)
    agree(helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], **how), {"x": x}, opset=opset, expected=[want])


def test_ceil_mode_never_counts_what_it_adds(agree, values):
    """Five elements, windows of 4 and stride 3: the second window holds two elements and two positions beyond the image."""
    x = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 5)
    node = helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[4], strides=[3], ceil_mode=1, count_include_pad=1)
    agree(node, {"x": x}, opset=19, oracles=("onnxruntime",), expected=[np.array([[[2.5, 4.5]]])])


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_dilations(op, agree, values):
    x = values(1, 2, 9, 8)
    want = specified(op, x, (2, 3), (1, 2), (3, 2), (1, 1, 1, 1))
    node = helper.make_node(op, ["x"], ["y"], kernel_shape=[2, 3], strides=[1, 2], dilations=[3, 2], pads=[1, 1, 1, 1])
    agree(node, {"x": x}, opset=19, oracles=("onnxruntime",), expected=[want])


@st.composite
def geometries(draw):
    rank = draw(st.sampled_from([1, 2, 2]))
    kernel, strides, dilations = (tuple(draw(st.integers(1, 3)) for _ in range(rank)) for _ in range(3))
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = tuple(draw(st.integers(0, min(2, extent - 1))) for extent in extents * 2)
    spatial = tuple(draw(st.integers(1, 9)) for _ in range(rank))
    assume(all(e <= n + pads[i] + pads[rank + i] for i, (n, e) in enumerate(zip(spatial, extents, strict=True))))
    return (1, 2, *spatial), kernel, strides, dilations, pads


@settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(geometry=geometries(), op=st.sampled_from(["MaxPool", "AveragePool"]), ceil_mode=st.integers(0, 1), include=st.integers(0, 1))
def test_any_geometry(geometry, op, ceil_mode, include, hypothesis_agree, values):
    shape, kernel, strides, dilations, pads = geometry
    x = values(*shape)
    attributes = {"strides": strides, "dilations": dilations, "pads": pads, "ceil_mode": ceil_mode}
    if op == "AveragePool":
        attributes["count_include_pad"] = include
    with np.errstate(all="ignore"):
        try:
            want = specified(op, x, kernel, **attributes)
        except ValueError:
            assume(False)  # a dilated window that meets no element of a tiny image
    assume(np.isfinite(want).all())
    node = helper.make_node(op, ["x"], ["y"], kernel_shape=kernel, **attributes)
    undilated = all(pad < k for pad, k in zip(pads, kernel * 2, strict=True))
    hypothesis_agree(node, {"x": x}, opset=22, oracles=("onnxruntime",) if undilated else (), expected=[want])


@pytest.mark.parametrize("shape", [(1, 3, 5, 4), (2, 3, 7), (1, 2, 3, 4, 2)])
@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
def test_global(op, shape, agree, values):
    oracles = ("onnxruntime",) if op == "GlobalMaxPool" and len(shape) != 4 else ("onnxruntime", "reference")
    agree(helper.make_node(op, ["x"], ["y"]), {"x": values(*shape)}, oracles=oracles)


@pytest.mark.parametrize("axes", [[2, 3], [-1], [1], [3, 0], [0, 1, 2, 3]])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reduce_mean(axes, keepdims, agree, values):
    x = {"x": values(2, 3, 4, 5)}
    agree(helper.make_node("ReduceMean", ["x"], ["y"], axes=axes, keepdims=keepdims), x, opset=13)
    agree(helper.make_node("ReduceMean", ["x", "a"], ["y"], keepdims=keepdims), x, {"a": np.array(axes)}, opset=18)


def test_reduce_mean_without_axes(agree, values):
    x = {"x": values(2, 3, 4)}
    agree(helper.make_node("ReduceMean", ["x"], ["y"]), x, opset=13)
    agree(helper.make_node("ReduceMean", ["x"], ["y"], keepdims=0), x, opset=18)
    agree(helper.make_node("ReduceMean", ["x", "a"], ["y"]), x, {"a": np.zeros(0, np.int64)}, opset=18)
    graph = agree(helper.make_node("ReduceMean", ["x"], ["y"], noop_with_empty_axes=1), x, opset=18)
    assert [node.op for node in graph.nodes] == ["Reshape"]  # a copy, because input and output keep their names


INDEXED = {
    "plain": ((2, 3, 6, 7), {"kernel_shape": [2, 3], "strides": [2, 2]}),
    "pads": ((1, 2, 5, 5), {"kernel_shape": [3, 3], "pads": [1, 2, 2, 1]}),
    "dilations": ((1, 2, 7, 8), {"kernel_shape": [2, 3], "dilations": [3, 2]}),
    "ceil_mode": ((1, 1, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "1-D": ((1, 3, 9), {"kernel_shape": [3], "strides": [2]}),
    "3-D": ((1, 2, 4, 5, 6), {"kernel_shape": [2, 2, 3], "strides": [2, 1, 2]}),
}


@pytest.mark.parametrize(("form", "storage_order"), [(form, order) for form in INDEXED for order in (0, 1) if (form, order) != ("3-D", 1)])
def test_indices(form, storage_order, agree, values):
    """Of volumes in column-major order onnxruntime has other indices; tests/kernels/test_spatial.py compares the kernels there."""
    shape, attributes = INDEXED[form]
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], storage_order=storage_order, **attributes)
    agree(node, {"x": values(*shape)}, outputs=["y", "i"], oracles=("onnxruntime",))


def test_indices_cost_nothing_where_nobody_reads_them(agree, values):
    pool = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2])
    graph = agree(pool, {"x": values(1, 1, 4, 4)}, oracles=("onnxruntime",))
    assert [node.op for node in graph.nodes if node.op.startswith("Max")] == ["MaxPool"]


def test_indices_in_four_dimensions_are_refused(attempt, values):
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[1, 1, 2, 2])
    with pytest.raises(UnsupportedModelError, match="the output Indices of 4 spatial dimensions"):
        attempt(node, {"x": values(1, 1, 2, 2, 4, 4)}, outputs=["y", "i"])


@pytest.mark.parametrize("shape", [None, (1, 2, 9, 10)])
def test_max_unpool(shape, agree, values):
    x = values(1, 2, 8, 8)
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p", "i"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("MaxUnpool", ["p", "i", *(["s"] if shape else [])], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    agree(nodes, {"x": x}, {} if shape is None else {"s": np.array(shape)}, oracles=("reference",))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_that_stand_for_themselves(dtype, attempt):
    graph = attempt(helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2]), {"x": np.zeros((1, 3, 4, 4), dtype)}, opset=12)
    assert graph.tensors["y"].dtype.numpy == dtype and graph.tensors["y"].shape == (1, 3, 3, 3)


VOLUMES = {
    "plain": ((1, 2, 4, 5, 6), {"kernel_shape": [2, 3, 2]}),
    "strides": ((2, 2, 5, 5, 6), {"kernel_shape": [3, 2, 2], "strides": [2, 1, 3]}),
    "pads": ((1, 2, 5, 4, 6), {"kernel_shape": [3, 3, 3], "pads": [1, 0, 2, 2, 1, 0], "strides": [2, 2, 1]}),
    "ceil_mode": ((1, 2, 6, 5, 4), {"kernel_shape": [3, 2, 3], "strides": [2, 2, 2], "ceil_mode": 1}),
    "depth alone": ((1, 2, 6, 5, 4), {"kernel_shape": [3, 1, 1], "strides": [2, 1, 1]}),
}


@pytest.mark.parametrize("form", VOLUMES)
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("include", [0, 1])
def test_volumes(form, op, include, agree, values):
    shape, attributes = VOLUMES[form]
    x = values(*shape)
    more = {} if op == "MaxPool" else {"count_include_pad": include}
    windows = {"strides": [1] * 3, "pads": [0] * 6, **{k: v for k, v in attributes.items() if k != "kernel_shape"}, **more}
    want = specified(op, x, attributes["kernel_shape"], dilations=[1] * 3, **windows)
    agree(helper.make_node(op, ["x"], ["y"], **attributes, **more), {"x": x}, opset=19, oracles=("onnxruntime",), expected=[want])


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 3, 9), (2, 3, 7, 6), (1, 2, 5, 4, 6)])
def test_lp_pool(p, shape, agree, values):
    """Padding counts as zeros. (The reference divides by what lies inside and multiplies by the whole window.)"""
    x, rank = values(*shape), len(shape) - 2
    pads = [1] * rank + [0] * rank
    node = helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[2] * rank, strides=[2] * rank, pads=pads, p=p)
    want = specified("AveragePool", np.abs(x.astype(np.float64)) ** p, [2] * rank, [2] * rank, [1] * rank, pads, count_include_pad=1)
    agree(node, {"x": x}, opset=18, oracles=("onnxruntime",), expected=[(want * 2**rank) ** (1 / p)], tolerance=3e-5)


def test_lp_pool_with_dilations_and_ceil_mode(agree, values):
    x = values(1, 2, 8, 8)
    how = {"strides": [3, 2], "dilations": [2, 1], "ceil_mode": 1}
    node = helper.make_node("LpPool", ["x"], ["y"], kernel_shape=[2, 3], **how)
    squares = np.zeros((1, 2, 10, 10))
    squares[:, :, :8, :8] = x.astype(np.float64) ** 2
    windows = [squares[:, :, i : i + 3 : 2, j : j + 3].sum(axis=(2, 3)) for i in range(0, 8, 3) for j in range(0, 7, 2)]
    want = np.sqrt(np.stack(windows, axis=-1).reshape(1, 2, 3, 4))
    agree(node, {"x": x}, opset=22, oracles=(), expected=[want])


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 3, 5, 4), (2, 3, 7), (1, 2, 3, 4, 2)])
def test_global_lp_pool(p, shape, agree, values):
    x = values(*shape)
    want = (np.abs(x.astype(np.float64)) ** p).sum(axis=tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)
    agree(helper.make_node("GlobalLpPool", ["x"], ["y"], p=p), {"x": x}, oracles=("onnxruntime",), expected=[want], tolerance=3e-5)


def test_window_wholly_in_the_padding_is_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match=r"pads \(2, 0\) along spatial dimension 0 are not below the window of 2"):
        attempt(helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], pads=[2, 0, 0, 0]), {"x": values(1, 1, 4, 4)})


def test_computed_axes_are_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match="axes"):
        attempt(helper.make_node("ReduceMean", ["x", "a"], ["y"]), {"x": values(1, 4), "a": np.array([1])}, opset=18)
