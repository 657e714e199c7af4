"""narrow_integers and integer_ranges: what is proven, what becomes int32, and that no value changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import DType, Graph
from arenite.graph.onnx_export import evaluate
from arenite.graph.verifier import verify
from arenite.passes.integer_ranges import Interval, integer_ranges
from arenite.passes.narrow_integers import narrow_integers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

INT32, INT64 = DType.INT32, DType.INT64
BIG = 1 << 40
Ops = Callable[[Graph], list[str]]


def integers(build: Any, *values: int) -> str:
    return build.graph.add_constant("n", np.asarray([values], np.int64)).name


def arg(build: Any, *shape: int) -> str:
    """[1, rows] indices below the last dimension."""
    return build.node("ArgMax", build.input(*shape), axis=len(shape) - 1, keepdims=False, last=False, dtype=INT64)


def narrowed(graph: Graph) -> Graph:
    """The pass's result, sound and with the same values for the same inputs."""
    after = narrow_integers(graph)
    verify(after)
    rng = np.random.default_rng(0)
    feeds: dict[str, Any] = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        assert after.tensors[name].dtype is tensor.dtype
        values = rng.normal(size=tensor.shape) if tensor.dtype is DType.FLOAT32 else rng.integers(-BIG, BIG, tensor.shape)
        feeds[name] = values.astype(tensor.dtype.numpy)
    before, now = evaluate(graph, feeds), evaluate(after, feeds)
    for name in graph.outputs:
        assert now[name].dtype == before[name].dtype
        np.testing.assert_array_equal(now[name], before[name])
    return after


def types(graph: Graph) -> list[str]:
    return [graph.tensors[node.output].dtype.value for node in graph.nodes]


def test_an_index_that_is_looked_up(build: Any) -> None:
    table = build.graph.add_constant("table", np.arange(10, dtype=np.float32)).name
    found = build.reshape(arg(build, 1, 4, 10), 4, dtype=INT64)
    graph = build.done(build.node("Gather", table, found, axis=0))
    assert types(narrowed(graph)) == ["int32", "int32", "float32"]


def test_an_index_that_is_an_output_stays(build: Any, ops: Ops) -> None:
    after = narrowed(build.done(arg(build, 1, 4, 10)))
    assert (ops(after), types(after)) == (["ArgMax"], ["int64"])


def test_arithmetic_into_an_output_is_converted_at_the_end(build: Any, ops: Ops) -> None:
    total = build.node(
        "Add", build.node("Mul", arg(build, 1, 4, 10), integers(build, 3, 5, 7, 9), dtype=INT64), integers(build, 1), dtype=INT64
    )
    after = narrowed(build.done(total))
    assert ops(after) == ["ArgMax", "Mul", "Add", "Cast"]
    assert types(after) == ["int32", "int32", "int32", "int64"]


def test_what_may_leave_int32_stays(build: Any, ops: Ops) -> None:
    product = build.node("Mul", arg(build, 1, 4, 10), integers(build, 1 << 29), dtype=INT64)
    after = narrowed(build.done(build.node("Add", product, integers(build, 1), dtype=INT64)))
    assert types(after) == ["int64", "int64", "int64"]


def test_a_part_that_does_not_fit_keeps_the_whole(build: Any) -> None:
    """The quotient fits, the product in it does not."""
    product = build.node("Mul", arg(build, 1, 4, 10), integers(build, BIG), dtype=INT64)
    graph = build.done(build.node("Div", product, integers(build, BIG), dtype=INT64))
    assert integer_ranges(graph)[graph.outputs[0]] == Interval(0, 9)
    assert types(narrowed(graph)) == ["int64", "int64", "int64"]


def test_inputs_prove_nothing(build: Any) -> None:
    graph = build.done(build.node("Add", build.input(1, 4, dtype=INT64), integers(build, 1), dtype=INT64))
    assert types(narrowed(graph)) == ["int64"]


def test_comparisons_of_what_is_narrow(build: Any, ops: Ops) -> None:
    index = arg(build, 1, 4, 10)
    is_small = build.node("Less", index, integers(build, 5), dtype=DType.BOOL)
    chosen = build.node("Where", is_small, index, integers(build, 5), dtype=INT64)
    after = narrowed(build.done(build.node("Cast", chosen, to="float32")))
    assert types(after) == ["int32", "bool", "int32", "float32"]


