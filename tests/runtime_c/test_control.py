"""Jumps: what they do, and that none leads out of the list of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite_runtime import Interpreter, Model
from arenite_runtime.errors import ModelError
from arenite_runtime.flat import arenite_generated as schema


def expected(x: np.ndarray, trips: int, goes_on: bool, chosen: bool) -> tuple[np.ndarray, int]:
    """Value and iterations of the program, written out in Python."""
    half, value, count = np.float32(0.5), x + np.float32(0.5), 0
    while count < min(trips, 5) and goes_on:
        if chosen:
            value = value + half
        else:
            value = value + x + x + x
            value = value + value
        count += 1
    return value + half, count


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("trips", [-3, 0, 1, 4, 5, 6, 1 << 40])
def test_program(trips: int, goes_on: bool, chosen: bool, arn: Any, start: Any) -> None:
    file = arn("control")
    x = np.float32([0.25, -1.0, 3.0, 0.0])
    inputs = [x, np.asarray([trips]), np.asarray([goes_on]), np.asarray([chosen])]
    session = start(file)
    assert session.statuses == ["OK", "OK"]
    for i, values in enumerate(inputs):
        session.write(i, values.tobytes())
    assert session.invoke() == "OK"
    value, count = expected(x, trips, goes_on, chosen)
    assert session.read(0) == value.tobytes()
    assert int(np.frombuffer(session.read(3), np.int64)[0]) == count
    interpreted = Interpreter(Model.load(file)).run(inputs)
    np.testing.assert_array_equal(interpreted[0], value)
    assert int(interpreted[3][0]) == count
    for i in (1, 2):  # entries that no iteration wrote hold anything
        written = slice(0, count) if i == 1 else slice(5 - count, 5)
        theirs = np.frombuffer(session.read(i), np.float32).reshape(5, 4)
        np.testing.assert_array_equal(theirs[written], interpreted[i][written])


def change(node: int, position: int, value: int) -> Callable[[schema.ModelT], None]:
    def edit(model: schema.ModelT) -> None:
        params = list(model.subgraphs[0].nodes[node].params)
        params[position] = value
        model.subgraphs[0].nodes[node].params = params

    return edit


NODES = 13
BEGIN, UNLESS, SKIP, REPEAT = 1, 2, 4, 11
WRONG = (-1, -(1 << 31), (1 << 31) - 1)


@pytest.mark.parametrize(
    ("node", "position", "value"),
    [
        *[(UNLESS, 0, v) for v in (*WRONG, NODES - UNLESS)],
        *[(SKIP, 0, v) for v in (*WRONG, NODES - SKIP)],
        *[(BEGIN, 1, v) for v in (*WRONG, NODES - BEGIN)],
        *[(REPEAT, 1, v) for v in (*WRONG, 0, REPEAT + 2)],
        *[(BEGIN, 0, v) for v in (-1, -(1 << 31))],
        *[(REPEAT, 0, v) for v in (-1, -(1 << 31))],
    ],
)
def test_jumps_stay_among_the_nodes(node: int, position: int, value: int, edited: Any, start: Any) -> None:
    file = edited("control", change(node, position, value))
    assert start(file).statuses == ["OK", "CORRUPT"]
    with pytest.raises(ModelError) as error:
        Model.load(file)
    assert error.value.status == "ARN_ERROR_CORRUPT"


@pytest.mark.parametrize(
    ("node", "value"), [(UNLESS, NODES - UNLESS - 1), (SKIP, NODES - SKIP - 1), (BEGIN, NODES - BEGIN - 1)], ids=["unless", "skip", "loop"]
)
def test_a_jump_may_lead_behind_the_last_node(node: int, value: int, edited: Any, start: Any) -> None:
    session = start(edited("control", change(node, 1 if node == BEGIN else 0, value)))
    assert session.statuses == ["OK", "OK"]
    for i, values in enumerate((np.zeros(4, np.float32), np.asarray([2]), np.asarray([True]), np.asarray([node != UNLESS]))):
        session.write(i, values.tobytes())
    assert session.invoke() == "OK"


def operands(node: int, **fields: object) -> Callable[[schema.ModelT], None]:
    def edit(model: schema.ModelT) -> None:
        for name, value in fields.items():
            setattr(model.subgraphs[0].nodes[node], name, value)

    return edit


@pytest.mark.parametrize(
    ("node", "fields"),
    [
        (UNLESS, {"inputs": [0]}),  # four floats
        (UNLESS, {"inputs": [-1]}),
        (BEGIN, {"inputs": [2, 2]}),  # a bool as trip count
        (BEGIN, {"inputs": [1, 1]}),  # a number as condition
        (BEGIN, {"outputs": [0]}),
        (REPEAT, {"outputs": [3]}),
        (9, {"inputs": [0, 0]}),  # an iteration that is no int64
        (9, {"outputs": [0]}),  # one entry instead of five
    ],
)
def test_operands_that_do_not_fit(node: int, fields: dict[str, object], edited: Any, start: Any) -> None:
    assert start(edited("control", operands(node, **fields))).statuses == ["OK", "CORRUPT"]


def test_subgraphs_of_other_versions_are_refused(edited: Any) -> None:
    """The schema has them; no operator uses them."""
    file = edited("control", operands(UNLESS, subgraphs=[0]))
    with pytest.raises(ModelError) as error:
        Model.load(file)
    assert error.value.status == "ARN_ERROR_UNSUPPORTED"
