"""Reductions, ArgMax, cumulative sums, TopK: NumPy, portable C and onnxruntime agree."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.graph import OPERATORS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, assert_close, run_c, run_numpy, run_onnxruntime
from kernels.portable_library import PortableLibrary

DTYPES = {"float32": np.float32, "int32": np.int32, "int64": np.int64, "uint8": np.uint8, "bool": np.bool_, "plain_int8": np.int8}
REDUCTIONS = [name for name in OPERATORS if name.startswith("Reduce") and name != "ReduceMean"]
ALONG_AXIS = ["ArgMax", "ArgMin", "CumSum", "CumProd", "TopK"]
EVERY = [(op, variant) for op in (*REDUCTIONS, *ALONG_AXIS) for variant in OPERATORS[op].all_variants if variant != "int8"]
"""The int8 forms are in test_integer_reduction.py."""
NOT_IN_ONNXRUNTIME: dict[str, list[str]] = {
    "ArgMax": ["bool", "int64"],
    "ArgMin": ["bool", "int64"],
    "CumProd": list(DTYPES),
    "ReduceL1": ["int64"],
    "ReduceSumSquare": ["int64"],
    "TopK": ["bool", "uint8", "plain_int8"],
}


def elements(draw: DrawFn, variant: str, shape: tuple[int, ...], special: bool) -> Array:
    """Few different values, so that there are equals; or of all magnitudes; or NaN and infinities among them."""
    rng, dtype = generator(draw), np.dtype(DTYPES[variant])
    if dtype == np.float32:
        values = rng.integers(-3, 4, shape) if draw(st.booleans()) else rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape)
        if special:
            values = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf, -0.0], shape), values)
        return np.asarray(values, np.float32)
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    ends = np.iinfo(dtype)
    low, high = (ends.min, ends.max) if draw(st.booleans()) and special else (max(-4, ends.min), 4)
    return rng.integers(low, high, shape, dtype, endpoint=True)


@st.composite
def calls(draw: DrawFn, op: str, variant: str, special: bool) -> NodeCall:
    rank = draw(st.integers(1, 5 if op in ALONG_AXIS else 7))
    shape = tuple(draw(st.integers(1, 4 if rank > 4 else 7)) for _ in range(rank))
    x = elements(draw, variant, shape, special)
    if op in REDUCTIONS:
        axes = tuple(sorted(draw(st.sets(st.integers(0, rank - 1), min_size=1))))
        return NodeCall(op, variant, [x], {"axes": axes, "keepdims": draw(st.booleans())})
    axis = draw(st.integers(0, rank - 1))
    if op in ("ArgMax", "ArgMin"):
        flags = {name: draw(st.booleans()) for name in ("keepdims", "last", "narrow")}
        return NodeCall(op, variant, [x], {"axis": axis, **flags})
    if op == "TopK":
        k = draw(st.integers(1, shape[axis]))
        return NodeCall(op, variant, [np.nan_to_num(x)], {"axis": axis, "k": k, "largest": draw(st.booleans())})
    return NodeCall(op, variant, [x], {"axis": axis, "exclusive": draw(st.booleans()), "reverse": draw(st.booleans())})


@pytest.mark.parametrize(("op", "variant"), EVERY)
def test_numpy_and_c(portable: PortableLibrary, op: str, variant: str) -> None:
    """Special values and overflowing integers included."""

    @settings(deadline=None, derandomize=True, max_examples=25)
    @given(calls(op, variant, special=True))
    def check(call: NodeCall) -> None:
        assert_close(run_c(portable, call), run_numpy(call), call)

    check()


@pytest.mark.parametrize(("op", "variant"), [(o, v) for o, v in EVERY if v not in NOT_IN_ONNXRUNTIME.get(o, ())])
def test_numpy_and_onnxruntime(op: str, variant: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=8)
    @given(calls(op, variant, special=False))
    def check(call: NodeCall) -> None:
        assert_close(run_numpy(call), run_onnxruntime(call), call)

    check()


@pytest.mark.parametrize("op", ["CumSum", "CumProd"])
@pytest.mark.parametrize("variant", ["float32", "int32", "int64"])
def test_in_place(portable: PortableLibrary, op: str, variant: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=25)
    @given(calls(op, variant, special=False))
    def check(call: NodeCall) -> None:
        assert_close(run_c(portable, call, in_place=True), run_c(portable, call), call)

    check()


def test_a_long_sum_keeps_its_precision(portable: PortableLibrary) -> None:
    """A million terms of one sign: plain float32 accumulation would be off by more than 1e-4."""
    x = np.random.default_rng(3).random(1_000_000, np.float32)
    call = NodeCall("ReduceSum", "float32", [x], {"axes": (0,), "keepdims": False})
    (total,) = run_c(portable, call)
    assert abs(float(total) / x.sum(dtype=np.float64) - 1) < 1e-6


def test_infinities_are_summed_to_infinity(portable: PortableLibrary) -> None:
    x = np.asarray([[1, np.inf, 2], [np.inf, -np.inf, 0], [1, 2, -np.inf]], np.float32)
    call = NodeCall("ReduceSum", "float32", [x], {"axes": (1,), "keepdims": False})
    np.testing.assert_array_equal(run_c(portable, call)[0], np.asarray([np.inf, np.nan, -np.inf], np.float32))
