"""Graph and plan to program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from arenite.emit import Program, Storage, build_program
from arenite.graph import OPERATORS, DType, Graph, Node
from arenite.plan import plan

Make = Callable[..., Program]
MakeGraph = Callable[..., Graph]


def test_calls(make_program: Make) -> None:
    program = make_program()
    assert [(call.op, call.name, call.node) for call in program.calls] == [
        ("Conv", "block/conv", 0),
        ("Conv", "block/conv", 1),
        ("Lookup", "act*/ive/*", 2),
        ("Add", "int", 3),
        ("Fill", "0pad", 4),
        ("StridedCopy", "Ümläut", 5),
        ("FullyConnected", "", 7),
        ("Softmax", "return", 8),
    ]
    assert [call.variant for call in program.calls[:2]] == ["int8", "wide"]
    assert program.macs == 2 * 16 * 2 * 9 * 2 + 3 * 40


def test_records_are_complete_and_of_python_numbers(make_program: Make) -> None:
    for call in make_program().calls:
        params = OPERATORS[call.op].params
        assert list(call.record) == [param.name for param in params]
        for param in params:
            value = call.record[param.name]
            assert len(value) == param.length if isinstance(value, tuple) else param.length == 1
            assert all(type(v) in (int, float) for v in (value if isinstance(value, tuple) else (value,)))


def test_tensors(make_program: Make) -> None:
    program = make_program()
    by_name = {tensor.name: tensor for tensor in program.tensors}
    placed = [t.name for t in program.tensors if t.storage is Storage.REGION]
    assert placed == ["x", "c", "w", "l", "s", "p", "t", "r", "f", "y"]
    assert by_name["r"].offset == by_name["t"].offset
    assert all(t.offset + t.bytes <= program.arena_bytes for t in program.tensors if t.storage is Storage.REGION)
    assert [port.name for port in program.inputs + program.outputs] == ["x", "y"]
    distinct = {(t.offset, t.bytes) for t in program.tensors if t.storage is Storage.CONSTANT}
    assert program.weight_bytes == sum(size for _, size in distinct)


def test_reshape_without_alias_copies(make_graph: MakeGraph) -> None:
    graph = make_graph()
    made = plan(graph)
    apart = replace(made.placements["r"], offset=made.arena_bytes)
    made = replace(made, placements={**made.placements, "r": apart}, memory_bytes=(made.arena_bytes + 48,))
    program = build_program(graph, made, name="g", calibrated=True)
    (copy,) = [call for call in program.calls if call.name == "flat"]
    assert copy.op == "StridedCopy" and copy.record["dims"] == (1, 1, 1, 1, 1, 40)


def test_reshape_of_a_constant_copies(make_graph: MakeGraph) -> None:
    graph = make_graph()
    graph.add_constant("k", np.arange(8, dtype=np.int8).reshape(2, 4))
    graph.add(replace(graph.tensors["x"], name="kr", shape=(8,)))
    graph.nodes.append(Node("Reshape", "k8", ("k",), ("kr",), {"shape": (8,)}))
    graph.outputs.append("kr")
    program = build_program(graph, plan(graph), name="g", calibrated=True)
    (call,) = [call for call in program.calls if call.name == "k8"]
    assert program.tensors[call.inputs[0]].storage is Storage.CONSTANT


def test_scratch_becomes_a_tensor(make_graph: MakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPERATORS, "Softmax", replace(OPERATORS["Softmax"], scratch=lambda node, inputs, outputs: 20))
    graph = make_graph()
    program = build_program(graph, plan(graph), name="g", calibrated=True)
    scratch = program.calls[-1].scratch
    assert scratch is not None and all(call.scratch is None for call in program.calls[:-1])
    tensor = program.tensors[scratch]
    assert (tensor.name, tensor.shape, tensor.dtype, tensor.storage) == ("return.scratch", (5,), DType.FLOAT32, Storage.REGION)


def test_plans_are_checked(make_graph: MakeGraph) -> None:
    graph = make_graph()
    made = plan(graph)
    wrong = replace(made.placements["c"], offset=made.placements["x"].offset)
    with pytest.raises(ValueError, match=r"over its operand x"):
        build_program(graph, replace(made, placements={**made.placements, "c": wrong}), name="g", calibrated=True)


def test_defects_of_earlier_stages_are_named(make_graph: MakeGraph) -> None:
    graph = make_graph()
    graph.nodes[0] = graph.nodes[0].with_attributes(shift=1 << 40)
    with pytest.raises(ValueError, match=r"block/conv \(Conv\): shift = 1099511627776 does not fit int32"):
        build_program(graph, plan(graph), name="g", calibrated=True)
    graph = make_graph()
    graph.nodes[2] = Node("Elementwise", "float", ("w",), ("l",), {})
    with pytest.raises(ValueError, match="float: Elementwise has no stored form"):
        build_program(graph, plan(graph), name="g", calibrated=True)