def test_a_comparison_with_what_is_wide_converts_nothing(build: Any, ops: Ops) -> None:
    is_less = build.node("Less", arg(build, 1, 4, 10), build.input(1, 4, name="w", dtype=INT64), dtype=DType.BOOL)
    after = narrowed(build.done(is_less))
    assert (ops(after), types(after)) == (["ArgMax", "Less"], ["int64", "bool"])


def test_constant_indices_are_int32(build: Any) -> None:
    indices = build.graph.add_constant("indices", np.array([2, 0, -1], np.int64)).name
    after = narrowed(build.done(build.node("Gather", build.input(1, 4), indices, axis=1)))
    assert after.tensors[str(after.nodes[0].inputs[1])].dtype is INT32


def test_indices_beyond_int32_stay(build: Any) -> None:
    """The runtime refuses or clamps them; what it sees must be what the model says."""
    indices = build.graph.add_constant("indices", np.array([BIG], np.int64)).name
    build.graph.outputs = [build.node("Gather", build.input(1, 4), indices, axis=1)]
    after = narrow_integers(build.graph)
    assert after.tensors[str(after.nodes[0].inputs[1])].dtype is INT64


def test_casts_between_integers_vanish(build: Any) -> None:
    index = build.node("Cast", build.node("Cast", arg(build, 1, 4, 10), to="int32", dtype=INT32), to="int64", dtype=INT64)
    table = build.graph.add_constant("table", np.arange(10, dtype=np.float32)).name
    after = narrowed(build.done(build.node("Gather", table, index, axis=0)))
    assert "Cast" not in [node.op for node in after.nodes]


OPERATIONS = ("Add", "Sub", "Mul", "Max", "Min", "Div", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor")


@settings(deadline=None, derandomize=True, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_arithmetic(builder: Any, data: st.DataObject) -> None:
    """Every range holds, and every value is the same."""
    build = builder()
    values = [arg(build, 1, 4, data.draw(st.integers(1, 9), label="dimension"))]
    for _ in range(data.draw(st.integers(1, 5), label="steps")):
        op = data.draw(st.sampled_from(OPERATIONS))
        a = data.draw(st.sampled_from(values))
        number = data.draw(st.one_of(st.integers(1, 9), st.integers(-(1 << 20), -1), st.sampled_from([1 << 31, (1 << 31) - 1, -(1 << 31)])))
        if op == "Mod":
            number = abs(number)
        b = data.draw(st.sampled_from([*values, integers(build, number)])) if op not in ("Div", "Mod") else integers(build, number)
        more = {"fmod": data.draw(st.booleans())} if op == "Mod" else {}
        values.append(build.node(op, a, b, dtype=INT64, **more))
    graph = build.done(values[-1])
    after = narrowed(graph)
    x = np.random.default_rng(1).normal(size=graph.tensors[graph.inputs[0]].shape).astype(np.float32)
    known = integer_ranges(graph)
    result = evaluate(graph, {graph.inputs[0]: x})[graph.outputs[0]]
    if graph.outputs[0] in known:
        assert known[graph.outputs[0]].low <= result.min() and result.max() <= known[graph.outputs[0]].high
    saved = sum(after.tensors[node.output].dtype is INT32 and node.op in OPERATIONS for node in after.nodes)
    assert sum(node.op == "Cast" for node in after.nodes) <= saved


@pytest.mark.parametrize(
    ("op", "operand", "expected"),
    [
        ("Div", 4, Interval(0, 2)),
        ("Div", -4, Interval(-2, 0)),
        ("Mod", 4, Interval(0, 3)),
        ("BitwiseAnd", 6, Interval(0, 6)),
        ("BitwiseXor", 5, Interval(0, 15)),
        ("Sub", 3, Interval(-3, 6)),
    ],
)
def test_ranges(op: str, operand: int, expected: Interval, build: Any) -> None:
    more = {"fmod": False} if op == "Mod" else {}
    graph = build.done(build.node(op, arg(build, 1, 4, 10), integers(build, operand), dtype=INT64, **more))
    assert integer_ranges(graph)[graph.outputs[0]] == expected


def test_sums_and_counts(build: Any) -> None:
    index = arg(build, 1, 4, 10)
    total = build.node("ReduceSum", index, axes=(1,), keepdims=True, dtype=INT64)
    running = build.node("CumSum", index, axis=1, exclusive=False, reverse=False, dtype=INT64)
    known = integer_ranges(build.done(total, running))
    assert (known[total], known[running]) == (Interval(0, 36), Interval(0, 36))
