"""The whole planner on graphs: random ones through the checker, and what the design promises for particular ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from arenite.errors import PlanError
from arenite.graph import OPERATORS, DType, Graph, Node, Quantization, Tensor
from arenite.graph.operators.declaration import Overlap
from arenite.plan import Memory, MemoryKind, MemoryPlan, check, plan
from arenite.plan.traffic import traffic
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray


@pytest.fixture(autouse=True, scope="module")
def invented_distances() -> Iterator[None]:
    """Operators with weights say in attributes how they overlap and what scratch memory they need: real ones are for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        for op in ("Conv", "DepthwiseConv", "FullyConnected", "AveragePool"):
            invented = replace(
                OPERATORS[op],
                overlaps=lambda node, inputs, outputs: node.attributes.get("overlaps", {}),
                scratch=lambda node, inputs, outputs: node.attributes.get("scratch", 0),
                macs=lambda inputs, output: 0,
            )
            patch.setitem(OPERATORS, op, invented)
        yield


def add(graph: Graph, name: str, shape: tuple[int, ...], dtype: DType = DType.INT8) -> str:
    graph.add(Tensor(name, shape, dtype, quantization=Quantization.per_tensor(0.1, 0) if dtype is DType.INT8 else None))
    return name


def apply(graph: Graph, op: str, inputs: list[str], shape: tuple[int, ...], **attributes: object) -> str:
    output = add(graph, f"t{len(graph.nodes)}", shape)
    if op == "Reshape":
        attributes["shape"] = shape
    graph.nodes.append(Node(op, f"n{len(graph.nodes)}", tuple(inputs), (output,), attributes))
    return output


@st.composite
def graphs(draw: st.DrawFn, most_nodes: int = 12) -> Graph:
    """Operators that matter to the planner: in place, overlapping or not, reshapes, broadcasts, parts; values read many times."""
    graph = Graph("random")
    for i in range(draw(st.integers(1, 2))):
        graph.inputs.append(add(graph, f"x{i}", (draw(st.integers(1, 6)), draw(st.integers(1, 40)))))
    graph.add_constant("table", bytes_table())
    for _ in range(draw(st.integers(1, most_nodes))):
        values = [name for name, tensor in graph.tensors.items() if not tensor.is_constant]
        a = draw(st.sampled_from(values))
        shape = graph.tensors[a].shape
        match draw(st.sampled_from(["Lookup", "Add", "AddBroadcast", "Reshape", "Concat", "Slice", "Fixed", "Softmax"])):
            case "Lookup":
                apply(graph, "Lookup", [a, "table"], shape)
            case "Add":
                b = draw(st.sampled_from([v for v in values if graph.tensors[v].shape == shape]))
                apply(graph, "Add", [a, b], shape)
            case "AddBroadcast":
                row = apply(graph, "Slice", [a], (1, shape[1]), starts=(0, 0), steps=(1, 1), sizes=(1, shape[1]))
                apply(graph, "Add", [row, a], shape)
            case "Reshape":
                apply(graph, "Reshape", [a], (1, prod(shape)))
            case "Concat":
                b = draw(st.sampled_from([v for v in values if graph.tensors[v].shape[1] == shape[1]]))
                apply(graph, "Concat", [a, b], (shape[0] + graph.tensors[b].shape[0], shape[1]), axis=0)
            case "Slice":
                rows = draw(st.integers(1, shape[0]))
                start = draw(st.integers(0, shape[0] - rows))
                apply(graph, "Slice", [a], (rows, shape[1]), starts=(start, 0), steps=(1, 1), sizes=(rows, shape[1]))
            case "Softmax":
                apply(graph, "Softmax", [a, "table"], shape)
            case "Fixed":
                overlap = Overlap(draw(st.integers(0, 60)), draw(st.sampled_from([1, 1, 3, 8])))
                overlaps = {0: overlap} if draw(st.booleans()) else {}
                apply(graph, "FullyConnected", [a], (shape[0], draw(st.integers(1, 40))), overlaps=overlaps)
    computed = [output for node in graph.nodes for output in node.outputs]
    others = draw(st.lists(st.sampled_from([*graph.inputs, *computed]), max_size=2))
    graph.outputs = list(dict.fromkeys([computed[-1], *others]))
    return graph


