"""Program → flat model (.arn). The schema is runtime_c/schema/arenite.fbs; docs/flat-model.md explains it.

The file is used in place: its size is a multiple of 16 and the data vector is 16-byte aligned in it, so that at a 16-byte aligned
address every constant is aligned for its type. The same program gives the same bytes.

Names can be stripped; those of inputs and outputs, too (firmware then goes by index). Constants and scratch memory carry none: the
node that has them as operands has one, and exporters make names of a hundred characters. Constants carry no quantization: the engines
need none, the records hold what was derived from it, and per-channel scales would cost four bytes a channel of flash.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from zlib import crc32

import flatbuffers
import numpy as np
from arenite_runtime.flat import arenite_generated as schema
from numpy.typing import NDArray

from arenite.emit.constants import little_endian
from arenite.emit.kernels import own_operators, variant_number
from arenite.emit.program import Call, Port, Program, ProgramState, ProgramTensor, Storage
from arenite.graph import OPERATORS, Quantization
from arenite.graph.operators import Form, Record
from arenite.own_operators import OwnOperator
from arenite.plan.memory_plan import MemoryKind
from arenite.version import __version__

IDENTIFIER = b"ARN1"
SCHEMA_VERSION = 1
DATA_ALIGNMENT = 16

_STORAGE = {
    Storage.REGION: schema.Storage.region,
    Storage.CONSTANT: schema.Storage.constant,
    Storage.EXTERNAL: schema.Storage.external,
}
_KIND = {
    MemoryKind.ARENA: schema.RegionKind.arena,
    MemoryKind.BOUND: schema.RegionKind.bound,
    MemoryKind.EXTERNAL: schema.RegionKind.external,
}
_UNSET = 0xFFFFFFFF  # not the default, or FlatBuffers would leave the field out


def serialize(program: Program, strip_names: bool = False) -> bytes:
    """The bytes of the .arn file."""
    writer = _Writer(strip_names)
    builder = writer.builder
    # FlatBuffers are written back to front: what is first here is last in the file.
    data = writer.aligned_bytes(constant_data(program))
    scratch = {call.scratch for call in program.calls}
    tensors = writer.tables(
        [
            writer.tensor(tensor, named=tensor.storage is Storage.REGION and index not in scratch)
            for index, tensor in enumerate(program.tensors)
        ],
        schema.ModelStartTensorsVector,
    )
    subgraphs = writer.tables([writer.subgraph(program)], schema.ModelStartSubgraphsVector)
    inputs = writer.tables([writer.port(port) for port in program.inputs], schema.ModelStartInputsVector)
    outputs = writer.tables([writer.port(port) for port in program.outputs], schema.ModelStartOutputsVector)
    states = writer.tables([writer.state(state) for state in program.states], schema.ModelStartStatesVector) if program.states else 0
    regions = writer.regions(program)
    own = own_operators(program)
    operators = writer.tables([writer.own_operator(each) for each in own], schema.ModelStartOperatorsVector) if own else 0
    name = writer.string(program.name)
    producer = writer.string(f"arenite {__version__}")

    schema.ModelStart(builder)
    # Explicitly, since a reader may look at it before anything else.
    builder.ForceDefaults(True)
    schema.ModelAddVersion(builder, SCHEMA_VERSION)
    schema.ModelAddFileSize(builder, _UNSET)
    schema.ModelAddChecksum(builder, _UNSET)
    schema.ModelAddRegions(builder, regions)
    schema.ModelAddTensors(builder, tensors)
    schema.ModelAddSubgraphs(builder, subgraphs)
    schema.ModelAddCallDepth(builder, 1)
    schema.ModelAddInputs(builder, inputs)
    schema.ModelAddOutputs(builder, outputs)
    if states:
        schema.ModelAddStates(builder, states)
    schema.ModelAddData(builder, data)
    if name:
        schema.ModelAddName(builder, name)
    if producer:
        schema.ModelAddProducer(builder, producer)
    if operators:
        schema.ModelAddOperators(builder, operators)
    builder.Finish(schema.ModelEnd(builder), file_identifier=IDENTIFIER)
    return _sealed(builder.Output())


def constant_data(program: Program) -> bytes:
    """The data vector: every constant at its offset, zeros between."""
    constants = [tensor for tensor in program.tensors if tensor.storage is Storage.CONSTANT]
    data = bytearray(max((tensor.offset + tensor.bytes for tensor in constants), default=0))
    for tensor in constants:
        if tensor.data is None:
            raise ValueError(f"constant {tensor.name} has no data")
        data[tensor.offset : tensor.offset + tensor.bytes] = little_endian(tensor.data)
    return bytes(data)


def record_words(form: Form, record: Record) -> tuple[int, ...]:
    """A record as the 32-bit words (int32, or the bits of a float32) of arn_<operator>_params."""
    words: list[int] = []
    for param in form.params:
        value = record[param.name]
        numbers = value if isinstance(value, tuple) else (value,)
        words += struct.unpack(f"<{param.length}i", struct.pack(f"<{param.length}{'f' if param.is_float else 'i'}", *numbers))
    return tuple(words)


def _sealed(file: bytearray) -> bytes:
    """With file_size and checksum, which FlatBuffers cannot know, filled in."""
    table = schema.Model.GetRootAs(file, 0)._tab

    def patch(slot: int, value: int) -> None:
        struct.pack_into("<I", file, table.Pos + table.Offset(4 + 2 * slot), value)

    patch(1, len(file))
    patch(2, 0)
    patch(2, crc32(file))
    return bytes(file)


class _Writer:
    """A FlatBuffers builder that stores equal vectors, strings and quantizations once (readers follow offsets and cannot tell)."""

    def __init__(self, strip_names: bool) -> None:
        self.builder = flatbuffers.Builder(1 << 16)
        self.strip_names = strip_names
        self._stored: dict[tuple[object, ...], int] = {}

    def _once(self, key: tuple[object, ...], write: Callable[[], int]) -> int:
        if key not in self._stored:
            self._stored[key] = write()
        return self._stored[key]

    def string(self, text: str) -> int:
        """Its offset; 0, which is no offset, where names are stripped."""
        return 0 if self.strip_names else int(self.builder.CreateSharedString(text))

    def ints(self, values: Sequence[int]) -> int:
        return self._once(("i4", *values), lambda: int(self.builder.CreateNumpyVector(np.asarray(values, "<i4").reshape(-1))))

    def floats(self, values: NDArray[np.float32]) -> int:
        data = np.asarray(values, "<f4").reshape(-1)
        return self._once(("f4", data.tobytes()), lambda: int(self.builder.CreateNumpyVector(data)))

    def aligned_bytes(self, data: bytes) -> int:
        """A vector of bytes, DATA_ALIGNMENT-aligned in the file (the schema's force_align, which flatc's Python code ignores)."""
        self.builder.StartVector(1, len(data), DATA_ALIGNMENT)
        self.builder.head = self.builder.Head() - len(data)
        self.builder.Bytes[self.builder.Head() : self.builder.Head() + len(data)] = data
        return int(self.builder.EndVector())

    def tables(self, offsets: Sequence[int], start: Callable[[flatbuffers.Builder, int], int]) -> int:
        start(self.builder, len(offsets))
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return int(self.builder.EndVector())

    def regions(self, program: Program) -> int:
        schema.ModelStartRegionsVector(self.builder, len(program.memories))
        for memory, size in reversed(list(zip(program.memories, program.memory_bytes, strict=True))):
            schema.CreateRegion(self.builder, size, memory.alignment, _KIND[memory.kind])  # type: ignore[no-untyped-call]
        return int(self.builder.EndVector())

    def quantization(self, quantization: Quantization) -> int:
        scale, zero_point = self.floats(quantization.scale), self.ints(quantization.zero_point.reshape(-1).tolist())

        def write() -> int:
            schema.QuantizationStart(self.builder)
            schema.QuantizationAddScale(self.builder, scale)
            schema.QuantizationAddZeroPoint(self.builder, zero_point)
            schema.QuantizationAddAxis(self.builder, -1 if quantization.axis is None else quantization.axis)
            return int(schema.QuantizationEnd(self.builder))

        return self._once(("quantization", scale, zero_point, quantization.axis), write)

    def tensor(self, tensor: ProgramTensor, named: bool) -> int:
        shape, name = self.ints(tensor.shape), self.string(tensor.name) if named else 0
        described = tensor.quantization if tensor.storage is Storage.REGION else None
        quantization = self.quantization(described) if described is not None else 0
        schema.TensorStart(self.builder)
        schema.TensorAddShape(self.builder, shape)
        schema.TensorAddDtype(self.builder, getattr(schema.DType, tensor.dtype.value))
        schema.TensorAddStorage(self.builder, _STORAGE[tensor.storage])
        schema.TensorAddRegion(self.builder, tensor.memory)
        schema.TensorAddOffset(self.builder, tensor.offset)
        if quantization:
            schema.TensorAddQuantization(self.builder, quantization)
        if name:
            schema.TensorAddName(self.builder, name)
        return int(schema.TensorEnd(self.builder))

    def node(self, call: Call) -> int:
        operator = OPERATORS[call.op]
        if operator.code is None:
            raise ValueError(f"{call.name}: {call.op} is not in the flat model")
        inputs, outputs = self.ints(call.inputs), self.ints(call.outputs)
        params, name = self.ints(record_words(operator.form(call.variant), call.record)), self.string(call.name)
        schema.NodeStart(self.builder)
        schema.NodeAddOp(self.builder, operator.code)
        schema.NodeAddVariant(self.builder, variant_number(call.op, call.variant))
        schema.NodeAddInputs(self.builder, inputs)
        schema.NodeAddOutputs(self.builder, outputs)
        if call.scratch is not None:
            schema.NodeAddScratch(self.builder, call.scratch)
        schema.NodeAddParams(self.builder, params)
        if name:
            schema.NodeAddName(self.builder, name)
        return int(schema.NodeEnd(self.builder))

    def own_operator(self, own: OwnOperator) -> int:
        """Its name stays where names are stripped: whoever lacks it must be able to say so."""
        name = int(self.builder.CreateSharedString(own.name))
        schema.OwnOperatorStart(self.builder)
        schema.OwnOperatorAddOp(self.builder, own.kernels.code)
        schema.OwnOperatorAddName(self.builder, name)
        return int(schema.OwnOperatorEnd(self.builder))

    def subgraph(self, program: Program) -> int:
        nodes = self.tables([self.node(call) for call in program.calls], schema.SubgraphStartNodesVector)
        inputs, outputs = self.ints([port.tensor for port in program.inputs]), self.ints([port.tensor for port in program.outputs])
        name = self.string("main")
        schema.SubgraphStart(self.builder)
        schema.SubgraphAddNodes(self.builder, nodes)
        schema.SubgraphAddInputs(self.builder, inputs)
        schema.SubgraphAddOutputs(self.builder, outputs)
        if name:
            schema.SubgraphAddName(self.builder, name)
        return int(schema.SubgraphEnd(self.builder))

    def state(self, state: ProgramState) -> int:
        schema.StateStart(self.builder)
        schema.StateAddOutput(self.builder, state.output)
        schema.StateAddInput(self.builder, state.input)
        return int(schema.StateEnd(self.builder))

    def port(self, port: Port) -> int:
        name = self.string(port.name)
        labels = [int(self.builder.CreateSharedString(label)) for label in port.labels]
        vector = self.tables(labels, schema.PortStartLabelsVector) if labels else 0
        schema.PortStart(self.builder)
        schema.PortAddTensor(self.builder, port.tensor)
        if name:
            schema.PortAddName(self.builder, name)
        if vector:
            schema.PortAddLabels(self.builder, vector)
        if port.expected is not None:
            schema.PortAddExpectedMin(self.builder, port.expected[0])
            schema.PortAddExpectedMax(self.builder, port.expected[1])
        return int(schema.PortEnd(self.builder))
