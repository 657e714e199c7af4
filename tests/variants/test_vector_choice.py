"""A core with vectors takes the plain constants: kernels/mve works from them, the streams are for the DSP extension."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.targets.catalogue import CORTEX_M4, CORTEX_M55
from arenite.variants import GOALS, choose_variants, offers
from variants.random_layers import random_layer


@pytest.mark.parametrize("optimize", sorted(GOALS))
def test_plain_constants_with_vectors(optimize: str) -> None:
    rng = np.random.default_rng(55)
    streams = 0
    for _ in range(60):
        graph = random_layer(rng).graph
        variants = {
            target.name: choose_variants(graph, offers(graph, target.features), lambda kernels: 1000 * len(kernels), optimize)
            .graph.nodes[0]
            .attributes["variant"]
            for target in (CORTEX_M4, CORTEX_M55)
        }
        assert variants["cortex-m55"] == "int8"
        streams += variants["cortex-m4"] != "int8"
    assert streams > 5 or optimize == "size"