def bytes_table() -> NDArray[np.int8]:
    return np.arange(256).astype(np.int8)


def check_plan(graph: Graph, keep_inputs: bool) -> None:
    made = plan(graph, keep_inputs=keep_inputs)
    check(graph, made)
    assert made.lower_bound <= made.arena_bytes
    assert made.proven_optimal == (made.arena_bytes == made.lower_bound)
    assert 0 <= made.peak_step < len(graph.nodes)
    natural = plan(graph, keep_inputs=keep_inputs, order=range(len(graph.nodes)))
    check(graph, natural)
    assert made.arena_bytes <= natural.arena_bytes or not (made.proven_optimal and natural.proven_optimal)
    for name in graph.inputs:
        assert (made.placements[name].last == len(graph.nodes)) == (keep_inputs or name in graph.outputs)


@settings(deadline=None, derandomize=True, max_examples=120)
@given(graphs(), st.booleans())
def test_random_graphs(graph: Graph, keep_inputs: bool) -> None:
    check_plan(graph, keep_inputs)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=800)
@given(graphs(25), st.booleans())
def test_random_graphs_long(graph: Graph, keep_inputs: bool) -> None:
    check_plan(graph, keep_inputs)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(graphs(), st.data())
def test_any_topological_order(graph: Graph, data: st.DataObject) -> None:
    left, ready, order = list(range(len(graph.nodes))), {*graph.inputs, "table"}, []
    while left:
        possible = [i for i in left if all(name in ready for name in graph.nodes[i].inputs)]
        order.append(data.draw(st.sampled_from(possible)))
        ready.update(graph.nodes[order[-1]].outputs)
        left.remove(order[-1])
    made = plan(graph, order=order)
    assert made.order == tuple(order)
    check(graph, made)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(graphs(), st.integers(1, 20))
def test_two_memories(graph: Graph, capacity: int) -> None:
    fast = Memory("dtcm", 16 * capacity)
    made = plan(graph, memories=(fast, Memory("sdram")))
    check(graph, made)
    assert made.memory_bytes[0] <= 16 * capacity
    alone = plan(graph)
    if alone.arena_bytes <= 16 * capacity:
        assert made.memory_bytes == (alone.arena_bytes, 0)
    elsewhere = [name for name, place in made.placements.items() if place.memory == 1] + [i for i, p in made.scratch.items() if p.memory]
    assert bool(elsewhere) == (made.memory_bytes[1] > 0)


def test_the_fast_memory_holds_what_is_used_most_for_its_size() -> None:
    """A value that is read three times stays; one as large that waits for a single reader goes on, wherever it stands."""
    for hot, cold in (("x0", "x1"), ("x1", "x0")):
        graph = Graph("traffic", inputs=[])
        graph.inputs += [add(graph, "x0", (1, 64)), add(graph, "x1", (1, 64))]
        twice = apply(graph, "Add", [hot, hot], (1, 64))
        value = apply(graph, "Add", [apply(graph, "Add", [twice, twice], (1, 64)), hot], (1, 64))
        graph.outputs = [apply(graph, "Add", [value, cold], (1, 64))]
        moved = traffic(graph)
        assert moved.tensors[hot] == 64 + 3 * 64 and moved.tensors[cold] == 2 * 64
        made = plan(graph, memories=(Memory("dtcm", 128), Memory("sdram")))
        check(graph, made)
        assert made.placements[hot].memory == 0 and made.placements[cold].memory == 1


