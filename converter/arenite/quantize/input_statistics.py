"""What calibration has seen of each input: its range, and what samples are typically like.

An application that prepares its data in another way than calibration did (0…255 for 0…1, another mean, rows for columns) gets wrong
results and no error. These figures make that visible: the range goes into the flat model and the headers, all of them into the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import DType, Graph
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.scales import representable

MOST_SAMPLES = 256
"""That tell what samples are like; ranges are those of all."""


@dataclass(frozen=True)
class Spread:
    """A figure of each sample, over the samples."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class InputStatistics:
    """Of one input, in real units."""

    low: float
    """The least value; of an input that brought its own scale, and no data, the least that this represents."""
    high: float
    mean: Spread | None = None
    """Of a sample's values. None: there was no data."""
    deviation: Spread | None = None
    """Of a sample's values from their mean: root mean square."""
    changes: tuple[Spread | None, ...] = ()
    """By axis of a sample: root mean square of the differences between neighbours, relative to that of values without any order (1: no
    order; near 0: smooth; 2^½: alternating). None where the axis has one entry."""


def input_statistics(graph: Graph, data: Dataset | None) -> dict[str, InputStatistics]:
    """Of every input of real numbers of a float graph, by name, in the layout of `graph`; inputs of which nothing is known are left out.

    `data`: that of calibration; None: there is none (synthetic samples say nothing about an application).
    """
    found = {}
    for name in graph.input_ports:
        tensor = graph.tensors[name]
        if tensor.dtype is not DType.FLOAT32:
            continue
        if data is not None:
            found[name] = statistics(data.inputs[name])
        elif tensor.quantization is not None and tensor.quantization.is_per_tensor:
            limits = representable(tensor.quantization)
            found[name] = InputStatistics(float(np.float32(limits.low)), float(np.float32(limits.high)))
    return found


def statistics(values: NDArray[Any]) -> InputStatistics:
    """`values`: [samples, *shape], finite, at least one sample."""
    count = min(len(values), MOST_SAMPLES)
    chosen = values[[i * len(values) // count for i in range(count)]].astype(np.float64)
    flat = chosen.reshape(count, -1)
    deviations = flat.std(axis=1)
    changes = tuple(_changes(chosen, axis, deviations) for axis in range(1, chosen.ndim))
    return InputStatistics(float(values.min()), float(values.max()), _spread(flat.mean(axis=1)), _spread(deviations), changes)


def _changes(values: NDArray[np.float64], axis: int, deviations: NDArray[np.float64]) -> Spread | None:
    varied = deviations > 0
    if values.shape[axis] < 2 or not varied.any():
        return None
    squares = np.square(np.diff(values, axis=axis)).reshape(len(values), -1).mean(axis=1)
    return _spread(np.sqrt(squares[varied] / 2) / deviations[varied])


def _spread(figures: NDArray[np.float64]) -> Spread:
    return Spread(float(figures.mean()), float(figures.std()))
