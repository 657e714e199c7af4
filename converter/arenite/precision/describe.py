"""What a search has found, as the report tells it."""

from __future__ import annotations

from arenite.precision.limits import Budgets
from arenite.precision.loss import MOST_DB
from arenite.precision.search import Chosen, Point
from arenite.report import TradeOff, TradeOffPoint


def trade_off(chosen: Chosen, budgets: Budgets) -> TradeOff:
    points = tuple(_point(chosen, point, budgets) for point in chosen.points)
    return TradeOff(points, chosen.points.index(chosen.point), chosen.samples, _criterion(chosen, budgets))


def _point(chosen: Chosen, point: Point, budgets: Budgets) -> TradeOffPoint:
    loss = point.loss
    return TradeOffPoint(
        label=point.label,
        int16_layers=tuple(sorted(name for name, precision in point.choice.items() if precision == "int16")),
        float_layers=tuple(sorted(name for name, precision in point.choice.items() if precision == "float32")),
        int4_layers=tuple(sorted(name for name, precision in point.choice.items() if precision == "int4")),
        cycles=point.cost.cycles,
        flash_bytes=point.cost.flash_bytes,
        ram_bytes=point.cost.ram_bytes,
        sqnr_db=None if loss.sqnr_db >= MOST_DB else loss.sqnr_db,
        changed=loss.changed,
        lost=loss.lost,
        meets=not budgets.excess(point.cost) and (chosen.limit is None or chosen.limit.met(loss)),
    )


def _criterion(chosen: Chosen, budgets: Budgets) -> str:
    limits = [
        f"at most {limit:,} {unit}"
        for limit, unit in (
            (budgets.ram_bytes, "bytes of RAM"),
            (budgets.flash_bytes, "bytes of flash"),
            (budgets.cycles, "estimated cycles"),
        )
        if limit is not None
    ]
    wanted = "the least loss" if chosen.limit is None else chosen.limit.describe(chosen.labelled)
    return ", ".join([wanted, *limits])
