"""Offsets: against every placement of small instances, and families whose optimum is known."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from arenite.plan.blocks import Block, Packing, Sharing
from arenite.plan.bounds import chain_bound, step_bound
from arenite.plan.chain import as_chain, fit_chain
from arenite.plan.first_fit import first_fit, improved, orders, place_fast, upright
from arenite.plan.fitting import EffortSpentError, Fitting
from arenite.plan.offsets import Offsets, assign
from hypothesis import given, settings
from hypothesis import strategies as st

UNIT = 4


@st.composite
def sharing(draw: st.DrawFn) -> Sharing:
    match draw(st.integers(0, 3)):
        case 0:
            return Sharing(0, 0)
        case 1:
            period = UNIT * draw(st.integers(2, 3))
            return Sharing(period * draw(st.integers(0, 1)), period)
        case _:
            return Sharing(UNIT * draw(st.integers(0, 5)), UNIT)


@st.composite
def chains(draw: st.DrawFn, most: int = 4) -> Packing:
    """Tensors each of which is read by the node that writes the next, some with scratch memory."""
    count = draw(st.integers(1, most))
    blocks = [Block(UNIT * draw(st.integers(1, 5)), i - 1, i) for i in range(count)]
    sharings = {(i, i + 1): draw(sharing()) for i in range(count - 1) if draw(st.booleans())}
    blocks += [Block(UNIT * draw(st.integers(1, 3)), step, step) for step in range(count) if draw(st.integers(0, 3)) == 0]
    return Packing(tuple(blocks), sharings)


@st.composite
def packings(draw: st.DrawFn, most: int = 5) -> Packing:
    """Blocks of any lifetimes; where one begins at the last step of others, it may share bytes with up to two of them; parts of others."""
    blocks = []
    for _ in range(draw(st.integers(1, most))):
        first = draw(st.integers(-1, 4))
        blocks.append(Block(UNIT * draw(st.integers(1, 4)), first, first + draw(st.integers(0, 2))))
    sharings: dict[tuple[int, int], Sharing] = {}
    results: set[int] = set()
    for i, result in enumerate(blocks):
        ending = [j for j, other in enumerate(blocks) if j != i and other.last == result.first and other.first < result.first]
        if ending and not any(blocks[j].first == result.first for j in results):  # a node has one result that shares
            for j in draw(st.lists(st.sampled_from(ending), max_size=2, unique=True)):
                sharings[j, i] = draw(sharing())
                results.add(i)
    for part, inner in enumerate(blocks):
        live = [
            i for i, other in enumerate(blocks) if other.first <= inner.last and inner.first <= other.last and other.bytes > inner.bytes
        ]
        if live and draw(st.integers(0, 3)) == 0:
            whole = draw(st.sampled_from(live))
            if not {(part, whole), (whole, part)} & set(sharings):
                offset = UNIT * draw(st.integers(0, (blocks[whole].bytes - inner.bytes) // UNIT))
                sharings[part, whole] = Sharing(offset, 0, lasting=True)
    return Packing(tuple(blocks), sharings)


def together(packing: Packing, i: int, j: int, offset: int, other: int) -> bool:
    """Whether two blocks go together at these offsets, straight from what the packing says."""
    a, b = packing.blocks[i], packing.blocks[j]
    live_at_once = a.first <= b.last and b.first <= a.last
    apart = offset + a.bytes <= other or other + b.bytes <= offset
    if apart or not live_at_once:
        return True
    for pair, delta in (((i, j), offset - other), ((j, i), other - offset)):
        known = packing.sharings.get(pair)
        if known is not None and delta >= known.least:
            return delta == known.least or (known.period > 0 and (delta - known.least) % known.period == 0)
    return False


def is_legal(packing: Packing, offsets: Sequence[int]) -> bool:
    indices = range(len(offsets))
    return min(offsets) >= 0 and all(together(packing, i, j, offsets[i], offsets[j]) for i in indices for j in range(i))


def least_end(packing: Packing) -> int:
    """By trying every offset of every block."""

    def fits(limit: int, placed: list[int]) -> bool:
        i = len(placed)
        if i == len(packing.blocks):
            return True
        for offset in range(0, limit - packing.blocks[i].bytes + 1, UNIT):
            if all(together(packing, i, j, offset, other) for j, other in enumerate(placed)) and fits(limit, [*placed, offset]):
                return True
        return False

    end = max(block.bytes for block in packing.blocks)
    while not fits(end, []):
        end += UNIT
    return end


def check_placed(packing: Packing) -> None:
    found = assign(packing, UNIT)
    assert is_legal(packing, found.offsets)
    assert all(offset % UNIT == 0 for offset in found.offsets)
    assert found.bytes == max(o + b.bytes for o, b in zip(found.offsets, packing.blocks, strict=True))
    least = least_end(packing)
    assert step_bound(packing) <= chain_bound(packing, found.bytes, UNIT) <= least
    assert found.lower_bound <= least <= found.bytes
    simple = all(known.period == UNIT for known in packing.sharings.values())
    if simple or as_chain(packing) is not None:
        assert found.proven_optimal and found.bytes == least


@settings(deadline=None, derandomize=True, max_examples=150)
@given(packings())
def test_least_of_all_placements(packing: Packing) -> None:
    check_placed(packing)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(chains())
def test_least_of_all_placements_of_chains(packing: Packing) -> None:
    assert as_chain(packing) is not None
    check_placed(packing)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=1000)
@given(st.one_of(packings(6), chains(5)))
def test_least_of_all_placements_long(packing: Packing) -> None:
    check_placed(packing)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(chains(), st.integers(0, 12))
def test_a_chain_fits_a_limit_where_anything_does(packing: Packing, over: int) -> None:
    """The method for chains on its own, where first fit has found the same already."""
    least, chain = least_end(packing), as_chain(packing)
    assert chain is not None
    found, _ = fit_chain(chain, least + UNIT * over, UNIT)
    assert found is not None and is_legal(packing, found) and packing.end(found) <= least + UNIT * over
    assert fit_chain(chain, least - UNIT, UNIT) == (None, True)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(chains(8), st.integers(2, 5))
def test_a_coarse_grid_finds_what_is_legal(packing: Packing, coarser: int) -> None:
    chain = as_chain(packing)
    assert chain is not None
    limit = UNIT * coarser * sum(block.bytes for block in packing.blocks)
    found, _ = fit_chain(chain, limit, UNIT * coarser)
    assert found is not None and is_legal(packing, found)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(packings(), st.booleans())
def test_every_first_fit_is_legal(packing: Packing, upside_down: bool) -> None:
    for order in orders(packing):
        which = packing.mirrored() if upside_down else packing
        offsets = first_fit(which, order)
        offsets = upright(which, offsets) if upside_down else offsets
        assert is_legal(packing, offsets)
    fitted = place_fast(packing, 0)[0]
    assert is_legal(packing, improved(packing, fitted, 0)) and packing.end(improved(packing, fitted, 0)) <= fitted.end


@settings(deadline=None, derandomize=True, max_examples=100)
@given(packings())
def test_exact_search_alone(packing: Packing) -> None:
    least = least_end(packing)
    search = Fitting(packing, least - UNIT, 1_000_000, UNIT)
    assert search.place_all() is None
    search = Fitting(packing, least, 1_000_000, UNIT)
    found = search.place_all()
    assert found is None or (is_legal(packing, found) and packing.end(found) == least)
    assert found is not None or not search.proves


@settings(deadline=None, derandomize=True, max_examples=30)
@given(packings(9))
def test_without_effort_the_gap_is_stated(packing: Packing) -> None:
    found = assign(packing, UNIT, effort=0)
    assert is_legal(packing, found.offsets)
    assert found.lower_bound <= assign(packing, UNIT).bytes <= found.bytes


def test_effort_is_bounded() -> None:
    packing = Packing(tuple(Block(UNIT * (3 + i % 5), i % 4, i % 4 + 3) for i in range(40)))
    with pytest.raises(EffortSpentError):
        Fitting(packing, step_bound(packing), 100, UNIT).place_all()


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=60))
def test_chains_meet_the_bound(sizes: list[int]) -> None:
    packing = Packing(tuple(Block(16 * size, i - 1, i) for i, size in enumerate(sizes)))
    found = assign(packing, 16)
    assert found.bytes == found.lower_bound == max(16 * (a + b) for a, b in pairwise(sizes))


def separable(layers: int, distance: int) -> Packing:
    """Keyword spotting's chain: 8,000 bytes in place through a depthwise layer, `distance` lower through a pointwise one."""
    blocks = [Block(8000, i - 1, i) for i in range(2 * layers + 1)]
    sharings = {(i, i + 1): Sharing(0, 64) if i % 2 == 0 else Sharing(distance, UNIT) for i in range(2 * layers)}
    return Packing((*blocks, *(Block(256, i, i) for i in range(2 * layers))), sharings)


