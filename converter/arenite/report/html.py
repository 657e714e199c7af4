"""The report as one HTML page that needs nothing else: no script, no network, an SVG picture of the arena."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arenite.report import wording
from arenite.report.arena_map import arena_map
from arenite.report.contents import Buffer, Report
from arenite.report.page import render_page
from arenite.report.wording import operator_name

_TEMPLATE = Path(__file__).parent / "templates" / "report.html.j2"
_WIDTH, _HEIGHT = 960, 320
_COLOURS = {"input": "#7aa6c2", "output": "#d08f5f", "activation": "#b9c77a", "state": "#c9a0c9", "scratch": "#b5b5b5"}


@dataclass(frozen=True)
class Rectangle:
    """A buffer in the picture, in pixels."""

    buffer: Buffer
    symbol: str
    x: float
    y: float
    width: float
    height: float
    colour: str


def to_html(report: Report) -> str:
    picture = arena_map(report)
    return render_page(
        _TEMPLATE,
        report=report,
        quantized=report.precision != "float32",
        verdict=wording.verdict(report),
        accuracy=wording.accuracy(report),
        arena=wording.arena(report),
        edges=wording.edges(report),
        kernels=wording.kernels(report),
        kernel_rows=wording.kernel_rows(report),
        kernel_titles=wording.KERNEL_TITLES,
        ports=wording.port_rows(report),
        shape=wording.shape,
        operator_name=operator_name,
        symbols=picture.symbols,
        rectangles=_rectangles(report, picture.symbols),
        largest_macs=max([layer.macs for layer in report.layers], default=0) or 1,
        width=_WIDTH,
        height=_HEIGHT,
        colours=_COLOURS,
    )


def _rectangles(report: Report, symbols: tuple[tuple[str, Buffer], ...]) -> list[Rectangle]:
    columns, arena = len(report.layers) + 2, max(report.arena_bytes, 1)
    return [
        Rectangle(
            buffer,
            symbol,
            x=(buffer.first + 1) * _WIDTH / columns,
            y=buffer.offset * _HEIGHT / arena,
            width=(buffer.last - buffer.first + 1) * _WIDTH / columns,
            height=buffer.bytes * _HEIGHT / arena,
            colour=_COLOURS.get(buffer.kind, "#ffffff"),
        )
        for symbol, buffer in symbols
    ]
