"""Layers whose weights become weights of four bits, one after the other, each by what it reads from those before (four_bit_scales.py).

The layers that keep eight bits and come later are rounded anew, since they read something else now.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from arenite.errors import QuantizationError
from arenite.graph import Graph, Node
from arenite.quantize.best import Advance, Found, MethodEffect, divided
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.four_bit_scales import four_bit_rows
from arenite.quantize.layer_inputs import free_layers, layer_inputs, linear_bias, linear_rows, stored_rows
from arenite.quantize.lower_linear import FOUR_BITS
from arenite.quantize.lowering import WeightChoice
from arenite.quantize.named_layers import named_layers
from arenite.quantize.output_error import Judge
from arenite.quantize.rounding import bias_shift, rounded_layer, sought_rows

METHOD = "int4"
"""What the report calls it."""


def four_bit_layers(graph: Graph, names: Sequence[str] | None, typed: Collection[str]) -> frozenset[str]:
    """First outputs of the layers that the ONNX nodes `names` have become, None: of all that can be, without `typed`, which are not int8.

    Raises QuantizationError for a name that no such layer has.
    """
    able = {
        node.output
        for node in graph.nodes
        if node.op in FOUR_BITS and node.output not in typed and graph.tensor(node.inputs[1]).is_constant
    }
    if names is None:
        return frozenset(able)
    found: set[str] = set()
    for name in names:
        named = able.intersection(named_layers(graph, name, "--int4-layer"))
        if not named:
            raise QuantizationError(
                f"{graph.name}: --int4-layer {name}: weights of four bits are for convolutions and fully connected layers that are int8, "
                "not for depthwise ones, whose weights are few. Leave it out."
            )
        found |= named
    return frozenset(found)


def stored_in_four_bits(
    found: Found, layers: frozenset[str], data: Dataset, advance: Advance | None = None, most_loss_db: float = math.inf
) -> Found:
    """`found` with the weights of `layers` in four bits, and what that does to the outputs.

    A layer with which the outputs would lose more than `most_loss_db`, over samples that it has not learned from, keeps eight bits.
    """
    learned, judged = divided(data, bool(found.draft.graph.states))
    judge = Judge(found.draft.graph, judged)
    before = judge.figure(found.draft)
    report = advance or (lambda stage, done, total: None)
    draft, refused = in_four_bits(
        found.draft,
        layers,
        learned,
        lambda done, total: report(METHOD, done, total),
        judge if most_loss_db < math.inf else None,
        most_loss_db,
    )
    after = judge.figure(draft)
    detail = f"weights of {len(layers) - len(refused)} layers"
    if refused:
        detail += f"; eight bits stay where four would lose more than {most_loss_db:g} dB: {', '.join(refused)}"
    effect = MethodEffect(METHOD, True, before.sqnr_db, after.sqnr_db, detail)
    return replace(found, draft=draft, effects=(*found.effects, effect), judged=len(judge))


def in_four_bits(
    draft: Draft,
    layers: Collection[str],
    data: Dataset,
    advance: Callable[[int, int], None],
    judge: Judge | None = None,
    most_loss_db: float = math.inf,
) -> tuple[Draft, list[str]]:
    """`draft` with the weights of `layers`, first outputs of its Conv and FullyConnected, in four bits, by what they read over `data`.

    Weights that the model itself has quantized are taken as they are, and stored in four bits where those hold them. Also gives the names
    of the layers with which the outputs would lose more than `most_loss_db`, as `judge` finds: these keep eight bits.
    """
    free = free_layers(draft)
    kept = set(layers) - {node.output for node in free}
    draft = draft.with_choices({name: WeightChoice(four_bits=True) for name in kept})
    changed, refused = False, list[str]()
    for done, layer in enumerate(free):
        candidate = draft
        if layer.output in layers:
            candidate = draft.with_choices(_chosen(draft, layer, data, four_bits=True))
            if judge is not None and judge.sqnr_db(draft) - judge.sqnr_db(candidate) > most_loss_db:
                refused.append(layer.name)
                candidate = draft
        if candidate is draft and changed:
            candidate = draft.with_choices(_chosen(draft, layer, data, four_bits=False))
        changed |= candidate is not draft
        draft = candidate
        advance(done + 1, len(free))
    return draft, refused


def _chosen(draft: Draft, layer: Node, data: Dataset, *, four_bits: bool) -> dict[str, WeightChoice]:
    lowering = draft.lowering()
    stored = stored_rows(lowering, [layer])
    if layer.output not in stored:
        return {}
    scale = stored[layer.output][1]
    weights = linear_rows(draft.graph, layer)
    bias = linear_bias(draft.graph, layer, len(weights))
    for node, inputs in layer_inputs(draft, lowering, [layer], data):
        if not four_bits:
            return {node.output: rounded_layer(inputs, weights, bias, scale)}
        rows = inputs.rows(weights)
        sought, products = sought_rows(inputs, rows)
        own, steps = four_bit_rows(sought, products)
        chosen = np.where(own > 0, own, inputs.rows(scale)).astype(np.float32)
        shift = bias_shift(inputs, rows, np.asarray(steps * chosen[..., None], np.float64))
        return {node.output: WeightChoice(chosen.reshape(-1), steps.reshape(weights.shape), bias + shift, True)}
    if not four_bits:
        return {}
    own, steps = four_bit_rows(weights[None], None)  # too long for a matrix of products
    chosen = np.where(own[0] > 0, own[0], scale).astype(np.float32)
    before = draft.choices.get(layer.output, WeightChoice())
    return {layer.output: replace(before, scale=chosen, steps=steps[0], four_bits=True)}
