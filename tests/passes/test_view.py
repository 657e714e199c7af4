"""Views against NumPy: what a chain of reshape and transpose does to an array."""

from __future__ import annotations

from math import prod

import numpy as np
from arenite.passes.view import View, split_factors
from hypothesis import given, settings
from hypothesis import strategies as st

PRIMES = (1, 1, 2, 2, 3)


@st.composite
def chains(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]]:
    """A shape and steps of a chain on it."""
    shape = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 6)), min_size=1, max_size=4)))
    first, steps = shape, []
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            shape = _regrouped(draw, shape)
            steps.append(("Reshape", shape))
        else:
            perm = tuple(draw(st.permutations(range(len(shape)))))
            shape = tuple(shape[axis] for axis in perm)
            steps.append(("Transpose", perm))
    return first, steps


def _regrouped(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    factors = [p for size in shape for p in ([2, 2] if size == 4 else [2, 3] if size == 6 else [size])]
    dims = [1]
    for factor in factors:
        if draw(st.booleans()) and len(dims) < 5:
            dims.append(factor)
        else:
            dims[-1] *= factor
    return tuple(dims)


def apply(array: np.ndarray, steps: list[tuple[str, tuple[int, ...]]]) -> np.ndarray:
    for op, value in steps:
        array = array.reshape(value) if op == "Reshape" else array.transpose(value)
    return array


def view_of(shape: tuple[int, ...], steps: list[tuple[str, tuple[int, ...]]]) -> View | None:
    view: View | None = View.identity(shape)
    for op, value in steps:
        if view is not None:
            view = view.reshape(value) if op == "Reshape" else view.transpose(value)
    return view


@settings(deadline=None, derandomize=True, max_examples=300)
@given(chains())
def test_a_view_does_what_its_chain_does(chain: tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]]) -> None:
    shape, steps = chain
    view = view_of(shape, steps)
    if view is None:
        return
    x = np.arange(prod(shape)).reshape(shape)
    y = apply(x, steps)
    assert view.target == y.shape
    short = view.steps()
    assert np.array_equal(apply(x, short), y)
    assert sum(op == "Transpose" for op, _ in short) == view.moves
    assert view.moves == (not np.array_equal(y.ravel(), x.ravel()))
    assert view.is_identity == (y.shape == x.shape and np.array_equal(x, y))
    assert np.array_equal(apply(y, view.inverse().steps()), x)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(chains(), st.data())
def test_composition(chain: tuple[tuple[int, ...], list[tuple[str, tuple[int, ...]]]], data: st.DataObject) -> None:
    shape, steps = chain
    cut = data.draw(st.integers(0, len(steps)))
    x = np.arange(prod(shape)).reshape(shape)
    first = view_of(shape, steps[:cut])
    if first is None:
        return
    second = view_of(first.target, steps[cut:])
    if second is None:
        return
    both = first.then(second)
    if both is not None:
        assert np.array_equal(apply(x, both.steps()), apply(x, steps))
        assert both.factors == (view_of(shape, steps) or both).factors
    assert first.then(first.inverse()) == View.identity(shape)


def test_a_transpose_of_dimensions_of_one_moves_nothing() -> None:
    view = View.identity((1, 49, 10, 1)).transpose((0, 3, 1, 2))
    assert view is not None
    assert not view.moves
    assert view.steps() == [("Reshape", (1, 1, 49, 10))]


def test_a_plain_transpose_stays_one() -> None:
    view = View.identity((1, 3, 8, 6)).transpose((0, 2, 3, 1))
    assert view is not None
    assert view.steps() == [("Transpose", (0, 2, 3, 1))]


def test_borders_that_no_factor_has() -> None:
    crossed = View.identity((2, 3)).transpose((1, 0))
    assert crossed is not None
    assert split_factors(crossed.factors, (2, 3)) is None
    assert crossed.reshape((2, 3)).transpose((1, 0)) is None
