"""Several memories, the fastest first: what is read and written most for its size stays, the rest goes on to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from arenite.errors import PlanError
from arenite.plan.blocks import Block, Packing, Sharing
from arenite.plan.bounds import step_bound
from arenite.plan.first_fit import improved, place_fast
from arenite.plan.memory_plan import BEYOND, Memory, MemoryKind
from arenite.plan.offsets import Enough, Offsets, assign
from arenite.plan.rigid import Bodies, gathered, place_rigid

Share = tuple[list[int], Offsets]
"""Blocks that a memory holds, by number, and where."""
Sharings = Mapping[tuple[int, int], Sharing]
_QUICK = 0
"""Effort of exact search while blocks are still moved from memory to memory."""
MOST_RETURNS = 32
"""Blocks that are tried again once the rest fits."""
_IN_REACH = 1.1
"""First fit that ends at this part of the capacity may be improved so that it fits; beyond that blocks go on without a try."""
_STARTS = 4
"""Placements that are improved."""
_LESS = 0.25
"""Of what is above the capacity, that much less is live at the next try."""


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
    their size, and last those that no further memory can hold; then those that fit after all return, those first that have most. Raises
    PlanError where there is too little of all.
    """
    shares: list[Share] = []
    left, needed = list(range(len(blocks))), 0
    for number, memory in enumerate(memories):
        if memory.kind is not MemoryKind.ARENA:
            shares.append(([], assign(Packing(()))))
            continue
        here = enough if enough is None or memory.capacity is None else Enough(memory.capacity, enough.quick)
        share, layout = left, assign(_packing(blocks, left, sharings), granule, enough=here)
        left, needed = [], layout.bytes
        if memory.capacity is not None and layout.bytes > memory.capacity:
            stuck = _stuck(blocks, memories[number + 1 :])
            if here is None:
                share, left = _within(memory.capacity, blocks, share, traffic, sharings, granule, stuck)
                layout = assign(_packing(blocks, share, sharings), granule)
            else:
                share, left, layout = _filled(here, blocks, share, traffic, sharings, granule, stuck)
        shares.append((share, layout))
    if left:
        holding = ", ".join(f"{memory.name} {memory.capacity:,} bytes" for memory in memories if memory.capacity is not None)
        raise PlanError(
            f"{file}: the tensors do not fit: {needed:,} bytes are needed beyond what other memories hold, there are {holding}; "
            "raise the limit, or make the layers at the peak smaller"
        )
    return shares


def _stuck(blocks: Sequence[Block], further: Sequence[Memory]) -> Set[int]:
    """Blocks that no further memory can hold."""
    if any(memory.capacity is None and memory != BEYOND for memory in further):
        return frozenset()
    most = max((memory.capacity or 0 for memory in further), default=0)
    return frozenset(i for i, block in enumerate(blocks) if block.bytes > most)


def _within(
    capacity: int,
    blocks: Sequence[Block],
    share: Sequence[int],
    traffic: Sequence[int],
    sharings: Sharings,
    granule: int,
    stuck: Set[int],
) -> tuple[list[int], list[int]]:
    """What of `share` stays within `capacity` bytes, and what goes on."""

    def density(i: int) -> tuple[bool, float, int, int]:
        return i in stuck, traffic[i] / max(1, blocks[i].bytes), -blocks[i].bytes, -i

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


def _filled(
    enough: Enough,
    blocks: Sequence[Block],
    share: Sequence[int],
    traffic: Sequence[int],
    sharings: Sharings,
    granule: int,
    stuck: Set[int],
) -> tuple[list[int], list[int], Offsets]:
    """As _within, of parts and wholes by the hundred: what returns is placed into what is left, and the layout is part of the result."""
    whole = _packing(blocks, share, sharings)
    bodies = Bodies(whole)

    def density(i: int) -> tuple[bool, float, int, int]:
        members = [share[j] for j, _ in bodies.members[bodies.body_of[i]]]
        used = sum(traffic[j] for j in members) / max(1, sum(blocks[j].bytes for j in members))
        return not stuck.isdisjoint(members), used, -whole.blocks[i].bytes, -i

    staying = [i for i, block in enumerate(whole.blocks) if block.bytes <= enough.bytes]
    placed: tuple[int, ...] = ()
    worth = enough.bytes
    while staying:
        packing = _packing(blocks, [share[i] for i in staying], sharings)
        busiest = packing.busiest_step()
        if (live := packing.live_bytes(busiest)) <= worth:
            placed = _placed(packing, enough.bytes, as_bodies=not placed)
            if (over := packing.end(placed) - enough.bytes) <= 0:
                break
            # A block or two less will not do where much is above: the search for a placement is what takes time.
            worth = live - int(over * _LESS)
        leaving = min((staying[i] for i in packing.live[busiest]), key=density)
        staying = [i for i in staying if bodies.body_of[i] != bodies.body_of[leaving]]
    offsets = [-1] * len(share)
    for i, offset in zip(staying, placed, strict=True):
        offsets[i] = offset
    gone = sorted((i for i in range(len(share)) if offsets[i] < 0), key=density, reverse=True)
    together = [bodies.members[body] for body in dict.fromkeys(bodies.body_of[i] for i in gone)]
    for members in (*together, *([(i, 0)] for i in gone)):
        if all(offsets[i] < 0 for i, _ in members):
            base = bodies.lowest_free(members, offsets)
            if all(base + above + whole.blocks[i].bytes <= enough.bytes for i, above in members):
                for i, above in members:
                    offsets[i] = base + above
    kept = [i for i, offset in enumerate(offsets) if offset >= 0]
    packing = _packing(blocks, [share[i] for i in kept], sharings)
    placed = gathered(packing, tuple(offsets[i] for i in kept), enough.bytes)
    return (
        [share[i] for i in kept],
        [share[i] for i, offset in enumerate(offsets) if offset < 0],
        Offsets(placed, packing.end(placed), step_bound(packing)),
    )


def _placed(packing: Packing, capacity: int, as_bodies: bool) -> tuple[int, ...]:
    """A placement that ends at `capacity`, parts in their wholes as far as they can be, or one that is higher where none is soon found.

    `as_bodies`: try first whether all of them can. That takes as long as all else.
    """
    together = place_rigid(packing, capacity) if as_bodies else None
    if together is not None and packing.end(together) <= capacity:
        return together
    starts = place_fast(packing, capacity)
    best = starts[0].offsets
    for start in starts[:_STARTS] if starts[0].end <= capacity * _IN_REACH else ():
        if packing.end(best) > capacity:
            best = min(best, improved(packing, start, capacity), key=packing.end)
    return gathered(packing, best, capacity) if packing.end(best) <= capacity else best


def _packing(blocks: Sequence[Block], share: Sequence[int], sharings: Sharings) -> Packing:
    """Of the blocks of one memory."""
    numbers = {block: number for number, block in enumerate(share)}
    among = {(numbers[a], numbers[b]): sharing for (a, b), sharing in sharings.items() if a in numbers and b in numbers}
    return Packing(tuple(blocks[i] for i in share), among)
