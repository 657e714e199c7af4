"""If with a condition that is computed at run time."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError

SIMPLE = """
flow (float[2, 3] x, bool c) => (float[2, 3] y) {
    doubled = Add(x, x)
    chosen = If (c) <then_branch = t () => (float[2, 3] a) { a = Tanh(doubled) },
                     else_branch = e () => (float[2, 3] b) { s = Sigmoid(x) b = Mul(s, doubled) }>
    y = Neg(chosen)
}
"""


def both(*arrays):
    return [{"x": arrays[0], "c": np.asarray(flag)} for flag in (True, False)]


def ops(conversion):
    return [call.op for call in conversion.program.calls]


def test_one_of_two(agree, values):
    conversion = agree(SIMPLE, both(values(2, 3)))
    assert ops(conversion).count("SkipUnless") == ops(conversion).count("Skip") == 1


def test_condition_of_one_dimension(agree, values):
    samples = [{"x": values(4) + shift} for shift in (-9, 9)]
    agree(
        """
        flow (float[4] x) => (float[4] y) {
            zero = Constant<value = float {0.0}>()
            sum = ReduceSum<keepdims = 1>(x)
            c = Greater(sum, zero)
            y = If (c) <then_branch = t () => (float[4] a) { a = Relu(x) }, else_branch = e () => (float[4] b) { b = Exp(x) }>
        }
        """,
        samples,
    )


def test_branches_that_compute_nothing(agree, values):
    """One gives what it reads, the other a constant."""
    agree(
        """
        flow (float[3] x, bool c) => (float[3] y, float[3] z) {
            y, z = If (c) <then_branch = t () => (float[3] a, float[3] b) { a = Identity(x) b = Identity(x) },
                           else_branch = e () => (float[3] d, float[3] f)
                               { d = Constant<value = float[3] {1.0, 2.0, 3.0}>() f = Neg(x) }>
        }
        """,
        both(values(3)),
    )


def test_nested(agree, values):
    text = """
    flow (float[2, 2] x, bool c, bool d) => (float[2, 2] y) {
        y = If (c) <
            then_branch = t () => (float[2, 2] a) {
                m = MatMul(x, x)
                a = If (d) <then_branch = tt () => (float[2, 2] p) { p = Add(m, x) },
                            else_branch = te () => (float[2, 2] q) { n = Neg(m) q = Exp(n) }>
            },
            else_branch = e () => (float[2, 2] b) {
                b = If (d) <then_branch = et () => (float[2, 2] p) { p = Abs(x) },
                            else_branch = ee () => (float[2, 2] q) { q = Transpose<perm = [1, 0]>(x) }>
            }>
    }
    """
    x = values(2, 2)
    agree(text, [{"x": x, "c": np.asarray(c), "d": np.asarray(d)} for c in (True, False) for d in (True, False)])


def test_types(agree):
    """What is chosen need not be float."""
    agree(
        """
        flow (int64[3] x, bool c) => (int64[3] y, bool[3] z) {
            zero = Constant<value = int64 {0}>()
            y, z = If (c) <then_branch = t () => (int64[3] a, bool[3] b) { a = Add(x, x) b = Greater(x, zero) },
                           else_branch = e () => (int64[3] d, bool[3] f) { d = Mul(x, x) f = Less(x, zero) }>
        }
        """,
        [{"x": np.asarray([-3, 0, 5]), "c": np.asarray(flag)} for flag in (True, False)],
    )


def test_constant_condition_leaves_its_branch(agree, values):
    text = SIMPLE.replace(", bool c", "").replace("doubled = ", "c = Constant<value = bool {1}>() doubled = ")
    assert "SkipUnless" not in ops(agree(text, [{"x": values(2, 3)}]))


def test_inputs_survive_where_they_are_to(agree, values):
    agree(SIMPLE, both(values(2, 3)), keep_inputs=True)


def test_branches_of_different_shape_are_refused(converted, values):
    from control_flow.conftest import parsed

    text = """
    flow (float[2, 3] x, bool c) => (float[a, b] y) {
        y = If (c) <then_branch = t () => (float[2, 3] p) { p = Tanh(x) },
                    else_branch = e () => (float[3, 2] q) { q = Transpose<perm = [1, 0]>(x) }>
    }
    """
    with pytest.raises(UnsupportedModelError, match=r"y is float32\[2, 3\] in one branch and float32\[3, 2\] in the other"):
        converted(parsed(text))
