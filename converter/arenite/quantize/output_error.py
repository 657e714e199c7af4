"""The measured error of a quantized network's outputs, which decides between drafts.

Where an output is a class, or bounded scores of classes, what counts is what they are made of: errors of logits tell more than those of
probabilities, which are 0 or 1 nearly always. Logits that only a Softmax or an ArgMax sees may all be moved by the same number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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


class Judge:
    """Compares drafts of one float graph over the same samples."""

    def __init__(self, graph: Graph, data: Dataset) -> None:
        """`data`: in the order of time where the graph has states."""
        self.judged = judged_tensors(graph)
        self._data = data
        self._exact = [self._centred(values) for values in run_all(graph, list(self.judged), data)]
        self._signal = {name: sum(float(np.sum(values[name] ** 2)) for values in self._exact) for name in self.judged}

    def __len__(self) -> int:
        return len(self._data)

    def sqnr_db(self, draft: Draft) -> float:
        """10·log10(Σ float² / Σ (float − quantized)²) of the judged tensors over all samples, the mean of tensors; at most MOST_DB each."""
        lowering = draft.lowering()
        graph = simulated(draft.graph, lowering.quantization, lowering)
        noise = dict.fromkeys(self.judged, 0.0)
        for exact, values in zip(self._exact, run_all(graph, list(self.judged), self._data, fake_quantize=True), strict=True):
            for name, rounded in self._centred(values).items():
                noise[name] += float(np.sum((rounded - exact[name]) ** 2))
        return float(np.mean([_decibels(self._signal[name], noise[name]) for name in self.judged])) if self.judged else MOST_DB

    def _centred(self, values: dict[str, Array]) -> dict[str, NDArray[np.float64]]:
        real = {name: np.nan_to_num(value.astype(np.float64), posinf=0.0, neginf=0.0) for name, value in values.items()}
        return {name: value - value.mean() if self.judged[name] else value for name, value in real.items()}


def _decibels(signal: float, noise: float) -> float:
    if noise <= 0:
        return MOST_DB
    return min(MOST_DB, 10 * float(np.log10(signal / noise))) if signal > 0 else -MOST_DB


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
