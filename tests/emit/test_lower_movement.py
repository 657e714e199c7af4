"""Movement as strided copies: executed on arrays and compared with NumPy's own operations."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from arenite.emit.lower_movement import Move, View, lower_movement
from arenite.errors import UnsupportedModelError
from arenite.graph import DType, Node, Tensor
from arenite.graph.operators import MAX_DIMS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.generic]


def execute(moves: tuple[Move, ...], inputs: list[Array], output: Array) -> Array:
    """The records by definition: one element at a time."""
    flat = output.reshape(-1)
    for move in moves:
        record = move.record
        if move.source is None:
            assert record["count"] == output.nbytes
            flat.view(np.int8)[:] = record["value"]
            continue
        source = inputs[move.source].reshape(-1)
        assert record["element_size"] == source.itemsize
        dims, of_input, of_output = record["dims"], record["input_stride"], record["output_stride"]
        assert isinstance(dims, tuple) and isinstance(of_input, tuple) and isinstance(of_output, tuple)
        assert len(dims) == len(of_input) == len(of_output) == MAX_DIMS
        for index in product(*map(range, dims)):
            at = record["output_offset"] + int(np.dot(index, of_output))  # type: ignore[operator]
            flat[at] = source[record["input_offset"] + int(np.dot(index, of_input))]  # type: ignore[operator]
    return output


def lower(op: str, inputs: list[Array], expected: Array, **attributes: object) -> tuple[Move, ...]:
    tensors = [Tensor(f"x{i}", x.shape, DType.of(x)) for i, x in enumerate(inputs)]
    node = Node(op, "moving", tuple(t.name for t in tensors), ("y",), attributes)
    return lower_movement("model.onnx", node, tensors, Tensor("y", expected.shape, DType.of(expected)))


def check(op: str, inputs: list[Array], expected: Array, **attributes: object) -> tuple[Move, ...]:
    moves = lower(op, inputs, expected, **attributes)
    untouched = np.full(expected.shape, 99, expected.dtype)
    assert np.array_equal(execute(moves, inputs, untouched), expected)
    return moves


def values(shape: tuple[int, ...], dtype: str = "int8") -> Array:
    return (np.arange(prod(shape)) % 251 - 120).astype(dtype).reshape(shape)


shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(tuple)
dtypes = st.sampled_from(["int8", "float32", "int64"])


@settings(deadline=None, derandomize=True, max_examples=80)
@given(shapes, dtypes, st.randoms(use_true_random=False))
def test_transpose(shape: tuple[int, ...], dtype: str, random: object) -> None:
    perm = list(range(len(shape)))
    random.shuffle(perm)  # type: ignore[attr-defined]
    x = values(shape, dtype)
    check("Transpose", [x], x.transpose(perm), perm=tuple(perm))


@settings(deadline=None, derandomize=True, max_examples=80)
@given(shapes, dtypes, st.data())
def test_concat(shape: tuple[int, ...], dtype: str, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    lengths = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    parts = [values((*shape[:axis], length, *shape[axis + 1 :]), dtype) for length in lengths]
    check("Concat", parts, np.concatenate(parts, axis), axis=axis)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(shapes, dtypes, st.data())
def test_slice(shape: tuple[int, ...], dtype: str, data: st.DataObject) -> None:
    starts, steps, sizes = [], [], []
    for size in shape:
        start, step = data.draw(st.integers(0, size - 1)), data.draw(st.sampled_from([-2, -1, 1, 2, 3]))
        most = (size - 1 - start) // step + 1 if step > 0 else start // -step + 1
        starts.append(start)
        steps.append(step)
        sizes.append(data.draw(st.integers(1, most)))
    x = values(shape, dtype)
    picked = [np.arange(n) * step + start for start, step, n in zip(starts, steps, sizes, strict=True)]
    check("Slice", [x], x[np.ix_(*picked)], starts=tuple(starts), steps=tuple(steps), sizes=tuple(sizes))


@settings(deadline=None, derandomize=True, max_examples=80)
@given(shapes, st.integers(-128, 127), st.data())
def test_pad(shape: tuple[int, ...], fill: int, data: st.DataObject) -> None:
    pads = data.draw(st.lists(st.integers(0, 2), min_size=2 * len(shape), max_size=2 * len(shape)))
    x, rank = values(shape), len(shape)
    expected = np.pad(x, [(pads[i], pads[rank + i]) for i in range(rank)], constant_values=fill)
    moves = check("Pad", [x], expected, pads=tuple(pads), value=0.5, fill=fill)
    assert any(move.op == "Fill" for move in moves) == any(pads)


def test_pad_of_floats() -> None:
    x = values((2, 3), "float32")
    expected = np.pad(x, [(1, 0), (0, 2)])
    check("Pad", [x], expected, pads=(1, 0, 0, 2), value=0.0)
    with pytest.raises(UnsupportedModelError, match=r"model\.onnx.*\n.*moving \(Pad\): padding float32 with value 0\.5"):
        lower("Pad", [x], expected, pads=(1, 0, 0, 2), value=0.5)


def test_reshape_that_copies() -> None:
    x = values((2, 6))
    (move,) = check("Reshape", [x], x.reshape(3, 4), shape=(3, 4))
    assert move.record["dims"] == (1, 1, 1, 1, 1, 12)


def test_nchw_to_nhwc_is_two_loops() -> None:
    x = values((1, 3, 4, 5))
    (move,) = check("Transpose", [x], x.transpose(0, 2, 3, 1), perm=(0, 2, 3, 1))
    assert move.record["dims"] == (1, 1, 1, 1, 20, 3)


def test_concat_of_the_outer_axis_is_one_run_each() -> None:
    x = values((2, 3, 4))
    moves = check("Concat", [x, x], np.concatenate([x, x]), axis=0)
    assert [move.record["dims"] for move in moves] == [(1, 1, 1, 1, 1, 24)] * 2
    assert [move.record["output_offset"] for move in moves] == [0, 24]


def test_surplus_dimensions_become_calls() -> None:
    x = values((2, 3, 2, 2, 2, 3, 2, 2))
    perm = (7, 0, 6, 1, 5, 2, 4, 3)
    moves = check("Transpose", [x], x.transpose(perm), perm=perm)
    assert len(moves) == 4


def test_too_many_surplus_dimensions_are_refused() -> None:
    tensor, result = Tensor("x", (9,) * 8, DType.INT8), Tensor("y", (9,) * 8, DType.INT8)
    node = Node("Transpose", "twist", ("x",), ("y",), {"perm": (7, 0, 6, 2, 5, 1, 4, 3)})
    with pytest.raises(UnsupportedModelError, match=r"twist \(Transpose\).*8 loops.*\n.*remedy: .*Reshape"):
        lower_movement("model.onnx", node, [tensor], result)


def test_nothing_to_move() -> None:
    assert lower("Slice", [values((2, 3))], np.zeros((0, 3), np.int8), starts=(0, 0), steps=(1, 1), sizes=(0, 3)) == ()


def test_a_single_element_has_no_loops() -> None:
    assert View((1, 1), (5, 1), (1, 1), 3, 4).collapsed() == View((), (), (), 3, 4)
