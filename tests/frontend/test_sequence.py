"""Sequences and optional values leave nothing behind; what they select does."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper

BOTH = ("onnxruntime", "reference")


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def test_insert_erase_and_at(agree, values):
    nodes = [
        node("SequenceEmpty", [], ["s0"]),
        node("SequenceInsert", ["s0", "a"], ["s1"]),
        node("SequenceInsert", ["s1", "b", "zero"], ["s2"]),
        node("SequenceInsert", ["s2", "c", "last"], ["s3"]),
        node("SequenceErase", ["s3", "zero"], ["s4"]),
        node("SequenceAt", ["s4", "zero"], ["p"]),
        node("SequenceAt", ["s4", "last"], ["q"]),
        node("Sub", ["p", "q"], ["y"]),
    ]
    inputs = {name: values(2, 3, seed=i) for i, name in enumerate("abc")}
    agree(nodes, inputs, {"zero": np.array(0), "last": np.array(-1)}, oracles=BOTH)


@pytest.mark.parametrize("new_axis", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_split_and_concatenation(axis, new_axis, agree, values):
    """Parts of two elements, doubled by a second look at the same part."""
    nodes = [
        node("SplitToSequence", ["x", "two"], ["s"], axis=1),
        node("SequenceAt", ["s", "one"], ["p"]),
        node("SequenceConstruct", ["p", "p"], ["t"]),
        node("ConcatFromSequence", ["t"], ["y"], axis=axis, new_axis=new_axis),
    ]
    agree(nodes, {"x": values(3, 5)}, {"two": np.array(2), "one": np.array(1)}, oracles=BOTH)


@pytest.mark.parametrize("sizes", [None, np.array(4), np.array([1, 4, 2])], ids=str)
def test_split_sizes(sizes, agree, values):
    nodes = [
        node("SplitToSequence", ["x"] if sizes is None else ["x", "n"], ["s"], axis=0, **({"keepdims": 0} if sizes is None else {})),
        node("SequenceAt", ["s", "last"], ["y"]),
    ]
    agree(nodes, {"x": values(7, 2)}, {"last": np.array(-1), **({} if sizes is None else {"n": sizes})}, oracles=BOTH)


def test_length_and_optional(agree, values):
    nodes = [
        node("SplitToSequence", ["x", "two"], ["s"]),
        node("SequenceLength", ["s"], ["n"]),
        node("Cast", ["n"], ["f"], to=1),
        node("OptionalGetElement", ["x"], ["v"]),
        node("OptionalHasElement", ["x"], ["h"]),
        node("Cast", ["h"], ["g"], to=1),
        node("Mul", ["v", "f"], ["p"]),
        node("Add", ["p", "g"], ["y"]),
    ]
    agree(nodes, {"x": values(7)}, {"two": np.array(2)}, opset=18, oracles=("reference",))
    optional = [node("Optional", ["x"], ["o"]), node("OptionalGetElement", ["o"], ["v"]), node("Neg", ["v"], ["y"])]
    agree(optional, {"x": values(7)}, opset=18, oracles=(), expected=[-values(7)])


def test_refusals(attempt, values):
    x = {"x": values(4, 2)}
    with pytest.raises(ModelFileError, match="position 3 is outside of a sequence of 2"):
        attempt([node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "p"], ["y"])], x, {"p": np.array(3)})
    with pytest.raises(UnsupportedModelError, match="the position"):
        nodes = [node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "p"], ["y"])]
        attempt(nodes, {**x, "p": np.array(0)})
    with pytest.raises(ModelFileError, match="do not make axis 0 of 4"):
        nodes = [node("SplitToSequence", ["x", "n"], ["s"]), node("SequenceAt", ["s", "p"], ["y"])]
        attempt(nodes, x, {"n": np.array([1, 2]), "p": np.array(0)})
