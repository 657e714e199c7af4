"""Scales of weights by their effect on a layer's results: an outlier that is multiplied with hardly anything need not make a row coarse.

For each row the share of its largest weight that becomes the last step is searched, the error of the results being dᵀ·H·d (rounding.py).
A search for the clipping of weights by the error of the results: Y. Choukroun et al.: Low-bit Quantization of Neural Networks for Efficient
Inference (OMSE), ICCVW 2019, whose error is that of the weights alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.layer_inputs import free_layers, layer_inputs, linear_rows, stored_rows
from arenite.quantize.lowering import WeightChoice
from arenite.quantize.rounding import LIMIT, damped, errors

SHARES = (*np.arange(1.0, 0.45, -0.05), 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, 0.02)
GAIN = 0.98
"""A scale is changed for an error of less than this share of the one before."""


def searched(draft: Draft, data: Dataset, advance: Callable[[int, int], None]) -> Draft:
    """`draft` with scales of the weights of its linear layers as suits what they read over `data`; rounding is to the nearest."""
    lowering, layers = draft.lowering(), free_layers(draft)
    stored = stored_rows(lowering, layers)
    choices: dict[str, WeightChoice] = {}
    for done, (node, inputs) in enumerate(layer_inputs(draft, lowering, layers, data)):
        advance(done + 1, len(layers))
        if node.output in stored:
            scale = stored[node.output][1]
            weights = inputs.rows(linear_rows(draft.graph, node))
            chosen = best_scales(weights, inputs.rows(scale.astype(np.float64)), damped(inputs.products))
            before = draft.choices.get(node.output, WeightChoice())
            choices[node.output] = replace(before, scale=chosen.reshape(-1).astype(np.float32), steps=None)
    return draft.with_choices(choices) if choices else draft


def best_scales(weights: NDArray[np.float64], scale: NDArray[np.float64], products: NDArray[np.float64]) -> NDArray[np.float64]:
    """[groups, rows]; `weights` are [groups, rows, n], `scale` [groups, rows] what there is now, `products` [groups, n, n]."""

    def error(scales: NDArray[np.float64]) -> NDArray[np.float64]:
        steps = np.clip(np.rint(weights / scales[..., None]), -LIMIT, LIMIT)
        return errors(weights, steps, scales, products)

    best, least = scale.copy(), GAIN * error(scale)
    for share in SHARES[1:]:
        candidate = scale * share
        found = error(candidate)
        better = found < least
        best, least = np.where(better, candidate, best), np.where(better, found, least)
    return best
