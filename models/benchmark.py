"""Measures the zoo on an emulated Cortex-M4 and writes the table of docs/benchmarks.md: `make bench`.

    python models/benchmark.py [--output FILE] [NAME …]

Every figure is counted, none is timed: instructions of one inference by the emulator, RAM by the plan and the stack's high-water mark,
flash from the ELF file. The architectures of MLPerf Tiny are built with seeded weights (models/mlperf_shapes). The peers' figures
were measured on the same networks with the same compiler and emulator.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets.emulated import EmulatedEngine, Form, RunInfo
from rich.console import Console

ZOO = Path(__file__).resolve().parent
SHAPES = ("kws01", "ic01", "vww01", "ad01", "sww01")
OPTIMIZE = ("-Os", "-O2")
console = Console(stderr=True)


@dataclass(frozen=True)
class Peer:
    """TensorFlow Lite Micro 90b983c2 with CMSIS-NN, gcc 12.2.1, QEMU -icount, int8 networks of MLPerf Tiny."""

    instructions_os: int
    instructions_o2: int
    ram: int
    """Arena in use and what lies outside of it, without the stack."""
    flash_os: int
    """Without the model, int8-only registrations, -Os."""
    open_instructions: int


PEERS = {
    "kws01": Peer(9_230_000, 7_700_000, 22_820 + 1_500, 46_035, 790_000),
    "ic01": Peer(41_100_000, 29_900_000, 54_996 + 1_500, 43_199, 540_000),
    "vww01": Peer(28_600_000, 24_100_000, 100_708 + 1_500, 46_035, 3_520_000),
    "ad01": Peer(843_000, 583_000, 2_580 + 1_400, 21_831, 83_000),
    "sww01": Peer(2_560_000, 2_230_000, 16_596 + 1_500, 43_971, 1_090_000),
}


@dataclass(frozen=True)
class Row:
    network: str
    form: str
    optimize: str
    macs: int
    info: RunInfo


def models(names: list[str], folder: Path) -> dict[str, tuple[Path, Path]]:
    """Name → ONNX file and calibration data."""
    wanted = [name for name in SHAPES if not names or name in names]
    if wanted:
        console.print("building the architectures of MLPerf Tiny")
        subprocess.run([sys.executable, ZOO / "mlperf_shapes" / "build.py", folder, *wanted], check=True, stdout=subprocess.DEVNULL)
    found = {name: (folder / f"{name}.onnx", folder / f"{name}_calibration.npz") for name in wanted}
    if not names or "digits_cnn" in names:
        digits = ZOO / "digits_cnn"
        found = {"digits_cnn": (digits / "digits_cnn.onnx", digits / "digits_calibration.npz"), **found}
    return found


def measure(name: str, conversion: Conversion) -> list[Row]:
    tensor = conversion.program.tensors[conversion.program.inputs[0].tensor]
    sample = [np.random.default_rng(3).integers(-128, 128, tensor.shape).astype(np.int8)]
    rows = []
    for form in (Form.INTERPRETED, Form.COMPILED):
        for optimize in OPTIMIZE:
            engine = EmulatedEngine(conversion.folder, form, "cortex-m4", optimize=optimize)
            engine.run([sample])
            assert engine.info is not None
            rows.append(Row(name, form.value, optimize, conversion.program.macs, engine.info))
    return rows


def table(rows: list[Row]) -> str:
    lines = [
        "| network | form | flags | instructions | a MAC | to open | arena | session | stack | flash, model | flash, code |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        i = row.info
        numbers = (i.open_instructions, i.arena_bytes, i.session_bytes, i.stack_bytes, i.model_bytes, i.code_bytes)
        lines.append(
            f"| {row.network} | {row.form} | {row.optimize} | {i.instructions:,} | {i.instructions / row.macs:.2f} | "
            + " | ".join(f"{n:,}" for n in numbers)
            + " |"
        )
    return "\n".join(lines)


def comparison(rows: list[Row]) -> str:
    lines = [
        "| network | | Arenite interpreted | Arenite compiled | TFLM + CMSIS-NN |",
        "|---|---|---:|---:|---:|",
    ]
    best = {(row.network, row.form, row.optimize): row.info for row in rows}
    for name, peer in PEERS.items():
        if (name, "interpreted", "-Os") not in best:
            continue
        small = [best[name, form, "-Os"] for form in ("interpreted", "compiled")]
        fast = [best[name, form, "-O2"] for form in ("interpreted", "compiled")]
        figures = (
            ("RAM without stack, bytes", [i.arena_bytes + i.session_bytes for i in small], peer.ram),
            ("code, -Os, bytes", [i.code_bytes for i in small], peer.flash_os),
            ("instructions to start", [i.open_instructions for i in small], peer.open_instructions),
            ("instructions an inference, -Os", [i.instructions for i in small], peer.instructions_os),
            ("instructions an inference, -O2", [i.instructions for i in fast], peer.instructions_o2),
        )
        for label, ours, theirs in figures:
            lines.append(f"| {name} | {label} | {ours[0]:,} | {ours[1]:,} | {theirs:,} |")
    return "\n".join(lines)


def document(rows: list[Row]) -> str:
    toolchain, emulator = rows[0].info.toolchain, rows[0].info.emulator
    return f"""# Benchmarks

Made by `make bench` ({toolchain}; {emulator}; Cortex-M4, mps2-an386). Counted, not timed: the same on any machine.

Instructions are those of one inference, exactly; they are not cycles. `to open` is arn_model_open and arn_session_init. Code is
.text, .rodata and .data of the whole image without the model, startup and test app included. RAM is arena and session; the stack is
its high-water mark in an inference. The networks have the architectures of MLPerf Tiny with seeded weights (models/mlperf_shapes):
real ones have the same figures.

The kernels are the portable ones, plain C for any core. Kernels for the DSP and vector extensions are still to come.

{table(rows)}

## Beside TensorFlow Lite Micro

TFLM 90b983c2 with CMSIS-NN, int8-only operator registrations, on the same networks with the same compiler and emulator.

{comparison(rows)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the zoo on an emulated Cortex-M4.")
    parser.add_argument("--output", type=Path, help="write the document here (default: standard output)")
    parser.add_argument("names", nargs="*", help="only these networks")
    arguments = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, (source, calibration) in models(arguments.names, folder).items():
            console.print(f"measuring {name}")
            rows += measure(name, convert(source, ConvertOptions(calibration=calibration, output=folder / f"{name}_out", name=name)))
    text = document(rows)
    if arguments.output is None:
        print(text)
    else:
        arguments.output.write_text(text, encoding="utf-8")
        print(table(rows))
        print(f"\nwrote {os.path.relpath(arguments.output)}")


if __name__ == "__main__":
    main()
