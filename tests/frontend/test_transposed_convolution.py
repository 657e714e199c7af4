"""ConvTranspose.

`specified` scatters every product, after the operator's text (version 22), and decides. onnxruntime 1.32 and the reference of onnx 1.23 are
asked as well, except where they differ from the text: with output_shape and no auto_pad (or SAME_LOWER) the text puts the odd element of
padding in front, onnxruntime behind; with auto_pad SAME_* and no output_shape the text's result is input · stride long, which neither holds
where the kernel is shorter than the stride; the reference adds the bias of the first group to all groups.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from arenite.graph import DType, Quantization
from arenite.passes import optimize
from arenite.quantize import Dataset, InputSpec, QuantizeOptions, quantize
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper


def specified(x, w, b, counts, begins, strides, dilations, group):
    channels, out = x.shape[1] // group, w.shape[1]
    y = np.zeros((x.shape[0], out * group, *counts))
    for place in itertools.product(*map(range, x.shape[2:])):
        for tap in itertools.product(*map(range, w.shape[2:])):
            at = tuple(i * s + k * d - first for i, k, s, d, first in zip(place, tap, strides, dilations, begins, strict=True))
            if all(0 <= a < n for a, n in zip(at, counts, strict=True)):
                for g in range(group):
                    values = x[(slice(None), slice(g * channels, (g + 1) * channels), *place)].astype(np.float64)
                    filters = w[(slice(g * channels, (g + 1) * channels), slice(None), *tap)].astype(np.float64)
                    y[(slice(None), slice(g * out, (g + 1) * out), *at)] += values @ filters
    return y if b is None else y + b.reshape(1, -1, *(1,) * len(counts))


def wanted(x, w, b=None, **a):
    rank = x.ndim - 2
    strides, dilations = a.get("strides", (1,) * rank), a.get("dilations", (1,) * rank)
    more, pads = a.get("output_padding", (0,) * rank), a.get("pads", (0,) * 2 * rank)
    full = [s * (n - 1) + m + (k - 1) * d + 1 for s, n, m, k, d in zip(strides, x.shape[2:], more, w.shape[2:], dilations, strict=True)]
    shape, auto = a.get("output_shape"), a.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER") and shape is None:
        shape = [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
    if shape is None:
        begins = [0] * rank if auto == "VALID" else pads[:rank]
        shape = [f - (0 if auto == "VALID" else pads[i] + pads[rank + i]) for i, f in enumerate(full)]
    else:
        total = [f - n for f, n in zip(full, shape, strict=True)]
        begins = [t // 2 if auto == "SAME_UPPER" else t - t // 2 for t in total]
    return specified(x, w, b, shape, begins, strides, dilations, a.get("group", 1))


FORMS = {
    "plain": ((1, 3, 4, 5), (3, 2, 3, 3), {}),
    "stride": ((2, 3, 4, 5), (3, 4, 2, 2), {"strides": [2, 2]}),
    "stride below kernel": ((1, 3, 4, 5), (3, 2, 4, 3), {"strides": [2, 3], "pads": [1, 0, 1, 2]}),
    "stride above kernel": ((1, 2, 4, 3), (2, 2, 2, 1), {"strides": [3, 2]}),
    "output_padding": ((1, 2, 4, 3), (2, 2, 3, 3), {"strides": [3, 2], "output_padding": [2, 1], "pads": [1, 1, 1, 1]}),
    "dilation": ((1, 2, 4, 3), (2, 3, 3, 2), {"dilations": [2, 3]}),
    "dilation and stride": ((1, 2, 4, 3), (2, 3, 3, 2), {"dilations": [2, 3], "strides": [3, 2], "pads": [2, 0, 1, 1]}),
    "groups": ((1, 4, 3, 3), (4, 3, 3, 3), {"group": 2, "strides": [2, 2]}),
    "depthwise": ((1, 4, 3, 3), (4, 1, 3, 3), {"group": 4, "strides": [2, 2], "pads": [1, 1, 0, 0]}),
    "depthwise with a multiplier": ((1, 4, 3, 3), (4, 2, 2, 2), {"group": 4, "strides": [2, 2]}),
    "pads beyond the window": ((1, 2, 6, 6), (2, 2, 2, 2), {"pads": [3, 2, 2, 3]}),
    "pads cut the input": ((1, 2, 6, 6), (2, 2, 2, 3), {"pads": [5, 4, 3, 3], "strides": [2, 2]}),
    "VALID": ((1, 2, 4, 3), (2, 2, 3, 3), {"auto_pad": "VALID", "strides": [2, 2]}),
    "1-D": ((1, 3, 7), (3, 2, 4), {"strides": [2], "pads": [1, 1]}),
    "1-D depthwise": ((1, 3, 7), (3, 1, 4), {"strides": [3], "group": 3}),
    "3-D": ((1, 2, 3, 2, 4), (2, 2, 2, 3, 2), {"strides": [2, 1, 3], "pads": [0, 1, 0, 1, 1, 1]}),
}
FAULTS = {
    "groups": ("onnxruntime",),
    "depthwise": ("onnxruntime",),
    "depthwise with a multiplier": ("onnxruntime",),
    "1-D depthwise": ("onnxruntime",),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("computed", [False, True], ids=["constant weights", "computed weights"])
def test_form(form, computed, agree, values):
    x_shape, w_shape, attributes = FORMS[form]
    x, w = values(*x_shape), values(*w_shape, seed=1)
    b = values(w_shape[1] * attributes.get("group", 1), seed=2)
    inputs, constants = ({"x": x, "w": w, "b": b}, {}) if computed else ({"x": x}, {"w": w, "b": b})
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], **attributes)
    oracles = FAULTS.get(form, ("onnxruntime", "reference"))
    agree(node, inputs, constants, oracles=oracles, expected=[wanted(x, w, b, **attributes)])


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("kernel", "stride", "dilation"), [(3, 2, 1), (4, 2, 1), (3, 1, 1), (2, 3, 1), (3, 2, 2)])
def test_auto_pad(auto_pad, kernel, stride, dilation, agree, values):
    x, w = values(1, 2, 4, 4), values(2, 2, kernel, kernel, seed=1)
    how = {"strides": [stride] * 2, "dilations": [dilation] * 2, "auto_pad": auto_pad}
    want = wanted(x, w, **how)
    assert want.shape[2:] == (4 * stride, 4 * stride)
    agree(helper.make_node("ConvTranspose", ["x", "w"], ["y"], **how), {"x": x}, {"w": w}, oracles=(), expected=[want])


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("shape", [(8, 8), (9, 10), (10, 7), (7, 11)])
def test_output_shape(auto_pad, shape, agree, values):
    x, w = values(1, 2, 4, 4), values(2, 3, 3, 3, seed=1)
    how = {"strides": [2, 2], "output_shape": list(shape), "auto_pad": auto_pad}
    want = wanted(x, w, **how)
    agree(helper.make_node("ConvTranspose", ["x", "w"], ["y"], **how), {"x": x}, {"w": w}, oracles=(), expected=[want])


@st.composite
def geometries(draw):
    small, rank = st.integers(1, 3), draw(st.sampled_from([1, 2]))
    group = draw(st.sampled_from([1, 1, 2]))
    kernel, strides, dilations = (tuple(draw(small) for _ in range(rank)) for _ in range(3))
    more = tuple(draw(st.integers(0, s - 1)) for s in strides)
    pads = tuple(draw(st.integers(0, 3)) for _ in range(2 * rank))
    x = (1, group * draw(st.integers(1, 2)), *(draw(st.integers(1, 5)) for _ in range(rank)))
    return x, (x[1], draw(st.integers(1, 2)), *kernel), strides, dilations, more, pads, group


@settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(geometry=geometries())
def test_any_geometry(geometry, hypothesis_agree, values):
    x_shape, w_shape, strides, dilations, more, pads, group = geometry
    x, w = values(*x_shape), values(*w_shape, seed=1)
    how = {"strides": strides, "dilations": dilations, "output_padding": more, "pads": pads, "group": group}
    try:
        want = wanted(x, w, **how)
    except ValueError:
        assume(False)  # nothing is left
    assume(want.size > 0)
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], **how)
    try:
        hypothesis_agree(node, {"x": x}, {"w": w}, oracles=(), expected=[want])
    except UnsupportedModelError as error:
        assert "pads leave nothing" in str(error) or "elements" in str(error)


def test_no_product_is_wasted(agree, values):
    """Kernel and stride of 2: one 1×1 convolution with the filters of all four phases."""
    x, w = values(1, 3, 4, 4), values(3, 5, 2, 2, seed=1)
    graph = agree(helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2]), {"x": x}, {"w": w})
    (conv,) = [node for node in graph.nodes if node.op == "Conv"]
    assert graph.tensor(conv.inputs[1]).shape == (20, 1, 1, 3)


@pytest.mark.parametrize("group", [1, 2])
def test_annotation_follows_the_filters(group, attempt, values):
    """Weights with one scale a channel keep them, and a bias its own."""
    w = np.random.default_rng(0).integers(-127, 128, (4, 3, 2, 2)).astype(np.int8)
    scale, bias = np.asarray([0.1, 0.2, 0.3], np.float32), np.arange(3 * group, dtype=np.int32)
    bias_scale = np.linspace(0.01, 0.02, 3 * group, dtype=np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["wf"], axis=1),
        helper.make_node("DequantizeLinear", ["b", "t"], ["bf"], axis=0),
        helper.make_node("ConvTranspose", ["x", "wf", "bf"], ["y"], strides=[2, 2], group=group),
    ]
    graph = attempt(nodes, {"x": values(1, 4, 3, 3)}, {"w": w, "s": scale, "b": bias, "t": bias_scale})
    (conv,) = [node for node in graph.nodes if node.op == "Conv"]
    weight, biases = (graph.tensor(conv.inputs[i]) for i in (1, 2))
    assert isinstance(weight.quantization, Quantization) and weight.quantization.axis == 0
    steps = weight.data / weight.quantization.scale.reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-4)
    assert sorted(set(np.rint(steps).astype(int).ravel())) == sorted(set(w.ravel().tolist()))
    steps = biases.data / biases.quantization.scale
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-4)


def test_int8(attempt, values):
    """It is quantized as any convolution: 30 dB and more against float."""
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 2], pads=[1, 1, 1, 1])
    graph = optimize(attempt(node, {"x": values(1, 4, 6, 6)}, {"w": values(4, 3, 4, 4, seed=1), "b": values(3, seed=2)}))
    samples = np.random.default_rng(1).normal(size=(8, 1, 4, 6, 6)).astype(np.float32)
    data = Dataset((InputSpec("x", (1, 4, 6, 6), DType.FLOAT32, None),), {"x": samples})
    model = quantize(graph, data, QuantizeOptions())
    assert {n.op for n in model.graph.nodes} <= {"Conv", "Transpose", "Reshape", "Slice"}
    assert min(model.sqnr_db.values()) > 30


def test_malformed(attempt, values):
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], group=2)
    with pytest.raises(ModelFileError, match="3 input channels do not fit weight"):
        attempt(node, {"x": values(1, 3, 4, 4)}, {"w": values(3, 2, 2, 2)})
    with pytest.raises(UnsupportedModelError, match="its result has 0 elements"):
        attempt(
            helper.make_node("ConvTranspose", ["x", "w"], ["y"], pads=[2, 2, 3, 3]), {"x": values(1, 3, 4, 4)}, {"w": values(3, 2, 2, 2)}
        )
