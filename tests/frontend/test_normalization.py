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
        (14, ["y", "m", "v"], {"training_mode": 1}, "training_mode=1"),
        (9, ["y", "m", "v", "sm", "sv"], {}, r"outputs of training \(m, v, sm, sv\)"),
        (7, ["y"], {"spatial": 0}, "spatial=0"),
    ],
)
def test_training_forms_are_refused(opset, outputs, attributes, problem, attempt, values):
    node = helper.make_node("BatchNormalization", ["x", *NAMES], outputs, name="bn", **attributes)
    with pytest.raises(UnsupportedModelError, match=problem) as caught:
        attempt(node, {"x": values(2, 3, 4, 4)}, statistics(3, values), opset=opset)
    assert {p.node for p in caught.value.problems} == {"bn"}


def test_computed_statistics_are_refused(attempt, values):
    constants = statistics(3, values)
    with pytest.raises(UnsupportedModelError, match=r"mean .input 3, mean. is computed at run time"):
        attempt(helper.make_node("BatchNormalization", ["x", *NAMES], ["y"]), {"x": values(2, 3), "mean": constants.pop("mean")}, constants)


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
