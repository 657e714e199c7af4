"""Between the samples of a data file, the ONNX file and the artifact: element types, layouts, quantization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from arenite_runtime import Model, ModelError
from numpy.typing import NDArray

from arenite.artifact import REPORT, read_artifact
from arenite.errors import ArtifactError
from arenite.graph import DType, Quantization
from arenite.quantize import Dataset, InputSpec, load_data
from arenite.report import ReportPort, ReportState, from_json
from arenite.verify.agreement import ROUNDING

Array = NDArray[Any]
CHUNKS = 50
"""Progress is told so often an engine."""


@dataclass(frozen=True)
class Ports:
    """Converts samples and results of one artifact. Samples and results are real values in the ONNX file's layout."""

    inputs: tuple[ReportPort, ...]
    outputs: tuple[ReportPort, ...]
    model: Model
    precision: str = "int8"
    """Of the artifact: report.Report.precision."""
    states: tuple[ReportState, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    """Inputs of the ONNX file that are constants of the artifact."""

    @property
    def rounds(self) -> bool:
        """Whether results of float layers are rounded to steps on the way."""
        return any(node.op in ROUNDING for graph in self.model.subgraphs for node in graph.nodes)

    @property
    def chunks(self) -> int:
        """In how many parts samples may be run: one where each depends on the one before, as every part begins anew."""
        return 1 if self.states else CHUNKS

    @classmethod
    def read(cls, folder: Path) -> Ports:
        """Raises ArtifactError where `folder` is not what `convert` wrote."""
        artifact = read_artifact(folder)
        report = from_json(artifact.report, str(folder / REPORT))
        try:
            model = Model.load(artifact.arn)
        except ModelError as error:
            raise ArtifactError(f"{artifact.arn}: {error}") from error
        if (len(model.inputs), len(model.outputs)) != (len(report.inputs), len(report.outputs)):
            raise ArtifactError(f"{artifact.arn} is not the file that {REPORT} describes: convert the model again")
        return cls(report.inputs, report.outputs, model, report.precision, report.states, report.values)

    def load(self, data: Path) -> Dataset:
        """Raises CalibrationError where the data does not fit."""
        return load_data(data, tuple(_spec(port) for port in self.inputs))

    def engine_inputs(self, sample: Mapping[str, Array]) -> list[Array]:
        """A sample → one array an input, as the engines take it."""
        return [
            self._stored(index, np.ascontiguousarray(np.transpose(sample[port.name], port.permutation)))
            for index, port in enumerate(self.inputs)
        ]

    def real_outputs(self, outputs: Sequence[Array]) -> list[Array]:
        """What an engine returned for a sample → real values, float32; integers that stand for themselves stay what they are."""
        return [
            np.transpose(self._real(index, outputs[index]).reshape(port.shape), np.argsort(port.permutation))
            for index, port in enumerate(self.outputs)
        ]

    def reference_outputs(self, outputs: Sequence[Array]) -> list[Array]:
        """What onnxruntime returned for a sample, as `numbers` gives it → real values, as `real_outputs` has them."""
        return [
            _spec(port).real_values(values)
            if port.source_dtype in ("int8", "uint8") and _spec(port).quantization is not None
            else _number(values)
            for values, port in zip(outputs, self.outputs, strict=True)
        ]

    def numbers(self, outputs: Sequence[Array]) -> list[Array]:
        """What onnxruntime returned for a sample, with texts as their places among the port's labels, and the maps of a ZipMap as rows.

        Raises ArtifactError for a text that is none of the labels.
        """
        return [_in_numbers(values, port) for values, port in zip(outputs, self.outputs, strict=True)]

    def _stored(self, index: int, values: Array) -> Array:
        port = self.inputs[index]
        if port.scale is None:
            return np.asarray(values, port.dtype)
        if port.dtype == "uint8":
            return _spec(port).declared_values(values)
        return self.model.quantize_input(index, values)

    def _real(self, index: int, values: Array) -> Array:
        port = self.outputs[index]
        if port.scale is None:
            return _number(values)
        return _spec(port).real_values(values) if port.dtype == "uint8" else self.model.dequantize_output(index, values)


def _number(values: Array) -> Array:
    """Class numbers and other integers keep their type: metrics.top1 tells them from scores, and float32 has 24 bits only."""
    array = np.asarray(values)
    return array if array.dtype.kind in "iu" else np.asarray(array, np.float32)


def _in_numbers(values: Array, port: ReportPort) -> Array:
    if values.dtype.kind not in "OU" or not port.labels:
        return values
    if any(isinstance(value, Mapping) for value in values.flat):
        rows = [{str(label): score for label, score in row.items()} for row in values.flat]
        return np.array([[row.get(label, np.nan) for label in port.labels] for row in rows], np.float32)
    unknown = sorted({str(text) for text in values.flat} - set(port.labels))
    if unknown:
        raise ArtifactError(f"output {port.name} is {unknown[0]!r} in the model, and the artifact's labels are {', '.join(port.labels)}")
    return np.array([port.labels.index(str(text)) for text in values.flat], np.int64).reshape(values.shape)


def _spec(port: ReportPort) -> InputSpec:
    """A port as the data file and the ONNX file see it. An int8 zero point goes with uint8 as well (the IR's convention)."""
    quantization = None
    if port.source_scale is not None and port.source_zero_point is not None:
        quantization = Quantization.per_tensor(port.source_scale, port.source_zero_point)
    elif port.scale is not None and port.zero_point is not None:
        offset = 128 if port.dtype == "uint8" else 0
        quantization = Quantization.per_tensor(port.scale, port.zero_point - offset)
    return InputSpec(port.name, port.source_shape, DType(port.source_dtype), quantization)
