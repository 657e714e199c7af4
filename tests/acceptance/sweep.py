"""One model of the pack through the converter and the engines of this machine: what docs/models.md has a row of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from acceptance.model_pack import PackModel
from arenite.errors import AreniteError
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify.agreement import Criterion, criterion
from arenite.verify.metrics import sqnr_db
from arenite.verify.ports import Ports
from numpy.typing import NDArray

Array = NDArray[Any]
ENGINES = ("numpy", "c", "compiled")
COMPARED = 4
"""Samples that every engine runs."""
ROUNDED_DB = 15.0
"""How close engines are where the float32 form rounds as the model's own quantization does: the last digit of a sum can decide on a step,
and a Softmax makes many of one. (The INT8 form is exact.)"""
LARGE_MACS = 50_000_000
"""Beyond these, NumPy takes minutes for a sample."""


@dataclass(frozen=True)
class Form:
    """A model converted with one precision."""

    precision: str
    """int8, float32 or mixed."""
    figure: float | None
    """The pack's metric of the C interpreter's outputs; None without test data."""
    sqnr_db: float
    """Against onnxruntime, over all outputs of the compared samples."""
    disagreements: tuple[str, ...]
    """Engines and outputs that differ from NumPy's by more than docs/numerics.md allows; bytes, for integers."""
    bytes_compared: bool
    """Every output was compared byte for byte."""
    model_bytes: int
    arena_bytes: int
    float_layers: int
    """Kernel calls on float32 among those of a quantized model."""
    layers: int


@dataclass(frozen=True)
class Row:
    name: str
    metric: str | None
    recorded: float | None
    float32: Form
    int8: Form | None
    """None where nothing of the model has an int8 form."""


def measure(model: PackModel, folder: Path) -> Row:
    """Convert `model` twice into `folder` and run both. Raises AreniteError where it is refused."""
    float32 = _form(model, _convert(model, folder / "float32", "float32", None))
    int8 = _convert(model, folder / "int8", "int8", None)
    if not int8.quantized.calibrated:
        data = folder / "calibration.npz"
        arrays: dict[str, Any] = dict(model.calibration_samples())
        np.savez(data, **arrays)
        int8 = _convert(model, folder / "int8", "int8", data)
    quantized = None if int8.report.precision == "float32" else _form(model, int8)
    return Row(model.name, model.metric, model.recorded, float32, quantized)


def refusal(model: PackModel, folder: Path) -> str:
    """What the converter says to a model that it must not take. Raises AssertionError where it takes it."""
    try:
        _convert(model, folder, "float32", None)
    except AreniteError as error:
        return str(error)
    raise AssertionError(f"{model.name} was converted")


def _convert(model: PackModel, folder: Path, precision: str, calibration: Path | None) -> Conversion:
    options = ConvertOptions(precision, calibration, output=folder, shapes=model.shapes, values=model.values)
    return convert(model.path, options)


def _form(model: PackModel, conversion: Conversion) -> Form:
    ports, report = Ports.read(conversion.folder), conversion.report
    samples = engine_samples(conversion.folder, ports, model.test_samples())
    c = open_engine("c", conversion.folder).run(samples)
    chosen = np.linspace(0, len(samples) - 1, 1 if report.macs > LARGE_MACS else min(COMPARED, len(samples))).astype(int)
    differing, criteria = _disagreements(conversion.folder, ports, [samples[i] for i in chosen], [c[i] for i in chosen])
    real = [ports.real_outputs(outputs) for outputs in c]
    raw = model.test_samples()
    expected = [ports.reference_outputs(model.reference({name: x[i] for name, x in raw.items()})) for i in chosen]
    compared = [
        (mine.reshape(-1), theirs.reshape(-1))
        for i, outputs in zip(chosen, expected, strict=True)
        for mine, theirs in _pairs(real[i], outputs)
    ]
    quantized = conversion.quantized.graph
    floats = sum(any(quantized.tensors[name].dtype.value == "float32" for name in node.outputs) for node in quantized.nodes)
    return Form(
        report.precision,
        None if model.metric is None else model.figure(real),
        sqnr_db([mine for mine, _ in compared], [theirs for _, theirs in compared]) or 0.0,
        differing,
        criteria == {"bytes"},
        report.model_bytes,
        report.arena_bytes,
        floats,
        len(quantized.nodes),
    )


def _pairs(mine: Sequence[Array], theirs: Sequence[Array]) -> list[tuple[Array, Array]]:
    return list(zip(mine, theirs, strict=True))


def engine_samples(folder: Path, ports: Ports, raw: Mapping[str, Array]) -> list[list[Array]]:
    """What the converted model takes, for every sample of the test data."""
    data = folder.parent / "samples.npz"
    arrays: dict[str, Any] = dict(raw)
    np.savez(data, **arrays)
    return [ports.engine_inputs(sample) for sample in ports.load(data).samples()]


def _differ(by: Criterion, rounds: bool, mine: Array, theirs: Array) -> bool:
    if by is Criterion.STEP and rounds:
        close = sqnr_db([mine.astype(np.float32)], [theirs.astype(np.float32)])
        return close is not None and close < ROUNDED_DB
    return by.differing(mine, theirs) > 0


def _disagreements(
    folder: Path, ports: Ports, samples: Sequence[list[Array]], c: Sequence[list[Array]]
) -> tuple[tuple[str, ...], set[str]]:
    criteria = [criterion(port.dtype, ports.precision, port.scale is not None, ports.rounds) for port in ports.outputs]
    by_engine = {name: c if name == "c" else open_engine(name, folder).run(samples) for name in ENGINES}
    found = [
        f"{name}: {port.name}"
        for name in ENGINES[1:]
        for index, (port, by) in enumerate(zip(ports.outputs, criteria, strict=True))
        if any(
            _differ(by, ports.rounds, mine[index], theirs[index]) for mine, theirs in zip(by_engine[name], by_engine["numpy"], strict=True)
        )
    ]
    return tuple(found), {by.value for by in criteria}
