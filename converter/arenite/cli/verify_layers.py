"""What `arenite verify --layers` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from arenite.attribution import Attribution
    from arenite.cli.console import Terminal

_MOST_SUGGESTIONS = 5


def show_layers(terminal: Terminal, attribution: Attribution) -> None:
    from arenite.attribution import wording

    table = Table(box=None, pad_edge=False, title=None)
    for title, justify in zip(wording.TITLES, wording.JUSTIFY, strict=True):
        table.add_column(title, justify=justify, overflow="fold")
    for number, layer in enumerate(attribution.layers):
        diverged = layer.sqnr_db is not None and math.isfinite(layer.sqnr_db) and layer is attribution.first_diverging
        table.add_row(*wording.row(number, layer, labelled=attribution.lost is not None), style="bold red" if diverged else "")
    terminal.show([Text(""), Text(wording.summary(attribution)), table])
    terminal.show([Text(wording.diverging(attribution), style="bold red" if attribution.first_diverging else "")])
    terminal.show([Text(wording.worst(attribution))])
    title = wording.suggestions_title(attribution)
    terminal.show([Text(title)] if title else [])
    terminal.show(Text(f"  {line}") for line in wording.suggestion_lines(attribution, _MOST_SUGGESTIONS))
