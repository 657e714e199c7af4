"""Pad, Concat, Slice, Split, Reshape, Flatten, Transpose, Squeeze, Unsqueeze, Identity, Expand, Gather, Constant."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper


def ints(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    "pads", [(0, 0, 1, 2, 0, 0, 3, 0), (1, 0, 0, 0, 0, 2, 0, 0), (0,) * 8, (0, 0, -1, 2, 0, 0, -2, -1), (0, 0, -1, -1, 0, 0, 0, 0)]
)
@pytest.mark.parametrize("value", [None, 1.5])
def test_pad(pads, value, agree, values):
    x = {"x": values(2, 3, 6, 5)}
    attributes = {} if value is None else {"value": value}
    # The reference implementation cannot take elements away with negative pads.
    oracles = ("onnxruntime",) if min(pads) < 0 else ("onnxruntime", "reference")
    agree(helper.make_node("Pad", ["x"], ["y"], pads=pads, **attributes), x, opset=9, oracles=oracles)
    constants = {"p": ints(*pads)} | ({} if value is None else {"v": np.float32(value)})
    agree(helper.make_node("Pad", ["x", *constants], ["y"]), x, constants, opset=13, oracles=oracles)


def test_pad_with_axes(agree, values):
    constants = {"p": ints(1, 2, 0, 3), "v": np.float32(-1), "a": ints(-1, 1)}
    agree(helper.make_node("Pad", ["x", "p", "v", "a"], ["y"]), {"x": values(2, 3, 4)}, constants, opset=18)


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(1, 2, 0, 1), (0, 3, 1, 0), (-1, 1, 1, -2)])
def test_pad_modes(mode, pads, agree, values):
    # onnxruntime crops with negative pads before it reflects, too.
    agree(
        helper.make_node("Pad", ["x", "p"], ["y"], mode=mode), {"x": values(3, 4)}, {"p": ints(*pads)}, opset=19, oracles=("onnxruntime",)
    )


def test_pad_with_a_computed_value(attempt, values):
    graph = attempt(helper.make_node("Pad", ["x", "p", "v"], ["y"]), {"x": values(3), "v": np.float32(2)}, {"p": ints(1, 1)})
    (pad,) = [node for node in graph.nodes if node.op == "Pad"]
    assert len(pad.inputs) == 2


def test_pad_with_nan_is_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match="it pads with nan"):
        attempt(helper.make_node("Pad", ["x", "p", "v"], ["y"]), {"x": values(3)}, {"p": ints(1, 1), "v": np.float32(np.nan)})


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(axis, agree, values):
    x = {"a": values(2, 3, 4), "b": values(2, 3, 4, seed=1)}
    agree(helper.make_node("Concat", ["a", "c", "b"], ["y"], axis=axis), x, {"c": values(2, 3, 4, seed=2)})


def test_concat_of_one(agree, values):
    agree(helper.make_node("Concat", ["x"], ["y"], axis=0), {"x": values(2, 3)})


SLICES = [
    ([1], [3], [0], None),
    ([0, -3], [2, -1], [2, 1], None),
    ([-1], [-100], [1], [-1]),
    ([5], [0], [1], [-2]),
    ([3], [-6], [1], [-1]),
    ([0], [100], [1], [3]),
    ([-100], [2**31 - 1], [0], [1]),
    ([1, 1], [4, 3], None, None),
    ([4], [-(2**63)], [2], [-3]),
    ([0], [2**63 - 1], [-1], [2]),
]


@pytest.mark.parametrize(("starts", "ends", "axes", "steps"), SLICES)
def test_slice(starts, ends, axes, steps, agree, values):
    x = {"x": values(4, 6, 5)}
    constants = {"s": ints(*starts), "e": ints(*ends)}
    names = ["s", "e"]
    if axes is not None or steps is not None:
        constants["a"] = ints(*(axes if axes is not None else range(len(starts))))
        names.append("a")
    if steps is not None:
        constants["t"] = ints(*steps)
        names.append("t")
    agree(helper.make_node("Slice", ["x", *names], ["y"]), x, constants, opset=13)
    if steps is None:
        agree(helper.make_node("Slice", ["x"], ["y"], starts=starts, ends=ends, **({} if axes is None else {"axes": axes})), x, opset=9)


def test_empty_slice_is_refused_as_an_output(attempt, values):
    with pytest.raises(UnsupportedModelError, match="it depends on no input"):
        attempt(helper.make_node("Slice", ["x", "s", "e"], ["y"]), {"x": values(4)}, {"s": ints(3), "e": ints(1)})


def test_empty_parts_are_left_out_of_a_concat(agree, values):
    nodes = [
        helper.make_node("Split", ["x", "parts"], ["a", "b"], axis=1),
        helper.make_node("Slice", ["x", "three", "one", "axis"], ["c"]),
        helper.make_node("Concat", ["b", "c", "a"], ["d"], axis=1),
        helper.make_node("Neg", ["d"], ["y"]),
    ]
    agree(nodes, {"x": values(2, 4)}, {"parts": ints(4, 0), "three": ints(3), "one": ints(1), "axis": ints(1)}, opset=13)


def test_split(agree, values):
    x = {"x": values(2, 6, 3)}
    three = ["a", "b", "c"]
    agree(helper.make_node("Split", ["x"], three, axis=1), x, outputs=three, opset=11)
    agree(helper.make_node("Split", ["x"], three, axis=1, split=[1, 2, 3]), x, outputs=three, opset=11)
    agree(helper.make_node("Split", ["x"], three, axis=-2), x, outputs=three, opset=13)
    agree(helper.make_node("Split", ["x", "s"], three, axis=1), x, {"s": ints(3, 1, 2)}, outputs=three, opset=13)
    agree(helper.make_node("Split", ["x"], three, axis=1, num_outputs=3), x, outputs=three, opset=18)
    agree(helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2), {"x": values(2, 5)}, outputs=["a", "b"], opset=18)


def test_unused_parts_of_a_split_are_dropped(agree, values):
    graph = agree(helper.make_node("Split", ["x"], ["a", "y", "c"], axis=0), {"x": values(6)}, opset=13)
    assert [n.op for n in graph.nodes] == ["Slice"]


@pytest.mark.parametrize("shape", [(6, 4), (0, -1), (2, -1, 2), (-1,), (0, 0, 4, 1), (24, 1, 1)])
def test_reshape(shape, agree, values):
    agree(helper.make_node("Reshape", ["x", "s"], ["y"]), {"x": values(2, 3, 4)}, {"s": ints(*shape)}, opset=14)


def test_reshape_allowzero(agree, attempt, values):
    agree(helper.make_node("Reshape", ["x", "s"], ["y"], allowzero=1), {"x": values(2, 6)}, {"s": ints(3, -1)}, opset=14)
    with pytest.raises(ModelFileError, match=r"12 elements"):
        attempt(helper.make_node("Reshape", ["x", "s"], ["y"], allowzero=1), {"x": values(2, 6)}, {"s": ints(0, 12)}, opset=14)


def test_reshape_that_does_not_fit(attempt, values):
    with pytest.raises(ModelFileError, match=r"flat \(Reshape\): \[2, 3\] has 6 elements, which do not fill \[4, -1\]"):
        attempt(helper.make_node("Reshape", ["x", "s"], ["y"], name="flat"), {"x": values(2, 3)}, {"s": ints(4, -1)})


@pytest.mark.parametrize("axis", [None, 0, 1, 2, 3, -1, -2])
def test_flatten(axis, agree, values):
    agree(helper.make_node("Flatten", ["x"], ["y"], **({} if axis is None else {"axis": axis})), {"x": values(2, 3, 4)})


@pytest.mark.parametrize("perm", [None, (2, 0, 1), (0, 1, 2)])
def test_transpose(perm, agree, values):
    agree(helper.make_node("Transpose", ["x"], ["y"], **({} if perm is None else {"perm": perm})), {"x": values(2, 3, 4)})


@pytest.mark.parametrize("axes", [None, [0], [2, 0], [-1]])
def test_squeeze(axes, agree, values):
    x = {"x": values(1, 3, 1, 4, 1)}
    # The reference implementation removes the axes of opset 11 one after the other, in the order given.
    oracles = ("onnxruntime",) if axes == [2, 0] else ("onnxruntime", "reference")
    agree(helper.make_node("Squeeze", ["x"], ["y"], **({} if axes is None else {"axes": axes})), x, opset=11, oracles=oracles)
    constants = {} if axes is None else {"a": ints(*axes)}
    agree(helper.make_node("Squeeze", ["x", *constants], ["y"]), x, constants, opset=13)


@pytest.mark.parametrize("axes", [[0], [1, 3], [-1], [0, -1]])
def test_unsqueeze(axes, agree, values):
    x = {"x": values(3, 4)}
    agree(helper.make_node("Unsqueeze", ["x"], ["y"], axes=axes), x, opset=11)
    agree(helper.make_node("Unsqueeze", ["x", "a"], ["y"]), x, {"a": ints(*axes)}, opset=13)


def test_identity_costs_nothing(agree, values):
    nodes = [helper.make_node("Identity", ["x"], ["i"]), helper.make_node("Relu", ["i"], ["r"]), helper.make_node("Identity", ["r"], ["y"])]
    graph = agree(nodes, {"x": values(2, 3)})
    assert [n.op for n in graph.nodes] == ["Elementwise"] and graph.outputs == ["y"]


def test_input_that_is_an_output(agree, values):
    graph = agree(helper.make_node("Identity", ["x"], ["y"]), {"x": values(2, 3)})
    assert (graph.inputs, graph.outputs) == (["x"], ["y"])


def test_one_tensor_as_two_outputs(agree, values):
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Identity", ["y"], ["z"])]
    assert agree(nodes, {"x": values(2, 3)}, outputs=["y", "z"]).outputs == ["y", "z"]


@pytest.mark.parametrize("shape", [ints(1, 2, 3), ints(2, 3), ints(4, 2, 1, 2, 3), ints(1)])
@pytest.mark.parametrize("x", [(2, 3), (1, 3), (2, 1), (1, 1)])
def test_expand(shape, x, agree, values):
    agree([helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Expand", ["n", "s"], ["y"])], {"x": values(*x)}, {"s": shape})


@pytest.mark.parametrize("repeats", [ints(1, 1, 1), ints(2, 1, 3), ints(1, 4, 1), ints(2, 2, 2)])
def test_tile(repeats, agree, values):
    agree(helper.make_node("Tile", ["x", "r"], ["y"]), {"x": values(2, 1, 3)}, {"r": repeats})


@pytest.mark.parametrize(
    "indices", [np.array(1), np.array(-1), ints(0, 2, 4), ints(3, 2, 1), ints(1), ints(0, 1, 2, 3, 4), np.array([[0, 1], [2, 3]])]
)
@pytest.mark.parametrize("axis", [1, -2])
def test_gather(indices, axis, agree, values):
    agree(helper.make_node("Gather", ["x", "i"], ["y"], axis=axis), {"x": values(2, 5, 3)}, {"i": indices})


def test_gather_of_scattered_indices(agree, values):
    graph = agree(helper.make_node("Gather", ["x", "i"], ["y"]), {"x": values(5)}, {"i": ints(0, -2, 1)})
    assert [node.op for node in graph.nodes] == ["Gather"]


def test_indices_outside_are_an_error(attempt, values):
    with pytest.raises(ModelFileError, match=r"indices \[0, 5\] leave axis 0 of 5"):
        attempt(helper.make_node("Gather", ["x", "i"], ["y"]), {"x": values(5)}, {"i": ints(0, 5)})


@pytest.mark.parametrize(
    "attributes",
    [
        {"value": helper.make_tensor("t", 1, (3,), [1.0, 2.0, 3.0])},
        {"value_float": 2.5},
        {"value_floats": [1.0, 2.0, 3.0]},
    ],
)
def test_constant(attributes, agree, values):
    nodes = [helper.make_node("Constant", [], ["c"], **attributes), helper.make_node("Mul", ["x", "c"], ["y"])]
    agree(nodes, {"x": values(2, 3)})


def test_integer_constants(agree, values):
    nodes = [
        helper.make_node("Constant", [], ["s"], value_ints=[3, -1]),
        helper.make_node("Reshape", ["x", "s"], ["r"]),
        helper.make_node("Constant", [], ["i"], value_int=1),
        helper.make_node("Gather", ["r", "i"], ["y"], axis=0),
    ]
    agree(nodes, {"x": values(2, 3)})


def test_constant_of_text_is_refused(attempt, values):
    nodes = [helper.make_node("Constant", [], ["c"], value_string="a"), helper.make_node("Mul", ["x", "c"], ["y"])]
    with pytest.raises(UnsupportedModelError, match="its value is given as value_string"):
        attempt(nodes, {"x": values(2, 3)})
