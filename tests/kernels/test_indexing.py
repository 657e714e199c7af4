"""Gather, Scatter, OneHot, Trilu, ReverseSequence: NumPy, portable C and onnxruntime agree; no index makes C leave its operands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, assert_close, run_c, run_numpy, run_onnxruntime
from kernels.portable_library import PortableLibrary

MOVED = (np.float32, np.int8, np.int16, np.int64)
"""Element types of every size."""


def shape_of(draw: DrawFn, least: int, most: int) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(1, 5), min_size=least, max_size=most)))


def values(draw: DrawFn, shape: tuple[int, ...], dtypes: tuple[Any, ...] = MOVED) -> Array:
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    return generator(draw).integers(-100, 100, shape).astype(dtype)


def indices(draw: DrawFn, shape: tuple[int, ...], size: int, wild: bool) -> Array:
    """Valid ones, negative too; or whatever the type holds."""
    rng, dtype = generator(draw), np.dtype(draw(st.sampled_from([np.int32, np.int64])))
    ends = np.iinfo(dtype)
    index = rng.integers(-size, size, shape).astype(dtype)
    if wild:
        far = rng.choice(np.asarray([ends.min, ends.max, -size - 1, size, size + 1, ends.min + size], dtype), shape)
        index = np.where(rng.random(shape) < 0.4, far, index)
    return np.asarray(index, dtype)


@st.composite
def gather(draw: DrawFn, wild: bool) -> NodeCall:
    x = values(draw, shape_of(draw, 1, 4))
    axis = draw(st.integers(0, x.ndim - 1))
    return NodeCall("Gather", "bytes", [x, indices(draw, shape_of(draw, 0, 3), x.shape[axis], wild)], {"axis": axis})


def below(draw: DrawFn, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Dimensions of indices: no more than x has, along the axis any."""
    return tuple(draw(st.integers(1, 5 if d == axis else n)) for d, n in enumerate(shape))


@st.composite
def gather_elements(draw: DrawFn, wild: bool) -> NodeCall:
    x = values(draw, shape_of(draw, 1, 6))
    axis = draw(st.integers(0, x.ndim - 1))
    return NodeCall("GatherElements", "bytes", [x, indices(draw, below(draw, x.shape, axis), x.shape[axis], wild)], {"axis": axis})


@st.composite
def scatter_elements(draw: DrawFn, wild: bool, reduction: str | None = None, variant: str = "bytes") -> NodeCall:
    x = values(draw, shape_of(draw, 1, 6), MOVED if reduction is None else (np.dtype(variant.removeprefix("plain_")),))
    axis = draw(st.integers(0, x.ndim - 1))
    index = indices(draw, below(draw, x.shape, axis), x.shape[axis], wild)
    update = values(draw, index.shape, (x.dtype,))
    if reduction is None:
        return NodeCall("ScatterElements", "bytes", [x, index, update], {"axis": axis})
    return NodeCall("ScatterElementsReduce", variant, [x, index, update], {"axis": axis, "reduction": reduction})


def tuples(draw: DrawFn, leading: tuple[int, ...], sizes: tuple[int, ...], wild: bool) -> Array:
    columns = [indices(draw, leading, size, wild) for size in sizes]
    return np.stack([column.astype(columns[0].dtype) for column in columns], axis=-1)


@st.composite
def gather_nd(draw: DrawFn, wild: bool) -> NodeCall:
    x = values(draw, shape_of(draw, 1, 5))
    batch = draw(st.integers(0, x.ndim - 1))
    depth = draw(st.integers(1, x.ndim - batch))
    index = tuples(draw, (*x.shape[:batch], *shape_of(draw, 0, 2)), x.shape[batch : batch + depth], wild)
    return NodeCall("GatherND", "bytes", [x, index], {"batch_dims": batch})


@st.composite
def scatter_nd(draw: DrawFn, wild: bool, reduction: str | None = None, variant: str = "bytes") -> NodeCall:
    x = values(draw, shape_of(draw, 1, 5), MOVED if reduction is None else (np.dtype(variant.removeprefix("plain_")),))
    depth = draw(st.integers(1, x.ndim))
    index = tuples(draw, shape_of(draw, 1, 2), x.shape[:depth], wild)
    update = values(draw, (*index.shape[:-1], *x.shape[depth:]), (x.dtype,))
    if reduction is None:
        return NodeCall("ScatterND", "bytes", [x, index, update])
    return NodeCall("ScatterNdReduce", variant, [x, index, update], {"reduction": reduction})


@st.composite
def tensor_scatter(draw: DrawFn, wild: bool) -> NodeCall:
    x = values(draw, shape_of(draw, 2, 4))
    axis = draw(st.integers(1, x.ndim - 1))
    shape = tuple(draw(st.integers(1, n)) if d == axis else n for d, n in enumerate(x.shape))
    starts = draw(st.sampled_from([None, indices(draw, x.shape[:1], x.shape[axis], wild)]))
    update = values(draw, shape, (x.dtype,))
    return NodeCall("TensorScatter", "bytes", [x, update, starts], {"axis": axis, "circular": draw(st.booleans())})


