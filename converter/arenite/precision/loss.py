"""The measured loss of a model: its own arithmetic executed on samples, against the float network."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from arenite_runtime import Interpreter, Model
from arenite_runtime.structure import Port
from numpy.typing import NDArray

from arenite.errors import CalibrationError, ToolError
from arenite.graph import Graph
from arenite.quantize import Dataset
from arenite.quantize.output_error import run_all
from arenite.targets import open_engine
from arenite.verify.metrics import sqnr_db, top1
from arenite.verify.verification import class_labels

Array = NDArray[Any]

MOST_SAMPLES, LEAST_SAMPLES = 512, 16
MOST_MACS = 4_000_000_000
"""Of a measurement: of large networks fewer samples are executed."""
MOST_DB = 200.0
"""Stands for no error at all."""


@dataclass(frozen=True)
class Loss:
    sqnr_db: float
    """Of all outputs together."""
    changed: float
    """Share of samples whose top-1 is not that of float."""
    lost: float | None
    """Accuracy of float less that of the model, as a share; None without labels."""

    @property
    def points(self) -> float:
        """What a limit in points is about."""
        return 100 * (self.changed if self.lost is None else self.lost)


def judged_samples(data: Dataset, macs: int, *, in_time: bool) -> Dataset:
    """Those that a loss is measured on: from everywhere, but a sequence from its start on."""
    count = min(MOST_SAMPLES, max(LEAST_SAMPLES, MOST_MACS // max(macs, 1)))
    return data.first(count) if in_time else data.spread(count)


class LossMeter:
    """Measures models of one float network on the same samples."""

    def __init__(self, graph: Graph, data: Dataset) -> None:
        """Raises CalibrationError for labels that are no classes."""
        self._inputs = [name for name in graph.inputs if name in data.inputs]
        self._data = data
        self._exact = [[values[name] for name in graph.output_ports] for values in run_all(graph, list(graph.output_ports), data)]
        labels = class_labels(data.labels, Path(data.source))
        self._labels = None if labels is None else labels.tolist()
        self._right = 0 if labels is None else sum(self._correct([values[0] for values in self._exact]))

    def __len__(self) -> int:
        return len(self._data)

    @property
    def labelled(self) -> bool:
        return self._labels is not None

    def require_classes(self) -> None:
        """Raises CalibrationError where a limit in points would mean nothing: for labels that are none of the first output's classes."""
        first = self._exact[0][0]
        if self._labels is None or (first.size == 1 and first.dtype.kind in "iu"):
            return  # (a single integer is the class itself, whatever the numbers of the classes are)
        classes = max(2, first.size)
        outside = [label for label in self._labels if not 0 <= label < classes]
        if outside:
            raise CalibrationError(
                f"{self._data.source}: {len(outside)} of {len(self._labels)} labels `y` are none of the classes 0 … {classes - 1} of the "
                f"first output (from {min(outside)} to {max(outside)}), so that no model is right about them and the loss in points says "
                "nothing. Number the classes from 0, or leave `y` out, or give --max-loss in dB."
            )

    def measure(self, arn: bytes) -> Loss:
        """Of the flat model `arn`, whose ports are those of the float network."""
        found = execute(arn, self._data)
        pairs = [
            (np.asarray(b, np.float64).reshape(-1), np.asarray(a, np.float64).reshape(-1))
            for exact, results in zip(self._exact, found, strict=True)
            for a, b in zip(exact, results, strict=True)
        ]
        db = sqnr_db([result for result, _ in pairs], [exact for _, exact in pairs])
        first = [results[0] for results in found]
        changed = float(np.mean([top1(a) != top1(exact[0]) for a, exact in zip(first, self._exact, strict=True)]))
        lost = None if self._labels is None else (self._right - sum(self._correct(first))) / len(self._labels)
        return Loss(-MOST_DB if db is None else min(db, MOST_DB) if not math.isinf(db) else MOST_DB, changed, lost)

    def _correct(self, outputs: Sequence[Array]) -> list[bool]:
        return [top1(output) == label for output, label in zip(outputs, self._labels or (), strict=True)]


def execute(arn: bytes, data: Dataset) -> list[list[Array]]:
    """The outputs of every sample, as real values: the C interpreter, or NumPy's where there is no compiler; the bytes are the same."""
    model = Model.load(arn)
    samples = [[_stored(port, sample[port.name]) for port in model.inputs] for sample in data.samples()]
    results = _run(arn, model, samples)
    return [[_real(port, value) for port, value in zip(model.outputs, values, strict=True)] for values in results]


def _run(arn: bytes, model: Model, samples: Sequence[Sequence[Array]]) -> list[list[Array]]:
    with tempfile.TemporaryDirectory(prefix="arenite-auto-") as scratch:
        (Path(scratch) / "model.arn").write_bytes(arn)
        try:
            return open_engine("c", Path(scratch)).run(samples)
        except ToolError:
            interpreter = Interpreter(model)
            return [interpreter.run(sample) for sample in samples]


def _stored(port: Port, values: Array) -> Array:
    real = values.reshape(port.shape)
    if not port.scale or port.dtype == np.float32:
        return np.asarray(real, port.dtype)
    steps = np.clip(np.rint(np.asarray(real, np.float64) / port.scale) + port.zero_point, *_limits(port.dtype))
    return np.asarray(steps, port.dtype)


def _real(port: Port, values: Array) -> Array:
    return (values.astype(np.float64) - port.zero_point) * port.scale if port.scale and port.dtype != np.float32 else values


def _limits(dtype: Any) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
