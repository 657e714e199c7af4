"""NonMaxSuppression in a model: what may follow it."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from onnx import helper

LIMIT = {"most": np.array([5]), "iou": np.array([0.1], np.float32), "least": np.array([0.4], np.float32)}


def selection(**how):
    return helper.make_node("NonMaxSuppression", ["b", "s", "most", "iou", "least"], ["found"], **how)


def boxes():
    rng = np.random.default_rng(3)
    corner = rng.random((1, 9, 2))
    return {
        "b": np.concatenate([corner, corner + rng.random((1, 9, 2))], axis=2).astype(np.float32),
        "s": rng.random((1, 2, 9)).astype(np.float32),
    }


def reference(inputs):
    from onnx.reference.ops.op_non_max_suppression import NonMaxSuppression

    evaluator = NonMaxSuppression.__new__(NonMaxSuppression)
    return evaluator._run(inputs["b"], inputs["s"], LIMIT["most"], LIMIT["iou"], LIMIT["least"], 0)[0]


def filled_up(inputs):
    found = reference(inputs)
    assert 0 < len(found) < 10
    return np.concatenate([found, np.full((10 - len(found), 3), -1)])


def test_rows_of_minus_one_follow_the_results(agree):
    inputs = boxes()
    agree([selection(), helper.make_node("Identity", ["found"], ["y"])], inputs, LIMIT, oracles=(), expected=[filled_up(inputs)])


def test_boxes_are_gathered_row_by_row(agree):
    """Behind the results stands what the index −1 says, the last box."""
    inputs = boxes()
    nodes = [
        selection(),
        helper.make_node("Gather", ["found", "two"], ["index"], axis=1),
        helper.make_node("Squeeze", ["b", "zero"], ["all"]),
        helper.make_node("Gather", ["all", "index"], ["y"], axis=0),
    ]
    rows = filled_up(inputs)
    constants = {**LIMIT, "two": np.array(2), "zero": np.array([0])}
    agree(nodes, inputs, constants, outputs=("found", "y"), oracles=(), expected=[rows, inputs["b"][0][rows[:, 2]]])


@pytest.mark.parametrize("op", ["ReduceMax", "Softmax", "CumSum"])
def test_what_mixes_rows_is_refused(op, attempt):
    nodes = [
        selection(),
        helper.make_node("Cast", ["found"], ["real"], to=1),
        helper.make_node(op, ["real", "zero"] if op == "CumSum" else ["real"], ["y"]),
    ]
    with pytest.raises(UnsupportedModelError, match=r"mix the results of NonMaxSuppression with the rows of −1"):
        attempt(nodes, boxes(), {**LIMIT, "zero": np.array(0)})


def test_the_number_of_boxes_is_a_constant(attempt):
    inputs = {**boxes(), "most": LIMIT["most"]}
    constants = {name: LIMIT[name] for name in ("iou", "least")}
    with pytest.raises(UnsupportedModelError, match="max_output_boxes_per_class"):
        attempt([selection(), helper.make_node("Identity", ["found"], ["y"])], inputs, constants)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.uint8])
@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 2)])
def test_places_that_are_not_zero(shape, dtype, agree):
    """In order, and −1 behind them; all zero and none zero as well."""
    rng = np.random.default_rng(1)
    for share in (0.5, 0.0, 1.0):
        x = (rng.random(shape) < share).astype(dtype)
        found = np.stack(np.nonzero(x))
        filled = np.full((len(shape), x.size - found.shape[1]), -1)
        node = helper.make_node("NonZero", ["x"], ["y"])
        agree(node, {"x": x}, oracles=(), expected=[np.concatenate([found, filled], axis=1)])
