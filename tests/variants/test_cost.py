"""Bytes of constants, as estimated and as emitted."""

from __future__ import annotations

import numpy as np
from arenite.emit import build_program
from arenite.plan import plan
from arenite.tune import layer_alone
from arenite.variants import offers
from variants.random_layers import random_layer


def test_constant_bytes_are_those_of_the_program() -> None:
    rng = np.random.default_rng(8)
    compared = 0
    for _ in range(150):
        layer = random_layer(rng)
        for offered in offers(layer.graph, frozenset({"dsp"})).values():
            for offer in offered:
                graph = layer_alone(layer.graph, layer.node, offer.variant)
                assert build_program(graph, plan(graph), name="layer", calibrated=True).weight_bytes == offer.bytes, (offer, layer.node)
                compared += 1
    assert compared > 150
