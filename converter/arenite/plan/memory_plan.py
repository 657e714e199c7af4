"""What the planner decides: execution order, and where every tensor lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class MemoryKind(Enum):
    """As in the flat model's RegionKind."""

    ARENA = "arena"
    BOUND = "bound"
    EXTERNAL = "external"


@dataclass(frozen=True)
class Memory:
    """A memory of the target that the planner may fill. Memory 0 is the arena."""

    name: str
    capacity: int | None = None
    """Bytes; None: whatever is needed."""
    alignment: int = 16
    """Of its first byte. Tensors in it are aligned for their elements, and to words."""
    kind: MemoryKind = MemoryKind.ARENA


BEYOND = Memory("beyond")
"""No memory of a target: behind all others, it takes what they do not hold, for a plan that says how much that is."""


@dataclass(frozen=True)
class Placement:
    """Bytes [offset, offset + bytes) of a memory, occupied from step `first` to step `last` inclusive.

    Steps number the execution order; −1 is before the first (inputs), `steps` is after the last (outputs).
    """

    memory: int
    offset: int
    bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class MemoryPlan:
    order: tuple[int, ...]
    """Indices into graph.nodes, in execution order; nodes that cost nothing (aliased Reshape) included."""
    placements: dict[str, Placement]
    """By tensor name: every tensor that is not constant, aliases included (they share bytes with what they alias)."""
    scratch: dict[int, Placement]
    """By index into graph.nodes."""
    aliases: dict[str, str]
    """Tensor → one written before it some of whose bytes it takes (reshaped, in place, partly, or as a part), for the report."""
    memories: tuple[Memory, ...]
    memory_bytes: tuple[int, ...]
    """Bytes needed of each memory; [0] is the arena."""
    lower_bound: int
    """No plan with this order has an arena below this."""
    proven_optimal: bool
    """The arena equals the least possible for this order."""
    peak_step: int
    """Position in `order` at which most bytes are live."""
    notes: tuple[str, ...] = field(default=())
    bodies: Mapping[int, tuple[MemoryPlan, ...]] = field(default_factory=dict)
    """By index into graph.nodes: the plans of a control-flow node's bodies (bodies.planned_part), inside its scratch memory."""

    @property
    def arena_bytes(self) -> int:
        return self.memory_bytes[0]
