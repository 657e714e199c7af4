"""Rounding of weights by its effect on a layer's results, not weight by weight.

Whether a weight is rounded up or down matters only together with the others of its row: with d the errors of a row's weights and
H = E[x·xᵀ] over calibration data, the mean squared error of the results is dᵀ·H·d. Minimising it over both neighbours of every
weight is the problem that AdaRound poses (M. Nagel et al.: Up or Down? Adaptive Rounding for Post-Training Quantization, ICML 2020,
§3) and relaxes; here rows are started from rounding one weight after the other, each one's error being made up for by those that are
left (E. Frantar et al.: GPTQ, ICLR 2023), and from rounding to the nearest, then improved weight by weight as long as anything is
gained (K. Behdin et al.: QuantEase, 2023). All rows of a layer are done at once: a sweep costs as much as multiplying H with the weights.

As in AdaRound, layers are done one after the other, and each is to give what the float network's gives, from what it reads in the quantized
network: not W is rounded but the W' nearest to it for which W'·x̂ is W·x. The bias takes what is left of the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.layer_inputs import LayerInputs, free_layers, layer_inputs, linear_bias, linear_rows, stored_rows
from arenite.quantize.lowering import WeightChoice

Floats = NDArray[np.float64]

SWEEPS = 20
DAMPING = 0.01
"""Of the mean of H's diagonal, added to it: calibration data is not all that there will be."""
NEARNESS = 0.1
"""The same where W' is sought: how near to W."""
LIMIT = 127


def rounded(draft: Draft, data: Dataset, advance: Callable[[int, int], None]) -> Draft:
    """`draft` with the weights of its linear layers rounded in the scales that they have now, by what the layers read over `data`."""
    layers = free_layers(draft)
    for done, layer in enumerate(layers):
        lowering = draft.lowering()
        stored = stored_rows(lowering, [layer])
        for node, inputs in layer_inputs(draft, lowering, [layer], data):
            if node.output not in stored:
                continue
            scale = stored[node.output][1]
            weights = linear_rows(draft.graph, node)
            bias = linear_bias(draft.graph, node, len(weights))
            draft = draft.with_choices({node.output: rounded_layer(inputs, weights, bias, scale)})
        advance(done + 1, len(layers))
    return draft


def rounded_layer(inputs: LayerInputs, weights: Floats, bias: Floats, scale: NDArray[np.float32]) -> WeightChoice:
    """For a layer with these `weights` [channels, weights of one], `bias` and `scale` [channels]."""
    scales = inputs.rows(scale.astype(np.float64))
    sought, products = sought_rows(inputs, inputs.rows(weights))
    steps = best_rounding(sought, scales, products)
    shift = bias_shift(inputs, inputs.rows(weights), steps * scales[..., None])
    return WeightChoice(scale, steps.reshape(weights.shape), bias + shift)


def sought_rows(inputs: LayerInputs, rows: Floats) -> tuple[Floats, Floats]:
    """(W' [groups, rows, n] for the layer's `rows`, H [groups, n, n] by which its errors count)."""
    products = inputs.products - inputs.mean[:, :, None] * inputs.mean[:, None, :]  # the bias makes up for the rest
    crossed = inputs.crossed - inputs.float_mean[:, :, None] * inputs.mean[:, None, :]
    near = _diagonal(products, NEARNESS)
    solved = np.linalg.solve(_transposed(products + near), _transposed(rows @ (crossed + near)))
    return _transposed(np.asarray(solved, np.float64)), damped(products)


def bias_shift(inputs: LayerInputs, rows: Floats, stored: Floats) -> Floats:
    """[channels]: what the bias gets where `stored`, real numbers, stand for `rows`."""
    exact = np.einsum("grn,gn->gr", rows, inputs.float_mean)
    got = np.einsum("grn,gn->gr", stored, inputs.mean)
    return np.asarray((exact - got).reshape(-1))


def damped(products: Floats) -> Floats:
    """H of each group, [groups, n, n], with DAMPING; never singular."""
    return products + _diagonal(products, DAMPING)


def _diagonal(products: Floats, share: float) -> Floats:
    """`share` of the mean of the diagonal, as a diagonal matrix, [groups, n, n]."""
    mean = np.einsum("gnn->gn", products).mean(axis=1)
    return np.asarray(np.maximum(share * mean, np.finfo(np.float32).tiny)[:, None, None] * np.eye(products.shape[1]))


def _transposed(matrices: Floats) -> Floats:
    return matrices.transpose(0, 2, 1)


def errors(weights: Floats, steps: Floats, scale: Floats, products: Floats) -> Floats:
    """dᵀ·H·d of each row, [groups, rows]. `weights` and `steps` are [groups, rows, n], `scale` [groups, rows]."""
    difference = steps * scale[..., None] - weights
    return np.asarray(np.einsum("grn,grn->gr", difference @ products, difference))


def best_rounding(weights: Floats, scale: Floats, products: Floats) -> NDArray[np.int64]:
    """For each weight one of its two neighbours in steps of `scale`; arguments as for errors()."""
    exact = weights / scale[..., None]
    low = np.clip(np.floor(exact), -LIMIT, LIMIT)
    high = np.clip(np.floor(exact) + 1, -LIMIT, LIMIT)
    nearest = np.clip(np.rint(exact), -LIMIT, LIMIT)
    first, second = (_descend(exact, start, low, high, products) for start in (nearest, _compensating(exact, low, high, products)))
    unit = np.ones_like(scale)
    better = errors(exact, second, unit, products) < errors(exact, first, unit, products)
    return np.where(better[..., None], second, first).astype(np.int64)


def _compensating(exact: Floats, low: Floats, high: Floats, products: Floats) -> Floats:
    """One weight after the other is rounded, and its error distributed to those behind it as H says."""
    inverse = np.asarray(np.linalg.inv(products), np.float64)
    lower: Any = np.linalg.cholesky((inverse + _transposed(inverse)) / 2)
    factor = _transposed(np.asarray(lower, np.float64))  # whose rows hold, for each weight, what its error costs those behind it
    left, result = exact.copy(), np.empty_like(exact)
    for i in range(exact.shape[2]):
        result[..., i] = np.clip(np.rint(left[..., i]), low[..., i], high[..., i])
        error = (left[..., i] - result[..., i]) / factor[:, None, i, i]
        left[..., i:] -= error[..., None] * factor[:, None, i, i:]
    return result


def _descend(exact: Floats, start: Floats, low: Floats, high: Floats, products: Floats) -> Floats:
    """Weights are moved to their other neighbour one by one, in all rows at once, where that makes the error less."""
    steps = start.copy()
    gradient = (steps - exact) @ products
    for _ in range(SWEEPS):
        moved = False
        for i in range(exact.shape[2]):
            move = low[..., i] + high[..., i] - 2 * steps[..., i]
            gain = 2 * move * gradient[..., i] + move**2 * products[:, None, i, i]
            group, row = np.nonzero(gain < -1e-9 * products[:, None, i, i])
            if len(row):
                moved = True
                steps[group, row, i] += move[group, row]
                gradient[group, row] += move[group, row, None] * products[group, i]
        if not moved:
            break
    return steps
