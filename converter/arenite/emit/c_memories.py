"""The memories of a program in C. The compiled form has a pointer for the arena, and one more for each further memory that holds something;
a section for each that holds constants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

from arenite.emit.identifiers import identifier, unique
from arenite.emit.program import Program, Storage
from arenite.plan.memory_plan import MemoryKind

ARENA = "arena"
_TAKEN = ("arena", "memory", "index", "values")
"""Names that the generated functions use."""
_OTHERS = re.compile(
    r"(memory|input|output)_\d+|\w+_t|mem(cpy|set|cmp|move|chr)"  # parameters and ports of generated functions; types, functions of C
    r"|[A-Z][A-Z0-9]*_(MIN|MAX|C)|NULL|NAN|INFINITY|HUGE_VALF?"  # macros of <stdint.h>, <string.h> and <math.h>
    r"|(arn|ARN)_\w+"  # of the runtime
)
"""What generated sources and the headers that they include may mean something else by."""


@dataclass(frozen=True)
class CMemory:
    """A memory besides the arena, and what generated C calls it."""

    number: int
    """In the plan; the interpreter's region."""
    name: str
    """The C parameter and pointer that is named after it."""
    title: str
    """As the user named it."""
    bytes: int
    constants: bool
    """It holds constants, which are copied to it before the first inference."""

    @property
    def macro(self) -> str:
        """What stands between the model's prefix and _BYTES."""
        return f"MEMORY_{self.name.upper()}"


def further_memories(program: Program) -> tuple[CMemory, ...]:
    """Those that tensors lie in, in the order of the plan."""
    return tuple(memory for memory in _memories(program) if not memory.constants)


def constant_memories(program: Program) -> tuple[CMemory, ...]:
    """Those that constants are copied to."""
    return tuple(memory for memory in _memories(program) if memory.constants)


def sections(program: Program) -> dict[int, str]:
    """The macro that puts an array among the constants of a memory, by that memory's number."""
    return {memory.number: f"{program.name.upper()}_{memory.name.upper()}_SECTION" for memory in constant_memories(program)}


@dataclass(frozen=True)
class Mark:
    """A word of the compiled form among the constants of a memory, which tells that they have been copied there."""

    memory: CMemory
    name: str
    value: int
    """Of these constants, so that what an earlier model left in RAM is not taken for them."""


def marks(program: Program) -> tuple[Mark, ...]:
    """One for each memory of constants."""
    held = {tensor.memory: tensor.data for tensor in program.tensors if tensor.storage is Storage.CONSTANT and tensor.memory}
    found = []
    for memory in constant_memories(program):
        data = held.get(memory.number)
        found.append(Mark(memory, f"{memory.name}_loaded", crc32(b"" if data is None else data.tobytes()) | 1))
    return tuple(found)


def _memories(program: Program) -> tuple[CMemory, ...]:
    """Those besides the arena that hold something."""
    taken, found = set(_TAKEN), []
    for number, (memory, size) in enumerate(zip(program.memories, program.memory_bytes, strict=True)):
        if number and size:
            name = identifier(memory.name, "memory")
            if _OTHERS.fullmatch(name) or name.upper().startswith(f"{program.name.upper()}_"):
                taken.add(name)
            name = unique(name, taken)
            taken.add(name)
            found.append(CMemory(number, name, memory.name, size, memory.kind is MemoryKind.EXTERNAL))
    return tuple(found)


def pointers(memories: Iterable[CMemory]) -> dict[int, str]:
    """The C name of each memory's first byte, by number."""
    return {0: ARENA, **{memory.number: memory.name for memory in memories}}
