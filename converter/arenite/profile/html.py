"""A profile as one HTML page that needs nothing else: a bar for each layer, and the table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from arenite.profile import wording
from arenite.profile.contents import Profile, amount, per_mac, share
from arenite.report.page import render_page

_TEMPLATE = Path(__file__).parent / "templates" / "profile.html.j2"
_NAME_WIDTH, _BAR_WIDTH, _ROW, _BAR = 300, 520, 22, 15
_MOST_CHARACTERS = 40
"""Of a layer's name in the picture."""


@dataclass(frozen=True)
class Bar:
    """A row of the picture, in pixels."""

    name: str
    title: str
    kind: str
    """A class of the style sheet: "layer", or "rest"."""
    y: int
    width: float
    label: str


def to_html(profile: Profile) -> str:
    """The page. Layers of which nothing is known have no bar."""
    bars = _bars(profile)
    return render_page(
        _TEMPLATE,
        profile=profile,
        bars=bars,
        bar_height=_BAR,
        name_width=_NAME_WIDTH,
        width=_NAME_WIDTH + _BAR_WIDTH + 180,
        height=_ROW * len(bars) + 8,
        wording=wording,
        per_mac=per_mac,
        share=share,
    )


def _bars(profile: Profile) -> list[Bar]:
    rows = [(f"{step} {layer.name}", wording.operator(layer), "layer", layer.cost) for step, layer in enumerate(profile.layers)]
    rows.append(("rest", "what calls the layers", "rest", profile.rest))
    known = [(name, title, kind, cost, amount(cost, profile.in_cycles)) for name, title, kind, cost in rows]
    longest = max([value for *_, value in known if value is not None], default=0) or 1
    bars: list[Bar] = []
    for name, title, kind, cost, value in known:
        if value is not None:
            label = f"{value:,}  {wording.percent(share(profile, cost))}"
            bars.append(Bar(_shortened(name), f"{name}: {title}", kind, 4 + _ROW * len(bars), value / longest * _BAR_WIDTH, label))
    return bars


def _shortened(name: str) -> str:
    return name if len(name) <= _MOST_CHARACTERS else "…" + name[1 - _MOST_CHARACTERS :]
