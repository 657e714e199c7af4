"""Several memories, the fastest first: what is read and written most for its size stays, the rest goes on to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arenite.errors import PlanError
from arenite.plan.blocks import Block, Packing, Sharing
from arenite.plan.memory_plan import Memory, MemoryKind
from arenite.plan.offsets import Enough, Offsets, assign

Share = tuple[list[int], Offsets]
"""Blocks that a memory holds, by number, and where."""
Sharings = Mapping[tuple[int, int], Sharing]
_QUICK = 0
"""Effort of exact search while blocks are still moved from memory to memory."""
MOST_RETURNS = 32
"""Blocks that are tried again once the rest fits."""


def distribute(
    file: str,
    blocks: Sequence[Block],
    traffic: Sequence[int],
    sharings: Sharings,
    memories: Sequence[Memory],
    granule: int,
    enough: Enough | None = None,
) -> list[Share]:
    """For each memory its share of `blocks`. `traffic`: bytes of each that are read and written in an inference. `enough`: see assign.

    Where not all fits into a memory, blocks live at the busiest step go on until the rest does, those first that have least traffic for
    their size; then those that fit after all return, those first that have most. Raises PlanError where there is too little of all.
    """
    shares: list[Share] = []
    left, needed = list(range(len(blocks))), 0
    for memory in memories:
        if memory.kind is not MemoryKind.ARENA:
            shares.append(([], assign(Packing(()))))
            continue
        share, layout = left, assign(_packing(blocks, left, sharings), granule, enough=enough)
        left, needed = [], layout.bytes
        if memory.capacity is not None and layout.bytes > memory.capacity:
            share, left = _within(memory.capacity, blocks, share, traffic, sharings, granule)
            layout = assign(_packing(blocks, share, sharings), granule)
        shares.append((share, layout))
    if left:
        holding = ", ".join(f"{memory.name} {memory.capacity:,} bytes" for memory in memories if memory.capacity is not None)
        raise PlanError(
            f"{file}: the tensors do not fit: {needed:,} bytes are needed beyond what other memories hold, there are {holding}; "
            "raise the limit, or make the layers at the peak smaller"
        )
    return shares


def _within(
    capacity: int, blocks: Sequence[Block], share: Sequence[int], traffic: Sequence[int], sharings: Sharings, granule: int
) -> tuple[list[int], list[int]]:
    """What of `share` stays within `capacity` bytes, and what goes on."""

    def density(i: int) -> tuple[float, int, int]:
        return traffic[i] / max(1, blocks[i].bytes), -blocks[i].bytes, -i

    staying = [i for i in share if blocks[i].bytes <= capacity]
    while staying:
        packing = _packing(blocks, staying, sharings)
        busiest = packing.busiest_step()
        # The bytes live at a step are a bound, and soon known.
        if packing.live_bytes(busiest) <= capacity and assign(packing, granule, _QUICK).bytes <= capacity:
            break
        staying.remove(min((staying[i] for i in packing.live[busiest]), key=density))
    gone = [i for i in share if i not in staying]
    for i in sorted(gone, key=density, reverse=True)[:MOST_RETURNS]:
        grown = sorted([*staying, i])
        packing = _packing(blocks, grown, sharings)
        if packing.live_bytes(packing.busiest_step()) <= capacity and assign(packing, granule, _QUICK).bytes <= capacity:
            staying = grown
    return staying, [i for i in share if i not in staying]


def _packing(blocks: Sequence[Block], share: Sequence[int], sharings: Sharings) -> Packing:
    """Of the blocks of one memory."""
    numbers = {block: number for number, block in enumerate(share)}
    among = {(numbers[a], numbers[b]): sharing for (a, b), sharing in sharings.items() if a in numbers and b in numbers}
    return Packing(tuple(blocks[i] for i in share), among)
