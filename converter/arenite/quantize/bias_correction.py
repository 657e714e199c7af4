"""Bias correction: what rounding adds to a layer's results on the average is taken from its bias (M. Nagel et al.: Data-Free
Quantization through Weight Equalization and Bias Correction, ICCV 2019, §4.2 and appendix D).

Analytic: the errors of the weights times the mean of what the float network reads, E[Ŵ·x] − E[W·x]; nothing is run in its quantized form.
(The paper gets that mean from batch normalization, which is part of the weights here; it is measured.) Calibrated: the whole difference of
means, E[Ŵ·x̂] − E[W·x], which counts as well what rounding and clipping before the layer did; layers are corrected one after the other, so
that none makes up for what another one has made up for already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from arenite.graph import Node
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.layer_inputs import free_layers, layer_inputs, linear_bias, linear_rows, stored_rows
from arenite.quantize.lowering import WeightChoice


def corrected(draft: Draft, data: Dataset, advance: Callable[[int, int], None], *, calibrated: bool) -> Draft:
    """`draft` with biases of its linear layers that make the means of results over `data` those of the float network."""
    layers = free_layers(draft)
    if not calibrated:
        draft = _corrected(draft, layers, data, calibrated=False)
        advance(len(layers), len(layers))
        return draft
    for done, layer in enumerate(layers):
        draft = _corrected(draft, [layer], data, calibrated=True)
        advance(done + 1, len(layers))
    return draft


def _corrected(draft: Draft, layers: list[Node], data: Dataset, *, calibrated: bool) -> Draft:
    lowering = draft.lowering()
    stored = stored_rows(lowering, layers)
    choices: dict[str, WeightChoice] = {}
    for node, inputs in layer_inputs(draft, lowering, layers, data, products=False):
        if node.output in stored:
            steps, scale = stored[node.output]
            weights = linear_rows(draft.graph, node)
            exact = np.einsum("grn,gn->gr", inputs.rows(weights), inputs.float_mean)
            reads = inputs.mean if calibrated else inputs.float_mean
            got = np.einsum("grn,gn->gr", inputs.rows(steps * scale.astype(np.float64)[:, None]), reads)
            bias = linear_bias(draft.graph, node, len(weights)) + (exact - got).reshape(-1)
            choices[node.output] = replace(draft.choices.get(node.output, WeightChoice()), bias=bias)
    return draft.with_choices(choices) if choices else draft
