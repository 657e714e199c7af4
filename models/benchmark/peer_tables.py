"""Tables beside other engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from beside import GOALS, comparisons
from limits import M4
from peers import BEST_CLOSED_CYCLES, CLOSED, CORTEX_M4, NETWORKS, RAM, TFLM, TFLM_CODE, TFLM_OTHER_CORES, TFLM_START, Figures
from rows import Index, Row
from tables import NOTHING, millions, number, ratio, table

AHEAD = " ▲"
"""Behind a figure of another engine that is better than Arenite's with the default choice of kernels."""
FORMS = ("compiled", "interpreted")
Lines = Iterator[tuple[str, ...]]


def ahead_table(rows: Sequence[Row]) -> str:
    """Where another engine is ahead; a sentence where none is."""
    behind = [each for each in comparisons(Index(rows)) if each.behind]
    if not behind:
        return "Nowhere."
    lines = []
    for each in behind:
        share = ratio(each.ours / each.theirs)
        lines.append((each.what, each.network, each.engine, *map(number, (each.theirs, each.ours)), share, number(each.best)))
    return table(("", "network", "engine", "its figure", "Arenite", "ratio", "Arenite, best choice of kernels"), lines, right_from=3)


def speed_table(rows: Sequence[Row]) -> str:
    index = Index(rows)
    usual = [index.row(network, M4, "balanced") for network in NETWORKS]
    lines = [
        (f"**Arenite, {form}, {goal}**", *(_pair(row and row.instructions, row and row.cycles) for row in found))
        for form, goal, found in _builds(index)
    ]
    for peer in CORTEX_M4:
        cells = [
            _pair(instructions, cycles) + _mark(instructions, row and row.instructions)
            for instructions, cycles, row in zip(peer.instructions, peer.cycles, usual, strict=True)
        ]
        lines.append((peer.name, *cells))
    closed = [_pair(None, cycles) + _mark(cycles, row and row.cycles) for cycles, row in zip(BEST_CLOSED_CYCLES, usual, strict=True)]
    lines.append(("best closed engine", *closed))
    return table(("instructions / cycles", *NETWORKS), lines, right_from=1)


def closed_table() -> str:
    lines = [(c.name, c.board, *(f"{value:,.4g}" for value in (c.kws01, c.ic01, c.vww01, c.ad01))) for c in CLOSED]
    return table(("engine", "board", "kws01", "ic01", "vww01", "ad01"), lines, right_from=2)


def ram_table(rows: Sequence[Row]) -> str:
    return _sizes(rows, ("-O2",), lambda row: row.ram, [(name, "-O2", figures) for name, figures in RAM.items()])


def code_table(rows: Sequence[Row]) -> str:
    theirs = [(f"{TFLM}, {flags}", flags, figures) for flags, figures in TFLM_CODE.items()]
    return _sizes(rows, ("-O2", "-Os"), lambda row: row.code, theirs)


def _sizes(rows: Sequence[Row], levels: Sequence[str], amount: Callable[[Row], int], theirs: Sequence[tuple[str, str, Figures]]) -> str:
    index = Index(rows)
    lines = []
    for flags in levels:
        suffix = f", {flags}" if len(levels) > 1 else ""
        for form, goal, found in _builds(index, flags):
            lines.append((f"**Arenite, {form}, {goal}{suffix}**", *(number(row and amount(row)) for row in found)))
    for name, flags, figures in theirs:
        usual = [index.row(network, M4, "balanced", flags=flags) for network in NETWORKS]
        lines.append((name, *(number(f) + _mark(f, row and amount(row)) for f, row in zip(figures, usual, strict=True))))
    return table(("engine", *NETWORKS), lines, right_from=1)


def comparison_table(rows: Sequence[Row], brief: bool = False) -> str:
    """With the default choice of kernels beside TFLM. `brief`: as the README has it."""
    head = ("network", "", "Arenite interpreted", "Arenite compiled", TFLM)
    return table(head, _comparison(Index(rows), brief), right_from=2)


def _comparison(index: Index, brief: bool) -> Lines:
    fast_peer, small_peer = CORTEX_M4[:2]
    for at, network in enumerate(NETWORKS):
        small, fast = ([index.row(network, M4, "balanced", form, flags) for form in FORMS[::-1]] for flags in ("-Os", "-O2"))
        figures: list[tuple[str, list[Row | None], Callable[[Row], int | None], int | None]] = [
            ("RAM without stack, bytes", small, lambda row: row.ram, RAM[TFLM][at]),
            ("code, -Os, bytes", small, lambda row: row.code, TFLM_CODE["-Os"][at]),
            ("instructions to start", small, lambda row: row.open_instructions, TFLM_START[at]),
            ("instructions an inference, -Os", small, _instructions, small_peer.instructions[at]),
            ("instructions an inference, -O2", fast, _instructions, fast_peer.instructions[at]),
            ("modelled cycles an inference, -O2", fast, lambda row: row.cycles, fast_peer.cycles[at]),
        ]
        for label, found, amount, theirs in figures:
            if not (brief and label.endswith("inference, -Os")):
                ours = [row and amount(row) for row in found]
                yield network, label, *map(number, ours), number(theirs) + ("" if brief else _mark(theirs, ours[1]))


def other_cores_table(rows: Sequence[Row]) -> str:
    """Instructions of the compiled form beside TFLM."""
    index = Index(rows)
    lines = []
    for target in dict.fromkeys(row.target for row in rows if row.target != M4):
        found = [index.row(network, target, "speed") for network in NETWORKS]
        lines.append((target, "**Arenite**", *(millions(row and row.instructions) for row in found)))
        theirs: Figures | None = TFLM_OTHER_CORES.get(target)
        if theirs is not None:
            pairs = [(row and row.instructions, figure) for row, figure in zip(found, theirs, strict=True)]
            lines.append((target, TFLM, *(millions(figure) + _mark(figure, ours) for ours, figure in pairs)))
            lines.append((target, "ratio", *(ratio(ours / figure) if ours and figure else NOTHING for ours, figure in pairs)))
    return table(("core", "engine", *NETWORKS), lines, right_from=2)


def _instructions(row: Row) -> int:
    return row.instructions


def _builds(index: Index, flags: str = "-O2") -> Iterator[tuple[str, str, list[Row | None]]]:
    for form in FORMS:
        for goal in GOALS:
            yield form, goal, [index.row(network, M4, goal, form, flags) for network in NETWORKS]


def _mark(theirs: int | None, ours: int | None) -> str:
    return AHEAD if theirs is not None and ours is not None and theirs < ours else ""


def _pair(instructions: int | None, cycles: int | None) -> str:
    if instructions is None and cycles is None:
        return NOTHING
    return f"{millions(instructions)} / {millions(cycles)}"
