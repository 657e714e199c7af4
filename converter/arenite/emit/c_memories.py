"""The memories of a program in the compiled form: one pointer for the arena, one more for each further memory that holds something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arenite.emit.identifiers import identifier, unique
from arenite.emit.program import Program

ARENA = "arena"
_TAKEN = ("arena", "memory", "index", "values")
"""Names that the generated functions use."""


@dataclass(frozen=True)
class CMemory:
    """A memory besides the arena."""

    number: int
    """In the plan; the interpreter's region."""
    name: str
    """The C parameter and pointer that is named after it."""
    title: str
    """As the user named it."""
    bytes: int

    @property
    def macro(self) -> str:
        """What stands between the model's prefix and _BYTES."""
        return f"MEMORY_{self.name.upper()}"


def further_memories(program: Program) -> tuple[CMemory, ...]:
    """Those that hold something, in the order of the plan."""
    taken, found = set(_TAKEN), []
    for number, (memory, size) in enumerate(zip(program.memories, program.memory_bytes, strict=True)):
        if number and size:
            name = unique(identifier(memory.name, "memory"), taken)
            taken.add(name)
            found.append(CMemory(number, name, memory.name, size))
    return tuple(found)


def pointers(memories: Iterable[CMemory]) -> dict[int, str]:
    """The C name of each memory's first byte, by number."""
    return {0: ARENA, **{memory.number: memory.name for memory in memories}}
