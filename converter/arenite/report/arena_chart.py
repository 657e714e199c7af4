"""A memory over time as SVG: bytes upwards, steps across, a rectangle for each tensor with the name of the layer that writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from arenite.report.contents import Buffer, Report
from arenite.report.memory_use import MemoryUse, label, memory_use, overlaps
from arenite.report.page import render_page

_TEMPLATE = Path(__file__).parent / "templates" / "arena.svg.j2"
COLOURS = {
    "input": "#7aa6c2",
    "output": "#d08f5f",
    "activation": "#b9c77a",
    "state": "#c9a0c9",
    "constant": "#8fb8a8",
    "scratch": "#b5b5b5",
}
_LEFT, _TOP, _HEIGHT, _BOTTOM, _RIGHT = 80, 26, 320, 40, 14
_WIDTH, _LEAST_COLUMN = 860, 14
"""Pixels of all steps together, and of one: long networks make wider pictures."""
_CHARACTER = 6.7
"""Pixels, about, of a character of a label."""
_LINE = 12
"""Pixels of a label's height."""
_TICKS = 4


@dataclass(frozen=True)
class Rectangle:
    """In pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Drawn:
    """A buffer in the picture."""

    at: Rectangle
    colour: str
    title: str
    label: str
    """As much of the name as fits; empty where nothing does."""
    line: float = 0.0
    """Where the label is written, in pixels."""


@dataclass(frozen=True)
class Scale:
    """From steps and bytes to pixels."""

    column: float
    size: int

    def x(self, step: int) -> float:
        """The left edge of a step."""
        return _LEFT + (step + 1) * self.column

    def y(self, offset: int) -> float:
        return _TOP + _HEIGHT * (1 - offset / self.size)

    def rectangle(self, low: int, high: int, first: int, last: int) -> Rectangle:
        return Rectangle(self.x(first), self.y(high), (last - first + 1) * self.column, (high - low) * _HEIGHT / self.size)


def arena_chart(report: Report, use: MemoryUse, number: int = 0, *, standalone: bool = False) -> Markup:
    """An <svg> element; `standalone` makes it a file of its own. `number` tells the charts of a page apart."""
    columns = len(use.steps)
    scale = Scale(max(_LEAST_COLUMN, _WIDTH / columns), max(use.bytes, 1))
    buffers = tuple(dict.fromkeys(buffer for step in use.steps for buffer in step.buffers))
    bound = report.arena_lower_bound_bytes if use.name == report.memories[0][0] else 0
    page = render_page(
        _TEMPLATE,
        number=number,
        standalone=standalone,
        name=use.name,
        width=_LEFT + columns * scale.column + _RIGHT,
        height=_TOP + _HEIGHT + _BOTTOM,
        left=_LEFT,
        right=_LEFT + columns * scale.column,
        top=_TOP,
        bottom=_TOP + _HEIGHT,
        drawn=_labelled([_drawn(report, buffer, scale) for buffer in sorted(buffers, key=lambda b: -b.bytes)]),
        overlaps=[scale.rectangle(*shared) for shared in overlaps(buffers)],
        peak=Rectangle(scale.x(use.peak.step), _TOP, scale.column, _HEIGHT),
        peak_text=f"peak: step {use.peak.step}, {use.peak.bytes:,} bytes",
        peak_at=min(max(scale.x(use.peak.step) + scale.column / 2, _LEFT + 100), _LEFT + columns * scale.column - 100),
        bytes_ticks=[(scale.y(use.bytes * i // _TICKS), f"{use.bytes * i // _TICKS:,}") for i in range(_TICKS + 1)],
        step_ticks=_step_ticks(use, scale),
        bound=(scale.y(bound), f"lower bound: {bound:,} bytes") if bound else None,
    )
    return Markup(page.strip())


def arena_charts(report: Report) -> tuple[tuple[MemoryUse, Markup], ...]:
    """Of every memory."""
    return tuple((use, arena_chart(report, use, i)) for i, use in enumerate(memory_use(report)) if use.bytes)


def _drawn(report: Report, buffer: Buffer, scale: Scale) -> Drawn:
    at = scale.rectangle(buffer.offset, buffer.offset + buffer.bytes, buffer.first, buffer.last)
    name = label(report, buffer)
    title = f"{buffer.name}: {buffer.kind}, bytes {buffer.offset}–{buffer.offset + buffer.bytes}, steps {buffer.first}–{buffer.last}"
    if name != buffer.name:
        title += f", written by {name}"
    room = int((at.width - 4) / _CHARACTER) if at.height > _LINE else 0
    name = "scratch" if buffer.kind == "scratch" else name
    # What is specific stands at the end of a layer's name.
    shown = name if len(name) <= room else f"…{name[1 - room :]}" if room >= 3 else ""
    return Drawn(at, COLOURS.get(buffer.kind, "#ffffff"), title, shown)


def _labelled(drawn: Sequence[Drawn]) -> list[Drawn]:
    """Labels one below the other where rectangles overlap, and none where there is no room for one more. The lowest rectangles come
    first, for they have the least choice."""
    found, taken = {}, list[Rectangle]()
    for number, each in sorted(enumerate(drawn), key=lambda numbered: numbered[1].at.height):
        width = len(each.label) * _CHARACTER
        for line in range(int((each.at.height - 1) // _LINE) if each.label else 0):
            place = Rectangle(each.at.x + 3, each.at.y + line * _LINE, width, _LINE)
            if not any(_collide(place, other) for other in taken):
                taken.append(place)
                found[number] = replace(each, line=place.y + _LINE - 1)
                break
    return [found.get(number, replace(each, label="")) for number, each in enumerate(drawn)]


def _collide(a: Rectangle, b: Rectangle) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def _step_ticks(use: MemoryUse, scale: Scale) -> list[tuple[float, str, str]]:
    """(x, number, layer) of as many steps as there is room for."""
    every = max(1, round(24 / scale.column))
    return [(scale.x(step.step) + scale.column / 2, str(step.step), step.layer) for step in use.steps if (step.step + 1) % every == 0]
