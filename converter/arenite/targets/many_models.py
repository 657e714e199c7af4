"""Many models in one run of an emulated board: firmware/apps/run_models, an image with every kernel of the runtime.

For comparing an emulated core with a reference over hundreds of small models, where an image for each would take minutes to build.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from arenite.errors import ToolError
from arenite.targets.artifact import ArtifactModel
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.compiler import SourceSet, last_lines
from arenite.targets.emulator import TIMEOUT, run_image
from arenite.targets.image import Image
from arenite.targets.sources import interpreter_sources, kernel_sources, native_root, runtime_includes, runtime_root
from arenite.targets.toolchain import build_image

_MODELS, _RESULTS = "models.bin", "results.bin"
Sample = Sequence[NDArray[Any]]


@dataclass(frozen=True)
class ModelRun:
    """What became of one model on the board."""

    status: int
    """An arn_status: of opening the model or of the first invocation that failed; 0 where every sample ran."""
    outputs: list[list[NDArray[Any]]]
    """Of each sample that ran."""
    stack_bytes: int
    """High-water mark of the invocations."""


@cache
def build_run_models(target: str) -> Image:
    """The image of firmware/apps/run_models for a target's board. Raises ToolError where there is no compiler, or it fails."""
    board = board_named(target_named(target).board)
    runtime = runtime_root()
    includes = runtime_includes(runtime)
    app = native_root() / "firmware" / "apps" / "run_models"
    sources = [
        SourceSet((*interpreter_sources(runtime), *kernel_sources(runtime)), includes),
        SourceSet((app / "main.c",), includes),
    ]
    return build_image("run_models", board, sources)


def run_models(jobs: Sequence[tuple[ArtifactModel, Sequence[Sample]]], target: str, *, timeout: float = TIMEOUT) -> list[ModelRun]:
    """Run models over their samples (at least one each) on a target's emulated board, all in one emulation.

    States begin anew with each model. A model that the runtime refuses, or whose .arn and memory exceed what the app has for them (3.5 MB),
    does not hinder the others. Raises ValueError where a sample does not fit, ToolError where a tool is missing or fails, or the app does.
    """
    image = build_run_models(target)
    with tempfile.TemporaryDirectory(prefix="arenite-run-") as scratch:
        folder = Path(scratch)
        (folder / _MODELS).write_bytes(b"".join(_record(model, samples) for model, samples in jobs))
        outcome = run_image(image, board_named(target_named(target).board), (_MODELS, _RESULTS), folder, timeout=timeout)
        if outcome.status != 0:
            raise ToolError(f"run_models ended with status {outcome.status} on {outcome.emulator}:\n{last_lines(outcome.console)}")
        results = (folder / _RESULTS).read_bytes()
    reader = _Reader(results)
    runs = [_run(model, len(samples), reader) for model, samples in jobs]
    if reader.position != len(results):
        raise ToolError(f"run_models wrote {len(results)} bytes instead of {reader.position}")
    return runs


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def take(self, count: int) -> bytes:
        part = self._data[self.position : self.position + count]
        if len(part) != count:
            raise ToolError(f"run_models wrote {len(self._data)} bytes, too few")
        self.position += count
        return part

    def words(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.take(4 * count))


def _record(model: ArtifactModel, samples: Sequence[Sample]) -> bytes:
    """As the app reads it (firmware/apps/run_models/main.c)."""
    if not samples:
        raise ValueError(f"{model.name} has no samples")
    data = b"".join(b"".join(model.input_bytes(sample)) for sample in samples)
    return struct.pack("<3I", len(model.arn), len(samples), len(data)) + model.arn + data


def _run(model: ArtifactModel, samples: int, reader: _Reader) -> ModelRun:
    (status,) = reader.words(1)
    outputs: list[list[NDArray[Any]]] = []
    stack_bytes = 0
    while status == 0 and len(outputs) < samples:
        status, stack = reader.words(2)
        stack_bytes = max(stack_bytes, stack)
        if status == 0:
            outputs.append([port.array(reader.take(port.nbytes)) for port in model.outputs])
    return ModelRun(status, outputs, stack_bytes)
