"""What recurrent layers with 16-bit activations read in 24 bits: values between which samples differ so much in size that 65535 steps leave
most of them too few, as spectra of sound do.

What counts is a sample's own signal against its own rounding errors, as in coarse.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import numpy as np

from arenite.graph import Graph
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.evaluation import open_evaluator
from arenite.quantize.fidelity import decibels
from arenite.quantize.multipliers import quantize_steps, scale_of
from arenite.quantize.ranges import Range
from arenite.quantize.scales import symmetric_int16

LEAST_DB = 70.0
"""Of the median sample in 16 bits. Measurements of motion and cepstra have 80 and more, spectra 30."""


def fine_inputs(
    graph: Graph, names: Sequence[str], ranges: Mapping[str, Range], data: Dataset, wide: Set[str], steps: Set[str]
) -> frozenset[str]:
    """Those of `names` that need it. `wide`: recurrent layers with 16-bit activations, `steps`: nodes that write int16, by first output."""
    producers, consumers = graph.producers(), graph.consumers()

    def is_real(name: str) -> bool:
        """Whether float32 is there to be rounded, and only such layers read the result."""
        source = producers.get(producers[name].input)
        return (source is None or source.output not in steps) and all(reader.output in wide for reader in consumers[name])

    candidates = [name for name in names if is_real(name)]
    figures: dict[str, list[float]] = {name: [] for name in candidates}
    if not candidates:
        return frozenset()
    scales = {name: symmetric_int16(ranges[name]) for name in candidates}
    run = open_evaluator(graph, candidates)
    for feeds in data.samples():
        for name, values in run(feeds).items():
            real = values.astype(np.float64)
            noise = real - quantize_steps(real, scales[name]) * scale_of(scales[name])
            if np.any(real):
                figures[name].append(decibels(float(np.sum(real**2)), float(np.sum(noise**2))))
    return frozenset(name for name, found in figures.items() if found and float(np.median(found)) < LEAST_DB)