def test_traffic_of_windows() -> None:
    """Of a 3x3 convolution, every pixel is gathered about nine times; each product reads its input through scratch memory."""
    graph = Graph("windows", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 8, 8, 4)))
    graph.add_constant("w", np.zeros((16, 3, 3, 4), np.int8))
    graph.nodes.append(Node("Conv", "n", ("x", "w"), ("y",), {}))
    graph.outputs.append(add(graph, "y", (1, 8, 8, 16)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPERATORS, "Conv", replace(OPERATORS["Conv"], macs=lambda inputs, output: prod(output) * 36))
        moved = traffic(graph)
    assert moved.tensors == {"x": 256 + 9 * 256, "y": 2 * 1024}
    assert moved.scratch == {0: 9 * 256 + 64 * 16 * 36 // 2}


def ds_cnn() -> Graph:
    """The shapes of MLPerf Tiny's keyword spotting network."""
    graph = Graph("kws", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 49, 10, 1)))
    value = apply(graph, "Conv", ["x"], (1, 25, 5, 64))
    for _ in range(4):
        value = apply(graph, "DepthwiseConv", [value], (1, 25, 5, 64))
        value = apply(graph, "Conv", [value], (1, 25, 5, 64))
    value = apply(graph, "AveragePool", [value], (1, 1, 1, 64))
    value = apply(graph, "Reshape", [value], (1, 64))
    value = apply(graph, "FullyConnected", [value], (1, 12))
    graph.outputs = [apply(graph, "Softmax", [value], (1, 12))]
    return graph


def test_ds_cnn_needs_two_activations() -> None:
    made = plan(ds_cnn())
    assert made.arena_bytes == made.lower_bound == 16_000 and made.proven_optimal
    assert made.notes == ("no execution order needs less than 16,000 bytes at its peak",)
    assert made.aliases["t10"] == "t9" and made.arena_bytes == 16_000


def test_ds_cnn_with_overlaps() -> None:
    """In place through depthwise layers, 128 bytes lower through pointwise ones."""
    graph = ds_cnn()
    for index, node in enumerate(graph.nodes):
        if node.op in ("Conv", "DepthwiseConv") and index:
            overlap = Overlap(125) if node.op == "Conv" else Overlap(0, 64)
            graph.nodes[index] = node.with_attributes(overlaps={0: overlap})
    made = plan(graph)
    check(graph, made)
    assert made.arena_bytes == made.lower_bound == 8_000 + 4 * 128 and made.proven_optimal
    assert made.placements["t7"].offset == made.placements["t8"].offset + 128
    assert made.aliases["t8"] == "t7"


def test_in_place_needs_a_dying_operand_of_the_same_size() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (4, 16)))
    small = apply(graph, "FullyConnected", ["x"], (1, 16))
    total = apply(graph, "Add", [small, "x"], (4, 16))  # takes x, not the broadcast row
    twice = apply(graph, "Add", [total, total], (4, 16))
    first = apply(graph, "Lookup", [twice], (4, 16))  # twice is read again
    graph.outputs = [apply(graph, "Add", [twice, first], (4, 16))]
    made = plan(graph)
    check(graph, made)
    assert made.aliases["t1"] == "x" and made.arena_bytes == 128
    kept = plan(graph, keep_inputs=True)
    check(graph, kept)
    assert "t1" not in kept.aliases


def test_a_view_keeps_its_root_alive() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (2, 8)))
    flat = apply(graph, "Reshape", ["x"], (1, 16))
    changed = apply(graph, "Lookup", ["x"], (2, 8))  # must not overwrite x: the view is read later
    again = apply(graph, "Reshape", [changed], (1, 16))
    graph.outputs = [apply(graph, "Add", [flat, again], (1, 16))]
    made = plan(graph)
    check(graph, made)
    assert made.aliases["t0"] == "x" and "t1" not in made.aliases
    assert made.arena_bytes == 32


def test_quantize_shrinks_in_place() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 64), DType.FLOAT32))
    q = apply(graph, "Quantize", ["x"], (1, 64))
    graph.outputs = [apply(graph, "FullyConnected", [q], (1, 192))]
    made = plan(graph)
    check(graph, made)
    assert made.aliases == {"t0": "x"} and made.arena_bytes == 256  # the result lies where the floats' upper bytes were


def test_input_that_is_an_output() -> None:
    graph = Graph("g", inputs=[], outputs=["x"])
    graph.inputs.append(add(graph, "x", (1, 16)))
    graph.outputs = ["x", apply(graph, "Lookup", ["x"], (1, 16))]
    made = plan(graph)
    check(graph, made)
    assert made.aliases == {} and made.arena_bytes == 32


