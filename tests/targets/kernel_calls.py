"""Kernel calls on an emulated board: firmware/apps/run_kernels, an image with every kernel, which takes its calls from a file."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.compiler import SourceSet, last_lines
from arenite.targets.emulator import run_image
from arenite.targets.image import Image
from arenite.targets.sources import interpreter_sources, kernel_sources, native_root, runtime_includes, runtime_root
from arenite.targets.toolchain import build_image
from arenite_runtime.operators import VARIANTS
from arenite_runtime.record import OPERATOR_BY_NAME, encode
from kernels.cases import Array, Case

GUARD = 16
ABSENT = 0xFFFFFFFF


@cache
def build_run_kernels(target: str, optimize: str) -> Image:
    runtime = runtime_root()
    includes = runtime_includes(runtime)
    app = native_root() / "firmware" / "apps" / "run_kernels" / "main.c"
    sources = [SourceSet((*interpreter_sources(runtime), *kernel_sources(runtime), app), includes)]
    return build_image("run_kernels", board_named(target_named(target).board), sources, optimize=optimize)


def run_on_board(cases: Sequence[Case], target: str, optimize: str = "-Os") -> list[Array]:
    """The output of every case, computed by the kernels that `target` has, all in one emulation. Fails where one writes outside."""
    image = build_run_kernels(target, optimize)
    with tempfile.TemporaryDirectory(prefix="arenite-run-") as scratch:
        folder = Path(scratch)
        (folder / "calls.bin").write_bytes(struct.pack("<I", len(cases)) + b"".join(_call(case) for case in cases))
        outcome = run_image(image, board_named(target_named(target).board), ("calls.bin", "results.bin"), folder)
        assert outcome.status == 0, f"status {outcome.status}:\n{last_lines(outcome.console)}"
        data = (folder / "results.bin").read_bytes()
    results = []
    for case in cases:
        part, data = data[: case.y.nbytes + 2 * GUARD], data[case.y.nbytes + 2 * GUARD :]
        assert part[:GUARD] == b"\x5a" * GUARD, f"{case.op} wrote in front of its output: {case}"
        assert case.overlap is not None or part[-GUARD:] == b"\x5a" * GUARD, f"{case.op} wrote behind its output: {case}"
        results.append(np.frombuffer(part[GUARD:-GUARD], case.y.dtype).reshape(case.y.shape))
    return results


def _call(case: Case) -> bytes:
    """As the app reads it (firmware/apps/run_kernels/main.c)."""
    operator = OPERATOR_BY_NAME[case.op]
    record = np.asarray(encode(operator, case.variant, case.record), np.int32)
    parts = [
        struct.pack("<6I", operator.code, VARIANTS[case.variant], record.size, len(case.inputs), case.y.nbytes, case.scratch),
        struct.pack("<2I", *(case.overlap or (ABSENT, 0))),
        record.tobytes(),
    ]
    for array in case.inputs:
        parts += [struct.pack("<I", ABSENT if array is None else array.nbytes), b"" if array is None else _filled(array)]
    return b"".join(parts) + (b"" if case.overlap else _filled(case.y))


def _filled(array: Array) -> bytes:
    data = np.ascontiguousarray(array).tobytes()
    return data + bytes(-len(data) % 4)
