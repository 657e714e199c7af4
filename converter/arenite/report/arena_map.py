"""The arena as a picture: address ranges down, execution steps across, a letter for each tensor that is alive there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from string import ascii_letters, digits

from arenite.report.contents import Buffer, Report

SYMBOLS = ascii_letters + digits
MAX_ROWS = 24
"""More distinct addresses than this are merged into equal ranges."""
MAX_COLUMNS = 96
"""More steps than this are not drawn; the list of buffers has them all."""


@dataclass(frozen=True)
class Row:
    start: int
    end: int
    cells: str
    """One character a step, from before the first call to after the last: a buffer's symbol, "·" where nothing is alive."""


@dataclass(frozen=True)
class ArenaMap:
    rows: tuple[Row, ...]
    """By address, ascending; empty where there are too many steps to draw."""
    symbols: tuple[tuple[str, Buffer], ...]
    """Every buffer of the arena with its symbol, by first step, then address. Symbols repeat beyond 62 buffers."""


def arena_map(report: Report) -> ArenaMap:
    """Of memory 0. Where a range merges several buffers of a step, the largest share is drawn."""
    name = report.memories[0][0]
    buffers = sorted((b for b in report.buffers if b.memory == name), key=lambda b: (b.first, b.offset, b.last))
    symbols = tuple((SYMBOLS[i % len(SYMBOLS)], buffer) for i, buffer in enumerate(buffers))
    steps = range(-1, len(report.layers) + 1)
    if len(steps) > MAX_COLUMNS or not buffers:
        return ArenaMap((), symbols)
    rows = []
    for start, end in _ranges(buffers, report.arena_bytes):
        cells = []
        for step in steps:
            alive = [(min(end, b.offset + b.bytes) - max(start, b.offset), s) for s, b in symbols if b.first <= step <= b.last]
            share, symbol = max(alive, default=(0, "·"), key=lambda item: item[0])
            cells.append(symbol if share > 0 else "·")
        rows.append(Row(start, end, "".join(cells)))
    return ArenaMap(tuple(rows), symbols)


def _ranges(buffers: list[Buffer], size: int) -> list[tuple[int, int]]:
    edges = sorted({0, size, *(b.offset for b in buffers), *(b.offset + b.bytes for b in buffers)})
    if len(edges) - 1 > MAX_ROWS:
        edges = [size * i // MAX_ROWS for i in range(MAX_ROWS + 1)]
    return list(pairwise(edges))