@pytest.mark.parametrize("layers", [1, 4, 20])
def test_a_chain_creeps_down(layers: int) -> None:
    """Only the last layer lies at 0: no step needs more than 8,384 bytes, and yet every pointwise layer costs its distance."""
    packing = separable(layers, 128)
    found = assign(packing, UNIT)
    assert is_legal(packing, found.offsets)
    assert step_bound(packing) == 8000 + 128 + 256
    assert found.bytes == found.lower_bound == max(8384, 8000 + 128 * layers) if layers > 1 else 8384


def test_a_growing_layer_lies_below_its_operand() -> None:
    """36,864 bytes from 18,432: the operand at the upper end, what comes before it beside both."""
    sharings = {(1, 2): Sharing(18_440, UNIT), (0, 1): Sharing(0, 8)}
    packing = Packing((Block(18_432, -1, 0), Block(18_432, 0, 1), Block(36_864, 1, 2)), sharings)
    found = assign(packing, UNIT)
    assert found.bytes == found.lower_bound == 18_440 + 18_432


def test_in_place_is_one_offset() -> None:
    packing = Packing((Block(64, -1, 0), Block(64, 0, 1), Block(64, 0, 0)), {(0, 1): Sharing(0, 0)})
    found = assign(packing, UNIT)
    assert found.bytes == 128 and found.offsets[0] == found.offsets[1]


