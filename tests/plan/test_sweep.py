"""Placement in the order of time: whatever is found is a placement, and mostly there is one where there can be."""

from __future__ import annotations

from random import Random

from arenite.plan.blocks import Block, Packing, Sharing
from arenite.plan.first_fit import place_fast, upright
from arenite.plan.fitting import EffortSpentError, Fitting
from arenite.plan.outlook import Fits, Outlook, Placed
from arenite.plan.sweep import Sweep
from hypothesis import given, settings
from hypothesis import strategies as st
from plan.test_offsets import packings, together

EFFORT = 20_000


def is_placement(packing: Packing, offsets: tuple[int, ...], limit: int) -> bool:
    count = range(len(offsets))
    return (
        min(offsets) >= 0
        and packing.end(offsets) <= limit
        and all(together(packing, i, j, offsets[i], offsets[j]) for i in count for j in count if i < j)
    )


@settings(deadline=None, derandomize=True, max_examples=200)
@given(packings(9), st.integers(2, 6))
def test_what_is_found_is_a_placement(packing: Packing, width: int) -> None:
    backwards = packing.backwards()
    enough = sum(packing.sizes)
    for limit in (enough, place_fast(packing, 0)[0].end):
        found = Sweep(packing, limit, width).placed(EFFORT)
        assert found is not None or limit < enough
        assert found is None or is_placement(packing, found, limit)
        turned = Sweep(backwards, limit, width).placed(EFFORT)
        assert turned is None or is_placement(packing, upright(backwards, turned), limit)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(packings(7))
def test_backwards_is_the_same_problem(packing: Packing) -> None:
    backwards = packing.backwards()
    for fitted in place_fast(backwards, 0):
        assert is_placement(packing, upright(backwards, fitted.offsets), fitted.end)
    assert backwards.backwards() == packing


def crowded(seed: int) -> Packing:
    """Blocks of few sizes; results that may lie over what dies."""
    random = Random(seed)
    blocks = [Block(16 * random.randint(1, 6), step, step + random.choice((1, 1, 2, 3, 7))) for step in range(24)]
    sharings = {
        (i, j): Sharing(4 * random.randint(0, 8), 4)
        for j, result in enumerate(blocks)
        for i in [i for i, operand in enumerate(blocks) if operand.last == result.first and operand.first < result.first][:1]
    }
    return Packing(tuple(blocks), sharings)


def test_it_finds_most_of_what_exists() -> None:
    """In these packings of many blocks exact search finds the least, and either direction of time leads there as well."""
    tried = found = 0
    for seed in range(40):
        packing = crowded(seed)
        least = max(packing.live_bytes(step) for step in packing.live)
        try:
            if Fitting(packing, least, 200_000, 4).place_all() is None:
                continue
        except EffortSpentError:
            continue
        tried += 1
        backwards = packing.backwards()
        found += any(Sweep(which, least, 6).placed(EFFORT) is not None for which in (packing, backwards))
    assert tried > 15 and found >= 0.9 * tried


def test_no_room_is_seen_before() -> None:
    """Two of 40 bytes live on into a step at which one of 60 begins: 20 bytes between them, and it has no room."""
    blocks = (Block(40, 0, 9), Block(40, 1, 9), Block(60, 9, 9))
    outlook = Outlook(Packing(blocks), 9, 140, Fits())
    assert outlook.judged([Placed(0, 40, 0), Placed(60, 100, 1)]) is None
    assert outlook.judged([Placed(0, 40, 0), Placed(40, 80, 1)]) is not None


def test_a_result_over_its_operand_is_seen_before() -> None:
    """The result of 50 bytes begins 10 below the operand of 60 that dies, and needs nothing but these 10 bytes."""
    blocks = (Block(60, 0, 9), Block(40, 0, 9), Block(50, 9, 9))
    packing = Packing(blocks, {(0, 2): Sharing(10, 1)})
    outlook = Outlook(packing, 9, 110, Fits())
    assert outlook.judged([Placed(0, 40, 1), Placed(50, 110, 0)]) is not None
    assert outlook.judged([Placed(0, 60, 0), Placed(60, 100, 1)]) is None
