"""Det: NumPy, portable C and onnxruntime agree within Hadamard's bound (docs/numerics.md §11)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, run_c, run_numpy, run_onnxruntime
from kernels.portable_library import PortableLibrary


@st.composite
def matrices(draw: DrawFn) -> Array:
    """Small integers too, of which many are singular, and rows of different sizes."""
    shape = draw(st.sampled_from([(), (1,), (2, 3)]))
    size = draw(st.integers(1, 8))
    rng = generator(draw)
    if draw(st.booleans()):
        return rng.integers(-2, 3, (*shape, size, size)).astype(np.float32)
    rows = 10.0 ** rng.integers(-3, 4, (*shape, size, 1))
    return (rng.standard_normal((*shape, size, size)) * rows).astype(np.float32)


def assert_near(a: Array, b: Array, x: Array) -> None:
    bound = np.linalg.norm(x.astype(np.float64), axis=-1).prod(axis=-1)
    assert (np.abs(a.astype(np.float64) - b) <= 1e-5 * bound + 1e-30).all(), (a, b, x)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(matrices())
def test_numpy_c_and_onnxruntime(portable: PortableLibrary, x: Array) -> None:
    call = NodeCall("Det", "float32", [x])
    want = run_numpy(call)[0]
    assert_near(run_c(portable, call)[0], want, x)
    assert_near(run_onnxruntime(call)[0], want, x)


def test_numbers_that_are_none(portable: PortableLibrary) -> None:
    x = np.asarray([[[1, np.nan], [2, 3]], [[np.inf, 1], [1, 1]], [[0, 0], [0, 5]]], np.float32)
    got = run_c(portable, NodeCall("Det", "float32", [x]))[0]
    assert np.isnan(got[0]) and not np.isfinite(got[1]) and got[2] == 0


def test_only_square_matrices() -> None:
    with pytest.raises(ValueError, match="no square matrices"):
        assert NodeCall("Det", "float32", [np.zeros((2, 3), np.float32)]).results