def test_parts_lie_in_their_whole() -> None:
    """A Concat of three tensors that are there from the beginning, one of which is read again later."""
    blocks = [Block(16 * size, -1, last) for size, last in ((1, 0), (2, 0), (3, 1))]
    sharings = {(i, 3): Sharing(16 * at, 0, lasting=True) for i, at in enumerate((0, 1, 3))}
    found = assign(Packing((*blocks, Block(96, 0, 2)), sharings), UNIT)
    assert found.bytes == 96 and found.offsets == (0, 16, 48, 0)


def test_two_operands_at_one_offset_cannot_both_be_taken() -> None:
    packing = Packing((Block(64, -1, 0), Block(64, -1, 0), Block(64, 0, 1)), {(0, 2): Sharing(0, 0), (1, 2): Sharing(0, 0)})
    assert step_bound(packing) == 128 and assign(packing, UNIT).bytes == 128


def test_nothing() -> None:
    assert assign(Packing(())) == Offsets((), 0, 0)


def test_a_block_that_overlaps_the_lowest_is_not_below_zero() -> None:
    """Bands of rows of one image: the second begins 8 bytes before the first, which lies at 0 already."""
    packing = Packing((Block(16, 0, 2), Block(16, 1, 3)), {(1, 0): Sharing(-8, 0, lasting=True)})
    for order in ([0, 1], [1, 0]):
        assert min(first_fit(packing, order)) >= 0
    assert all(min(fitted.offsets) >= 0 for fitted in place_fast(packing, 0))
    assert min(assign(packing, UNIT).offsets) >= 0
