"""The report as one HTML page that needs nothing else: no script, no network, an SVG picture of the arena."""

from __future__ import annotations

from pathlib import Path

from arenite.report import wording
from arenite.report.arena_chart import COLOURS, arena_charts
from arenite.report.arena_map import arena_map
from arenite.report.contents import Report
from arenite.report.layer_rows import layer_rows
from arenite.report.missing_pairs import TITLES as PAIR_TITLES
from arenite.report.missing_pairs import rows as pair_rows
from arenite.report.missing_pairs import sentence as pair_sentence
from arenite.report.page import render_page
from arenite.report.trade_off import TITLES, rows, sentence
from arenite.report.wording import operator_name

_TEMPLATE = Path(__file__).parent / "templates" / "report.html.j2"


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
        pairs=pair_rows(report.missing_pairs),
        pairs_sentence=pair_sentence(report.missing_pairs),
        pairs_titles=PAIR_TITLES,
        trade_off=None if report.trade_off is None else rows(report.trade_off),
        trade_off_sentence=None if report.trade_off is None else sentence(report.trade_off),
        trade_off_titles=TITLES,
        ports=wording.port_rows(report),
        shape=wording.shape,
        operator_name=operator_name,
        layer_rows=layer_rows,
        symbols=picture.symbols,
        charts=arena_charts(report),
        memory_title=wording.memory_title,
        largest_macs=max([layer.macs for layer in report.layers], default=0) or 1,
        colours=COLOURS,
    )
