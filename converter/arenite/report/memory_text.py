"""The arena over time on a terminal: a bar a step, what lies there at the peak, what would reduce it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from arenite.report import wording
from arenite.report.contents import Report
from arenite.report.memory_advice import advice
from arenite.report.memory_use import MemoryUse, StepUse, memory_use, writer

BAR = 48
"""Characters of a memory that is full."""
_EIGHTHS = " ▏▎▍▌▋▊▉"


def render_memory_use(report: Report) -> Iterator[RenderableType]:
    """What `inspect --memory` prints."""
    yield Text(wording.memory_verdict(report), style="bold")
    yield Text(wording.arena(report))
    for use in memory_use(report):
        yield _timeline(report, use)
        yield Text(wording.peak(use), style="bold")
        yield _lives(report, use.peak)
    for sentence in advice(report):
        yield Text(f"- {sentence}")
    yield Text(wording.free(report))


def _timeline(report: Report, use: MemoryUse) -> Table:
    table = _table(f"{wording.memory_title(use)}: bytes in use, step by step")
    table.add_column("step", justify="right")
    table.add_column("layer", overflow="fold")
    table.add_column("operator", overflow="fold")
    table.add_column("bytes", justify="right")
    table.add_column("saved", justify="right")
    table.add_column("", no_wrap=True)
    for step in use.steps:
        layer = report.layers[step.step] if 0 <= step.step < len(report.layers) else None
        mark = " ◀ peak" if step is use.peak else ""
        table.add_row(
            str(step.step),
            Text(step.layer),
            "" if layer is None else wording.operator_name(layer.op, layer.form, layer.variant),
            f"{step.bytes:,}",
            f"{step.shared_bytes:,}" if step.shared_bytes else "",
            Text(f"{bar(step.bytes, use.bytes)}{mark}", style="bold" if mark else ""),
        )
    return table


def bar(part: int, whole: int) -> str:
    """`part` of `whole` in eighths of characters; BAR characters are all of it."""
    eighths = round(part * BAR * 8 / max(whole, 1))
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def _lives(report: Report, peak: StepUse) -> Table:
    table = _table(f"In use at step {peak.step}")
    for title in ("offset", "end", "bytes"):
        table.add_column(title, justify="right")
    table.add_column("kind")
    table.add_column("tensor", overflow="fold")
    table.add_column("written by", overflow="fold")
    table.add_column("steps", justify="right")
    table.add_column("in place of", overflow="fold")
    for buffer in peak.buffers:
        table.add_row(
            f"{buffer.offset:,}",
            f"{buffer.offset + buffer.bytes:,}",
            f"{buffer.bytes:,}",
            buffer.kind,
            Text(buffer.name),
            Text(writer(report, buffer)),
            f"{buffer.first}–{buffer.last}",
            Text(buffer.alias_of or ""),
        )
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
