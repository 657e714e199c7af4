"""Quantized graph + memory plan → Program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arenite.emit.arrange import arranged, stored_operands
from arenite.emit.control import control_calls
from arenite.emit.lower_movement import MOVEMENT_OPERATORS, Move, lower_borders, lower_movement
from arenite.emit.program import Call, Port, Program, ProgramState
from arenite.emit.tensor_table import Scope, TensorTable, pad_in_place
from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators import Form, Record
from arenite.graph.operators.movement import VIEWS
from arenite.plan import MemoryPlan, check


def build_program(
    graph: Graph,
    plan: MemoryPlan,
    *,
    name: str,
    calibrated: bool,
    precision: str = "int8",
    output_names: Sequence[str] | None = None,
    expected: Mapping[str, tuple[float, float]] | None = None,
) -> Program:
    """Write `graph` (int8 or typed form) as kernel calls over the places that `plan` gives.

    `name` is a C identifier; `calibrated` False marks ranges that were measured on synthetic inputs. `output_names` are those of
    the ONNX file, where the tensors of `graph` may have others (an output that is an input is a copy of it). `expected`: the least and
    the greatest real value of each input in calibration, as far as known. Raises UnsupportedModelError where a movement has no form that
    the kernels know, ValueError where graph or plan break their contracts (a defect of ours).
    """
    check(graph, plan)
    graph = arranged(graph)
    table = TensorTable(graph, plan)
    main = table.main
    calls = [call for index in plan.order for call in _calls(main, index)]
    return Program(
        name=name,
        tensors=tuple(table.tensors),
        calls=tuple(calls),
        inputs=tuple(
            Port(tensor, main.index(tensor), graph.labels.get(tensor, ()), (expected or {}).get(tensor)) for tensor in graph.input_ports
        ),
        outputs=tuple(
            Port(port, main.index(tensor), graph.labels.get(tensor, ()))
            for port, tensor in zip(output_names or graph.outputs, graph.outputs, strict=True)
            if tensor in graph.output_ports
        ),
        memories=plan.memories,
        memory_bytes=plan.memory_bytes,
        calibrated=calibrated,
        precision=precision,
        states=tuple(ProgramState(main.index(state.output), main.index(state.input)) for state in graph.states),
    )


def _calls(scope: Scope, index: int) -> list[Call]:
    graph = scope.graph
    node = graph.nodes[index]
    if node.bodies:
        return control_calls(scope, index, _calls)
    output = graph.tensors[node.output]
    at, named = (index, "") if scope.parent is None else (scope.root, node.op)
    origins = () if scope.parent is None else (node.origins or (node.name,))
    if node.op in MOVEMENT_OPERATORS:
        if node.op in VIEWS and _same_place(scope, node.input, node.output):
            return []
        inputs = [graph.tensor(name) for name in node.inputs]
        start = pad_in_place(scope, node) if node.op == "Pad" else None
        if start is None:
            moves = lower_movement(graph.name, node, inputs, output)
        else:
            moves = lower_borders(graph.name, node, inputs, output, start)
        return [
            Call(
                op=move.op,
                variant=OPERATORS[move.op].variants[0],
                name=node.name,
                record=_checked(OPERATORS[move.op].forms[0], node, move.record),
                inputs=() if move.source is None else (scope.index(inputs[move.source].name),),
                outputs=(scope.tails[index] if move.at else scope.index(node.output),),
                scratch=None,
                macs=0,
                node=at,
                form=named,
                origins=origins,
                band=node.band,
            )
            for move in moves
            if not _stays(scope, node, move)
        ]
    operator = OPERATORS[node.op]
    variant = str(node.attributes.get("variant", operator.variants[0]))
    form = operator.form(variant)
    if form.record is None:
        raise ValueError(f"{node.name}: {node.op} has no stored form; quantization should have rewritten it")
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    outputs = [graph.tensors[name] for name in node.outputs]
    return [
        Call(
            op=node.op,
            variant=variant,
            name=node.name,
            record=_checked(form, node, form.record(node, operands, outputs)),
            inputs=tuple(-1 if name is None else scope.index(name) for name in stored_operands(node)),
            outputs=tuple(scope.index(name) for name in node.outputs),
            scratch=scope.scratch.get(index),
            macs=operator.macs(operands, output.shape) * scope.repetitions,
            node=at,
            form=named,
            origins=origins,
            band=node.band,
        )
    ]


def _stays(scope: Scope, node: Node, move: Move) -> bool:
    """Every element lies already where it would be copied to: the plan made the operand a part of the result, or the other way round."""
    name = None if move.source is None else node.inputs[move.source]
    if name is None or name not in scope.plan.placements:
        return False
    source, result = scope.plan.placements[name], scope.plan.placements[node.output]
    record: dict[str, Any] = dict(move.record)
    walked = zip(record["dims"], record["input_stride"], record["output_stride"], strict=True)
    if any(size > 1 and one != other for size, one, other in walked):
        return False
    first, second = (record[key] * record["element_size"] for key in ("input_offset", "output_offset"))
    return source.memory == result.memory and bool(source.offset + first == result.offset + second)


def _same_place(scope: Scope, a: str, b: str) -> bool:
    plan = scope.plan
    if a not in plan.placements:
        return False  # a constant, or outside of the body
    first, second = plan.placements[a], plan.placements[b]
    return (first.memory, first.offset) == (second.memory, second.offset)


def _checked(form: Form, node: Node, record: Record) -> Record:
    """`record` in the order of the form's parameters, as Python numbers. Raises ValueError where it does not fit them."""
    names = [param.name for param in form.params]
    if sorted(record) != sorted(names):
        raise ValueError(f"{node.name} ({node.op}): the record has {sorted(record)}, not {sorted(names)}")
    checked: Record = {}
    for param in form.params:
        value: Any = record[param.name]
        values = tuple(value) if param.length > 1 else (value,)
        if len(values) != param.length:
            raise ValueError(f"{node.name} ({node.op}): {param.name} has {len(values)} values, not {param.length}")
        if param.is_float:
            numbers: tuple[Any, ...] = tuple(float(np.float32(v)) for v in values)
        else:
            numbers = tuple(int(v) for v in values)
            if any(not -(1 << 31) <= v < 1 << 31 for v in numbers):
                raise ValueError(f"{node.name} ({node.op}): {param.name} = {value} does not fit int32")
        checked[param.name] = numbers if param.length > 1 else numbers[0]
    return checked
