"""What firmware/emulation/qemu_count.c writes: the instructions of every measured call, and how often each block of one ran."""

from __future__ import annotations

from dataclasses import dataclass

from arenite.errors import ToolError

NO_LAYER = -1


@dataclass(frozen=True)
class BlockCount:
    """A block of code that is executed from its first instruction to its last."""

    layer: int
    """The layer for which it was executed; NO_LAYER outside of layers."""
    address: int
    instructions: int
    """Of the block."""
    executions: int
    jumps: int
    """Executions after a branch to it; the others came from the block in front of it in memory."""


@dataclass(frozen=True)
class CallCounts:
    """A measured call."""

    instructions: int
    layer_calls: int
    """Calls of layers that were seen."""
    blocks: tuple[BlockCount, ...]
    """Empty where not asked for: they are kept for the first call, and for the one of the others that has most instructions."""


def parse_counts(text: str) -> tuple[CallCounts, ...]:
    """Every measured call, in order; text of an emulator that ended early counts as far as it goes. Raises ToolError for other text."""
    calls: list[tuple[int, int, list[BlockCount]]] = []
    for line in text.splitlines(keepends=True):
        try:
            kind, *words = line.split()
            numbers = [int(word, 0) for word in words]
            if kind == "call":
                instructions, layer_calls = numbers
                calls.append((instructions, layer_calls, []))
            elif kind == "block":
                calls[-1][2].append(BlockCount(*numbers))
            else:
                raise ValueError(kind)
        except (ValueError, TypeError, IndexError) as error:
            if line.endswith("\n"):
                raise ToolError(f"the counting plugin wrote {line.rstrip()!r}") from error
    return tuple(CallCounts(instructions, layer_calls, tuple(blocks)) for instructions, layer_calls, blocks in calls)
