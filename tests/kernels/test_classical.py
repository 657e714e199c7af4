"""Decision trees, support vector machines, label encoding, score transforms: NumPy and portable C on random records, and what damaged
trees do. (The results themselves are compared with ONNX's implementations in tests/classical.)"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, Case, generator
from kernels.portable_library import PortableLibrary

Result = Callable[[Case], Array]
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1e-45)


def reals(draw: DrawFn, *shape: int) -> Array:
    """Halves, so that some are equal to thresholds, and special values."""
    rng = generator(draw)
    return np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), rng.integers(-4, 5, shape) / 2).astype(np.float32)


@st.composite
def trees(draw: DrawFn, op: str = "TreeEnsemble") -> Case:
    """Any graph in which children come after their parents, with or without the optional operands."""
    rng, index = generator(draw), np.int16 if op == "TreeEnsemble" else np.int32
    rows, features, count, nodes, targets = (draw(st.integers(1, most)) for most in (4, 5, 6, 12, 4))
    leaves, listed = draw(st.integers(1, 6)), draw(st.booleans())
    start = np.cumsum([0, *rng.integers(0, 4, leaves)]).astype(np.int32) if listed else None
    weights = leaves if start is None else max(1, int(start[-1]))
    target = rng.integers(0, targets, weights).astype(index) if listed or draw(st.booleans()) else None
    child = [
        [int(rng.integers(i + 1, nodes)) if i + 1 < nodes and rng.random() < 0.6 else ~int(rng.integers(leaves)) for _ in "tf"]
        for i in range(nodes)
    ]
    root = [int(rng.integers(nodes)) if rng.random() < 0.8 else ~int(rng.integers(leaves)) for _ in range(count)]
    feature = rng.integers(features, size=nodes)
    inputs = [
        reals(draw, rows, features),
        np.where(rng.random(nodes) < 0.4, ~feature, feature).astype(index),
        reals(draw, nodes),
        np.asarray(child, index),
        np.asarray(root, index),
        start,
        target,
        rng.standard_normal(weights).astype(np.float32),
    ]
    record = {"rows": rows, "features": features, "trees": count, "targets": targets, "aggregate": draw(st.integers(0, 3))}
    return Case(op, "float32", record, inputs, np.full(rows * targets, 7.5, np.float32))


@st.composite
def key_index(draw: DrawFn, variant: str) -> Case:
    rng, dtype = generator(draw), np.dtype(variant)
    ends = np.asarray([0, 1], dtype) if dtype.kind == "f" else np.asarray([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    keys = np.unique(np.concatenate([rng.integers(-9, 9, draw(st.integers(1, 9))).astype(dtype), ends]))
    x = rng.choice(np.concatenate([keys, np.arange(-10, 10).astype(dtype)]), draw(st.integers(1, 30)))
    if dtype.kind == "f":
        x = np.where(rng.random(x.shape) < 0.3, rng.choice(SPECIAL, x.shape), x).astype(dtype)
    return Case("KeyIndex", variant, {"count": x.size, "keys": keys.size, "nan": keys.size + 1}, [x, keys], np.full(x.size, -5, np.int64))


@st.composite
def squared_distance(draw: DrawFn) -> Case:
    rng, (rows, vectors, length) = generator(draw), (draw(st.integers(1, most)) for most in (4, 9, 70))
    inputs = [rng.standard_normal((n, length)).astype(np.float32) for n in (rows, vectors)]
    record = {"rows": rows, "vectors": vectors, "length": length}
    return Case("SquaredDistance", "float32", record, inputs, np.zeros(rows * vectors, np.float32))


@st.composite
def svm_decision(draw: DrawFn) -> Case:
    rng, rows, classes = generator(draw), draw(st.integers(1, 3)), draw(st.integers(2, 5))
    first = np.cumsum([0, *rng.integers(0, 5, classes)]).astype(np.int32)
    vectors = max(1, int(first[-1]))
    first[-1] = vectors
    pairs = classes * (classes - 1) // 2
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in ((rows, vectors), (classes - 1, vectors), (pairs,))]
    record = {"rows": rows, "vectors": vectors, "classes": classes}
    return Case("SvmDecision", "float32", record, [*inputs, first], np.zeros(rows * pairs, np.float32))


@st.composite
def of_pairs(draw: DrawFn, op: str) -> Case:
    rng, rows, classes = generator(draw), draw(st.integers(1, 3)), draw(st.integers(2, 6))
    pairs = classes * (classes - 1) // 2
    decision = (rng.standard_normal((rows, pairs)) * draw(st.sampled_from([0.3, 1.0, 30.0]))).astype(np.float32)
    platt = [rng.uniform(-3, 0.1, pairs).astype(np.float32), rng.standard_normal(pairs).astype(np.float32)]
    inputs = [decision, *(platt if op == "SvmProbability" else [])]
    return Case(op, "float32", {"rows": rows, "classes": classes}, inputs, np.zeros(rows * classes, np.float32))


@st.composite
def softmax_zero(draw: DrawFn) -> Case:
    rng, rows, length = generator(draw), draw(st.integers(1, 3)), draw(st.integers(1, 9))
    x = np.where(
        rng.random((rows, length)) < 0.3, rng.choice([0.0, -0.0, 1e-7, -1e-7, 2e-7], (rows, length)), rng.normal(0, 3, (rows, length))
    )
    return Case("SoftmaxZero", "float32", {"rows": rows, "length": length}, [x.astype(np.float32)], np.zeros(rows * length, np.float32))


@st.composite
def probit(draw: DrawFn) -> Case:
    x = generator(draw).uniform(0.001, 0.999, draw(st.integers(1, 20))).astype(np.float32)
    return Case("Probit", "float32", {"count": x.size}, [x], np.zeros(x.size, np.float32))


def run_c(portable: PortableLibrary, case: Case) -> Array:
    if case.op != "SvmProbability":
        return portable.run(case)
    y, n = case.y.copy(), case.record["classes"]
    scratch = np.full(2 * n * n + n, np.nan, np.float32)
    portable.call("arn_svm_probability_f32", case, [ctypes.c_void_p(a.ctypes.data) for a in (*case.inputs, y, scratch)])
    return y


EXACT = [trees(), trees("LargeTreeEnsemble"), *(key_index(variant) for variant in ("float32", "int32", "int64")), of_pairs("SvmVotes")]
CLOSE = [squared_distance(), svm_decision(), softmax_zero(), probit(), of_pairs("SvmProbability")]


@pytest.mark.parametrize("cases", EXACT, ids=["trees", "large trees", "float keys", "int32 keys", "int64 keys", "votes"])
def test_same_values(portable: PortableLibrary, numpy_result: Result, cases: st.SearchStrategy[Case]) -> None:
    @settings(deadline=None, derandomize=True, max_examples=150)
    @given(cases)
    def check(case: Case) -> None:
        np.testing.assert_array_equal(run_c(portable, case), numpy_result(case), err_msg=str(case))

    check()


@pytest.mark.parametrize("cases", CLOSE, ids=["distance", "decision", "softmax", "probit", "probability"])
def test_close_values(portable: PortableLibrary, numpy_result: Result, cases: st.SearchStrategy[Case]) -> None:
    @settings(deadline=None, derandomize=True, max_examples=80)
    @given(cases)
    def check(case: Case) -> None:
        c, python = run_c(portable, case), numpy_result(case)
        assert np.isfinite(python).all()
        np.testing.assert_allclose(c, python, rtol=0, atol=1e-5 * float(np.abs(python).max()) + 1e-6, err_msg=str(case))

    check()


def test_probabilities_sum_to_one(portable: PortableLibrary) -> None:
    @settings(deadline=None, derandomize=True, max_examples=80)
    @given(of_pairs("SvmProbability"))
    def check(case: Case) -> None:
        y = run_c(portable, case).reshape(case.record["rows"], -1)
        assert (y > 0).all()
        np.testing.assert_allclose(y.sum(axis=1), 1, atol=1e-5)

    check()


def spoil(operand: int, value: Callable[[Case], int]) -> Callable[[Case, int], bool]:
    """Sets one element; False where the operand is absent."""

    def change(case: Case, at: int) -> bool:
        array = case.inputs[operand]
        if array is None:
            return False
        array.reshape(-1)[at % array.size] = value(case)
        return True

    return change


def own_child(case: Case, at: int) -> bool:
    place = at % case.inputs[3].size
    case.inputs[3].reshape(-1)[place] = place // 2
    return True


DAMAGE: dict[str, Callable[[Case, int], bool]] = {
    "a node is its own child": own_child,
    "a child beyond the nodes": spoil(3, lambda case: case.inputs[1].size),
    "a leaf that does not exist": spoil(3, lambda case: -1000),
    "a root beyond the nodes": spoil(4, lambda case: case.inputs[1].size),
    "a feature beyond the row": spoil(1, lambda case: case.record["features"]),
    "a negative feature beyond the row": spoil(1, lambda case: ~case.record["features"]),
    "a target beyond the scores": spoil(6, lambda case: case.record["targets"]),
    "a negative target": spoil(6, lambda case: -1),
    "a start beyond the weights": spoil(5, lambda case: case.inputs[7].size + 1),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_numpy_refuses_damaged_trees(damage: str) -> None:
    """As the check of the C kernel does (tests/classical/test_hostile_trees.py)."""

    @settings(deadline=None, derandomize=True, max_examples=40)
    @given(trees(), st.integers(0, 1000))
    def check(case: Case, at: int) -> None:
        assume(DAMAGE[damage](case, at))
        with pytest.raises(ValueError, match=r"node|root|leaf|weight"):
            KERNELS[case.op, case.variant](Record(**case.record), *case.inputs, case.y)

    check()
