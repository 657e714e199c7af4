"""Numbers and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOTHING = "–"


def number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def millions(value: float | None) -> str:
    """Three digits that count, or as many as stand before the point."""
    if value is None:
        return NOTHING
    scaled = value / 1_000_000
    return f"{scaled:.0f}" if scaled >= 100 else f"{scaled:.1f}" if scaled >= 10 else f"{scaled:.2f}" if scaled >= 1 else f"{scaled:.3f}"


def ratio(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def table(head: Sequence[str], lines: Iterable[Sequence[str]], right_from: int) -> str:
    """`right_from`: the first column of numbers."""
    rule = ["---:" if at >= right_from else "---" for at in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))
