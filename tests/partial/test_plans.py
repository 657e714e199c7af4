"""Plans in an arena that is said to be enough: legal at every limit, within it where they say so, and bands lie in their windows."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.partial.search import copied_rows
from arenite.plan import Enough, check, plan
from hypothesis import given, settings
from hypothesis import strategies as st
from partial.banded import quantized_network, random_bands, random_group


@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 1 << 30))
def test_random_bands_within_random_limits(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    graph, rng = quantized_network(seed, tmp_path_factory.mktemp("plans")), np.random.default_rng(seed)
    group = random_group(graph, rng)
    if group is None:
        return
    banded = random_bands(group, rng)
    order = range(len(banded.nodes))
    found = {}
    for share in (0.5, 1.0, 1.1, 2.0):
        limit = int(share * plan(banded, order=order, enough=Enough(0, quick=True)).arena_bytes)
        found[share] = plan(banded, order=order, enough=Enough(limit, quick=True))
        check(banded, found[share])
        assert found[share].lower_bound <= found[share].arena_bytes
    assert sum(copied_rows(banded, found[2.0])) <= sum(copied_rows(banded, found[1.0]))
