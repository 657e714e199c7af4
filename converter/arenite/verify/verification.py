"""verify(): every engine's outputs against the float model's and against each other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import ArtifactError, CalibrationError, ToolError
from arenite.targets import ENGINES, Engine, RunInfo, open_engine
from arenite.verify.agreement import Criterion, criterion
from arenite.verify.comparable import require_finite, require_shapes
from arenite.verify.execution import Progress, finite, info_to_json, run_in_chunks
from arenite.verify.input_check import InputCheck, check_inputs
from arenite.verify.metrics import accuracy, sqnr_db, top1_agreement
from arenite.verify.own_reference import OwnReference, has_own_operators
from arenite.verify.ports import Ports
from arenite.verify.reference import Reference

Array = NDArray[Any]
EMULATED_SAMPLES = 20
"""An emulated inference takes up to a second: by default those engines run so many samples only."""


@dataclass(frozen=True)
class EngineResult:
    metric: str
    """"accuracy" with labels, else "top1_agreement", or "sqnr_db" where the first output is a single value."""
    value: float | None
    top1_agreement: float
    """With the float model, on the first output."""
    sqnr_db: float | None
    """Against the float model, on all outputs (metrics.sqnr_db)."""
    samples: int
    info: RunInfo | None
    """Measurements of an emulated engine."""


@dataclass(frozen=True)
class Mismatch:
    """The first difference between two engines."""

    engine: str
    other: str
    sample: int
    output: str
    values: int
    """Values that differ in that output of that sample."""

    def __str__(self) -> str:
        return f"{self.engine} and {self.other} differ: {self.values} values of output {self.output}, first at sample {self.sample}"


@dataclass(frozen=True)
class Verification:
    engines: dict[str, EngineResult]
    float_metric: str
    float_value: float | None
    """Accuracy of the float model; None without labels."""
    samples: int
    mismatches: tuple[Mismatch, ...]
    compared: dict[str, int]
    """By engine, how many samples were compared with the first one's."""
    criteria: dict[str, Criterion]
    """How, by output."""
    skipped: dict[str, str]
    """Engines that cannot run here, and why."""
    notes: tuple[str, ...] = ()
    """What is odd about the data."""
    reference: str = "onnxruntime"
    """What ran the float model."""
    inputs: tuple[InputCheck, ...] = ()
    """The data against what calibration has seen."""

    @property
    def agree(self) -> bool:
        """No engine differs from another."""
        return not self.mismatches

    @property
    def bit_exact(self) -> bool:
        """No engine's bytes differ from another's, on the outputs that are compared so: all but those that depend on float kernels."""
        return not any(self.criteria[mismatch.output] is Criterion.BYTES for mismatch in self.mismatches)

    def to_json(self) -> dict[str, Any]:
        """What `arenite verify --json` prints; docs/cli.md."""
        return {
            "engines": {
                name: {
                    "metric": result.metric,
                    "value": finite(result.value),
                    "top1_agreement": result.top1_agreement,
                    "sqnr_db": finite(result.sqnr_db),
                    "samples": result.samples,
                    **({} if result.info is None else info_to_json(result.info)),
                }
                for name, result in self.engines.items()
            },
            "float": {"metric": self.float_metric, "value": self.float_value},
            "agree": self.agree,
            "bit_exact": self.bit_exact,
            "compared_by": {name: criterion.value for name, criterion in self.criteria.items()},
            "samples": self.samples,
            "compared": self.compared,
            "mismatches": [str(mismatch) for mismatch in self.mismatches],
            "skipped": self.skipped,
            "notes": list(self.notes),
            "inputs": [check.to_json() for check in self.inputs],
        }


