"""The calls of a program as C text, for the compiled form: constants, records and call statements, named after the user's layers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from arenite.emit import c_text
from arenite.emit.c_control import CONTROL, Blocks, indented
from arenite.emit.c_memories import further_memories, pointers, sections
from arenite.emit.constants import alignment
from arenite.emit.identifiers import layer_names, unique
from arenite.emit.kernels import kernel_function, params_type
from arenite.emit.program import Call, Program, ProgramTensor, Storage
from arenite.graph import OPERATORS, DType


@dataclass(frozen=True)
class Layer:
    """One call: the definitions that it is the first to need, under a title, and the statement, under a comment."""

    title: str
    comment: str
    definitions: tuple[str, ...]
    statement: str


def layers(program: Program, taken: Iterable[str]) -> list[Layer]:
    """Every call in execution order. `taken` are identifiers that the file uses otherwise."""
    nodes: dict[tuple[int | str, str], str] = {}
    for call in program.calls:
        nodes.setdefault(_layer_key(call), call.name or OPERATORS[call.op].name)
    names = dict(zip(nodes, layer_names(list(nodes.values()), taken), strict=True))
    writer = _Writer(program, set(taken), pointers(further_memories(program)))
    blocks = Blocks(program.calls, writer.pointer)
    described = []
    for at, call in enumerate(program.calls):
        name = names[_layer_key(call)]
        layer = writer.control(call, name, at, blocks) if call.op in CONTROL else writer.layer(call, name, at, blocks.depth)
        closed = blocks.closed(at)
        described.append(replace(layer, statement=f"{layer.statement}\n{closed}".strip("\n")) if closed else layer)
    return described


def _layer_key(call: Call) -> tuple[int | str, str]:
    """Equal for calls that have a name in C in common: those of a node, and all bands of a layer."""
    return (call.node if call.band is None else call.band.tensor), call.name


@dataclass
class _Writer:
    program: Program
    used: set[str]
    pointers: dict[int, str]
    """The C name of each memory's first byte."""
    constants: dict[int, str] = field(default_factory=dict)
    """C name by index of the constant tensor."""
    records: dict[str, str] = field(default_factory=dict)
    """C name of the parameters of bands by the text that defines them but for the name: equal ones are one."""

    def layer(self, call: Call, name: str, at: int, depth: int) -> Layer:
        definitions = [self._constant(index, f"{name}_{self._operand(call, position)}") for position, index in enumerate(call.inputs)]
        params, record = self._params(call, name)
        definitions.append(record)
        as_bytes = call.op == "Lookup"  # its table is in terms of the byte, whatever that means: int8 or uint8
        arguments = [f"&{params}", *(self._argument(index, as_bytes) for index in (*call.inputs, *call.outputs))]
        if call.scratch is not None:
            arguments.append(self._argument(call.scratch))
        return Layer(
            title=c_text.wrapped(c_text.comment(f"{call.name or call.op} ({call.op})"), ""),
            comment=indented(c_text.wrapped(c_text.comment(self._describe(call))), depth),
            definitions=tuple(text for text in definitions if text),
            statement=indented(f"{c_text.INDENT}ARN_LAYER({at});\n{c_text.call(kernel_function(call.op, call.variant), arguments)}", depth),
        )

    def control(self, call: Call, name: str, at: int, blocks: Blocks) -> Layer:
        """An if or a for, or what stands between their calls."""
        definitions = [self._constant(index, f"{name}_{self._operand(call, position)}") for position, index in enumerate(call.inputs)]
        begins = call.op in ("SkipUnless", "BeginLoop")
        counter = self._fresh(f"{name}_count") if call.op == "BeginLoop" else ""
        return Layer(
            title=c_text.wrapped(c_text.comment(f"{call.name or call.op} ({call.op})"), ""),
            comment=indented(c_text.wrapped(c_text.comment(f"{call.name or call.op}: {call.form}")), blocks.depth) if begins else "",
            definitions=tuple(text for text in definitions if text),
            statement=blocks.statement(at, counter),
        )

    def pointer(self, index: int) -> str:
        return self._argument(index)

    def _params(self, call: Call, name: str) -> tuple[str, str]:
        """The name of a call's record, and its definition where that is new."""
        if call.band is None:
            params = self._fresh(f"{name}_params")
            return params, _record(call, params)
        text = _record(call, "")
        if text in self.records:
            return self.records[text], ""
        first, last = call.band.rows[0], call.band.rows[1] - 1
        part = f"{name}_rows_{first}_{last}" if last > first else f"{name}_row_{first}"
        params = self._fresh(f"{part}_{'copy_' if call.op == 'StridedCopy' else ''}params")
        self.records[text] = params
        return params, _record(call, params)

    def _fresh(self, name: str) -> str:
        chosen = unique(name, self.used)
        self.used.add(chosen)
        return chosen

    def _operand(self, call: Call, position: int) -> str:
        if position > 0 and call.variant in OPERATORS[call.op].streams:
            return "stream"
        stored = OPERATORS[call.op].form(call.variant).stored
        return stored[position].name if position < len(stored) else f"operand_{position}"

    def _constant(self, index: int, name: str) -> str:
        """The definition of a constant under `name`; empty for what lies in the arena or has been defined for an earlier layer."""
        if index < 0 or index in self.constants or self.program.tensors[index].storage is Storage.REGION:
            return ""
        tensor = self.program.tensors[index]
        if tensor.data is None:
            raise ValueError(f"constant {tensor.name} has no data")
        self.constants[index] = self._fresh(name)
        # What is in RAM is not const: compilers put that into read-only memory.
        section = sections(self.program).get(tensor.memory) if tensor.storage is Storage.EXTERNAL else None
        qualifier = "" if section else "const "
        declaration = f"static {qualifier}{c_text.C_TYPES[tensor.dtype]} {self.constants[index]}[{tensor.elements}]"
        if alignment(tensor.data.dtype) > tensor.dtype.itemsize:
            declaration += f" ARN_ALIGNED({alignment(tensor.data.dtype)})"
        if section:
            declaration += f" {section}"
        return c_text.array(declaration, c_text.literals(tensor.data))

    def _argument(self, index: int, as_bytes: bool = False) -> str:
        if index < 0:
            return "0"  # an optional operand that is absent
        if index in self.constants:
            return self.constants[index]
        tensor = self.program.tensors[index]
        place = f"{self.pointers[tensor.memory]} + {tensor.offset}"
        if as_bytes or tensor.dtype is DType.INT8:
            return place
        return f"({c_text.C_TYPES[tensor.dtype]} *)(void *)({place})"

    def _describe(self, call: Call) -> str:
        tensors = self.program.tensors
        operands = [tensors[index] for index in call.inputs if index >= 0 and tensors[index].storage is Storage.REGION]
        outputs = [tensors[index] for index in call.outputs]
        variant = "" if call.variant == OPERATORS[call.op].variants[0] else f" ({call.variant})"
        rows = "" if call.band is None else f", rows {call.band.rows[0]} to {call.band.rows[1] - 1}"
        text = f"{call.name or call.op}{rows}: {call.op}{variant} {_flow(map(_shape, operands), map(_shape, outputs))}"
        if call.macs:
            text += f", {call.macs:,} MACs"
        places = _flow(map(self._place, operands), map(self._place, outputs))
        return f"{text}; arena {places}" if len(self.pointers) == 1 else f"{text}; {places}"

    def _place(self, tensor: ProgramTensor) -> str:
        """In the arena, which a comment names once, or with the memory's name where there are several."""
        place = f"[{tensor.offset}, {tensor.offset + tensor.bytes})"
        return place if len(self.pointers) == 1 else f"{self.pointers[tensor.memory]} {place}"


def _flow(sources: Iterable[str], targets: Iterable[str]) -> str:
    return f"{', '.join(sources)} -> {', '.join(targets)}".strip()


def _shape(tensor: ProgramTensor) -> str:
    return "x".join(str(size) for size in tensor.shape) or "scalar"


def _record(call: Call, name: str) -> str:
    lines = []
    for param in OPERATORS[call.op].form(call.variant).params:
        value = call.record[param.name]
        values = value if isinstance(value, tuple) else (value,)
        texts = [c_text.real(v) if param.is_float else c_text.integer(int(v)) for v in values]
        lines.append(f"{c_text.INDENT}.{param.name} = " + (f"{{{', '.join(texts)}}}" if param.length > 1 else texts[0]))
    return f"static const {params_type(call.op, call.variant)} {name} = {{\n" + ",\n".join(lines) + ",\n};"
