"""Tensors for which 256 steps are too few: those between which samples differ so much in size that the range of all leaves most of them a
step or two. Spectra of sound are like that, and raw sound itself.

What counts is a sample's own signal against its own rounding errors: over all samples together the loud ones hide the rest. Functions with
natural bounds, whose errors are to be seen against these, and recurrent layers, whose states are bounded by 1, are left out, and so are
handfuls of values, and what nobody reads: a result is rounded as the caller wants it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Expression, Graph, Quantization
from arenite.graph.operators.recurrent import cell_of
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.evaluation import open_evaluator
from arenite.quantize.fidelity import decibels
from arenite.quantize.multipliers import quantize_values, scale_of, zero_point_of
from arenite.quantize.scales import BOUNDED

Values = NDArray[np.float64]

LEAST_DB = 20.0
"""By default. Spectra and sound have 0 to 18 dB, what other networks compute 28 and more."""
LEAST_ELEMENTS = 32
"""In fewer values, one small one among large ones is no rarity, and nothing is lost with it."""


def coarse_tensors(graph: Graph, quantization: Mapping[str, Quantization], data: Dataset, least_db: float) -> dict[str, float]:
    """The median over samples of 10·log10(Σ v² / Σ (v − rounded v)²), by tensor, as far as it is below `least_db`.

    A tensor's errors are those of its own rounding only, seen in its values and in those of a logarithm that reads it (the smaller
    figure counts): there small values, which are a step or none, weigh as much as large ones. Samples that are 0 throughout do not count.
    Annotated tensors are the model's own choice and are left out.
    """
    names = _candidates(graph, quantization)
    figures: dict[str, list[float]] = {name: [] for name in names}
    logarithms = {name: _logarithms(graph, name) for name in names}
    run = open_evaluator(graph, names)
    for feeds in data.samples():
        for name, values in run(feeds).items():
            real, chosen = values.astype(np.float64), quantization[name]
            signal = float(np.sum(real**2))
            if signal > 0:
                rounded = (quantize_values(real, chosen).astype(np.float64) - zero_point_of(chosen)) * scale_of(chosen)
                seen = [(real, rounded), *((function(real), function(rounded)) for function in logarithms[name])]
                figures[name].append(min(_signal_to_noise(*pair) for pair in seen))
    medians = {name: float(np.median(values)) for name, values in figures.items() if values}
    return {name: median for name, median in medians.items() if median < least_db}


def _signal_to_noise(exact: Values, rounded: Values) -> float:
    """In dB, over the values that are finite with and without rounding."""
    finite = np.isfinite(exact) & np.isfinite(rounded)
    signal, noise = float(np.sum(exact[finite] ** 2)), float(np.sum((exact - rounded)[finite] ** 2))
    return decibels(signal, noise)


def _logarithms(graph: Graph, name: str) -> list[Expression]:
    """What reads the tensor and takes a logarithm of it."""
    expressions = [node.attributes["expression"] for node in graph.nodes if node.op == "Elementwise" and node.input == name]
    return [expression for expression in expressions if any(step.op == "Log" for step in expression.steps)]


def _candidates(graph: Graph, quantization: Mapping[str, Quantization]) -> list[str]:
    producers, consumers = graph.producers(), graph.consumers()

    def is_bounded(name: str) -> bool:
        node = producers.get(name)
        if node is None:
            return False
        if node.op == "Elementwise":
            return node.attributes["expression"].steps[-1].op in BOUNDED
        return node.op in (*BOUNDED, "Softmax") or cell_of(node.op) is not None

    def is_choice(name: str) -> bool:
        tensor = graph.tensors[name]
        return bool(consumers[name]) and tensor.quantization is None and tensor.elements >= LEAST_ELEMENTS

    return [name for name in quantization if is_choice(name) and not is_bounded(name)]
