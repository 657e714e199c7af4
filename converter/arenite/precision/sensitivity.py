"""How much of the error at a network's outputs each layer's weights, and the steps of each tensor, cause alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph
from arenite.quantize import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.fidelity import simulated
from arenite.quantize.output_error import judged_tensors, run_all

Progress = Callable[[int, int], None]
SAMPLES = 16
"""Of which there is an inference a layer and a tensor each."""


@dataclass(frozen=True)
class Sensitivity:
    """Noise at the outputs as a share of their power, the sum over outputs, with nothing else quantized."""

    weights: dict[str, float]
    """By a layer's first output."""
    tensors: dict[str, float]
    """By name."""


def measure_sensitivity(draft: Draft, data: Dataset, progress: Progress) -> Sensitivity:
    """Of the int8 layers and tensors of `draft`, on SAMPLES of `data`."""
    graph, lowering = draft.graph, draft.lowering()
    chosen = data.first(SAMPLES) if graph.states else data.spread(SAMPLES)
    whole = simulated(graph, lowering.quantization, lowering)
    noise = _Noise(graph, chosen)
    changed = [i for i, (node, stored) in enumerate(zip(graph.nodes, whole.nodes, strict=True)) if node.inputs != stored.inputs]
    rounded = [name for name in lowering.quantization if not graph.tensors[name].is_constant]
    total = len(changed) + len(rounded)
    weights, tensors = {}, {}
    for done, index in enumerate(changed, 1):
        alone = graph.copy()
        alone.tensors = {name: graph.tensors.get(name, tensor) for name, tensor in whole.tensors.items()}
        alone.nodes[index] = whole.nodes[index]
        alone.prune()
        weights[graph.nodes[index].output] = noise(alone)
        progress(done, total)
    for done, name in enumerate(rounded, len(changed) + 1):
        alone = graph.copy()
        alone.tensors = {other: replace(tensor, quantization=None) for other, tensor in graph.tensors.items()}
        alone.tensors[name] = replace(graph.tensors[name], quantization=lowering.quantization[name])
        tensors[name] = noise(alone)
        progress(done, total)
    return Sensitivity(weights, tensors)


class _Noise:
    def __init__(self, graph: Graph, data: Dataset) -> None:
        self._judged, self._data = judged_tensors(graph), data
        self._exact = [self._centred(values) for values in run_all(graph, list(self._judged), data)]
        self._power = {name: sum(float(np.sum(values[name] ** 2)) for values in self._exact) for name in self._judged}

    def __call__(self, graph: Graph) -> float:
        """What the graph's annotations and constants add, as a share of the outputs' power."""
        noise = dict.fromkeys(self._judged, 0.0)
        for exact, values in zip(self._exact, run_all(graph, list(self._judged), self._data, fake_quantize=True), strict=True):
            for name, found in self._centred(values).items():
                noise[name] += float(np.sum((found - exact[name]) ** 2))
        return sum(noise[name] / self._power[name] for name in self._judged if self._power[name] > 0)

    def _centred(self, values: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
        """Only differences count of what a Softmax or an ArgMax reads."""
        real = {name: np.nan_to_num(value.astype(np.float64), posinf=0.0, neginf=0.0) for name, value in values.items()}
        return {name: value - value.mean() if self._judged[name] else value for name, value in real.items()}
