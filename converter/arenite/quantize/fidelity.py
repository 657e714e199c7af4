"""How far the quantized network is from float, tensor by tensor: measured, not assumed.

The int8 arithmetic is exact but for its one rounding (docs/numerics.md), so the float graph with the stored weights and with every
activation rounded to its int8 grid computes the same to within that rounding, and onnxruntime runs it fast. Where there are 16-bit
activations, functions between the points of a table and states count as much as rounding: such a graph is executed as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.evaluation import open_evaluator
from arenite.quantize.execution import LoweredGraph, real_values, versions
from arenite.quantize.lowering import Lowering, constant_quantization
from arenite.quantize.multipliers import quantize_values, scale_of, zero_point_of
from arenite.quantize.ranges import Range
from arenite.quantize.scales import representable

Array = NDArray[Any]

MOST_MACS = 400_000_000
"""Of all samples together, of a graph that NumPy executes: some ten seconds."""
LINEAR = {"Conv": 0, "DepthwiseConv": 2, "FullyConnected": 0}
WITH_CONSTANTS = ("Add", "Sub", "Mul", "Div", "MatMul")


@dataclass(frozen=True)
class Fidelity:
    """Figures by tensor name; where an activation has a version with 16 bits beside another one, also of that (execution.versions)."""

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


def measure(graph: Graph, quantization: dict[str, Quantization], lowering: Lowering, made: Graph, data: Dataset) -> Fidelity:
    """Compare every activation that is quantized over the samples of `data`; where there are 16-bit ones, those of float32 beside them,
    too. `made` is what `lowering` has led to, with the inputs and outputs of the model."""
    lowered = _executable(made, len(data))
    if lowered is None:
        names = list(quantization)
        rounded = open_evaluator(simulated(graph, quantization, lowering), names, fake_quantize=True)
        limits = {name: (representable(chosen), float(chosen.scale) / 2) for name, chosen in quantization.items()}
        return _compare(graph, {name: name for name in names}, rounded, limits, data)
    held: dict[str, Tensor] = {}
    of: dict[str, str] = {}
    for name in graph.tensors:
        if not _is_activation(graph, name):
            continue
        for key, version in zip(versions(name), filter(_has_one_scale, lowered.held(name)), strict=False):
            held[key], of[key] = version, name
    limits = {key: _limits(version, version.quantization) for key, version in held.items() if version.quantization is not None}

    def execute(feeds: Mapping[str, Array]) -> dict[str, Array]:
        values = lowered(feeds)
        return {key: real_values(version, values[version.name]) for key, version in held.items()}

    return _compare(graph, of, execute, limits, data)


def _executable(target: Graph, samples: int) -> LoweredGraph | None:
    """Where it has 16-bit activations, and NumPy does not take too long for them."""
    if not any(tensor.dtype is DType.INT16 and not tensor.is_constant for tensor in target.tensors.values()):
        return None
    if any(node.bodies for node in target.nodes):
        return None
    lowered = LoweredGraph(target)
    return lowered if lowered.macs * samples <= MOST_MACS else None


def _is_activation(graph: Graph, name: str) -> bool:
    return not graph.tensors[name].is_constant and graph.tensors[name].dtype is DType.FLOAT32


def _limits(version: Tensor, chosen: Quantization) -> tuple[Range, float]:
    """What its integers represent, and half a step."""
    integers, scale, zero_point = np.iinfo(np.dtype(version.dtype.numpy).name), float(chosen.scale), int(chosen.zero_point)
    return Range(scale * (integers.min - zero_point), scale * (integers.max - zero_point)), scale / 2


def _has_one_scale(version: Tensor) -> bool:
    """Or none, being of float32; int16 states of several scales have none and are integers."""
    return version.dtype is DType.FLOAT32 or (version.quantization is not None and version.quantization.is_per_tensor)


def _compare(
    graph: Graph,
    of: Mapping[str, str],
    execute: Callable[[Mapping[str, Array]], Mapping[str, Array]],
    limits: Mapping[str, tuple[Range, float]],
    data: Dataset,
) -> Fidelity:
    """`of`: by tensor of the quantized network the activation of the float network that it holds. `execute` gives the real values of the
    former. `limits`: of those that are quantized, what can be represented and half a step."""
    exact = open_evaluator(graph, list(dict.fromkeys(of.values())))
    signal, noise, outside, total = (dict.fromkeys(of, 0.0) for _ in range(4))
    for feeds in data.samples():
        got, expected = execute(feeds), exact(feeds)
        for name, original in of.items():
            real = expected[original].astype(np.float64)
            signal[name] += float(np.sum(real**2))
            noise[name] += float(np.sum((real - got[name].reshape(real.shape).astype(np.float64)) ** 2))
            if name in limits:
                limit, half = limits[name]
                outside[name] += float(np.count_nonzero((real < limit.low - half) | (real > limit.high + half)))
            total[name] += real.size
    return Fidelity(
        {name: decibels(signal[name], noise[name]) for name in of},
        {name: outside[name] / max(total[name], 1.0) for name in limits},
    )


def decibels(signal: float, noise: float) -> float:
    """10·log10(signal / noise) of two sums of squares; inf without noise, −inf without signal."""
    if noise <= 0:
        return float("inf")
    return 10 * float(np.log10(signal / noise)) if signal > 0 else float("-inf")
