"""Modelled cycles of what an emulator counted, for the processors that have a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from arenite.errors import ToolError
from arenite.targets import cortex_m4_timing
from arenite.targets.block_counts import BlockCount
from arenite.targets.image import Image


@dataclass(frozen=True)
class Timing:
    """Of one processor."""

    block_cycles: Callable[[bytes], int]
    """Cycles of instructions that are executed one after another."""
    jump_cycles: int
    """What a taken branch costs besides."""


TIMINGS = {"cortex-m4": Timing(cortex_m4_timing.block_cycles, cortex_m4_timing.JUMP_CYCLES)}
"""By target."""


def cycles_of(image: Image, target: str, blocks: Iterable[BlockCount]) -> int | None:
    """Of all executions of `blocks`, code of `image`; None where there is no model of the target.

    Raises ToolError where code was executed that is not in the image's flash.
    """
    timing = TIMINGS.get(target)
    if timing is None:
        return None

    @cache
    def of_block(address: int, instructions: int) -> int:
        return timing.block_cycles(_code(image, address, instructions))

    return sum(block.executions * of_block(block.address, block.instructions) + block.jumps * timing.jump_cycles for block in blocks)


def _code(image: Image, address: int, instructions: int) -> bytes:
    """The bytes of so many instructions."""
    size = 0
    try:
        for _ in range(instructions):
            first = int.from_bytes(image.bytes_at(address + size, 2), "little")
            size += 4 if cortex_m4_timing.is_wide(first) else 2
        return image.bytes_at(address, size)
    except KeyError as error:
        raise ToolError(f"{image.path.name} executes code at {address:#x}, outside its flash: its cycles cannot be modelled") from error