def verify(
    model: Path,
    folder: Path,
    data: Path,
    *,
    engines: Sequence[str] = (),
    target: str = "cortex-m4",
    samples: int | None = None,
    emulated_samples: int = EMULATED_SAMPLES,
    progress: Progress | None = None,
) -> Verification:
    """Run the ONNX file `model` with onnxruntime, and the artifact in `folder` with `engines`, on the samples of `data`.

    A model with users' own operators, which onnxruntime does not have, is run by NumPy.

    Of a model with states the samples are a sequence: each goes on from the one before, the first from 0.
    Without `engines` all that can run here do; the emulated ones on the core `target`.
    `samples` bounds the samples of every engine, `emulated_samples` those of the emulated ones.
    The NumPy engine always takes part in the comparison, so that a single engine is compared with something.
    Raises the AreniteErrors of its parts; ToolError where a named engine cannot run.
    """
    advance = progress or (lambda stage, done, total: None)
    ports = Ports.read(folder)
    reference = _reference(model, ports)
    _require_same_model(ports, reference, folder)
    dataset = ports.load(data)
    if samples is not None:
        dataset = dataset.first(samples)
    count = len(dataset)
    if count == 0:
        raise CalibrationError(f"{data}: no samples to verify with")
    labels = class_labels(dataset.labels, data)
    checks = check_inputs(ports.inputs, dataset.inputs)
    notes = (*(warning for check in checks for warning in check.warnings), *_label_notes(labels, ports, data))

    done = 0

    def one_more(number: int) -> None:
        nonlocal done
        done += number
        advance(f"float ({reference.name})", done, count)

    returned = [ports.numbers(outputs) for outputs in reference.run([dataset.declared_sample(i) for i in range(count)], one_more)]
    require_shapes(returned[0], ports.inputs, ports.outputs, model, folder)
    expected = [ports.reference_outputs(outputs) for outputs in returned]
    require_finite(expected, ports.outputs, model)
    opened, skipped = _open(engines, folder, target)
    inputs = [ports.engine_inputs(dataset.sample(i)) for i in range(count)]
    raw: dict[str, list[list[Array]]] = {}
    for name, engine in opened.items():
        mine = inputs[: min(count, emulated_samples)] if name.startswith("emulated") else inputs
        raw[name] = run_in_chunks(engine, mine, ports.chunks, lambda n, total, name=name: advance(name, n, total))  # type: ignore[misc]

    results = {
        name: _result([ports.real_outputs(outputs) for outputs in raw[name]], expected, labels, opened[name].info) for name in opened
    }
    if "numpy" not in raw and raw:
        most = max(len(outputs) for outputs in raw.values())
        raw["numpy"] = run_in_chunks(open_engine("numpy", folder), inputs[:most], ports.chunks, lambda n, total: advance("numpy", n, total))
    criteria = {port.name: criterion(port.dtype, ports.precision, port.scale is not None, ports.rounds) for port in ports.outputs}
    mismatches, compared = _compare(raw, criteria)
    float_metric = "accuracy" if labels is not None else next((r.metric for r in results.values()), "top1_agreement")
    float_value = accuracy([outputs[0] for outputs in expected], labels) if labels is not None else None
    return Verification(results, float_metric, float_value, count, mismatches, compared, criteria, skipped, notes, reference.name, checks)


def class_labels(labels: Array | None, data: Path) -> NDArray[np.int64] | None:
    """Labels as int64 [samples]; one-hot rows become their index. None where there are none. Raises CalibrationError for other kinds."""
    if labels is None:
        return None
    if labels.ndim == 2 and labels.shape[1] > 1 and np.all((labels == 0) | (labels == 1)) and np.all(labels.sum(axis=1) == 1):
        return np.asarray(labels.argmax(axis=1), np.int64)
    flat = labels.reshape(len(labels), -1)
    whole = flat.dtype.kind in "iub" or (flat.dtype.kind == "f" and bool(np.all(np.isfinite(flat) & (flat == np.rint(flat)))))
    if flat.shape[1] != 1 or not whole:
        raise CalibrationError(
            f"{data}: the labels `y` are {labels.dtype} of the shape {labels.shape}. Accuracy needs a class number a sample; "
            "leave `y` out to compare with the float model instead."
        )
    return np.asarray(flat[:, 0], np.int64)


