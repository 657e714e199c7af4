"""The memories that an execution has to fit into: one arena of any size, or several RAMs of given sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from arenite.graph import Graph
from arenite.plan import ARENA, BEYOND, Enough, Memory, MemoryPlan, plan

SHARES = (0.9, 0.75, 0.6, 0.45)
"""Parts of all memories together that live bytes are to keep within, in turn, as long as what there is cannot be distributed."""


@dataclass(frozen=True)
class Space:
    memories: tuple[Memory, ...] = (ARENA,)

    @property
    def capacity(self) -> int | None:
        """Bytes of all memories; None where one is as large as need be."""
        return None if self._is_open else sum(memory.capacity or 0 for memory in self.memories)

    @property
    def largest(self) -> int | None:
        """Bytes of the largest memory, which no tensor may exceed; None where one is as large as need be."""
        return None if self._is_open else max(memory.capacity or 0 for memory in self.memories)

    @property
    def _is_open(self) -> bool:
        return any(memory.capacity is None for memory in self.memories)

    def planned(
        self, graph: Graph, *, keep_inputs: bool = False, order: Sequence[int] | None = None, enough: Enough | None = None
    ) -> MemoryPlan:
        """A plan in the memories. What they do not hold lies beyond them (`lacking`). Arguments: as of plan()."""
        if self._is_open:
            return plan(graph, keep_inputs=keep_inputs, memories=self.memories, order=order, enough=enough)
        if len(self.memories) == 1:
            # Placed as in an arena; a plan that is too large says so of a memory without a size.
            arena = replace(self.memories[0], capacity=None)
            made = plan(graph, keep_inputs=keep_inputs, memories=(arena,), order=order, enough=enough)
            return made if self.lacking(made) else replace(made, memories=self.memories)
        made = plan(graph, keep_inputs=keep_inputs, memories=(*self.memories, BEYOND), order=order, enough=enough)
        if made.memory_bytes[-1]:
            return made
        notes = tuple(note for note in made.notes if not note.startswith(f"{BEYOND.name} holds"))
        return replace(made, memories=self.memories, memory_bytes=made.memory_bytes[:-1], notes=notes)

    def lacking(self, memory: MemoryPlan) -> int:
        """Bytes of a plan that the memories do not hold."""
        if self.capacity is not None and len(self.memories) == 1:
            return max(0, memory.arena_bytes - self.capacity)
        return memory.memory_bytes[-1] if memory.memories[-1] == BEYOND else 0

    def bytes(self, memory: MemoryPlan) -> int:
        """Of a plan, all memories together; with what is lacking, more than all of them even where what is left of each would do."""
        lacking = self.lacking(memory)
        return (self.capacity or 0) + lacking if lacking else sum(memory.memory_bytes)

    def targets(self, limit: int) -> tuple[int, ...]:
        """Live bytes to keep within, the most first, for an execution that needs no more than `limit` bytes of the memories.

        In one arena those are the limit. Several memories do not take tensors as one does: down to what the largest holds alone.
        """
        if self.largest is None or len(self.memories) == 1:
            return (limit,)
        least = min(limit, self.largest)
        return (limit, *(int(limit * share) for share in SHARES if limit * share > least), *((least,) if least < limit else ()))


ONE_ARENA = Space()
