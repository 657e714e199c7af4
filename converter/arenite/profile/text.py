"""A profile on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from arenite.profile.contents import LayerProfile, Profile, per_mac, share
from arenite.profile.wording import number, operator, percent, ratio, sentences, unit


def render(profile: Profile) -> Iterator[RenderableType]:
    """The table of layers, then the totals in sentences."""
    if profile.by_layer:
        yield _table(profile)
    for sentence in sentences(profile):
        yield Text(sentence)


def _table(profile: Profile) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("layer", overflow="fold")
    table.add_column("operator")
    for title in ("MACs", "instructions", "cycles", f"{unit(profile)} a MAC", "share", "code, B"):
        table.add_column(title, justify="right")
    for step, layer in enumerate(profile.layers):
        table.add_row(str(step), Text(layer.name), operator(layer), *_cells(profile, layer))
    rest, total = profile.rest, profile.total
    table.add_row("", "rest", "", "", number(rest.instructions), number(rest.cycles), "", percent(share(profile, rest)), "")
    table.add_section()
    whole = total.cycles if profile.in_cycles else total.instructions
    each = ratio(whole / profile.macs if profile.macs and whole is not None else None)
    numbers = (
        number(profile.macs),
        number(total.instructions),
        number(total.cycles),
        each,
        "",
        number(None if profile.build is None else profile.build.code_bytes),
    )
    table.add_row("", "total", "", *numbers)
    return table


def _cells(profile: Profile, layer: LayerProfile) -> tuple[str, ...]:
    return (
        number(layer.macs),
        number(layer.cost.instructions),
        number(layer.cost.cycles),
        ratio(per_mac(layer, profile.in_cycles)),
        percent(share(profile, layer.cost)),
        number(layer.code_bytes),
    )
