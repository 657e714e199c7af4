"""What a release must reach, as tables: the first thing in docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence

from limits import AIMS, M4, Check, checks
from networks import HELLO
from peers import BEST_CLOSED_CYCLES, CORTEX_M4, NETWORKS
from rows import Index, Row
from tables import NOTHING, millions, number, ratio, table

COLUMNS = (*NETWORKS, HELLO)


def limits_table(rows: Sequence[Row]) -> str:
    """A line for each limit: of every network what was measured, and the most it may be."""
    by_limit: dict[str, dict[str, Check]] = {}
    for check in checks(rows):
        by_limit.setdefault(check.limit, {})[check.network] = check
    lines = []
    for limit, found in by_limit.items():
        missed = [network for network, check in found.items() if check.measured is not None and not check.kept]
        absent = [network for network, check in found.items() if check.measured is None]
        verdicts = [f"**missed: {', '.join(missed)}**"] * bool(missed) + [f"not measured: {', '.join(absent)}"] * bool(absent)
        lines.append((limit, *(_cell(found[network]) if network in found else "" for network in COLUMNS), "; ".join(verdicts) or "kept"))
    return table(("Compiled form, -O2, unless it says otherwise", *COLUMNS, ""), lines, right_from=1)


def _cell(check: Check) -> str:
    """Ratios, counts, or millions of them."""
    if check.measured is None:
        return NOTHING
    if check.most < 10:
        measured, most = f"{check.measured:.3f}", f"{check.most:g}"
    elif check.most < 100_000:
        measured, most = number(check.measured), number(check.most)
    else:
        measured, most = f"{check.measured / 1_000_000:.3f}", f"{check.most / 1_000_000:g} M"
    return f"{measured} ≤ {most}" if check.kept else f"**{measured} > {most}**"


def aims_table(rows: Sequence[Row]) -> str:
    """Cycles beside what is hoped for, and beside the best engine that can be measured and the best that is published."""
    index = Index(rows)
    tflm, lines = CORTEX_M4[0], []
    for goal in ("speed", "balanced", "size"):
        cycles = [row and row.cycles for row in (index.row(network, M4, goal) for network in NETWORKS)]
        lines.append((f"**Arenite, {goal}**", *map(millions, cycles)))
    lines.append(("aim of `speed`", *(millions(AIMS[network]) for network in NETWORKS)))
    lines.append((tflm.name, *map(millions, tflm.cycles)))
    lines.append(("best closed engine, from published times", *map(millions, BEST_CLOSED_CYCLES)))
    return table(("modelled cycles, millions", *NETWORKS), lines, right_from=1)


def builds_table(rows: Sequence[Row]) -> str:
    """Memory of every build for a Cortex-M4."""
    index = Index(rows)
    lines = []
    for network in NETWORKS:
        for goal in ("speed", "balanced", "size"):
            fast, small = (index.row(network, M4, goal, flags=flags) for flags in ("-O2", "-Os"))
            read = index.row(network, M4, goal, "interpreted", "-Os")
            if fast is None or small is None or read is None:
                lines.append((network, goal, *[NOTHING] * 9))
                continue
            sizes = (fast.arena, fast.scratch, fast.stack, fast.model)
            code = (fast.code, small.code, small.kernels, read.code, read.stack)
            lines.append((network, goal, *map(number, sizes), ratio(fast.model / fast.plain), *map(number, code)))
    head = ("network", "kernels for", "arena", "scratch in it", "stack", "constants", "× INT8")
    return table((*head, "code, -O2", "code, -Os", "kernels in it", "interpreted: code, -Os", "stack"), lines, right_from=2)
