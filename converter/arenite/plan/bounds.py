"""What no placement can be below: a true lower bound of a packing's end.

Two arguments. At every step what is live takes its bytes, operand and result no fewer together than their sharing allows. And within a
limit some pairs have no choice: where two blocks cannot be apart, one lies a stated distance above the other, and along a chain
the distances add up, so that the first of it lies high. A limit at which that leaves a block no place is none.
"""

from __future__ import annotations

from arenite.plan.blocks import Packing

PASSES = 40
"""Over all pairs, at one limit; ending early makes the bound weaker, not wrong."""
PAIRS = 20_000
"""Beyond so many pairs of rivals the second argument is left out."""


def step_bound(packing: Packing) -> int:
    """Most bytes live at once."""
    return packing.live_bytes(packing.busiest_step())


def chain_bound(packing: Packing, enough: int, granule: int) -> int:
    """A bound between step_bound and `enough`, the end of a placement. `granule`: what all sizes are multiples of."""
    low = step_bound(packing)
    if low >= enough or not packing.sharings or sum(map(len, packing.rivals)) > 2 * PAIRS:
        return low
    high = enough  # feasible; below `low` nothing is
    while low < high:
        middle = low + (high - low) // 2 // granule * granule
        if _excluded(packing, middle):
            low = middle + granule
        else:
            high = middle
    return low


def _excluded(packing: Packing, limit: int) -> bool:
    """No placement ends at or below `limit`. False: perhaps there is one."""
    blocks = packing.blocks
    low = [0] * len(blocks)
    high = [limit - block.bytes for block in blocks]
    above: list[tuple[int, int, int]] = []  # (upper, lower, distance), certain
    open_pairs: list[tuple[int, int, int, int]] = []  # (i, j, distance of i above j, distance of j above i)
    for i, others in enumerate(packing.rivals):
        open_pairs += [(i, j, _distance(packing, i, j), _distance(packing, j, i)) for j in others if j < i]
    for (operand, result), sharing in packing.sharings.items():
        step = max(blocks[operand].first, blocks[result].first)
        needed = packing.live_bytes(step, apart=(operand, result)) - limit
        if needed > 0:
            above.append((operand, result, sharing.least))
            if len(packing.operands[result]) == 1 and sharing.least >= 0 and not sharing.lasting:
                # They share so many bytes at least that the operand cannot lie any higher.
                above.append((result, operand, needed - blocks[result].bytes))
    for _ in range(PASSES):
        changed = False
        left = []
        for pair in open_pairs:
            i, j, over, under = pair
            may_lie_above, may_lie_below = low[j] + over <= high[i], low[i] + under <= high[j]
            if not may_lie_above and not may_lie_below:
                return True
            if may_lie_above and may_lie_below:
                left.append(pair)
            else:
                above.append((i, j, over) if may_lie_above else (j, i, under))
                changed = True
        open_pairs = left
        for upper, lower, distance in above:
            if low[lower] + distance > low[upper]:
                low[upper], changed = low[lower] + distance, True
            if high[upper] - distance < high[lower]:
                high[lower], changed = high[upper] - distance, True
            if low[upper] > high[upper] or low[lower] > high[lower]:
                return True
        if not changed:
            break
    return False


def _distance(packing: Packing, upper: int, lower: int) -> int:
    """The least offset of `upper` minus that of `lower` where it lies above it."""
    sharing = packing.sharings.get((upper, lower))
    return packing.blocks[lower].bytes if sharing is None else min(sharing.least, packing.blocks[lower].bytes)
