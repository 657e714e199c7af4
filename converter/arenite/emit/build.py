"""Quantized graph + memory plan → Program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arenite.emit.constants import place_constants
from arenite.emit.lower_movement import MOVEMENT_OPERATORS, lower_movement
from arenite.emit.program import Call, Port, Program, ProgramState, ProgramTensor, Storage
from arenite.graph import OPERATORS, DType, Graph, Node
from arenite.graph.operators import Form, Record
from arenite.plan import MemoryPlan, check


def build_program(
    graph: Graph,
    plan: MemoryPlan,
    *,
    name: str,
    calibrated: bool,
    precision: str = "int8",
    output_names: Sequence[str] | None = None,
) -> Program:
    """Write `graph` (int8 or typed form) as kernel calls over the places that `plan` gives.

    `name` is a C identifier; `calibrated` False marks ranges that were measured on synthetic inputs. `output_names` are those of
    the ONNX file, where the tensors of `graph` may have others (an output that is an input is a copy of it). Raises
    UnsupportedModelError where a movement has no form that the kernels know, ValueError where graph or plan break their contracts (a
    defect of ours).
    """
    check(graph, plan)
    table = _Tensors(graph, plan)
    calls = [call for index in plan.order for call in _calls(graph, plan, table, index)]
    return Program(
        name=name,
        tensors=tuple(table.tensors),
        calls=tuple(calls),
        inputs=tuple(Port(tensor, table.index(tensor), graph.labels.get(tensor, ())) for tensor in graph.input_ports),
        outputs=tuple(
            Port(port, table.index(tensor), graph.labels.get(tensor, ()))
            for port, tensor in zip(output_names or graph.outputs, graph.outputs, strict=True)
            if tensor in graph.output_ports
        ),
        memories=plan.memories,
        memory_bytes=plan.memory_bytes,
        calibrated=calibrated,
        precision=precision,
        states=tuple(ProgramState(table.index(state.output), table.index(state.input)) for state in graph.states),
    )


@dataclass
class _Tensors:
    """The program's tensors: inputs, then results in execution order, then scratch, then constants in the order of their use."""

    graph: Graph
    plan: MemoryPlan
    tensors: list[ProgramTensor] = field(default_factory=list)
    indices: dict[str, int] = field(default_factory=dict)
    scratch: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes = [self.graph.nodes[index] for index in self.plan.order]
        for name in dict.fromkeys([*self.graph.inputs, *(output for node in nodes for output in node.outputs)]):
            self._add_placed(name)
        for index in self.plan.order:
            if index in self.plan.scratch:
                self._add_scratch(index)
        read = [name for node in nodes for name in node.inputs if name is not None] + self.graph.outputs
        self._add_constants([name for name in dict.fromkeys(read) if self.graph.tensors[name].is_constant])

    def index(self, name: str) -> int:
        return self.indices[name]

    def _add_placed(self, name: str) -> None:
        tensor, place = self.graph.tensors[name], self.plan.placements[name]
        self.indices[name] = len(self.tensors)
        self.tensors.append(
            ProgramTensor(name, tensor.shape, tensor.dtype, Storage.REGION, place.memory, place.offset, quantization=tensor.quantization)
        )

    def _add_scratch(self, index: int) -> None:
        place = self.plan.scratch[index]
        self.scratch[index] = len(self.tensors)
        name = self.graph.fresh(f"{self.graph.nodes[index].name}.scratch")
        # As words, so that a reader of the file checks that they are aligned for floats.
        self.tensors.append(ProgramTensor(name, (-(-place.bytes // 4),), DType.FLOAT32, Storage.REGION, place.memory, place.offset))

    def _add_constants(self, names: list[str]) -> None:
        offsets = place_constants(self.graph.tensors[name] for name in names)
        same: dict[tuple[int, DType, tuple[int, ...]], int] = {}
        for name in names:
            tensor = self.graph.tensors[name]
            key = (offsets[name], tensor.dtype, tensor.shape)
            if key not in same:
                same[key] = len(self.tensors)
                self.tensors.append(
                    ProgramTensor(name, tensor.shape, tensor.dtype, Storage.CONSTANT, 0, offsets[name], tensor.data, tensor.quantization)
                )
            self.indices[name] = same[key]


def _calls(graph: Graph, plan: MemoryPlan, table: _Tensors, index: int) -> list[Call]:
    node = graph.nodes[index]
    output = graph.tensors[node.output]
    if node.op in MOVEMENT_OPERATORS:
        if node.op == "Reshape" and _same_place(plan, node.input, node.output):
            return []
        inputs = [graph.tensor(name) for name in node.inputs]
        return [
            Call(
                op=move.op,
                variant=OPERATORS[move.op].variants[0],
                name=node.name,
                record=_checked(OPERATORS[move.op].forms[0], node, move.record),
                inputs=() if move.source is None else (table.index(inputs[move.source].name),),
                outputs=(table.index(node.output),),
                scratch=None,
                macs=0,
                node=index,
            )
            for move in lower_movement(graph.name, node, inputs, output)
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
            inputs=tuple(-1 if name is None else table.index(name) for name in node.inputs),
            outputs=tuple(table.index(name) for name in node.outputs),
            scratch=table.scratch.get(index),
            macs=operator.macs(operands, output.shape),
            node=index,
        )
    ]


def _same_place(plan: MemoryPlan, a: str, b: str) -> bool:
    if a not in plan.placements:
        return False  # a constant
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
