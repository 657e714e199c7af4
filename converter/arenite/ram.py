"""The RAM that there is: of a board, in one memory or several, with room for constants; and what is said where it is too little."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.emit.constants_in_ram import Room
from arenite.errors import PlanError
from arenite.partial import Execution, Space, peak
from arenite.plan import Memory, MemoryPlan
from arenite.report import Limits, session_bytes
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


def sized(rooms: Sequence[Room], memory: MemoryPlan, most_ram: int | None = None) -> tuple[Room, ...]:
    """With sizes: where none is given, what tensors leave of a memory, both being aligned to 16 bytes, and of `most_ram` (--max-ram), which
    the session is part of."""
    left = {
        each.name: None if each.capacity is None else max(0, each.capacity // 16 * 16 - -(-used // 16) * 16)
        for each, used in zip(memory.memories, memory.memory_bytes, strict=True)
    }
    spare = None
    if most_ram is not None:
        taken = session_bytes(len(memory.memories) + len(rooms)) + reserved(rooms) + sum(memory.memory_bytes)
        spare = max(0, most_ram - taken)
    found = []
    for room in rooms:
        size = room.bytes
        if size is None:
            size = min((each for each in (left[room.name], spare) if each is not None), default=None)
            spare = None if spare is None or size is None else spare - size
        found.append(Room(room.name, size))
    return tuple(found)


def reserved(rooms: Sequence[Room]) -> int:
    """Bytes of RAM that --weights-in takes besides those of --memory."""
    return sum(room.bytes or 0 for room in rooms)


def short_in(space: Space, limit: int | None, beside: int, found: Execution, alone: int, hints: Sequence[str]) -> str:
    """Why the memories, or `limit` bytes of them, are too small even for what was found, and what would help.

    `beside`: bytes of the session and of weights, which --max-ram counts, too. `alone`: bytes of one memory that would do.
    """
    graph, memory = found.graph, found.plan
    sizes = ", ".join(each.name if each.capacity is None else f"{each.name} {each.capacity:,} bytes" for each in space.memories)
    how = "executed in bands of rows already" if found.groups else "and executing layers in bands of rows does not help"
    lacking = space.lacking(memory)
    remedies = []
    if lacking:
        what = f"the tensors do not fit: {lacking:,} bytes are needed beyond what the memories hold, {how}; there are {sizes}"
    else:
        needed = f"{found.bytes:,} bytes of the memories ({sizes}) are needed"
        what = f"does not fit --max-ram: {needed}, {how}; --max-ram leaves {max(0, limit or 0):,} for tensors"
    if limit is not None and found.bytes > limit:
        remedies.append(f"--max-ram {found.bytes + beside}: " + ("as well" if lacking else "the least that was found"))
    if lacking and len(space.memories) > 1:
        remedies.append(f"one memory of {alone:,} bytes in place of several")
    elif lacking:
        remedies.append(f"--memory {space.memories[0].name}={alone}: the least that was found")
    ports = [name for name in (*graph.inputs, *graph.outputs) if graph.tensors[name].bytes > (space.largest or graph.tensors[name].bytes)]
    large = "".join(f"\n{name} alone, {graph.tensors[name].bytes:,} bytes, is larger than any memory." for name in dict.fromkeys(ports))
    listed = "\n".join(f"  - {hint}" for hint in (*remedies, *hints))
    return f"{graph.name}: {what}.{large}\n{peak(found)} What would help:\n{listed}"
