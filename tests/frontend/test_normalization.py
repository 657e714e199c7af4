"""BatchNormalization and Dropout."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper

NAMES = ("scale", "bias", "mean", "var")


def statistics(channels, values):
    return {
        name: values(channels, seed=i) if name != "var" else np.abs(values(channels, seed=i)) + np.float32(0.1)
        for i, name in enumerate(NAMES)
    }


@pytest.mark.parametrize("shape", [(2, 3), (1, 3, 5), (2, 3, 4, 5), (1, 3, 2, 2, 2)])
@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization(shape, opset, agree, values):
    node = helper.make_node("BatchNormalization", ["x", *NAMES], ["y"], epsilon=1e-3)
    # The reference implementation runs the operator before opset 14 in training form.
    oracles = ("onnxruntime",) if opset < 14 else ("onnxruntime", "reference")
    agree(node, {"x": values(*shape)}, statistics(3, values), opset=opset, oracles=oracles)


@pytest.mark.parametrize(
    ("opset", "outputs", "attributes", "problem"),
    [
        (9, ["y", "m", "v", "sm", "sv"], {}, r"outputs of training \(m, v, sm, sv\)"),
        (7, ["y"], {"spatial": 0}, "spatial=0"),
    ],
)
def test_training_forms_are_refused(opset, outputs, attributes, problem, attempt, values):
    node = helper.make_node("BatchNormalization", ["x", *NAMES], outputs, name="bn", **attributes)
    with pytest.raises(UnsupportedModelError, match=problem) as caught:
        attempt(node, {"x": values(2, 3, 4, 4)}, statistics(3, values), opset=opset)
    assert {p.node for p in caught.value.problems} == {"bn"}


@pytest.mark.parametrize("computed", NAMES)
def test_computed_statistics(computed, agree, values):
    constants = statistics(3, values)
    inputs = {"x": values(2, 3, 4), computed: constants.pop(computed)}
    agree(helper.make_node("BatchNormalization", ["x", *NAMES], ["y"]), inputs, constants)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("constant", [(), ("s",), ("s", "b")])
def test_layer_normalization(axis, constant, agree, values):
    arrays = {"x": values(2, 3, 4), "s": values(*(2, 3, 4)[axis:], seed=1), "b": values(*(2, 3, 4)[axis:], seed=2)}
    constants = {name: arrays.pop(name) for name in constant}
    node = helper.make_node("LayerNormalization", ["x", "s", "b"], ["y", "m", "d"], axis=axis, epsilon=1e-3)
    agree(node, arrays, constants, outputs=["y", "m", "d"], oracles=["onnxruntime"])


def test_a_scale_that_broadcasts(agree, values):
    arrays = {"x": values(2, 3, 4), "s": values(1), "b": values(3, 1, seed=2)}
    agree(helper.make_node("LayerNormalization", ["x", "s", "b"], ["y"], axis=1), arrays, oracles=["reference"])


@pytest.mark.parametrize("shape", [(2, 4, 5), (1, 4, 3, 2), (2, 4, 2, 3, 2)])
def test_instance_and_group_normalization(shape, agree, values):
    arrays = {"x": values(*shape), "s": values(4, seed=1), "b": values(4, seed=2)}
    agree(helper.make_node("InstanceNormalization", ["x", "s", "b"], ["y"]), arrays)
    agree(helper.make_node("GroupNormalization", ["x", "s", "b"], ["y"], num_groups=2), arrays, opset=21, oracles=["reference"])


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_lp_normalization(p, axis, agree, values):
    x = values(3, 4)
    x[:, 1] = x[2] = 0
    expected = x / np.maximum(np.linalg.norm(x.astype(np.float64), p, axis, True), 1e-30)
    agree(helper.make_node("LpNormalization", ["x"], ["y"], p=p, axis=axis), {"x": x}, oracles=[], expected=[expected])


@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_lrn(size, agree, values):
    """Against the formula: onnxruntime has odd sizes only, the reference implementation takes the batch for the channels."""
    x = values(2, 6, 3, 2)
    before, after = (size - 1) // 2, size // 2
    squares = np.stack([(x[:, max(0, c - before) : c + after + 1].astype(np.float64) ** 2).sum(axis=1) for c in range(6)], axis=1)
    expected = x / (2.0 + 0.3 / size * squares) ** 0.6
    oracles = ["onnxruntime"] if size % 2 else []
    node = helper.make_node("LRN", ["x"], ["y"], size=size, alpha=0.3, beta=0.6, bias=2.0)
    agree(node, {"x": x}, oracles=oracles, expected=[expected])


def test_mean_variance_normalization(agree, values):
    agree(helper.make_node("MeanVarianceNormalization", ["x"], ["y"]), {"x": values(2, 3, 4, 2)})


def test_negative_variance(attempt, values):
    constants = statistics(3, values) | {"var": np.array([1, -1, 1], np.float32)}
    with pytest.raises(ModelFileError, match=r"var has the value -1.0"):
        attempt(helper.make_node("BatchNormalization", ["x", *NAMES], ["y"]), {"x": values(2, 3)}, constants)


@pytest.mark.parametrize("opset", [7, 10])
def test_dropout_with_an_attribute(opset, agree, values):
    nodes = [helper.make_node("Dropout", ["x"], ["d"], ratio=0.5), helper.make_node("Relu", ["d"], ["y"])]
    assert [n.op for n in agree(nodes, {"x": values(2, 3)}, opset=opset).nodes] == ["Elementwise"]


def test_dropout_with_inputs(agree, attempt, values):
    nodes = [helper.make_node("Dropout", ["x", "r", "t"], ["d", "mask"], name="drop"), helper.make_node("Relu", ["d"], ["y"])]
    constants = {"r": np.float32(0.5), "t": np.array(False)}
    agree(nodes, {"x": values(2, 3)}, constants, opset=13)
    with pytest.raises(UnsupportedModelError, match=r"drop \(Dropout\): training_mode is true"):
        attempt(nodes, {"x": values(2, 3)}, constants | {"t": np.array(True)}, opset=13)
