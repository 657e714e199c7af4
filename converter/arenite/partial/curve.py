"""RAM against extra work: what a model needs at least for how many multiply-accumulates and copies more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from arenite.graph import Graph
from arenite.partial.candidates import macs
from arenite.partial.search import Execution, Search
from arenite.partial.wording import group_text

STEPS = (0.85, 0.93)
"""The next point is to need less than this part of the arena of the one before: the first of these that can be had, or the least."""
MOST_POINTS = 8
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 360, 80, 40, 20, 50
"""Of the picture, and its margins."""
CHARACTER, LABEL, LINE = 7, 46, 13
"""Pixels of a character, and of a label across and down: what would lie over another is left to the title that a point has."""


@dataclass(frozen=True)
class Point:
    ram_bytes: int
    """Arena and session."""
    extra_macs: int
    copied_bytes: int
    slowdown: float
    """Estimated cycles more, as a share."""
    calls: int
    """Kernel calls more."""
    how: tuple[str, ...]
    """The groups that are executed in bands, in words."""


@dataclass(frozen=True)
class Curve:
    macs: int
    """Of the plain execution."""
    points: tuple[Point, ...]
    """The plain execution, then less RAM each."""

    def to_json(self) -> dict[str, Any]:
        return {
            "macs": self.macs,
            "points": [
                {
                    "ram_bytes": point.ram_bytes,
                    "extra_macs": point.extra_macs,
                    "copied_bytes": point.copied_bytes,
                    "slowdown": round(point.slowdown, 4),
                    "extra_calls": point.calls,
                    "bands": list(point.how),
                }
                for point in self.points
            ],
        }

    def to_text(self) -> str:
        lines = [f"{'RAM, bytes':>12} {'extra MACs':>12} {'copied, bytes':>14} {'slower':>8}  in bands"]
        for point in self.points:
            how = "; ".join(point.how) or "nothing"
            lines.append(f"{point.ram_bytes:>12,} {point.extra_macs:>12,} {point.copied_bytes:>14,} {point.slowdown:>8.1%}  {how}")
        if len(self.points) == 1:
            lines.append("No execution in bands of rows was found that needs less.")
        return "\n".join(lines)

    def to_svg(self) -> str:
        """Estimated slowdown to the right, RAM up, a step for each point; hover over a point to see how."""
        return "\n".join(_svg(self)) + "\n"


def curve(graph: Graph, looking: Search, session: int) -> Curve:
    """From the plain execution of `graph` down to the least RAM that is found. `session`: bytes beside the arena."""
    found = [Execution(graph, looking.plain)]
    while len(found) < MOST_POINTS:
        least = found[-1]
        for step in STEPS:
            limit = int(found[-1].bytes * step)
            further = looking.within(limit)
            least = min(least, further, key=lambda each: each.bytes)
            if further.bytes <= limit:
                break
        if least is found[-1]:
            break
        found.append(least)
    return Curve(macs(graph, looking.known), tuple(_point(graph, each, session) for each in _worthwhile(found)))


def _worthwhile(found: Sequence[Execution]) -> list[Execution]:
    """Those that nothing with as little RAM beats in cycles."""
    return [each for number, each in enumerate(found) if not any(later.slowdown <= each.slowdown for later in found[number + 1 :])] or [
        found[-1]
    ]


def _point(graph: Graph, found: Execution, session: int) -> Point:
    how = tuple(group_text(graph, group) for group in found.groups)
    return Point(found.bytes + session, found.extra_macs, found.copied_bytes, found.slowdown, found.calls, how)


def _svg(shown: Curve) -> list[str]:
    points = shown.points
    most_ram = max(point.ram_bytes for point in points) * 1.05
    most_slow = max(max(point.slowdown for point in points), 0.01) * 1.1

    def at(point: Point) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * max(point.slowdown, 0.0) / most_slow
        return round(x, 1), round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * point.ram_bytes / most_ram, 1)

    base = HEIGHT - BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">RAM against extra work</text>',
        f'<path d="M{LEFT},{TOP} V{base} H{WIDTH - RIGHT}" fill="none" stroke="black"/>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 12}" text-anchor="end">slower (estimated)</text>',
        f'<text x="14" y="{TOP}" transform="rotate(-90 14 {TOP})" text-anchor="end">RAM, bytes</text>',
    ]
    steps = " ".join(f"{'M' if number == 0 else 'L'}{x},{y}" for number, (x, y) in enumerate(map(at, points)))
    lines.append(f'<path d="{steps}" fill="none" stroke="#1f77b4"/>')
    labels: list[tuple[float, float]] = []
    ticks: list[float] = []
    for point in points:
        x, y = at(point)
        how = "; ".join(point.how) or "the plain execution"
        title = f"{point.ram_bytes:,} bytes, {point.extra_macs:,} extra MACs, {point.copied_bytes:,} bytes copied: {how}"
        lines.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#1f77b4"><title>{escape(title)}</title></circle>')
        right = x + 6 + CHARACTER * len(f"{point.ram_bytes:,}") <= WIDTH
        if not any(abs(x - other) < LABEL and abs(y - line) < LINE for other, line in labels):
            labels.append((x, y))
            anchor = "" if right else ' text-anchor="end"'
            lines.append(f'<text class="ram" x="{x + 6 if right else WIDTH - 2}" y="{y - 6}"{anchor}>{point.ram_bytes:,}</text>')
        if not any(abs(x - other) < LABEL for other in ticks):
            ticks.append(x)
            lines.append(f'<text class="slower" x="{x}" y="{base + 16}" text-anchor="middle">{point.slowdown:.1%}</text>')
    return [*lines, "</svg>"]
