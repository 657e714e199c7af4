"""How far the quantized network is from float, tensor by tensor: measured, not assumed.

The int8 arithmetic is exact but for its one rounding (docs/numerics.md), so the float graph with the stored weights and with every
activation rounded to its int8 grid computes the same to within that rounding, and onnxruntime runs it fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from arenite.graph import Graph, Node, Quantization
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.evaluation import open_evaluator
from arenite.quantize.lowering import Lowering, constant_quantization
from arenite.quantize.multipliers import quantize_values, scale_of, zero_point_of
from arenite.quantize.scales import representable

LINEAR = {"Conv": 0, "DepthwiseConv": 2, "FullyConnected": 0}
WITH_CONSTANTS = ("Add", "Sub", "Mul", "Div", "MatMul")


@dataclass(frozen=True)
class Fidelity:
    """Figures by tensor name."""

    sqnr_db: dict[str, float]
    """10·log10(Σ float² / Σ (float − quantized)²); inf where nothing differs."""
    saturated: dict[str, float]
    """Share of float values more than half a step beyond the representable range."""


def simulated(graph: Graph, quantization: dict[str, Quantization], lowering: Lowering) -> Graph:
    """The float graph as its int8 form sees it: every activation annotated, constants as they are stored."""
    result = graph.copy()
    for name, chosen in quantization.items():
        result.tensors[name] = replace(result.tensors[name], quantization=chosen)
    stored = lowering.target.producers()
    result.nodes = [_with_stored_constants(result, node, stored.get(node.output), lowering) for node in graph.nodes]
    return result


def _with_stored_constants(result: Graph, node: Node, stored: Node | None, lowering: Lowering) -> Node:
    inputs = list(node.inputs)
    if stored is not None and stored.op == "Quantize":
        return node  # its form is not quantized
    for i, values in lowering.rounded.get(node.output, {}).items():
        inputs[i] = result.add_constant(f"{node.inputs[i]}/stored", values).name
    if node.op in LINEAR and stored is not None and stored.attributes.get("variant") in ("int8", "wide", "int4"):
        weight, bias = (lowering.target.tensor(stored.inputs[i]) for i in (1, 2))
        assert weight.data is not None and bias.data is not None and weight.quantization is not None
        axis = LINEAR[node.op]
        shape = [-1 if i == axis else 1 for i in range(len(weight.shape))]
        steps, scale = weight.data.astype(np.float64), weight.quantization.scale.astype(np.float64)
        x = lowering.quantization[node.input]
        others = tuple(i for i in range(steps.ndim) if i != axis)
        unfolded = bias.data.astype(np.float64) + zero_point_of(x) * steps.sum(axis=others)
        inputs[1:3] = [
            result.add_constant(f"{node.output}/stored weight", (steps * scale.reshape(shape)).astype(np.float32)).name,
            result.add_constant(f"{node.output}/stored bias", (unfolded * scale_of(x) * scale).astype(np.float32)).name,
        ]
    elif node.op in WITH_CONSTANTS and (stored is None or stored.attributes.get("variant") == "int8"):
        for i, name in enumerate(inputs):
            tensor = lowering.source.tensor(name)
            if tensor.data is not None:
                chosen = constant_quantization(tensor)
                steps = quantize_values(tensor.data.astype(np.float64), chosen).astype(np.float64) - zero_point_of(chosen)
                inputs[i] = result.add_constant(f"{name}/stored", (steps * scale_of(chosen)).astype(np.float32)).name
    return replace(node, inputs=tuple(inputs))


def measure(graph: Graph, quantization: dict[str, Quantization], lowering: Lowering, data: Dataset) -> Fidelity:
    """Compare every quantized activation over the samples of `data`."""
    names = list(quantization)
    exact = open_evaluator(graph, names)
    rounded = open_evaluator(simulated(graph, quantization, lowering), names, fake_quantize=True)
    signal, noise, outside, total = (dict.fromkeys(names, 0.0) for _ in range(4))
    limits = {name: (representable(quantization[name]), float(quantization[name].scale) / 2) for name in names}
    for feeds in data.samples():
        got = rounded(feeds)
        for name, values in exact(feeds).items():
            real = values.astype(np.float64)
            signal[name] += float(np.sum(real**2))
            noise[name] += float(np.sum((real - got[name].astype(np.float64)) ** 2))
            limit, half = limits[name]
            outside[name] += float(np.count_nonzero((real < limit.low - half) | (real > limit.high + half)))
            total[name] += real.size
    return Fidelity(
        {name: decibels(signal[name], noise[name]) for name in names},
        {name: outside[name] / max(total[name], 1.0) for name in names},
    )


def decibels(signal: float, noise: float) -> float:
    """10·log10(signal / noise) of two sums of squares; inf without noise, −inf without signal."""
    if noise <= 0:
        return float("inf")
    return 10 * float(np.log10(signal / noise)) if signal > 0 else float("-inf")
