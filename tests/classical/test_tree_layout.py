"""The arrays of an ensemble against ONNX's words: every mode, every element, NaN on either side, thresholds that float32 does not have."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.frontend.tree_layout import MODES, Branch, TreeArrays, lay_out
from hypothesis import given, settings
from hypothesis import strategies as st

TRUE, FALSE = ((0, 1.0),), ((0, 2.0),)

NUMBERS = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, float("inf"), float("-inf"), 0.1, 1e300, -1e300, 3.4028234663852886e38, 16777217.0]
    ),
    st.floats(allow_nan=False),
)


def _says(mode: str, x: np.float32, values: tuple[float, ...], nan_true: bool) -> bool:
    """As ONNX says it, in float64, which holds both sides exactly."""
    if np.isnan(x):
        return nan_true
    value = float(x)
    return {
        "BRANCH_LEQ": value <= values[0],
        "BRANCH_LT": value < values[0],
        "BRANCH_GTE": value >= values[0],
        "BRANCH_GT": value > values[0],
        "BRANCH_EQ": value == values[0],
        "BRANCH_NEQ": value != values[0],
        "BRANCH_MEMBER": value in values,
    }[mode]


def _walk(arrays: TreeArrays, x: np.ndarray) -> float:
    place, steps = int(arrays.root[0]), 0
    while place >= 0:
        f = int(arrays.feature[place])
        first = x[f] <= arrays.threshold[place] if f >= 0 else not x[~f] > arrays.threshold[place]
        child = int(arrays.child[place, 0 if first else 1])
        assert child < 0 or child > place
        place, steps = child, steps + 1
    return float(arrays.weight[~place])


@settings(deadline=None, derandomize=True, max_examples=600)
@given(st.sampled_from(MODES), NUMBERS, st.lists(NUMBERS, max_size=3), st.booleans(), st.one_of(NUMBERS, st.just(float("nan"))))
def test_every_mode(mode: str, value: float, more: list[float], nan_true: bool, x: float) -> None:
    values = (value, *more) if mode == "BRANCH_MEMBER" else (value,)
    arrays = lay_out([Branch(1, mode, values, nan_true, ~0, ~1)], [TRUE, FALSE], [0])
    with np.errstate(over="ignore"):
        near = np.float32(value)
        neighbours = [np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    for element in (np.float32(x) if abs(x) < 1e38 else near, near, *neighbours):
        wanted = 1.0 if _says(mode, element, values, nan_true) else 2.0
        assert _walk(arrays, np.asarray([7, element], np.float32)) == wanted, (mode, element, values, nan_true)


def test_an_empty_set() -> None:
    arrays = lay_out([Branch(0, "BRANCH_MEMBER", (), False, ~0, ~1)], [TRUE, FALSE], [0])
    assert _walk(arrays, np.zeros(1, np.float32)) == 2.0


def test_children_are_shared() -> None:
    """A set of 50 members with a subtree on either side: two nodes a member, and the subtrees once."""
    branches = [
        Branch(0, "BRANCH_MEMBER", tuple(float(i) for i in range(50)), False, 1, 2),
        Branch(1, "BRANCH_LEQ", (0.0,), False, ~0, ~1),
        Branch(1, "BRANCH_LEQ", (1.0,), False, ~0, ~1),
    ]
    arrays = lay_out(branches, [TRUE, FALSE], [0])
    assert len(arrays.feature) == 102
    assert _walk(arrays, np.asarray([49, 0.5], np.float32)) == 2.0
    assert _walk(arrays, np.asarray([50, 0.5], np.float32)) == 1.0


def test_equal_leaves_are_one_and_the_true_side_follows() -> None:
    branches = [
        Branch(0, "BRANCH_LEQ", (0.0,), False, 1, 2),
        Branch(0, "BRANCH_LEQ", (-1.0,), False, ~0, ~1),
        Branch(0, "BRANCH_LEQ", (1.0,), False, ~2, ~3),
    ]
    arrays = lay_out(branches, [TRUE, FALSE, TRUE, FALSE], [0, ~3])
    assert arrays.weight.tolist() == [1.0, 2.0]
    assert arrays.child.tolist() == [[1, 2], [~0, ~1], [~0, ~1]]
    assert arrays.root.tolist() == [0, ~1]
    assert arrays.start is None
    assert arrays.target is None


def test_a_cycle() -> None:
    branches = [Branch(0, "BRANCH_LEQ", (0.0,), False, 1, ~0), Branch(0, "BRANCH_LEQ", (0.0,), False, ~0, 0)]
    with pytest.raises(ValueError, match="leads back"):
        lay_out(branches, [TRUE], [0])


def test_a_node_that_is_its_own_child() -> None:
    with pytest.raises(ValueError, match="leads back"):
        lay_out([Branch(0, "BRANCH_LEQ", (0.0,), False, 0, ~0)], [TRUE], [0])


def test_a_deep_tree() -> None:
    """No recursion: a chain of 5000."""
    branches = [Branch(0, "BRANCH_LEQ", (float(i),), False, ~0, i + 1 if i < 4999 else ~1) for i in range(5000)]
    arrays = lay_out(branches, [TRUE, FALSE], [0])
    assert arrays.child[:, 1].tolist() == [*range(1, 5000), ~1]


@pytest.mark.parametrize(("count", "dtype"), [(1 << 15, np.int16), ((1 << 15) + 1, np.int32)])
def test_the_width_of_indices(count: int, dtype: type) -> None:
    branches = [Branch(0, "BRANCH_LEQ", (float(i),), False, ~0, i + 1 if i + 1 < count else ~1) for i in range(count)]
    assert lay_out(branches, [TRUE, FALSE], [0]).child.dtype == dtype
