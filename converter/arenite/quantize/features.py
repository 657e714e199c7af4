"""Inputs whose features differ so much in size that one int8 scale leaves many without a step: tables of measurements in their own units.

A model of such an input begins with what brings features to like sizes (a scaler, a normalization, differences from means) or compares each
with numbers of its own kind (trees). What lies before that stays float32, if the outputs are measurably better for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from arenite.graph import DType, Graph, Quantization
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.output_error import run_all

Floats = NDArray[np.float64]

LOST_SHARE = 0.25
"""Of the features that vary, which must be lost for a tensor to be uneven."""
LOST_BELOW = 1.0
"""Steps of standard deviation over samples: less is noise after rounding."""
FEWEST = 8
"""Samples that say something about deviations."""
MOST_ELEMENTS = 4096
"""Of a tensor of features; larger ones are images and sound."""
GOOD_DB = 30.0
"""Of the outputs: what is left with more stays as it is."""
POOR_DB = 20.0
"""Of the outputs: a model of a vector that is left with less is tried with this vector in float32, whatever its deviations are. Its first
layer may have taken in what brings features to like sizes, so that it is that layer's weights which differ too much."""
GAIN_DB = 6.0
"""What float32 must do for the outputs: one bit."""


def uneven_tensors(graph: Graph, quantization: Mapping[str, Quantization], data: Dataset) -> tuple[str, ...]:
    """Inputs of `graph` with lost features, and what is computed from those and has lost ones itself, in order of execution."""
    if len(data) < FEWEST:
        return ()
    candidates = [name for name in graph.input_ports if _is_choice(graph, name, quantization)]
    uneven = [name for name, values in _deviations(graph, candidates, data).items() if _is_uneven(values, quantization[name])]
    if not uneven:
        return ()
    results = [node.output for node in graph.nodes if _is_choice(graph, node.output, quantization)]
    deviations = _deviations(graph, results, data)
    for node in graph.nodes:
        reads_uneven = not set(uneven).isdisjoint(name for name in node.inputs if name is not None)
        if reads_uneven and node.output in deviations and _is_uneven(deviations[node.output], quantization[node.output]):
            uneven.append(node.output)
    return tuple(uneven)


def vector_inputs(graph: Graph, quantization: Mapping[str, Quantization]) -> tuple[str, ...]:
    """Inputs that are one row of features."""
    names = [name for name in graph.input_ports if _is_choice(graph, name, quantization)]
    return tuple(name for name in names if 1 < graph.tensors[name].elements == graph.tensors[name].shape[-1])


def _is_choice(graph: Graph, name: str, quantization: Mapping[str, Quantization]) -> bool:
    tensor = graph.tensors[name]
    return (
        name in quantization
        and tensor.quantization is None
        and tensor.dtype is DType.FLOAT32
        and tensor.elements <= MOST_ELEMENTS
        and not any(name in (state.input, state.output) for state in graph.states)
    )


def _deviations(graph: Graph, names: list[str], data: Dataset) -> dict[str, Floats]:
    """The standard deviation of each element over samples."""
    count = 0
    first: dict[str, Floats] = {}
    second: dict[str, Floats] = {}
    for values in run_all(graph, names, data) if names else ():
        count += 1
        for name, value in values.items():
            real = value.astype(np.float64).ravel()
            first[name] = first.get(name, np.zeros(real.shape)) + real
            second[name] = second.get(name, np.zeros(real.shape)) + real**2
    return {name: np.sqrt(np.maximum(second[name] / count - (first[name] / count) ** 2, 0.0)) for name in first}


def _is_uneven(deviations: Floats, chosen: Quantization) -> bool:
    varying = deviations[deviations > 0]
    return len(varying) > 0 and float(np.mean(varying < LOST_BELOW * float(chosen.scale))) >= LOST_SHARE
