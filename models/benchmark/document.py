"""docs/benchmarks.md: the rows as tables, beside the peers' figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matrix import COMPILER_FLAGS, Outcome, Row
from peers import BEST_CLOSED_CYCLES, CLOSED, CORTEX_M4, NETWORKS, RAM, TFLM_CODE, TFLM_OTHER_CORES, TFLM_START, Figures

M4 = "cortex-m4"


class Measured:
    """Rows by what they are of."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._found = {(r.network, r.target, r.goal, r.form, r.flags): r for r in rows if not r.real}

    def row(self, network: str, target: str, goal: str, form: str, flags: str) -> Row | None:
        return self._found.get((network, target, goal, form, flags))

    def over_networks(self, target: str, goal: str, form: str, flags: str) -> list[Row | None]:
        return [self.row(network, target, goal, form, flags) for network in NETWORKS]


def document(rows: Sequence[Row], failed: Sequence[Outcome], command: str) -> str:
    measured = Measured(rows)
    toolchains = sorted({f"{row.info.toolchain}; {row.info.emulator}" for row in rows})
    parts = [
        "# Benchmarks",
        f"Made by `{command}` ({' / '.join(toolchains)}). Counted, not timed: the same on any machine.",
        INTRODUCTION,
        "## Beside other engines, Cortex-M4",
        "Millions of instructions, and of modelled cycles, for an inference. Arenite at -O2.",
        speed(measured),
        "The figures of closed engines are published measurements on hardware (MLPerf Tiny, closed division), in milliseconds:",
        closed(),
        CLOSED_NOTE,
        "## Memory, Cortex-M4",
        "Bytes of RAM without the stack.",
        ram(measured),
        "Bytes of flash without the model.",
        code(measured),
        "## Beside TensorFlow Lite Micro, Cortex-M4",
        f"Arenite `balanced`, TFLM {'90b983c2'} with CMSIS-NN and int8-only registrations.",
        comparison(measured),
        "## Other cores",
        "Millions of instructions for an inference, compiled form, `speed`, -O2; TFLM + CMSIS-NN at its best.",
        other_cores(measured),
        "## Everything that was measured",
        matrix([row for row in rows if not row.real]),
    ]
    real = [row for row in rows if row.real]
    if real:
        parts += [
            "## The real networks",
            "The trained models of MLPerf Tiny, `balanced`: what they take is a matter of the architecture.",
            matrix(real),
        ]
    if failed:
        reasons = (f"- {outcome.job.text}: {outcome.failure}" for outcome in failed)
        parts += ["## Not measured", "\n".join(reasons)]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = """Instructions are those of one inference, exactly; they are not cycles. Cycles are those of a model of the Cortex-M4
with memory that never waits (`arenite profile`): they compare engines, hardware takes more. `to open` is arn_model_open and
arn_session_init. Kernels are what comes from runtime_c/kernels, runtime is all other code: interpreter or calls, startup, test app,
C library. RAM is arena and session; the scratch memory of layers lies in the arena; the stack is its high-water mark in an inference.
The networks have the architectures of MLPerf Tiny with seeded weights (models/mlperf_shapes)."""

CLOSED_NOTE = """For the same engine (TFLM + CMSIS-NN here, microTVM + CMSIS-NN there) the STM32L4R5 takes 1.29 to 1.43 times the
modelled cycles. So the best of the closed engines correspond to the modelled cycles in the last row of the first table."""


def speed(measured: Measured) -> str:
    lines = []
    for form, goals in (("compiled", ("speed", "balanced", "size")), ("interpreted", ("speed", "balanced", "size"))):
        for goal in goals:
            rows = measured.over_networks(M4, goal, form, "-O2")
            if any(rows):
                lines.append((f"**Arenite, {form}, {goal}**", *(_pair(r and r.info.instructions, r and r.info.cycles) for r in rows)))
    lines += [(peer.name, *map(_pair, peer.instructions, peer.cycles)) for peer in CORTEX_M4]
    lines.append(("best closed engine", *(_pair(None, cycles) for cycles in BEST_CLOSED_CYCLES)))
    return _table(("engine: instructions / cycles", *NETWORKS), lines, right_from=1)


def closed() -> str:
    lines = [(c.name, c.board, *(f"{value:,.4g}" for value in (c.kws01, c.ic01, c.vww01, c.ad01))) for c in CLOSED]
    return _table(("engine", "board", "kws01", "ic01", "vww01", "ad01"), lines, right_from=2)


