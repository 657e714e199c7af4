"""The report on a terminal: rich renderables, verdict first, accuracy last."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from arenite.report import wording
from arenite.report.arena_map import arena_map
from arenite.report.contents import Layer, Report
from arenite.report.layer_rows import layer_rows
from arenite.report.missing_pairs import TITLES as PAIR_TITLES
from arenite.report.missing_pairs import rows as pair_rows
from arenite.report.missing_pairs import sentence as pair_sentence
from arenite.report.trade_off import TITLES, rows, sentence

SUMMARY_NOTES = 4
"""`convert` prints so many notes; the report has them all."""
SUMMARY_PAIRS = 12
"""And so many missing pairs."""


def render_summary(report: Report) -> Iterator[RenderableType]:
    """What `convert` prints: verdict, totals, notes, accuracy. The accuracy sentence is the last."""
    yield _verdict(report)
    yield Text(f"{report.macs:,} multiply-accumulates in {len(report.layers)} calls; {report.weight_bytes:,} bytes of constants.")
    yield Text(wording.arena(report))
    yield from render_trade_off(report)
    yield from render_missing_pairs(report, SUMMARY_PAIRS)
    yield from _remarks(report, SUMMARY_NOTES)
    yield render_accuracy(report)


def render_report(report: Report, *, memory: bool = True) -> Iterator[RenderableType]:
    """What `inspect` prints: all of it."""
    yield _verdict(report)
    yield render_ports(report)
    yield render_layers(report)
    yield from render_missing_pairs(report)
    yield from render_kernels(report)
    yield from render_trade_off(report)
    yield Text(wording.arena(report))
    if memory:
        yield from render_memory(report)
    yield from _remarks(report)
    yield render_accuracy(report)


def render_accuracy(report: Report) -> Text:
    return Text(wording.accuracy(report), style="" if report.accuracy_known else "bold red")


def render_ports(report: Report) -> Table:
    table = _table("Inputs and outputs")
    for title in ("", "name", "shape", "type"):
        table.add_column(title)
    for kind, name, shape, about in wording.port_rows(report):
        table.add_row(kind, Text(name), shape, about)
    return table


def render_layers(report: Report) -> Table:
    table = _table("Layers, in execution order")
    table.add_column("#", justify="right")
    table.add_column("layer", overflow="fold")
    table.add_column("operator")
    table.add_column("output")
    quantized = report.precision != "float32"
    measured = any(layer.sqnr_db is not None for layer in report.layers)
    titles = ["MACs", "weights, B", *(["scale", "zero point"] if quantized else []), *(["SQNR, dB"] if measured else [])]
    for title in titles:
        table.add_column(title, justify="right")
    for steps, layer in layer_rows(report.layers):
        table.add_row(
            steps,
            Text(layer.name),
            *_cells(layer, quantized, measured),
        )
    table.add_section()
    table.add_row("", "total", "", "", f"{report.macs:,}", f"{report.weight_bytes:,}", *[""] * (len(titles) - 2))
    return table


def _cells(layer: Layer, quantized: bool, measured: bool) -> tuple[str, ...]:
    cells = wording.layer_cells(layer)
    return cells[:4] + (cells[4:6] if quantized else ()) + (cells[6:] if measured else ())


def render_kernels(report: Report) -> Iterator[RenderableType]:
    """What layers that had a choice of kernels take; nothing where none had."""
    sentence = wording.kernels(report)
    if sentence is None:
        return
    yield Text(sentence)
    table = _table("Kernels")
    for at, title in enumerate(wording.KERNEL_TITLES):
        table.add_column(title, justify="right" if at in (0, 3, 4) else "left", overflow="fold")
    for row in wording.kernel_rows(report):
        table.add_row(*(Text(cell) for cell in row))
    yield table


def render_missing_pairs(report: Report, most: int | None = None) -> Iterator[RenderableType]:
    """What tensors without a pair were given; nothing where the file lacks none."""
    said = pair_sentence(report.missing_pairs)
    if said is None:
        return
    yield Text(said)
    table = _table("Missing pairs")
    for at, title in enumerate(PAIR_TITLES):
        table.add_column(title, justify="right" if at in (2, 3) else "left", overflow="fold")
    for row in pair_rows(report.missing_pairs[:most]):
        table.add_row(*(Text(cell) for cell in row))
    yield table
    if most is not None and len(report.missing_pairs) > most:
        yield Text(f"… and {len(report.missing_pairs) - most} more tensors in the report.")


def render_trade_off(report: Report) -> Iterator[RenderableType]:
    """The curve that --precision auto has measured; nothing where it was not asked for."""
    trade_off = report.trade_off
    if trade_off is None:
        return
    yield Text(sentence(trade_off))
    table = _table("Trade-off curve")
    for at, title in enumerate(TITLES):
        table.add_column(title, justify="left" if at in (0, len(TITLES) - 1) else "right", overflow="fold")
    for row in rows(trade_off):
        table.add_row(*(Text(cell) for cell in row), style="bold" if row[-1] else "")
    yield table


def render_memory(report: Report) -> Iterator[RenderableType]:
    picture = arena_map(report)
    if picture.rows:
        width = max(len(f"{report.arena_bytes:,}"), 6)
        yield Text("Arena: addresses down, steps across (first column: before the first call; last: after the last)", style="bold")
        yield Text("\n".join(f"{row.start:>{width},}–{row.end:<{width},} {row.cells}" for row in picture.rows), no_wrap=True)
    table = _table("Buffers")
    for title in ("", "tensor", "kind"):
        table.add_column(title, overflow="fold")
    for title in ("offset", "end", "bytes", "steps"):
        table.add_column(title, justify="right")
    table.add_column("in place of", overflow="fold")
    for symbol, buffer in picture.symbols:
        table.add_row(
            symbol,
            Text(buffer.name),
            buffer.kind,
            f"{buffer.offset:,}",
            f"{buffer.offset + buffer.bytes:,}",
            f"{buffer.bytes:,}",
            f"{buffer.first}–{buffer.last}",
            Text(buffer.alias_of or ""),
        )
    yield table


def _verdict(report: Report) -> Text:
    style = {True: "bold green", False: "bold red", None: "bold"}[report.fits]
    return Text(wording.verdict(report), style=style)


def _remarks(report: Report, most: int | None = None) -> Iterator[RenderableType]:
    edges = wording.edges(report)
    if edges is not None:
        yield Text(edges)
    for note in report.notes[:most]:
        yield Text(f"Note: {note}")
    if most is not None and len(report.notes) > most:
        yield Text(f"… and {len(report.notes) - most} more notes in the report.")


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
