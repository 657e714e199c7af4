"""docs/benchmarks.md, and the figures that README.md and docs/runtime.md repeat."""

from __future__ import annotations

import re

from core_tables import core_table, everything_table
from limit_tables import aims_table, builds_table, limits_table
from limits import M4
from peer_tables import ahead_table, closed_table, code_table, comparison_table, other_cores_table, ram_table, speed_table
from peers import TFLM_HELLO_INSTRUCTIONS, TFLM_STACK
from rows import Index, Measurements

_README_TABLE = re.compile(r"^\| network \|[^\n]*TFLM \+ CMSIS-NN \|\n(\|[^\n]*\n)+", re.MULTILINE)
_RUNTIME_LINE = re.compile(r"^\| instructions an inference \|[^\n]*\n", re.MULTILINE)

INTRODUCTION = """Instructions are those of one inference, exactly; they are not cycles. Cycles are those of a model of the Cortex-M4
with memory that never waits ([profiling.md](profiling.md)): they compare engines, hardware takes more. Sizes are in bytes. Constants are
those of the compiled form; code is all other flash: kernels (from runtime_c/kernels) and runtime (interpreter or calls, start-up, test app,
C library). RAM is arena and session; the scratch memory of layers lies in the arena; the stack is its high-water mark in an inference.
Kernels are chosen for `speed`, `balanced` (the default) or `size`, as `convert --optimize` does; on other cores than the Cortex-M4 for
`speed`.

kws01, ic01, vww01, ad01 and sww01 have the architectures of MLPerf Tiny with seeded weights (models/mlperf_shapes)."""
LIMITS_NOTE = f"""Every figure stands beside the most that it may be. TFLM + CMSIS-NN takes
{TFLM_HELLO_INSTRUCTIONS:,} instructions for tflm_hello_world_int8. tests/models/test_benchmark.py holds this table against the limits."""
AHEAD_NOTE = """Of everything below that was measured of both: figures of other engines that are better than Arenite's with the default
choice of kernels (`speed` on other cores than the Cortex-M4), -O2 unless it says otherwise. They are marked ▲ in the tables that follow."""
CLOSED_NOTE = """For the same engine (TFLM + CMSIS-NN here, microTVM + CMSIS-NN there) the STM32L4R5 takes 1.29 to 1.43 times the
modelled cycles. From that come the cycles of the best closed engine."""


def document(measured: Measurements) -> str:
    """The whole of docs/benchmarks.md."""
    rows = measured.rows
    parts = [
        "# Benchmarks",
        f"Made by `{measured.command}` ({measured.tools}). Counted, not timed: the same on any machine.\n"
        "[benchmarks.json](benchmarks.json) has the same figures for programs.",
        INTRODUCTION,
        "## Limits",
        limits_table(rows),
        LIMITS_NOTE,
        "Cycles on a Cortex-M4, compiled form, -O2:",
        aims_table(rows),
        "Memory of these builds, Cortex-M4, compiled form:",
        builds_table(rows),
        "## Where another engine is ahead",
        AHEAD_NOTE,
        ahead_table(rows),
        "## Beside other engines, Cortex-M4",
        "Millions of instructions, and of modelled cycles, for an inference. Arenite at -O2.",
        speed_table(rows),
        "The figures of closed engines are published measurements on hardware (MLPerf Tiny, closed division), in milliseconds:",
        closed_table(),
        CLOSED_NOTE,
        "## Memory, Cortex-M4",
        f"Bytes of RAM without the stack. TFLM's stack is {TFLM_STACK[0]:,} to {TFLM_STACK[1]:,} bytes.",
        ram_table(rows),
        "Bytes of flash without the model.",
        code_table(rows),
        "## Beside TensorFlow Lite Micro, Cortex-M4",
        "Arenite `balanced`, TFLM 90b983c2 with CMSIS-NN and int8-only registrations.",
        comparison_table(rows),
        "## Other cores",
        "Millions of instructions for an inference, compiled form, `speed`, -O2; TFLM + CMSIS-NN at its best.",
        other_cores_table(rows),
    ]
    for target in dict.fromkeys(row.target for row in rows):
        parts += [f"## {target.title()}", _about_core(measured, target), core_table(rows, target)]
    parts += ["## Everything that was measured", everything_table(rows)]
    if measured.failures:
        parts += ["## Not measured", "\n".join(f"- {what}: {why}" for what, why in measured.failures.items())]
    return "\n\n".join(parts) + "\n"


def _about_core(measured: Measurements, target: str) -> str:
    rows = [row for row in measured.rows if row.target == target]
    boards = {board: sorted({row.network for row in rows if row.board == board}) for board in dict.fromkeys(row.board for row in rows)}
    tflm = "TFLM: instructions of TFLM + CMSIS-NN."
    if len(boards) == 1:
        return f"Emulated board: {rows[0].board}. {tflm}"
    on = "; ".join(f"{board}: {', '.join(networks)}" for board, networks in boards.items())
    return f"Emulated boards, the larger one where an image does not fit the smaller: {on}. {tflm}"


def in_readme(text: str, measured: Measurements) -> str:
    """README.md with the figures in its table. Raises ValueError where it has no such table."""
    return _replaced(text, _README_TABLE, comparison_table(measured.rows, brief=True) + "\n", "README.md's table beside TFLM + CMSIS-NN")


def in_runtime(text: str, measured: Measurements) -> str:
    """docs/runtime.md with kws01's instructions, interpreted and compiled, rounded. Raises ValueError where it has no such line."""
    index = Index(measured.rows)
    rows = [index.row("kws01", M4, "balanced", form, "-Os") for form in ("interpreted", "compiled")]
    cells = " | ".join("" if row is None else f"{round(row.instructions, -3):,}" for row in rows)
    return _replaced(text, _RUNTIME_LINE, f"| instructions an inference | {cells} |\n", "docs/runtime.md's line of instructions")


def _replaced(text: str, pattern: re.Pattern[str], new: str, what: str) -> str:
    result, count = pattern.subn(lambda _: new, text)
    if count != 1:
        raise ValueError(f"{what} is there {count} times")
    return result
