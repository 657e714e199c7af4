"""Every figure of another engine beside Arenite's for the same thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from limits import M4
from peers import BEST_CLOSED_CYCLES, CORTEX_M4, NETWORKS, RAM, TFLM, TFLM_CODE, TFLM_OTHER_CORES, TFLM_START, Figures
from rows import Index, Row

GOALS = ("speed", "balanced", "size")


@dataclass(frozen=True)
class Comparison:
    what: str
    network: str
    engine: str
    theirs: int
    ours: int
    """With the default choice of kernels, or the only one that was measured on that core."""
    best: int
    """The least with any choice of kernels."""

    @property
    def behind(self) -> bool:
        return self.theirs < self.ours


def comparisons(index: Index) -> Iterator[Comparison]:
    """Whatever was measured of both."""
    for peer in CORTEX_M4:
        yield from _of(index, "instructions, Cortex-M4", peer.name, peer.instructions, lambda row: row.instructions)
        yield from _of(index, "modelled cycles, Cortex-M4", peer.name, peer.cycles, lambda row: row.cycles)
    yield from _of(index, "modelled cycles, Cortex-M4", "best closed engine", BEST_CLOSED_CYCLES, lambda row: row.cycles)
    for engine, figures in RAM.items():
        yield from _of(index, "RAM without stack, Cortex-M4, compiled", engine, figures, lambda row: row.ram)
        yield from _of(index, "RAM without stack, Cortex-M4, interpreted", engine, figures, lambda row: row.ram, form="interpreted")
    for flags, figures in TFLM_CODE.items():
        for form in ("compiled", "interpreted"):
            what = f"code, Cortex-M4, {form}, {flags}"
            yield from _of(index, what, TFLM, figures, lambda row: row.code, form=form, flags=flags)
    start = "instructions to start, Cortex-M4, interpreted"
    yield from _of(index, start, TFLM, TFLM_START, lambda row: row.open_instructions, form="interpreted")
    for target, figures in TFLM_OTHER_CORES.items():
        yield from _of(index, f"instructions, {target.title()}", TFLM, figures, lambda row: row.instructions, target=target)


def _of(
    index: Index,
    what: str,
    engine: str,
    figures: Figures,
    amount: Callable[[Row], int | None],
    *,
    form: str = "compiled",
    flags: str = "-O2",
    target: str = M4,
) -> Iterator[Comparison]:
    for network, theirs in zip(NETWORKS, figures, strict=True):
        rows = {goal: index.row(network, target, goal, form, flags) for goal in GOALS}
        ours = {goal: value for goal, row in rows.items() if row is not None and (value := amount(row)) is not None}
        if theirs is not None and ours:
            usual = ours.get("balanced", next(iter(ours.values())))
            yield Comparison(what, network, engine, theirs, usual, min(ours.values()))
