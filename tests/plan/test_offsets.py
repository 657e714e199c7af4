"""Offsets: against brute force on small instances, and families whose optimum is known."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
from arenite.plan.offsets import Block, Offsets, Part, assign, busiest_step, live_bytes
from hypothesis import given, settings
from hypothesis import strategies as st


def block(bytes_: int, first: int, last: int) -> Block:
    return Block((Part(bytes_, first, last),))


@st.composite
def some_blocks(draw: st.DrawFn, most: int = 6) -> list[Block]:
    result = []
    for _ in range(draw(st.integers(1, most))):
        step, parts = draw(st.integers(-1, 6)), []
        for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
            last = step + draw(st.integers(0, 3))
            parts.append(Part(16 * draw(st.integers(1, 9)), step, last))
            step = last
        result.append(Block(tuple(parts)))
    return result


def overlap_anywhere(blocks: list[Block], found: Offsets) -> bool:
    for i, a in enumerate(blocks):
        for j in range(i):
            b, oa, ob = blocks[j], found.offsets[i], found.offsets[j]
            for step in range(-1, 20):
                at_a, at_b = a.at(step), b.at(step)
                if at_a and at_b and oa < ob + at_b and ob < oa + at_a:
                    return True
    return False


def least_end(blocks: list[Block]) -> int:
    """Brute force: in every order, each block on top of the earlier ones that it is ever live with."""
    steps = range(-1, 20)
    needed = [[max((a.at(t) for t in steps if b.at(t)), default=0) for b in blocks] for a in blocks]
    best = sum(b.bytes for b in blocks)
    for order in permutations(range(len(blocks))):
        offsets: dict[int, int] = {}
        for i in order:
            offsets[i] = max((offsets[j] + needed[j][i] for j in offsets if needed[j][i]), default=0)
        best = min(best, max(offsets[i] + blocks[i].bytes for i in order))
    return best


def check_optimal(blocks: list[Block]) -> None:
    found = assign(blocks)
    assert not overlap_anywhere(blocks, found)
    assert all(offset >= 0 and offset % 16 == 0 for offset in found.offsets)
    assert found.bytes == max(o + b.bytes for o, b in zip(found.offsets, blocks, strict=True))
    assert found.lower_bound == max(live_bytes(blocks, step) for step in range(-1, 20)) <= found.bytes
    assert live_bytes(blocks, busiest_step(blocks)) == found.lower_bound
    assert found.proven_optimal and found.bytes == least_end(blocks)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(some_blocks())
def test_least_of_all_placements(blocks: list[Block]) -> None:
    check_optimal(blocks)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=300)
@given(some_blocks(7))
def test_least_of_all_placements_long(blocks: list[Block]) -> None:
    check_optimal(blocks)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(some_blocks(12))
def test_without_effort_the_gap_is_stated(blocks: list[Block]) -> None:
    found = assign(blocks, effort=0)
    assert not overlap_anywhere(blocks, found)
    assert found.proven_optimal == (found.bytes == found.lower_bound)
    thorough = assign(blocks)
    assert found.lower_bound == thorough.lower_bound <= thorough.bytes <= found.bytes


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=60))
def test_chains_meet_the_bound(sizes: list[int]) -> None:
    blocks = [block(16 * size, i - 1, i) for i, size in enumerate(sizes)]
    found = assign(blocks)
    assert found.bytes == found.lower_bound == max(16 * (a + b) for a, b in pairwise(sizes))


def test_the_bound_cannot_always_be_met() -> None:
    """At most 128 bytes are live at once, but one block grows while the other shrinks, and a third spans both."""
    growing = Block((Part(32, 3, 4), Part(48, 4, 5)))
    shrinking = Block((Part(64, 2, 3), Part(16, 3, 5)))
    blocks = [growing, shrinking, block(32, 2, 4)]
    found = assign(blocks)
    assert found.proven_optimal and found.bytes == least_end(blocks) == 144 > found.lower_bound


def test_a_shrinking_block_leaves_room_above() -> None:
    floats = Block((Part(64, -1, 0), Part(16, 0, 3)))
    later = block(48, 1, 2)
    found = assign([floats, later])
    assert found.bytes == found.lower_bound == 64
    assert found.offsets == (0, 16)


def test_nothing() -> None:
    assert assign([]) == Offsets((), 0, 0, True)
