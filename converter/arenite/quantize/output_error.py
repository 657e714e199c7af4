"""The measured error of a quantized network's outputs, which decides between drafts.

Where an output is a class, or bounded scores of classes, what counts is what they are made of: errors of logits tell more than those of
probabilities, which are 0 or 1 nearly always. Logits that only a Softmax or an ArgMax sees may all be moved by the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import DType, Graph, Node
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.evaluation import TypedEvaluator, open_evaluator
from arenite.quantize.fidelity import simulated
from arenite.quantize.scales import BOUNDED

Array = NDArray[Any]

THREADS = 2
AHEAD = 8
"""Samples that are computed before they are wanted."""
MOST_DB = 100.0
"""Of a tensor: what is better is rounding of float32."""
DECISIONS = ("Softmax", "ArgMax", "ArgMin", "TopK")
"""What they are computed from is judged instead."""
FOLLOWED = ("Cast", "Reshape", "Transpose", "Gather", "Slice", "Concat")
"""On the way from a class to the scores it was chosen by."""


def judged_tensors(graph: Graph) -> dict[str, bool]:
    """Float activations by whose errors a quantization is judged; True: only differences within a sample count."""
    producers = graph.producers()
    judged: dict[str, bool] = {}
    pending: list[tuple[str, bool]] = [(name, False) for name in graph.output_ports or graph.outputs]
    while pending:
        name, relative = pending.pop()
        node, tensor = producers.get(name), graph.tensors[name]
        if node is None:
            continue
        if _decides(node):
            shift_free = node.op in DECISIONS and graph.tensors[node.input].elements == graph.tensors[node.input].shape[-1]
            pending.append((node.input, shift_free))
        elif tensor.dtype is DType.FLOAT32:
            judged[name] = judged.get(name, True) and relative
        elif node.op in FOLLOWED:
            pending += [(operand, False) for operand in node.inputs if operand is not None]
    return judged or {name: False for name in graph.outputs if graph.tensors[name].dtype is DType.FLOAT32 and name in producers}


def _decides(node: Node) -> bool:
    if node.op == "Elementwise":
        steps = node.attributes["expression"].steps
        return len(steps) == 1 and steps[0].op in BOUNDED
    return node.op in DECISIONS


@dataclass(frozen=True)
class Figure:
    """Signal to noise of a draft's outputs."""

    sqnr_db: float
    """10·log10(Σ float² / Σ (float − quantized)²) of the judged tensors over all samples, the mean of tensors; at most MOST_DB each."""
    by_sample: NDArray[np.float64]
    """The same of each sample."""

    def beats(self, other: Figure, least_db: float) -> bool:
        """Whether this one is better by at least `least_db`, and not for the loudest errors only: in the mean of samples, too."""
        return self.sqnr_db >= other.sqnr_db + least_db and float(np.mean(self.by_sample - other.by_sample)) > 0


class Judge:
    """Compares drafts of one float graph over the same samples."""

    def __init__(self, graph: Graph, data: Dataset) -> None:
        """`data`: in the order of time where the graph has states."""
        self.judged = judged_tensors(graph)
        self._data = data
        self._exact = [self._centred(values) for values in run_all(graph, list(self.judged), data)]
        self._signal = np.array([[float(np.sum(values[name] ** 2)) for name in self.judged] for values in self._exact])

    def __len__(self) -> int:
        return len(self._data)

    def sqnr_db(self, draft: Draft) -> float:
        return self.figure(draft).sqnr_db

    def figure(self, draft: Draft) -> Figure:
        lowering = draft.lowering()
        graph = simulated(draft.graph, lowering.quantization, lowering)
        noise = np.zeros_like(self._signal)
        for index, values in enumerate(run_all(graph, list(self.judged), self._data, fake_quantize=True)):
            rounded = self._centred(values)
            noise[index] = [float(np.sum((rounded[name] - exact) ** 2)) for name, exact in self._exact[index].items()]
        if not self.judged:
            return Figure(MOST_DB, np.full(len(self), MOST_DB))
        total = np.mean(_decibels(self._signal.sum(axis=0), noise.sum(axis=0)))
        return Figure(float(total), _decibels(self._signal, noise).mean(axis=1))

    def _centred(self, values: dict[str, Array]) -> dict[str, NDArray[np.float64]]:
        real = {name: np.nan_to_num(value.astype(np.float64), posinf=0.0, neginf=0.0) for name, value in values.items()}
        return {name: value - value.mean() if self.judged[name] else value for name, value in real.items()}


def _decibels(signal: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Within ±MOST_DB; MOST_DB where there is no noise."""
    least = np.finfo(np.float64).tiny
    figures = 10 * (np.log10(np.maximum(signal, least)) - np.log10(np.maximum(noise, least)))
    return np.where(noise <= 0, MOST_DB, np.clip(figures, -MOST_DB, MOST_DB))


def run_all(graph: Graph, names: Sequence[str], data: Dataset, *, fake_quantize: bool = False) -> Iterator[dict[str, Array]]:
    """The values of `names` for every sample, on two threads where samples do not depend on each other."""
    run = open_evaluator(graph, names, fake_quantize=fake_quantize)
    if graph.states or isinstance(run, TypedEvaluator):
        for feeds in data.samples():
            yield run(feeds)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        for start in range(0, len(data), AHEAD):  # values of many samples are large
            yield from pool.map(run, (data.sample(i) for i in range(start, min(start + AHEAD, len(data)))))
