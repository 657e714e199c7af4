"""Constants that are copied to RAM before the first inference: those that are read most for their size, as far as there is room.

A pass over the program. A constant that is chosen moves from the file's data to a region of kind external. What that holds at first is
one more constant, which names the region: the interpreted form copies it (arn_load_constants), the compiled form has arrays that lie in
.data instead, so that the startup code does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from arenite.emit.constants import alignment, little_endian, round_up
from arenite.emit.program import Call, Program, ProgramTensor, Storage
from arenite.graph import DType
from arenite.plan.memory_plan import Memory, MemoryKind

SUFFIX = "_weights"
"""Behind a RAM's name, the memory of the constants in it."""
REGION_ALIGNMENT = 16
MARK_BYTES = 4
"""Of a room, for the word by which the compiled form knows that constants have been copied there."""
PIXELS_AT_ONCE = {"winograd_2": 4, "winograd_4": 8, "wide": 1, "float32": 1}
"""For how many pixels or rows of the result a kernel reads the weights once, by variant; others do so for two."""


@dataclass(frozen=True)
class Room:
    """Bytes of a RAM for constants; None: as many as there are."""

    name: str
    bytes: int | None


@dataclass(frozen=True)
class _Constant:
    """What is stored once; several tensors may be views of it."""

    tensors: tuple[int, ...]
    """Indices into Program.tensors."""
    bytes: int
    alignment: int
    reads: int
    """Bytes that an inference reads of it, estimated."""


def move_constants(program: Program, rooms: Sequence[Room]) -> Program:
    """`program` with constants in a further memory for each of `rooms`, the fastest first, that holds some."""
    constants = _constants(program)
    left = sorted((c for c in constants if c.reads), key=lambda c: (-c.reads / c.bytes, c.tensors))
    memories, sizes, tensors = list(program.memories), list(program.memory_bytes), list(program.tensors)
    names = {memory.name.lower() for memory in memories}
    contents: list[tuple[int, bytes]] = []
    for room in rooms:
        taken, end = _fill(left, None if room.bytes is None else room.bytes - MARK_BYTES)
        if not taken:
            continue
        left = [constant for constant in left if constant not in taken]
        number, stored = len(memories), bytearray(end)
        name = room.name + SUFFIX
        while name.lower() in names:
            name += "_"
        names.add(name.lower())
        memories.append(Memory(name, room.bytes, REGION_ALIGNMENT, MemoryKind.EXTERNAL))
        sizes.append(end)
        for constant, offset in taken.items():
            for index in constant.tensors:
                tensor = tensors[index]
                stored[offset : offset + constant.bytes] = little_endian(_data(tensor))
                tensors[index] = replace(tensor, storage=Storage.EXTERNAL, memory=number, offset=offset)
        contents.append((number, bytes(stored)))
    end = _compact(tensors, [c for c in constants if tensors[c.tensors[0]].storage is Storage.CONSTANT])
    for number, held in contents:
        offset = round_up(end, REGION_ALIGNMENT)
        end = offset + len(held)
        data = np.frombuffer(held, np.int8)
        tensors.append(ProgramTensor(memories[number].name, data.shape, DType.INT8, Storage.CONSTANT, number, offset, data))
    return replace(program, tensors=tuple(tensors), memories=tuple(memories), memory_bytes=tuple(sizes))


def constant_reads(program: Program) -> Mapping[str, int]:
    """Bytes that an inference reads of constants, estimated: by the memory that they are in, and "" for the program's data."""
    found: dict[str, int] = {}
    for constant in _constants(program):
        tensor = program.tensors[constant.tensors[0]]
        name = program.memories[tensor.memory].name if tensor.storage is Storage.EXTERNAL else ""
        found[name] = found.get(name, 0) + constant.reads
    return found


def sentences(program: Program) -> tuple[str, ...]:
    """What lies in RAM, one for each memory of constants."""
    reads = constant_reads(program)
    total = max(1, sum(reads.values()))
    return tuple(
        f"{memory.name}: {size:,} bytes of constants are copied to RAM at the start, which are {reads.get(memory.name, 0) / total:.1%} of "
        "what an inference reads of constants (estimated)"
        for memory, size in zip(program.memories, program.memory_bytes, strict=True)
        if memory.kind is MemoryKind.EXTERNAL
    )


def _constants(program: Program) -> list[_Constant]:
    """In the order of the file. What a region holds at first is none."""
    reads = _reads(program)
    views: dict[tuple[Storage, int, int], list[int]] = {}
    for index, tensor in enumerate(program.tensors):
        if tensor.storage is Storage.EXTERNAL or (tensor.storage is Storage.CONSTANT and not tensor.memory):
            views.setdefault((tensor.storage, tensor.memory, tensor.offset), []).append(index)
    return [
        _Constant(
            tuple(indices),
            max(program.tensors[index].bytes for index in indices),
            max(alignment(_data(program.tensors[index]).dtype) for index in indices),
            sum(reads.get(index, 0) for index in indices),
        )
        for indices in views.values()
    ]


def _reads(program: Program) -> dict[int, int]:
    """By index, bytes that an inference reads of each constant.

    Products need the weights of a layer, and what goes with its channels, again for every few pixels or rows of the result. Other
    kernels read an element for each of the result's.
    """
    found: dict[int, int] = {}
    for call in program.calls:
        for index in call.inputs:
            if index >= 0 and program.tensors[index].storage is not Storage.REGION:
                found[index] = found.get(index, 0) + _bytes_read(program, call, program.tensors[index])
    return found


def _bytes_read(program: Program, call: Call, constant: ProgramTensor) -> int:
    outputs = [program.tensors[index] for index in call.outputs]
    if call.macs and outputs:
        return constant.bytes * -(-prod(outputs[0].shape[:-1]) // PIXELS_AT_ONCE.get(call.variant, 2))
    elements = max([output.elements for output in outputs], default=1)
    return elements * constant.dtype.itemsize


def _fill(constants: Iterable[_Constant], most: int | None) -> tuple[dict[_Constant, int], int]:
    """Those that fit into `most` bytes, in this order, each with its offset; and where the last ends."""
    taken, end = {}, 0
    for constant in constants:
        offset = round_up(end, constant.alignment)
        if most is None or offset + constant.bytes <= most:
            taken[constant] = offset
            end = offset + constant.bytes
    return taken, end


def _compact(tensors: list[ProgramTensor], constants: Iterable[_Constant]) -> int:
    """Let constants follow one another in the data. Returns where the last ends."""
    end = 0
    for constant in constants:
        offset = round_up(end, constant.alignment)
        end = offset + constant.bytes
        for index in constant.tensors:
            tensors[index] = replace(tensors[index], offset=offset)
    return end


def _data(tensor: ProgramTensor) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    if tensor.data is None:
        raise ValueError(f"constant {tensor.name} has no data")
    return tensor.data
