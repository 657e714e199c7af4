"""A small flat model built call by call, and ways to damage one."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

import flatbuffers
import numpy as np
import pytest
from arenite.emit.flat import serialize
from arenite.emit.program import Call, Port, Program, ProgramTensor, Storage
from arenite.graph import DType, Quantization
from arenite.plan.memory_plan import Memory
from arenite_runtime.flat import arenite_generated as flat

NEGATE = np.array([max(-128, min(127, -q)) for q in range(-128, 128)], np.int8)
"""Table of −q."""


def _activation(name: str, offset: int, shape: tuple[int, ...] = (2, 3), memory: int = 0) -> ProgramTensor:
    quantization = Quantization.per_tensor(0.5, 3)
    return ProgramTensor(name, shape, DType.INT8, Storage.REGION, memory, offset, quantization=quantization)


def _add_record(**changes: int) -> dict[str, Any]:
    walk = (0, 0, 0, 0, 0, 1)
    record = {"dims": (1, 1, 1, 1, 1, 6), "a_stride": walk, "b_stride": walk, "a_zero_point": 3, "b_zero_point": 3}
    scaling = {"output_zero_point": 3, "a_multiplier": 2, "b_multiplier": 2, "shift": 1, "activation_min": -128, "activation_max": 127}
    return {**record, **scaling, **changes}


@pytest.fixture(scope="session")
def program() -> Program:
    """negated = −x, in place; y = negated + two, a constant; `seen` is y in another shape, without a node; z is a copy of that."""
    table = ProgramTensor("table", (256,), DType.INT8, Storage.CONSTANT, 0, 0, NEGATE)
    two = ProgramTensor("two", (2, 3), DType.INT8, Storage.CONSTANT, 0, 256, np.full((2, 3), 2 + 3, np.int8))
    tensors = (
        _activation("x", 0),
        table,
        _activation("negated", 0),
        two,
        _activation("y", 16),
        _activation("seen", 16, (3, 2)),
        _activation("z", 0, (3, 2)),
    )
    walk = (0, 0, 0, 0, 0, 1)
    copy: dict[str, Any] = {"element_size": 1, "dims": (1, 1, 1, 1, 1, 6), "input_stride": walk, "output_stride": walk}
    calls = (
        Call("Lookup", "int8", "layer/negate", {"count": 6}, (0, 1), (2,), None, 0, 0),
        Call("Add", "int8", "layer/add", _add_record(), (2, 3), (4,), None, 0, 1),
        Call("StridedCopy", "bytes", "layer/copy", {**copy, "input_offset": 0, "output_offset": 0}, (5,), (6,), None, 0, 2),
    )
    ports = (Port("x", 0),), (Port("z", 6, ("cat", "dog")), Port("y", 4))
    return Program("small", tensors, calls, *ports, memories=(Memory("arena"),), memory_bytes=(32,), calibrated=True)


@pytest.fixture(scope="session")
def arn(program: Program) -> bytes:
    return serialize(program)


@pytest.fixture(scope="session")
def stripped_arn(program: Program) -> bytes:
    return serialize(program, strip_names=True)


@pytest.fixture(scope="session")
def sealed() -> Callable[[bytearray], bytes]:
    """Give a changed file the checksum that belongs to it."""

    def seal(file: bytearray) -> bytes:
        table = flat.Model.GetRootAs(file, 0)._tab
        place = table.Pos + table.Offset(8)
        struct.pack_into("<I", file, place, 0)
        struct.pack_into("<I", file, place, zlib.crc32(file))
        return bytes(file)

    return seal


@pytest.fixture(scope="session")
def patched(sealed: Callable[[bytearray], bytes]) -> Callable[..., bytes]:
    """`patched(file, find, number, format, value)`: the file with field `number` of the table that `find(model)` gives set to a value."""

    def patch(file: bytes, find: Callable[[Any], Any], number: int, layout: str, value: int) -> bytes:
        changed = bytearray(file)
        table = find(flat.Model.GetRootAs(changed, 0))._tab
        offset = table.Offset(4 + 2 * number)
        assert offset, "the field has its default and no place in the file"
        struct.pack_into(layout, changed, table.Pos + offset, value)
        return sealed(changed)

    return patch


@pytest.fixture(scope="session")
def patched_vector(sealed: Callable[[bytearray], bytes]) -> Callable[..., bytes]:
    """The same for element `index` of a vector of 32-bit words."""

    def patch(file: bytes, find: Callable[[Any], Any], number: int, index: int, value: int) -> bytes:
        changed = bytearray(file)
        table = find(flat.Model.GetRootAs(changed, 0))._tab
        start = table.Vector(table.Offset(4 + 2 * number))
        struct.pack_into("<i", changed, start + 4 * index, value)
        return sealed(changed)

    return patch


@pytest.fixture(scope="session")
def counter_arn() -> bytes:
    """total = x + memory; memory is then total: a running sum. The state is added to the file's tables, as the emitter makes none yet."""
    model = flat.ModelT.InitFromPackedBuf(serialize(_counter()))  # type: ignore[no-untyped-call]
    state = flat.StateT()  # type: ignore[no-untyped-call]
    state.output, state.input, state.initial = 2, 1, -1
    model.states = [state]
    return _packed(model)


def _counter() -> Program:
    tensors = (_activation("x", 0), _activation("memory", 16), _activation("total", 32))
    calls = (Call("Add", "int8", "sum", _add_record(), (0, 1), (2,), None, 0, 0),)
    ports = (Port("x", 0),), (Port("total", 2),)
    return Program("counter", tensors, calls, *ports, memories=(Memory("arena"),), memory_bytes=(48,), calibrated=True)


def _packed(model: Any) -> bytes:
    builder = flatbuffers.Builder(1024)
    builder.ForceDefaults(True)
    model.fileSize = 1 << 31
    builder.Finish(model.Pack(builder), file_identifier=b"ARN1")
    file = builder.Output()
    table = flat.Model.GetRootAs(file, 0)._tab
    struct.pack_into("<I", file, table.Pos + table.Offset(6), len(file))
    struct.pack_into("<I", file, table.Pos + table.Offset(8), 0)
    struct.pack_into("<I", file, table.Pos + table.Offset(8), zlib.crc32(file))
    return bytes(file)
