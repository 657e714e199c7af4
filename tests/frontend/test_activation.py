"""Relu, Clip, the unary functions, PRelu, Softmax. The expressions of the IR are compared with ONNX too."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from arenite.graph.expression import UNARY
from onnx import helper

POSITIVE = {"Log", "Sqrt", "Reciprocal"}
SINCE = {"Mish": 18, "Gelu": 20, "Swish": 24}
VARIANTS = [(name, {}) for name in UNARY if name != "Clip"] + [
    ("Celu", {"alpha": 2.0}),
    ("Elu", {"alpha": 0.5}),
    ("Gelu", {"approximate": "tanh"}),
    ("HardSigmoid", {"alpha": 0.4, "beta": 0.3}),
    ("LeakyRelu", {"alpha": 0.2}),
    ("Selu", {"alpha": 1.5, "gamma": 2.0}),
    ("Swish", {"alpha": 1.5}),
    ("ThresholdedRelu", {"alpha": 0.25}),
]


@pytest.mark.parametrize(("op", "attributes"), VARIANTS, ids=lambda v: v if isinstance(v, str) else ",".join(v))
def test_unary(op, attributes, agree, values):
    x = values(2, 3, 40) * 3
    x = np.abs(x) + np.float32(0.1) if op in POSITIVE else x
    # onnxruntime has no Swish of the default domain.
    oracles = ("reference",) if op == "Swish" else ("onnxruntime", "reference")
    opset = SINCE.get(op, 17)
    graph = agree(helper.make_node(op, ["x"], ["y"], name="f", **attributes), {"x": x}, opset=opset, oracles=oracles, tolerance=3e-6)
    (node,) = graph.nodes
    assert (node.op, node.name) == ("Elementwise", "f")
    from onnx.reference import ReferenceEvaluator

    single = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], **attributes)],
        "one",
        [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, x.shape)],
    )
    (want,) = ReferenceEvaluator(helper.make_model(single, opset_imports=[helper.make_opsetid("", opset)])).run(None, {"x": x})
    np.testing.assert_allclose(node.attributes["expression"](x), want, rtol=3e-6, atol=3e-6)


def test_relu(agree, values):
    graph = agree(helper.make_node("Relu", ["x"], ["y"]), {"x": values(2, 3)})
    assert graph.nodes[0].attributes["expression"].clip == (0, np.inf)


@pytest.mark.parametrize("bounds", [{"min": -0.5, "max": 0.5}, {"min": 0.0}, {"max": 0.25}, {}])
def test_clip(bounds, agree, values):
    x = {"x": values(3, 4)}
    agree(helper.make_node("Clip", ["x"], ["y"], **bounds), x, opset=9)
    names = [name if name in bounds else "" for name in ("min", "max")]
    agree(helper.make_node("Clip", ["x", *names], ["y"]), x, {name: np.float32(v) for name, v in bounds.items()}, opset=13)


def test_clip_bounds_of_float32_are_no_bounds(agree, values):
    limits = {"lo": np.float32(-3.4028234663852886e38), "hi": np.float32(6)}
    graph = agree(helper.make_node("Clip", ["x", "lo", "hi"], ["y"]), {"x": values(3, 4)}, limits)
    assert graph.nodes[0].attributes["expression"].clip == (-np.inf, 6)


def test_clip_with_crossed_bounds_gives_the_upper(agree, values):
    agree(helper.make_node("Clip", ["x", "lo", "hi"], ["y"]), {"x": values(3, 4)}, {"lo": np.float32(2), "hi": np.float32(1)})


@pytest.mark.parametrize("slope", [(), (1,), (4,), (3, 1, 1), (1, 3, 1, 1), (3, 5, 4)])
@pytest.mark.parametrize("opset", [7, 9, 16])
def test_prelu(slope, opset, agree, values):
    node = helper.make_node("PRelu", ["x", "s"], ["y"])
    graph = agree(node, {"x": values(2, 3, 5, 4)}, {"s": np.asarray(values(*slope))}, opset=opset)
    assert len(graph.tensors[graph.nodes[0].inputs[1]].shape) == 4


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2])
@pytest.mark.parametrize("opset", [11, 12, 13])
def test_softmax(axis, opset, agree, values):
    attributes = {} if axis is None else {"axis": axis}
    # The reference implementation has the operator of opset 13 only.
    oracles = ("onnxruntime",) if opset < 13 else ("onnxruntime", "reference")
    agree(helper.make_node("Softmax", ["x"], ["y"], **attributes), {"x": values(2, 3, 4)}, opset=opset, oracles=oracles)


@pytest.mark.parametrize("opset", [7, 11, 13])
def test_softmax_of_rows_is_one_node(opset, agree, values):
    graph = agree(helper.make_node("Softmax", ["x"], ["y"]), {"x": values(1, 10)}, opset=opset)
    assert [n.op for n in graph.nodes] == ["Softmax"]


def test_computed_bounds(agree, values):
    bounds = {"lo": np.array(-0.5, np.float32), "hi": np.array(0.25, np.float32)}
    agree(helper.make_node("Clip", ["x", "lo", "hi"], ["y"]), {"x": values(3, 4), **bounds})
    agree(helper.make_node("Clip", ["x", "", "hi"], ["y"]), {"x": values(3, 4), "hi": bounds["hi"]}, {})


def test_bounds_of_integers(agree):
    x = np.array([[-7, 3], [100, -128]], np.int8)
    agree(helper.make_node("Clip", ["x", "lo", "hi"], ["y"]), {"x": x}, {"lo": np.int8(-5), "hi": np.int8(90)})


@pytest.mark.parametrize("slope", [(4,), (3, 1), (1,)])
def test_computed_slope(slope, agree, values):
    agree(helper.make_node("PRelu", ["x", "s"], ["y"]), {"x": values(3, 4), "s": values(*slope)})


@pytest.mark.parametrize("op", ["Abs", "Neg", "Sign"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_signs_of_integers(op, dtype, agree):
    agree(helper.make_node(op, ["x"], ["y"]), {"x": np.array([-5, 0, 7, -128, 127], dtype)})


def test_nan_bound_is_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match="a bound is NaN"):
        attempt(helper.make_node("Clip", ["x", "lo"], ["y"]), {"x": values(3)}, {"lo": np.float32(np.nan)})
