from __future__ import annotations

from itertools import product

from arenite.passes.min_cut import cheapest_labels
from hypothesis import given, settings
from hypothesis import strategies as st

PRICES = st.integers(0, 6)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    st.lists(st.tuples(PRICES, PRICES), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), PRICES), max_size=9),
)
def test_against_every_labelling(prices: list[tuple[int, int]], drawn: list[tuple[int, int, int]]) -> None:
    costs = dict(enumerate(prices))
    edges = [(a % len(costs), b % len(costs), w) for a, b, w in drawn if a % len(costs) != b % len(costs)]

    def price(ones: set[int]) -> int:
        return sum(costs[v][v in ones] for v in costs) + sum(w for a, b, w in edges if (a in ones) != (b in ones))

    every = [{v for v, bit in enumerate(bits) if bit} for bits in product((0, 1), repeat=len(costs))]
    least = min(price(ones) for ones in every)
    ones, total = cheapest_labels(costs, edges)
    assert total == least
    assert price(ones) == least
    assert len(ones) == min(len(other) for other in every if price(other) == least)