def test_no_nodes() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 16)))
    graph.outputs = ["x"]
    made = plan(graph)
    check(graph, made)
    assert (made.order, made.arena_bytes, made.peak_step) == ((), 16, 0)


def test_scratch_is_live_during_its_node_only() -> None:
    graph = ds_cnn()
    graph.nodes = [node.with_attributes(scratch=100) if node.op == "Conv" else node for node in graph.nodes]
    made = plan(graph)
    check(graph, made)
    assert sorted(made.scratch) == [0, 2, 4, 6, 8] and made.arena_bytes == 16_000 + 100
    assert all(place.bytes == 100 and place.first == place.last for place in made.scratch.values())
    with pytest.raises(ValueError, match="scratch memory"):
        check(graph, replace(made, scratch={}))


def test_capacity() -> None:
    with pytest.raises(PlanError, match=r"kws: .*16,000 bytes .*arena 15,999 bytes.*raise the limit"):
        plan(ds_cnn(), memories=(Memory("arena", 15_999),))
    with pytest.raises(PlanError, match=r"kws"):
        plan(ds_cnn(), memories=(Memory("arena", 1_000), Memory("flash", None, 16, MemoryKind.EXTERNAL)))


def test_orders_that_are_none() -> None:
    with pytest.raises(ValueError, match="before t0 is computed"):
        plan(ds_cnn(), order=[1, 0, *range(2, 13)])
    with pytest.raises(ValueError, match="each of 13 nodes once"):
        plan(ds_cnn(), order=[0, 0])


def test_constant_output() -> None:
    graph = ds_cnn()
    graph.outputs.append(graph.add_constant("c", bytes_table()).name)
    with pytest.raises(PlanError, match="output c is a constant"):
        plan(graph)


# The checker must see every kind of fault, or the tests above mean nothing.


def spoiled(made: MemoryPlan, name: str, **changes: int) -> MemoryPlan:
    return replace(made, placements={**made.placements, name: replace(made.placements[name], **changes)})


def test_checker_sees_overlaps() -> None:
    graph, made = ds_cnn(), plan(ds_cnn())
    for name, place in made.placements.items():
        if name in made.aliases or name in made.aliases.values():
            continue
        other = next(n for n, p in made.placements.items() if p.first == place.last and n != name)
        with pytest.raises(ValueError, match=r"overwritten|over its operand"):
            check(graph, spoiled(made, other, offset=place.offset))


def test_checker_sees_places_that_are_none() -> None:
    graph, made = ds_cnn(), plan(ds_cnn())
    for changes in ({"offset": 16_000}, {"bytes": 7_984}, {"last": 1}, {"first": 3}):
        with pytest.raises(ValueError):
            check(graph, spoiled(made, "t1", **changes))
    wide = Graph("g", inputs=[], outputs=["x"])
    wide.inputs.append(add(wide, "x", (1, 16), DType.FLOAT32))
    with pytest.raises(ValueError, match="not aligned"):
        check(wide, replace(spoiled(plan(wide), "x", offset=2), memory_bytes=(100,)))
    with pytest.raises(ValueError, match="has no place"):
        check(graph, replace(made, placements={k: v for k, v in made.placements.items() if k != "t3"}))
    with pytest.raises(ValueError, match="before it is computed"):
        check(graph, replace(made, order=(1, 0, *made.order[2:])))
    with pytest.raises(ValueError, match="arena has 100 bytes"):
        check(graph, replace(made, memories=(Memory("arena", 100),)))


def test_checker_sees_operands_that_are_read_again() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 16)))
    a = apply(graph, "Lookup", ["x"], (1, 16))
    graph.outputs = [apply(graph, "Add", [a, "x"], (1, 16))]
    made = plan(graph)
    check(graph, made)
    with pytest.raises(ValueError, match="x have been overwritten by t0"):
        check(graph, spoiled(made, "t0", offset=made.placements["x"].offset))


