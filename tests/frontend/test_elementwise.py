"""Add, Sub, Mul, Div, Sum, Pow, Min, Max."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError
from onnx import helper

BROADCASTS = [
    ((2, 3, 4), (2, 3, 4)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (3, 1)),
    ((2, 3, 4), ()),
    ((4,), (2, 3, 4)),
    ((2, 1, 4), (3, 1)),
    ((1,), (1,)),
]


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize(("a", "b"), BROADCASTS)
@pytest.mark.parametrize("constant", ["a", "b", "none"])
def test_binary(op, a, b, constant, agree, values):
    arrays = {"a": np.asarray(values(*a)), "b": np.asarray(values(*b, seed=1))}
    constants = {name: arrays.pop(name) for name in ("a", "b") if name == constant}
    graph = agree(helper.make_node(op, ["a", "b"], ["y"]), arrays, constants)
    (node,) = [n for n in graph.nodes if n.op == op]
    assert len({len(graph.tensors[i].shape) for i in node.inputs}) == 1


def test_operand_twice(agree, values):
    agree(helper.make_node("Add", ["x", "x"], ["y"]), {"x": values(2, 3)})


@pytest.mark.parametrize("count", [1, 2, 4])
def test_sum(count, agree, values):
    names = [f"x{i}" for i in range(count)]
    inputs = {name: values(*((2, 3) if i % 2 == 0 else (3,)), seed=i) for i, name in enumerate(names)}
    agree(helper.make_node("Sum", names, ["y"]), inputs)


def test_sum_with_a_constant(agree, values):
    agree(helper.make_node("Sum", ["x", "c", "z"], ["y"]), {"x": values(2, 3), "z": values(1, 3)}, {"c": values(2, 1)})


@pytest.mark.parametrize("exponent", [2.0, 0.5, 3.0, -1.0, 0.0])
def test_power(exponent, agree, values):
    graph = agree(helper.make_node("Pow", ["x", "e"], ["y"]), {"x": np.abs(values(2, 3)) + 0.1}, {"e": np.float32(exponent)})
    assert [n.op for n in graph.nodes] == ["Elementwise"]


def test_power_with_an_integer_exponent(agree, values):
    agree(helper.make_node("Pow", ["x", "e"], ["y"]), {"x": values(2, 3)}, {"e": np.array([2, 2, 2], np.int64)})


def test_power_of_a_constant(agree, values):
    agree(helper.make_node("Pow", ["b", "x"], ["y"]), {"x": values(2, 3)}, {"b": np.float32(1.5)})


def test_power_that_broadcasts(agree, values):
    agree(helper.make_node("Pow", ["x", "e"], ["y"]), {"x": np.abs(values(3))}, {"e": np.full((1, 1, 1), 2, np.float32)})


@pytest.mark.parametrize("op", ["Min", "Max"])
def test_extremum_with_numbers_is_a_clip(op, agree, values):
    graph = agree(
        helper.make_node(op, ["c", "x", "d"], ["y"]), {"x": values(2, 3)}, {"c": np.float32(0.3), "d": np.full(3, 0.1, np.float32)}
    )
    assert graph.nodes[-1].attributes["expression"].clip is not None


def test_extremum_that_broadcasts(agree, values):
    agree(helper.make_node("Max", ["x", "c"], ["y"]), {"x": values(3)}, {"c": np.zeros((1, 1, 1), np.float32)})


@pytest.mark.parametrize("op", ["Pow", "Max", "Min"])
@pytest.mark.parametrize("constant", [False, True])
def test_several_tensors(op, constant, agree, values):
    arrays = {"x": np.abs(values(2, 3)) + np.float32(0.1), "z": values(3, seed=1)}
    constants = {"z": arrays.pop("z")} if constant else {}
    agree(helper.make_node(op, ["x", "z"], ["y"]), arrays, constants)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(op, dtype, agree):
    agree(helper.make_node(op, ["x", "z"], ["y"]), {"x": np.array([[-7, 8, 100]], dtype), "z": np.array([[2], [-3]], dtype)})


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.uint32])
def test_narrow_integers_wrap(op, dtype, agree):
    limits = np.iinfo(dtype)
    inputs = {"x": np.array([limits.min, limits.max, 3], dtype), "z": np.array([1, 2, 5], dtype)}
    agree(helper.make_node(op, ["x", "z"], ["y"]), inputs, oracles=("reference",))


def test_mean(agree, values):
    agree(helper.make_node("Mean", ["x", "z", "w"], ["y"]), {"x": values(2, 3), "z": values(3, seed=1), "w": values(2, 1, seed=2)})


def test_power_of_types(agree):
    x, z = np.array([1, 2, -3], np.int64), np.array([4, 5, 3], np.int32)
    agree(helper.make_node("Pow", ["x", "z"], ["y"]), {"x": x, "z": z}, oracles=("reference",))
    agree(helper.make_node("Pow", ["x", "z"], ["y"]), {"x": x.astype(np.float32), "z": z})


def test_axis_before_opset_7(attempt, values):
    graph = attempt(helper.make_node("Add", ["x", "z"], ["y"], broadcast=1, axis=1), {"x": values(2, 3, 4), "z": values(3)}, opset=6)
    assert [graph.tensors[name].shape for name in graph.nodes[-1].inputs] == [(2, 3, 4), (1, 3, 1)]


def test_shapes_that_do_not_broadcast(attempt, values):
    with pytest.raises(ModelFileError, match=r"\[2, 3\] and \[4\] do not broadcast"):
        attempt(helper.make_node("Add", ["x", "c"], ["y"]), {"x": values(2, 3)}, {"c": values(4)})
