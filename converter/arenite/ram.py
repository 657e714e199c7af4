"""The RAM that there is: of a board, in one memory or several, with room for constants; and what is said where it is too little."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.emit.constants_in_ram import Room
from arenite.errors import PlanError
from arenite.graph import Graph
from arenite.plan import ARENA, Memory, MemoryPlan, plan
from arenite.report import Limits
from arenite.targets.chips import Chip


def memories_of(chip: Chip) -> tuple[Memory, ...]:
    """All of its RAMs, the fastest first."""
    return tuple(Memory(ram.name, ram.bytes) for ram in chip.rams)


def limits_on(chip: Chip, stated: Limits, several: bool) -> Limits:
    """What is not stated is the chip's: its largest RAM, which an arena has to fit into unless there are `several` memories; its flash."""
    ram = chip.largest.bytes if stated.ram_bytes is None and not several else stated.ram_bytes
    return Limits(ram, chip.flash_bytes if stated.flash_bytes is None else stated.flash_bytes)


def sentence(chip: Chip) -> str:
    """What was taken of a chip, for the report."""
    rams = ", ".join(f"{ram.name} {ram.bytes:,}" for ram in chip.rams)
    return (
        f"--board {chip.name}, {chip.title}: RAM {rams} bytes ({chip.document}). Nothing is set aside for the stack and the application: "
        "--max-ram, or sizes for --memory, do that"
    )


def short_on(chip: Chip) -> str:
    """In front of why an arena does not fit."""
    several = f"; --memory board distributes tensors over all {len(chip.rams)} RAMs" if len(chip.rams) > 1 else ""
    return f"--board {chip.name}: the largest RAM is {chip.largest.name} with {chip.largest.bytes:,} bytes{several}.\n"


def check_rooms(rooms: Sequence[Room], memories: Sequence[Memory]) -> None:
    """Raises PlanError where --weights-in asks for what is left of a RAM that is not known."""
    known = [memory.name for memory in memories]
    for room in rooms:
        if room.bytes is None and room.name not in known:
            named = f"--memory names {', '.join(known)}" if known else "there is no --memory"
            raise PlanError(f"--weights-in {room.name}: how many bytes there are is not known: {named}; write {room.name}=SIZE")


def sized(rooms: Sequence[Room], memory: MemoryPlan) -> tuple[Room, ...]:
    """With sizes: where none is given, what tensors leave of a memory, both being aligned to 16 bytes."""
    left = {
        each.name: None if each.capacity is None else max(0, each.capacity // 16 * 16 - -(-used // 16) * 16)
        for each, used in zip(memory.memories, memory.memory_bytes, strict=True)
    }
    return tuple(room if room.bytes is not None else Room(room.name, left[room.name]) for room in rooms)


def reserved(rooms: Sequence[Room]) -> int:
    """Bytes of RAM that --weights-in takes besides those of --memory."""
    return sum(room.bytes or 0 for room in rooms)


def planned(graph: Graph, keep_inputs: bool, memories: Sequence[Memory], hints: Sequence[str]) -> MemoryPlan:
    """A plan in `memories`; in one arena where there are none. Raises PlanError, with the peak and what would help, if none fits."""
    if not memories:
        return plan(graph, keep_inputs=keep_inputs, memories=(ARENA,))
    try:
        return plan(graph, keep_inputs=keep_inputs, memories=memories)
    except PlanError as error:
        alone = plan(graph, keep_inputs=keep_inputs)
        node = graph.nodes[alone.order[alone.peak_step]]
        named = [name for name in (*node.inputs, *node.outputs) if name is not None and not graph.tensors[name].is_constant]
        tensors = ", ".join(f"{'×'.join(map(str, graph.tensors[name].shape))} of {graph.tensors[name].bytes:,} bytes" for name in named)
        remedies = "\n".join(f"  - {hint}" for hint in hints)
        raise PlanError(
            f"{error}\nOne memory would need {alone.arena_bytes:,} bytes. The peak is at step {alone.peak_step} of {len(alone.order)}, "
            f"{node.name} ({node.op}; {tensors}). What would help:\n{remedies}"
        ) from error