def overlapping(distance: int, step: int = 1) -> Graph:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 64)))
    graph.outputs = [apply(graph, "FullyConnected", ["x"], (1, 64), overlaps={0: Overlap(distance, step)})]
    return graph


@pytest.mark.parametrize("distance, step", [(0, 1), (8, 1), (13, 1), (0, 12), (24, 24), (63, 1)])
def test_checker_sees_distances_that_are_too_short(distance: int, step: int) -> None:
    """Every distance below the one that is stated, every one that is no multiple, and no other."""
    graph = overlapping(distance, step)
    made = plan(graph)
    check(graph, made)
    for delta in range(-66, 67):
        x, y = max(0, delta), max(0, -delta)
        moved = replace(spoiled(spoiled(made, "x", offset=x), "t0", offset=y), memory_bytes=(200,))
        if abs(delta) >= 64 or (delta >= distance and delta % step == 0):
            check(graph, moved)
        else:
            with pytest.raises(ValueError, match="over its operand x"):
                check(graph, moved)


def test_an_operand_read_twice_must_allow_it_twice() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 64)))
    graph.outputs = [apply(graph, "FullyConnected", ["x", "x"], (1, 64), overlaps={0: Overlap(0)})]
    made = plan(graph)
    check(graph, made)
    assert made.arena_bytes == 128
    graph.nodes[0] = graph.nodes[0].with_attributes(overlaps={0: Overlap(4, 6), 1: Overlap(10, 4)})
    made = plan(graph)
    check(graph, made)
    assert made.placements["x"].offset - made.placements["t0"].offset == 12


def joined(*rows: int) -> Graph:
    """Results of these many rows of 16 bytes, one after the other in one tensor."""
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 16)))
    parts = [apply(graph, "FullyConnected", ["x"], (count, 16)) for count in rows]
    graph.outputs = [apply(graph, "Concat", parts, (sum(rows), 16), axis=0)]
    return graph


def test_concat_is_written_in_parts() -> None:
    graph = joined(2, 3, 1)
    made = plan(graph)
    check(graph, made)
    whole = made.placements["t3"].offset
    assert [made.placements[f"t{i}"].offset - whole for i in range(3)] == [0, 32, 80]
    assert made.arena_bytes == made.lower_bound == 96 + 16
    with pytest.raises(ValueError, match="over its operand t2"):
        check(graph, replace(spoiled(spoiled(made, "x", offset=150), "t2", offset=whole + 84), memory_bytes=(200,)))


def test_concat_along_an_inner_axis_is_copied() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (2, 16)))
    parts = [apply(graph, "FullyConnected", ["x"], (2, 16)) for _ in range(2)]
    graph.outputs = [apply(graph, "Concat", parts, (2, 32), axis=1)]
    made = plan(graph)
    check(graph, made)
    assert made.arena_bytes == 128
    with pytest.raises(ValueError, match="over its operand t0"):
        check(graph, spoiled(made, "t2", offset=made.placements["t0"].offset))


def test_split_is_not_copied() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (1, 32)))
    value = apply(graph, "FullyConnected", ["x"], (4, 16))
    halves = [apply(graph, "Slice", [value], (2, 16), starts=(start, 0), steps=(1, 1), sizes=(2, 16)) for start in (0, 2)]
    graph.outputs = [apply(graph, "Add", halves, (2, 16)), apply(graph, "Lookup", [value], (4, 16))]
    made = plan(graph)
    check(graph, made)
    offset = made.placements[value].offset
    assert [made.placements[half].offset - offset for half in halves] == [0, 32]
    assert made.arena_bytes == 96


def test_a_slice_does_not_outlive_an_input_that_the_caller_writes() -> None:
    graph = Graph("g", inputs=[])
    graph.inputs.append(add(graph, "x", (4, 16)))
    graph.outputs = [apply(graph, "Slice", ["x"], (2, 16), starts=(1, 0), steps=(1, 1), sizes=(2, 16))]
    made = plan(graph, keep_inputs=True)
    check(graph, made)
    assert made.arena_bytes == 96
