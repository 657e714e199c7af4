"""The points that a search for precisions has measured (`--precision auto`): what they cost and what they lose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

LAYERS = ("int16_layers", "float_layers", "int4_layers")
"""Fields of a point that hold names."""
TITLES = ("precisions", "estimated cycles", "flash, B", "RAM, B", "SQNR, dB", "top-1 changed", "points lost", "")


@dataclass(frozen=True)
class TradeOffPoint:
    """A choice of precisions; layers that it does not name are int8 where they can."""

    label: str
    """What is not int8, in words."""
    int16_layers: tuple[str, ...]
    float_layers: tuple[str, ...]
    cycles: int
    """Estimated, of one inference."""
    flash_bytes: int
    """Of the model, and of its code where a target is known."""
    ram_bytes: int
    sqnr_db: float | None
    """Of the outputs against float; None where there is no error."""
    changed: float
    """Share of samples whose top-1 is not that of float."""
    lost: float | None
    """Accuracy of float less that of this point, as a share; None without labels."""
    meets: bool
    """Keeps within the budgets and the loss that is allowed."""
    int4_layers: tuple[str, ...] = ()
    """int8 with weights of four bits, where the budget for flash asks for that."""


@dataclass(frozen=True)
class TradeOff:
    points: tuple[TradeOffPoint, ...]
    """In the order in which they were measured."""
    chosen: int
    samples: int
    """That losses were measured on."""
    criterion: str
    """What was asked for, in words."""

    @property
    def curve(self) -> tuple[TradeOffPoint, ...]:
        """Those that no other beats, by their cycles and bytes; the chosen one is among them whatever it is."""
        chosen = self.points[self.chosen]
        kept: dict[tuple[float, ...], TradeOffPoint] = {}
        for point in (chosen, *self.points):
            if point is chosen or not any(_beats(other, point) for other in self.points):
                kept.setdefault(_figures(point), point)
        return tuple(sorted(kept.values(), key=lambda point: (point.cycles, point.flash_bytes, point.ram_bytes)))


def _beats(one: TradeOffPoint, other: TradeOffPoint) -> bool:
    a, b = _figures(one), _figures(other)
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def _figures(point: TradeOffPoint) -> tuple[float, ...]:
    return point.cycles, point.flash_bytes, point.ram_bytes, float("-inf") if point.sqnr_db is None else -point.sqnr_db


def sentence(trade_off: TradeOff) -> str:
    chosen = trade_off.points[trade_off.chosen]
    kinds = {"int4": chosen.int4_layers, "int16": chosen.int16_layers, "float": chosen.float_layers}
    flags = [f"--{kind}-layer {name}" for kind, names in kinds.items() for name in names]
    fours = f" and {len(chosen.int4_layers)} have weights of four bits" if chosen.int4_layers else ""
    same = f" The same without a search: {' '.join(flags)}." if flags and len(flags) <= 8 else ""
    return (
        f"Precisions for {trade_off.criterion}: {len(trade_off.points)} choices measured on {trade_off.samples} samples; of the int8 "
        f"layers {len(chosen.int16_layers)} became int16 and {len(chosen.float_layers)} float32{fours}.{same}"
    )


def cells(point: TradeOffPoint) -> tuple[str, ...]:
    """Of a row of TITLES."""
    return (
        point.label,
        f"{point.cycles:,}",
        f"{point.flash_bytes:,}",
        f"{point.ram_bytes:,}",
        "∞" if point.sqnr_db is None else f"{point.sqnr_db:.1f}",
        f"{point.changed:.2%}",
        "" if point.lost is None else f"{100 * point.lost:.2f}",
    )


def rows(trade_off: TradeOff) -> list[tuple[str, ...]]:
    """Of a table under TITLES: the curve."""
    chosen = trade_off.points[trade_off.chosen]
    return [(*cells(point), "chosen" if point is chosen else "") for point in trade_off.curve]


def trade_off_to_json(trade_off: TradeOff) -> dict[str, Any]:
    points = [{**asdict(point), **{name: list(getattr(point, name)) for name in LAYERS}} for point in trade_off.points]
    return {"criterion": trade_off.criterion, "samples": trade_off.samples, "chosen": trade_off.chosen, "points": points}


def trade_off_from_json(value: Mapping[str, Any]) -> TradeOff:
    """Raises KeyError and TypeError for what trade_off_to_json() has not written."""
    points = tuple(TradeOffPoint(**{**point, **{name: tuple(point[name]) for name in LAYERS}}) for point in value["points"])
    return TradeOff(points, value["chosen"], value["samples"], value["criterion"])
