"""execute(): one engine on the samples of a data file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import OutputError
from arenite.report import ReportPort
from arenite.targets import Engine, RunInfo, open_engine
from arenite.verify.input_check import InputCheck, check_inputs
from arenite.verify.metrics import top1
from arenite.verify.ports import Ports

Array = NDArray[Any]
Progress = Callable[[str, int, int], None]
"""(stage, samples done, samples in all)."""


@dataclass(frozen=True)
class Execution:
    engine: str
    samples: int
    outputs: tuple[ReportPort, ...]
    stored: tuple[Array, ...] = field(repr=False)
    """[samples, *shape] of each output, as the engine gives it."""
    values: tuple[Array, ...] = field(repr=False)
    """The same as real values, in the ONNX layout: float32, or the integers that a port without a scale has."""
    info: RunInfo | None
    """Measurements of an emulated engine."""
    inputs: tuple[InputCheck, ...] = ()
    """The data against what calibration has seen."""

    def save(self, path: Path) -> None:
        """The stored outputs by name, as .npz. Raises OutputError for another ending, OSError where it cannot be written."""
        if path.suffix != ".npz":
            raise OutputError(f"{path}: outputs are written as .npz, give a name that ends so")
        arrays: dict[str, Any] = {port.name: array for port, array in zip(self.outputs, self.stored, strict=True)}
        np.savez(path, **arrays)

    def to_json(self) -> dict[str, Any]:
        """What `arenite run --json` prints; docs/cli.md."""
        return {
            "engine": self.engine,
            "samples": self.samples,
            "outputs": [
                {
                    "name": port.name,
                    "shape": list(port.shape),
                    "dtype": port.dtype,
                    "scale": port.scale,
                    "zero_point": port.zero_point,
                    "first": [finite(value) for value in values[0].reshape(-1).tolist()],
                    "top1": [top1(value) for value in values],
                }
                for port, values in zip(self.outputs, self.values, strict=True)
            ],
            "inputs": [check.to_json() for check in self.inputs],
            **({} if self.info is None else info_to_json(self.info)),
        }


def execute(
    folder: Path, data: Path, engine: str, *, target: str = "cortex-m4", samples: int | None = None, progress: Progress | None = None
) -> Execution:
    """Run the artifact in `folder` on `data` (the first `samples` of it) with the engine of that name; `target` as in open_engine.

    Raises ArtifactError, CalibrationError and ToolError.
    """
    advance = progress or (lambda stage, done, total: None)
    ports = Ports.read(folder)
    dataset = ports.load(data)
    if samples is not None:
        dataset = dataset.first(samples)
    opened = open_engine(engine, folder, target=target)
    inputs = [ports.engine_inputs(sample) for sample in dataset.samples()]
    outputs = run_in_chunks(opened, inputs, ports.chunks, lambda done, total: advance(engine, done, total))
    real = [ports.real_outputs(sample) for sample in outputs]
    count = len(ports.outputs)
    return Execution(
        engine,
        len(outputs),
        ports.outputs,
        tuple(np.stack([sample[i] for sample in outputs]) for i in range(count)),
        tuple(np.stack([sample[i] for sample in real]) for i in range(count)),
        opened.info,
        check_inputs(ports.inputs, dataset.inputs),
    )


def run_in_chunks(engine: Engine, samples: list[list[Array]], chunks: int, advance: Callable[[int, int], None]) -> list[list[Array]]:
    """Engine.run with progress, `chunks` times. Emulated engines run in one go: each start of an emulator costs more than a sample."""
    total = len(samples)
    advance(0, total)
    size = total if engine.name.startswith("emulated") else max(1, total // chunks)
    results: list[list[Array]] = []
    for start in range(0, total, size):
        results += engine.run(samples[start : start + size])
        advance(len(results), total)
    return results


def info_to_json(info: RunInfo) -> dict[str, Any]:
    return {
        "instructions": info.instructions,
        "cycles": info.cycles,
        "open_instructions": info.open_instructions,
        "instructions_resolution": info.resolution,
        "stack_bytes": info.stack_bytes,
        "open_stack_bytes": info.open_stack_bytes,
        "arena_bytes": info.arena_bytes,
        "session_bytes": info.session_bytes,
        "flash": {"model_bytes": info.model_bytes, "code_bytes": info.code_bytes},
        "toolchain": info.toolchain,
        "emulator": info.emulator,
    }


def measurements(info: RunInfo) -> Iterator[str]:
    """What an emulated run measured, in sentences."""
    about = "" if info.resolution == 1 else f" (counted in steps of {info.resolution})"
    cycles = "" if info.cycles is None else f" ({info.cycles:,} cycles, modelled)"
    yield f"{info.instructions:,} instructions{cycles} an inference, {info.open_instructions:,} to open and start{about}."
    yield (
        f"RAM: arena {info.arena_bytes:,}, session {info.session_bytes:,}, stack {info.stack_bytes:,} bytes "
        f"(opening: {info.open_stack_bytes:,})."
    )
    yield f"Flash: model {info.model_bytes:,}, code {info.code_bytes:,} bytes. {info.toolchain}; {info.emulator}."


def finite(value: float | None) -> float | None:
    """JSON has no NaN and no infinity: they become null."""
    return value if value is not None and np.isfinite(value) else None
