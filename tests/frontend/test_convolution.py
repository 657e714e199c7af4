"""Conv."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper

FORMS = {
    "plain": ((1, 3, 8, 7), (4, 3, 3, 3), {}),
    "pads": ((2, 3, 8, 7), (4, 3, 3, 3), {"pads": [1, 2, 0, 1]}),
    "strides": ((1, 3, 9, 7), (4, 3, 3, 2), {"strides": [2, 3], "pads": [1, 1, 1, 1]}),
    "dilation": ((1, 3, 9, 9), (4, 3, 3, 2), {"dilations": [2, 3]}),
    "groups": ((1, 6, 5, 5), (4, 3, 3, 3), {"group": 2}),
    "depthwise": ((1, 6, 5, 5), (6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
    "depthwise with a multiplier": ((1, 3, 5, 5), (6, 1, 3, 3), {"group": 3}),
    "one channel": ((1, 1, 6, 6), (5, 1, 3, 3), {}),
    "SAME_UPPER": ((1, 2, 7, 6), (3, 2, 4, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    "SAME_LOWER": ((1, 2, 7, 6), (3, 2, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    "SAME_UPPER, stride above kernel": ((1, 2, 7, 7), (3, 2, 1, 2), {"auto_pad": "SAME_UPPER", "strides": [3, 3]}),
    "VALID": ((1, 2, 7, 6), (3, 2, 4, 3), {"auto_pad": "VALID", "strides": [2, 2]}),
    "kernel_shape": ((1, 2, 7, 6), (3, 2, 4, 3), {"kernel_shape": [4, 3]}),
    "1-D": ((1, 4, 11), (6, 4, 3), {"pads": [1, 1]}),
    "1-D, stride and dilation": ((2, 4, 11), (6, 4, 3), {"strides": [2], "dilations": [2], "pads": [2, 1]}),
    "1-D depthwise": ((1, 4, 11), (4, 1, 5), {"group": 4, "auto_pad": "SAME_UPPER"}),
    "1-D SAME_LOWER": ((1, 4, 10), (3, 4, 4), {"auto_pad": "SAME_LOWER", "strides": [3]}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("biased", [True, False])
def test_form(form, biased, agree, values):
    x, w, attributes = FORMS[form]
    constants = {"w": values(*w, seed=1)} | ({"b": values(w[0], seed=2)} if biased else {})
    graph = agree(helper.make_node("Conv", ["x", *constants], ["y"], name="layer", **attributes), {"x": values(*x)}, constants)
    (kind,) = {node.op for node in graph.nodes} & {"Conv", "DepthwiseConv"}
    assert kind == ("DepthwiseConv" if attributes.get("group", 1) == x[1] > 1 else "Conv")
    assert {node.name for node in graph.nodes} == {"layer"}


@pytest.mark.parametrize("opset", [7, 11, 22])
def test_opsets(opset, agree, values):
    agree(helper.make_node("Conv", ["x", "w"], ["y"]), {"x": values(1, 2, 5, 5)}, {"w": values(3, 2, 3, 3)}, opset=opset)


@st.composite
def geometries(draw):
    small = st.integers(1, 3)
    group = draw(st.sampled_from([1, 1, 2, 3]))
    inputs, outputs = group * draw(st.integers(1, 2)), group * draw(st.integers(1, 2))
    rank = draw(st.sampled_from([1, 2, 2]))
    kernel, strides, dilations = (tuple(draw(small) for _ in range(rank)) for _ in range(3))
    pads = tuple(draw(st.integers(0, 3)) for _ in range(2 * rank))
    spatial = tuple(draw(st.integers(1, 9)) for _ in range(rank))
    return (draw(st.integers(1, 2)), inputs, *spatial), (outputs, inputs // group, *kernel), strides, dilations, pads, group


@settings(deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(geometry=geometries())
def test_any_geometry(geometry, hypothesis_agree, values):
    x, w, strides, dilations, pads, group = geometry
    rank = len(strides)
    assume(all((k - 1) * d + 1 <= n + pads[i] + pads[rank + i] for i, (n, k, d) in enumerate(zip(x[2:], w[2:], dilations, strict=True))))
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=strides, dilations=dilations, pads=pads, group=group)
    hypothesis_agree(node, {"x": values(*x)}, {"w": values(*w, seed=1)}, oracles=("onnxruntime",))


def test_weight_shared_by_two_nodes_is_one_constant(agree, values):
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], pads=[1] * 4), helper.make_node("Conv", ["a", "w"], ["y"], pads=[1] * 4)]
    graph = agree(nodes, {"x": values(1, 2, 4, 4)}, {"w": values(2, 2, 3, 3)})
    assert [t.name for t in graph.tensors.values() if t.is_constant] == ["w"]


@pytest.mark.parametrize(("channels", "group"), [(2, 1), (4, 2), (4, 4)])
def test_computed_weight(channels, group, agree, values):
    inputs = {"x": values(1, channels, 5, 5), "w": values(4, channels // group, 3, 2), "b": values(4)}
    agree(helper.make_node("Conv", ["x", "w", "b"], ["y"], group=group), inputs)


def test_negative_pads_are_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match=r"pads is \[0, -1, 0, 0\]"):
        attempt(helper.make_node("Conv", ["x", "w"], ["y"], pads=[0, -1, 0, 0]), {"x": values(1, 2, 5, 5)}, {"w": values(3, 2, 3, 3)})


@pytest.mark.parametrize(
    ("w", "attributes", "message"),
    [
        ((3, 4, 3, 3), {}, "2 input channels do not fit"),
        ((3, 2, 3), {}, "does not fit the input"),
        ((3, 2, 3, 3), {"kernel_shape": [5, 5]}, "kernel_shape"),
        ((3, 2, 9, 9), {}, "a window of 9 does not fit"),
    ],
)
def test_contradictions(w, attributes, message, attempt, values):
    with pytest.raises(ModelFileError, match=message) as caught:
        attempt(helper.make_node("Conv", ["x", "w"], ["y"], name="conv", **attributes), {"x": values(1, 2, 5, 5)}, {"w": values(*w)})
    assert caught.value.exit_code == 3


def test_annotated_weights_keep_their_scales(attempt, values):
    q = np.random.default_rng(0).integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    scales = np.linspace(0.01, 0.04, 4, dtype=np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=0),
        helper.make_node("Conv", ["x", "w"], ["y"], name="conv"),
    ]
    graph = attempt(nodes, {"x": values(1, 3, 5, 5)}, {"q": q, "s": scales})
    weight = graph.tensors[next(n for n in graph.nodes if n.op == "Conv").inputs[1]]
    assert weight.quantization is not None and weight.quantization.axis == 0
    np.testing.assert_array_equal(weight.quantization.scale, scales)
    np.testing.assert_array_equal(np.rint(weight.data / scales[:, None, None, None]), q.transpose(0, 2, 3, 1))


def test_annotated_depthwise_weights_keep_their_scales(attempt, values):
    q = np.random.default_rng(0).integers(-127, 128, (3, 1, 3, 3)).astype(np.int8)
    scales = np.linspace(0.01, 0.04, 3, dtype=np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=0),
        helper.make_node("Conv", ["x", "w"], ["y"], group=3),
    ]
    graph = attempt(nodes, {"x": values(1, 3, 5, 5)}, {"q": q, "s": scales})
    weight = graph.tensors[next(n for n in graph.nodes if n.op == "DepthwiseConv").inputs[1]]
    assert weight.quantization is not None and weight.quantization.axis == 2
    np.testing.assert_array_equal(np.rint(weight.data / scales), q[:, 0].transpose(1, 2, 0))
