"""Tables of one core, and of everything."""

from __future__ import annotations

from collections.abc import Sequence

from limits import M4
from peers import CORTEX_M4, NETWORKS, TFLM_OTHER_CORES
from rows import Index, Row
from tables import NOTHING, number, ratio, table


def core_table(rows: Sequence[Row], target: str) -> str:
    """A line for each network and choice of kernels: the compiled form, and what the interpreter adds."""
    index = Index(rows)
    tflm = dict(zip(NETWORKS, TFLM_OTHER_CORES.get(target, CORTEX_M4[0].instructions if target == M4 else ()), strict=False))
    builds = dict.fromkeys((row.network, row.goal) for row in rows if row.target == target)
    lines = []
    for network, goal in builds:
        fast, small = (index.row(network, target, goal, flags=flags) for flags in ("-O2", "-Os"))
        read = index.row(network, target, goal, "interpreted")
        if fast is None or small is None or read is None:
            lines.append((network, goal, *[NOTHING] * 15))
            continue
        theirs = tflm.get(network)
        beside = (number(theirs), ratio(fast.instructions / theirs if theirs else None))
        counts = (number(fast.instructions), each_mac(fast), *beside, number(fast.cycles), number(small.instructions))
        more = f"{100 * (read.instructions / fast.instructions - 1):.2f} %"
        sizes = (fast.arena, fast.scratch, fast.stack, read.stack, fast.model, fast.code, small.code, read.code)
        lines.append((network, goal, *counts, more, *map(number, sizes)))
    head = ("network", "kernels for", "instructions, -O2", "a MAC", "TFLM", "ratio", "cycles, -O2", "instructions, -Os", "more interpreted")
    memory = ("arena", "scratch in it", "stack", "interpreted", "constants", "code, -O2", "-Os", "interpreted, -O2")
    return table((*head, *memory), lines, right_from=2)


def everything_table(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        counts = (number(row.instructions), each_mac(row), number(row.cycles), number(row.open_instructions))
        sizes = (row.arena, row.scratch, row.session, row.stack, row.model, row.kernels, row.runtime)
        lines.append((row.network, row.target, row.goal, row.form, row.flags, *counts, *map(number, sizes)))
    head = ("network", "core", "kernels for", "form", "flags", "instructions", "a MAC", "cycles", "to open")
    return table((*head, "arena", "scratch", "session", "stack", "flash: model", "kernels", "runtime"), lines, right_from=5)


def each_mac(row: Row) -> str:
    return ratio(row.instructions / row.macs if row.macs else None)
