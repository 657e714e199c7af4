"""Execution: the plan, intermediates, states, and what does not fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from arenite_runtime import InputError, Interpreter, Model, ModelError

X = np.array([[0, 1, 2], [-128, 127, 50]], np.int8)
NEGATED = np.array([[0, -1, -2], [127, -127, -50]], np.int8)
Y = np.array([[2, 1, 0], [127, -125, -48]], np.int8)


def test_run(arn: bytes) -> None:
    model = Model.load(arn)
    interpreter = Interpreter(model)
    for _ in range(2):
        z, y = interpreter.run([X])
        np.testing.assert_array_equal(y, Y)
        np.testing.assert_array_equal(z, Y.reshape(3, 2))
    np.testing.assert_array_equal(interpreter.run({"x": X})[1], Y)


def test_outputs_are_the_callers(arn: bytes) -> None:
    interpreter = Interpreter(Model.load(arn))
    first = interpreter.run([X])
    interpreter.run([np.zeros_like(X)])
    np.testing.assert_array_equal(first[1], Y)


def test_run_all(arn: bytes) -> None:
    """Although z takes the memory that x and negated had before."""
    values = Interpreter(Model.load(arn)).run_all([X])
    assert list(values) == ["x", "negated", "y", "seen", "z"]
    for name, expected in {"x": X, "negated": NEGATED, "y": Y, "seen": Y.reshape(3, 2), "z": Y.reshape(3, 2)}.items():
        np.testing.assert_array_equal(values[name], expected, err_msg=name)


def test_run_all_without_names(stripped_arn: bytes) -> None:
    assert list(Interpreter(Model.load(stripped_arn)).run_all([X])) == ["#0", "#2", "#4", "#5", "#6"]


def test_memory_is_shared_as_planned(arn: bytes, patched: Callable[..., bytes]) -> None:
    """A wrong plan shows: y, moved to byte 3, is overwritten in part by z; `seen`, still at byte 16, is memory that nobody has written."""
    wrong = patched(arn, lambda m: m.Tensors(4), 5, "<I", 3)
    z, y = Interpreter(Model.load(wrong)).run([X])
    unwritten = np.uint8(0xA5).astype(np.int8)
    assert (z == unwritten).all()
    assert (y.ravel()[:3] == unwritten).all()
    np.testing.assert_array_equal(y.ravel()[3:], Y.ravel()[3:])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "has 1 inputs, 0 are given"),
        ([X, X], "has 1 inputs, 2 are given"),
        ([X.astype(np.float32)], r"input x is int8\(2, 3\), given is float32\(2, 3\)"),
        ([X.T], r"given is int8\(3, 2\)"),
        ({"image": X}, r"inputs are \['x'\], given are \['image'\]"),
    ],
)
def test_inputs_that_do_not_fit(arn: bytes, inputs: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Interpreter(Model.load(arn)).run(inputs)  # type: ignore[arg-type]


def test_state_persists_until_reset(counter_arn: bytes) -> None:
    model = Model.load(counter_arn)
    interpreter, other = Interpreter(model), Interpreter(model)
    ones = np.full((2, 3), 3 + 1, np.int8)  # one step above the zero point
    for total in (1, 2, 3):
        assert (interpreter.run([ones])[0] == 3 + total).all()
    assert (other.run([ones])[0] == 3 + 1).all()  # sessions are independent
    interpreter.reset()
    assert (interpreter.run([ones])[0] == 3 + 1).all()


def test_record_that_does_not_fit_its_tensors(arn: bytes, patched_vector: Callable[..., bytes]) -> None:
    """dims of 7 where there are 6 elements."""
    file = patched_vector(arn, lambda m: m.Subgraphs(0).Nodes(1), 5, 5, 7)
    with pytest.raises(ModelError, match=r"node layer/add \(Add\) does not fit its tensors"):
        Interpreter(Model.load(file)).run([X])