def _label_notes(labels: NDArray[np.int64] | None, ports: Ports, data: Path) -> tuple[str, ...]:
    """A class that the first output does not have cannot be right: whoever counts from 1 would wonder at the accuracy."""
    if labels is None:
        return ()
    first = ports.outputs[0]
    elements = int(np.prod(first.shape))
    if elements == 1 and first.dtype.startswith(("int", "uint")) and first.scale is None and not first.labels:
        return ()  # the class itself, whatever the numbers of the classes are
    classes = len(first.labels) if elements == 1 and first.labels else max(2, elements)
    outside = labels[(labels < 0) | (labels >= classes)]
    if outside.size == 0:
        return ()
    return (
        f"{data}: {outside.size} of {labels.size} labels are none of the classes 0 … {classes - 1} of the output {first.name} "
        f"(from {outside.min()} to {outside.max()}) and count as wrong.",
    )


def _reference(model: Path, ports: Ports) -> Reference | OwnReference:
    if not has_own_operators(model):
        return Reference(model, ports.states, ports.values)
    shapes = {**{port.name: port.source_shape for port in ports.inputs}, **{state.input: state.shape for state in ports.states}}
    return OwnReference(model, shapes, {state.output: state.input for state in ports.states}, ports.values)


def _require_same_model(ports: Ports, reference: Reference | OwnReference, folder: Path) -> None:
    names = tuple(port.name for port in ports.inputs), tuple(port.name for port in ports.outputs)
    if names != (reference.inputs, reference.outputs):
        raise ArtifactError(
            f"{folder} was not converted from {reference.path}: its inputs and outputs are {', '.join(names[0])} → {', '.join(names[1])}, "
            f"the model's {', '.join(reference.inputs)} → {', '.join(reference.outputs)}"
        )


def _open(names: Sequence[str], folder: Path, target: str) -> tuple[dict[str, Engine], dict[str, str]]:
    """The engines asked for, which must open; or all that can be opened, and why the others cannot."""
    if names:
        return {name: open_engine(name, folder, target=target) for name in dict.fromkeys(names)}, {}
    opened, skipped = {}, {}
    for name in ENGINES:
        try:
            opened[name] = open_engine(name, folder, target=target)
        except ToolError as error:
            skipped[name] = str(error)
    return opened, skipped


def _result(
    outputs: list[list[Array]], expected: list[list[Array]], labels: NDArray[np.int64] | None, info: RunInfo | None
) -> EngineResult:
    expected = expected[: len(outputs)]
    first, first_expected = [sample[0] for sample in outputs], [sample[0] for sample in expected]
    agreement = top1_agreement(first, first_expected)
    noise = sqnr_db([y for sample in outputs for y in sample], [r for sample in expected for r in sample])
    if labels is not None:
        return EngineResult("accuracy", accuracy(first, labels[: len(first)]), agreement, noise, len(first), info)
    if first_expected[0].size == 1:
        return EngineResult("sqnr_db", noise, agreement, noise, len(first), info)
    return EngineResult("top1_agreement", agreement, agreement, noise, len(first), info)


def _compare(raw: dict[str, list[list[Array]]], criteria: dict[str, Criterion]) -> tuple[tuple[Mismatch, ...], dict[str, int]]:
    """Every engine against the one with most samples (NumPy, where equal)."""
    if not raw:
        return (), {}
    base = max(raw, key=lambda name: (len(raw[name]), name == "numpy"))
    found, compared = [], {}
    for name, results in raw.items():
        if name == base:
            continue
        compared[name] = len(results)
        for sample, (mine, theirs) in enumerate(zip(results, raw[base], strict=False)):
            differing = {output: by.differing(a, b) for (output, by), a, b in zip(criteria.items(), mine, theirs, strict=True)}
            which = next((output for output, values in differing.items() if values), None)
            if which is not None:
                found.append(Mismatch(name, base, sample, which, differing[which]))
                break
    return tuple(found), compared