def ram(measured: Measured) -> str:
    lines = []
    for form in ("compiled", "interpreted"):
        for goal in ("speed", "balanced", "size"):
            rows = measured.over_networks(M4, goal, form, "-Os")
            if any(rows):
                lines.append((f"**Arenite, {form}, {goal}**", *(_number(r and r.info.arena_bytes + r.info.session_bytes) for r in rows)))
    lines += [(name, *map(_number, figures)) for name, figures in RAM.items()]
    return _table(("engine", *NETWORKS), lines, right_from=1)


def code(measured: Measured) -> str:
    lines = []
    for form in ("compiled", "interpreted"):
        for goal in ("speed", "balanced", "size"):
            for flags in COMPILER_FLAGS:
                rows = measured.over_networks(M4, goal, form, flags)
                if any(rows):
                    lines.append((f"**Arenite, {form}, {goal}, {flags}**", *(_number(r and r.info.code_bytes) for r in rows)))
    lines += [(f"TFLM + CMSIS-NN, {flags}", *map(_number, figures)) for flags, figures in TFLM_CODE.items()]
    return _table(("engine", *NETWORKS), lines, right_from=1)


def comparison(measured: Measured) -> str:
    """The table of the README."""
    lines = []
    tflm = {peer.name.rpartition(", ")[2]: peer for peer in CORTEX_M4[:2]}
    for at, network in enumerate(NETWORKS):
        small, fast = (
            [measured.row(network, M4, "balanced", form, flags) for form in ("interpreted", "compiled")] for flags in ("-Os", "-O2")
        )
        if not (all(small) and all(fast)):
            continue
        infos_small, infos_fast = ([row.info for row in rows if row] for rows in (small, fast))
        cycles = tflm["-O2"].cycles[at]
        figures: list[tuple[str, list[int | None], int | None]] = [
            ("RAM without stack, bytes", [i.arena_bytes + i.session_bytes for i in infos_small], RAM["TFLM + CMSIS-NN"][at]),
            ("code, -Os, bytes", [i.code_bytes for i in infos_small], TFLM_CODE["-Os"][at]),
            ("instructions to start", [i.open_instructions for i in infos_small], TFLM_START[at]),
            ("instructions an inference, -Os", [i.instructions for i in infos_small], tflm["-Os"].instructions[at]),
            ("instructions an inference, -O2", [i.instructions for i in infos_fast], tflm["-O2"].instructions[at]),
            ("modelled cycles an inference, -O2", [i.cycles for i in infos_fast], cycles),
        ]
        lines += [(network, label, *map(_number, ours), _number(theirs)) for label, ours, theirs in figures]
    return _table(("network", "", "Arenite interpreted", "Arenite compiled", "TFLM + CMSIS-NN"), lines, right_from=2)


def other_cores(measured: Measured) -> str:
    lines = []
    for target in dict.fromkeys(row.target for row in measured.rows):
        if target == M4:
            continue
        rows = measured.over_networks(target, "speed", "compiled", "-O2")
        lines.append((target, "**Arenite**", *(_millions(r and r.info.instructions) for r in rows)))
        theirs: Figures | None = TFLM_OTHER_CORES.get(target)
        if theirs is not None:
            lines.append((target, "TFLM + CMSIS-NN", *map(_millions, theirs)))
            shares = ((r.info.instructions / t if r and t else None) for r, t in zip(rows, theirs, strict=True))
            lines.append((target, "share", *("" if share is None else f"{share:.2f}" for share in shares)))
    return _table(("core", "engine", *NETWORKS), lines, right_from=2)


def matrix(rows: Sequence[Row]) -> str:
    head = (
        "network",
        "core",
        "kernels for",
        "form",
        "flags",
        "instructions",
        "a MAC",
        "cycles",
        "to open",
        "arena",
        "scratch",
        "session",
        "stack",
    )
    lines = []
    for row in rows:
        i = row.info
        sizes = (i.open_instructions, i.arena_bytes, row.scratch_bytes, i.session_bytes, i.stack_bytes)
        flash = (i.model_bytes, row.kernel_bytes, row.runtime_bytes)
        each = f"{i.instructions / row.macs:.2f}" if row.macs else ""
        counts = (_number(i.instructions), each, _number(i.cycles), *map(_number, sizes), *map(_number, flash))
        lines.append((row.network, row.target, row.goal, row.form, row.flags, *counts))
    return _table((*head, "flash: model", "kernels", "runtime"), lines, right_from=5)


def _pair(instructions: int | None, cycles: int | None) -> str:
    if instructions is None and cycles is None:
        return "–"
    return f"{_millions(instructions) or '–'} / {_millions(cycles) or '–'}"


def _millions(value: int | None) -> str:
    """Three digits that count, or four where there are as many before the point."""
    if value is None:
        return ""
    number = value / 1_000_000
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}" if number >= 1 else f"{number:.3f}"


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]], right_from: int) -> str:
    rule = ["---:" if at >= right_from else "---" for at in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))
