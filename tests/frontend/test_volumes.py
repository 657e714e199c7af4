"""Conv in three and more dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.graph import DType
from arenite.passes import optimize
from arenite.quantize import Dataset, InputSpec, QuantizeOptions, quantize
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper

FORMS = {
    "plain": ((1, 3, 4, 5, 6), (4, 3, 2, 3, 2), {}),
    "strides": ((2, 2, 5, 4, 6), (3, 2, 3, 2, 2), {"strides": [2, 1, 3]}),
    "pads": ((1, 2, 4, 5, 4), (3, 2, 3, 3, 3), {"pads": [1, 0, 2, 2, 1, 0]}),
    "dilations": ((1, 2, 6, 5, 6), (3, 2, 2, 2, 3), {"dilations": [3, 2, 1]}),
    "groups": ((1, 4, 4, 4, 4), (6, 2, 2, 3, 2), {"group": 2}),
    "depthwise": ((1, 4, 4, 4, 4), (4, 1, 2, 3, 2), {"group": 4}),
    "depth of 1": ((1, 3, 4, 5, 6), (4, 3, 1, 3, 2), {"strides": [2, 1, 1]}),
    "SAME_UPPER": ((1, 2, 5, 4, 6), (3, 2, 3, 2, 2), {"auto_pad": "SAME_UPPER", "strides": [2, 1, 2]}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("computed", [False, True], ids=["constant weights", "computed weights"])
def test_form(form, computed, agree, values):
    x, w, attributes = FORMS[form]
    weights = {"w": values(*w, seed=1), "b": values(w[0], seed=2)}
    inputs, constants = ({"x": values(*x), **weights}, {}) if computed else ({"x": values(*x)}, weights)
    agree(helper.make_node("Conv", ["x", "w", "b"], ["y"], **attributes), inputs, constants, oracles=("onnxruntime",))


@settings(deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_geometry(data, hypothesis_agree, values):
    small = st.integers(1, 3)
    group = data.draw(st.sampled_from([1, 2]))
    kernel, strides, dilations = (tuple(data.draw(small) for _ in range(3)) for _ in range(3))
    pads = tuple(data.draw(st.integers(0, 2)) for _ in range(6))
    x, w = (1, group * data.draw(small), *(data.draw(st.integers(1, 6)) for _ in range(3))), (2 * group, data.draw(small), *kernel)
    x = (1, w[1] * group, *x[2:])
    assume(all((k - 1) * d + 1 <= n + pads[i] + pads[3 + i] for i, (n, k, d) in enumerate(zip(x[2:], kernel, dilations, strict=True))))
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=strides, dilations=dilations, pads=pads, group=group)
    hypothesis_agree(node, {"x": values(*x)}, {"w": values(*w, seed=1)}, oracles=("onnxruntime",))


def test_four_dimensions(attempt, values):
    """Nobody to compare with: a kernel that is 1 along the first axis is a batch of volumes."""
    from arenite.graph.onnx_export import evaluate

    x, w = values(2, 2, 3, 4, 4, 5), values(3, 2, 1, 2, 2, 3, seed=1)
    four = attempt(helper.make_node("Conv", ["x", "w"], ["y"]), {"x": x}, {"w": w})
    batch = np.ascontiguousarray(np.moveaxis(x, 2, 1)).reshape(6, 2, 4, 4, 5)
    three = attempt(helper.make_node("Conv", ["x", "w"], ["y"]), {"x": batch}, {"w": w[:, :, 0]})
    want = np.moveaxis(evaluate(three, {"x": batch})["y"].reshape(2, 3, 3, 3, 3, 3), 1, 2)
    np.testing.assert_allclose(evaluate(four, {"x": x})["y"], want, atol=1e-5)


def test_int8(attempt, values):
    """One convolution, rounded once."""
    graph = optimize(attempt(helper.make_node("Conv", ["x", "w"], ["y"]), {"x": values(1, 2, 4, 6, 6)}, {"w": values(4, 2, 3, 3, 3)}))
    samples = np.random.default_rng(1).normal(size=(8, 1, 2, 4, 6, 6)).astype(np.float32)
    data = Dataset((InputSpec("x", (1, 2, 4, 6, 6), DType.FLOAT32, None),), {"x": samples})
    model = quantize(graph, data, QuantizeOptions())
    assert [node.op for node in model.graph.nodes].count("Conv") == 1
    assert {node.op for node in model.graph.nodes} <= {"Conv", "Transpose", "Reshape", "Slice", "Concat"}
    assert min(model.sqnr_db.values()) > 30