@st.composite
def one_hot(draw: DrawFn, wild: bool) -> NodeCall:
    depth, shape = draw(st.integers(1, 6)), shape_of(draw, 0 if wild else 1, 3)
    index = indices(draw, shape, depth, wild)
    if draw(st.booleans()):
        index = index.astype(np.float32)
        index = np.where(generator(draw).random(shape) < 0.2, np.float32(np.nan), index).astype(np.float32) if wild else index
    pair = values(draw, (2,), (np.float32, np.int64) if not wild else MOVED)
    return NodeCall("OneHot", "bytes", [index, pair], {"axis": draw(st.integers(0, len(shape))), "depth": depth})


@st.composite
def trilu(draw: DrawFn, wild: bool) -> NodeCall:
    x = values(draw, shape_of(draw, 2, 4), (np.float32, np.int64) if not wild else MOVED)
    far = [-(1 << 63), (1 << 63) - 1] if wild else []
    k = draw(st.sampled_from([None, -3, -1, 0, 1, 4, *far]))
    attributes = {"upper": draw(st.booleans()), "fill": draw(st.integers(-128, 127)) if wild else 0}
    return NodeCall("Trilu", "bytes", [x, None if k is None else np.asarray(k, np.int64)], attributes)


@st.composite
def reverse_sequence(draw: DrawFn, wild: bool) -> NodeCall:
    x = values(draw, shape_of(draw, 2, 4), (np.float32, np.int64) if not wild else MOVED)
    time = draw(st.integers(0, 1))
    lengths = indices(draw, (x.shape[1 - time],), x.shape[time], wild)
    if not wild:
        lengths = np.asarray(np.abs(lengths) % x.shape[time] + 1, np.int64)
    return NodeCall("ReverseSequence", "bytes", [x, lengths], {"time_axis": time})


MOVING = {
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
    "OneHot": one_hot,
    "Trilu": trilu,
    "ReverseSequence": reverse_sequence,
}
REDUCING = [
    (strategy, reduction, variant)
    for strategy in (scatter_elements, scatter_nd)
    for reduction in ("add", "mul", "max", "min")
    for variant in ("float32", "int32", "int64", "plain_int8")
]


@pytest.mark.parametrize("op", MOVING)
def test_numpy_and_c(portable: PortableLibrary, op: str) -> None:
    """With indices that hold anything."""

    @settings(deadline=None, derandomize=True, max_examples=80)
    @given(MOVING[op](wild=True))
    def check(call: NodeCall) -> None:
        assert_close(run_c(portable, call), run_numpy(call), call)

    check()


@pytest.mark.parametrize("op", [op for op in MOVING if op != "TensorScatter"])
def test_numpy_and_onnxruntime(op: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=15)
    @given(MOVING[op](wild=False))
    def check(call: NodeCall) -> None:
        assert_close(run_numpy(call), run_onnxruntime(call), call)

    check()


@pytest.mark.parametrize(("strategy", "reduction", "variant"), REDUCING)
def test_reductions(portable: PortableLibrary, strategy: Any, reduction: str, variant: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=15)
    @given(strategy(wild=True, reduction=reduction, variant=variant))
    def wild(call: NodeCall) -> None:
        assert_close(run_c(portable, call), run_numpy(call), call)

    @settings(deadline=None, derandomize=True, max_examples=4)
    @given(strategy(wild=False, reduction=reduction, variant=variant))
    def sound(call: NodeCall) -> None:
        assert_close(run_numpy(call), run_onnxruntime(call), call)

    wild()
    sound()


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND", "TensorScatter", "Trilu"])
def test_in_place(portable: PortableLibrary, op: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=25)
    @given(MOVING[op](wild=True))
    def check(call: NodeCall) -> None:
        assert_close(run_c(portable, call, in_place=True), run_c(portable, call), call)

    check()


def test_an_index_outside_reads_the_nearest_and_writes_nothing(portable: PortableLibrary) -> None:
    x, far = np.arange(4, dtype=np.float32), np.asarray([-9, 9, -1], np.int64)
    for run in (run_numpy, lambda call: run_c(portable, call)):
        assert run(NodeCall("Gather", "bytes", [x, far], {"axis": 0}))[0].tolist() == [0, 3, 3]
        updates = np.asarray([7, 8, 9], np.float32)
        assert run(NodeCall("ScatterElements", "bytes", [x, far, updates], {"axis": 0}))[0].tolist() == [0, 1, 2, 9]
        pair = np.asarray([0, 1], np.float32)
        assert run(NodeCall("OneHot", "bytes", [far, pair], {"axis": 1, "depth": 2}))[0].tolist() == [[0, 0], [0, 0], [0, 1]]
