"""What a search for precisions has to keep within."""

from __future__ import annotations

import re
from dataclasses import dataclass

from arenite.errors import QuantizationError
from arenite.precision.cost import Cost
from arenite.precision.loss import Loss

DEFAULT_POINTS, DEFAULT_DB = 0.5, 30.0
"""What may be lost where neither a loss nor a budget is given: with labels, and without."""


@dataclass(frozen=True)
class LossLimit:
    """The loss that is allowed: `points` of accuracy, or at least `db` of signal to noise; one of them is None."""

    points: float | None = None
    """Percent of the samples: right with float and wrong now, less the reverse; without labels those whose top-1 is not float's."""
    db: float | None = None

    def met(self, loss: Loss) -> bool:
        if self.db is not None:
            return loss.sqnr_db >= self.db
        return self.points is None or loss.points <= self.points + 1e-9

    def missing(self, loss: Loss) -> float:
        """How far `loss` is from it, in its own unit; 0 where it is met."""
        return max(0.0, self.db - loss.sqnr_db if self.db is not None else loss.points - (self.points or 0.0))

    def describe(self, labelled: bool) -> str:
        if self.db is not None:
            return f"at least {self.db:g} dB of signal to noise"
        return f"at most {self.points:g} points of accuracy lost" if labelled else f"top-1 of at most {self.points:g} % of samples changed"


@dataclass(frozen=True)
class Budgets:
    """None: no limit."""

    ram_bytes: int | None = None
    flash_bytes: int | None = None
    cycles: int | None = None
    ram_option: str = "--max-ram"
    """What states the limit of RAM."""

    def excess(self, cost: Cost) -> tuple[str, ...]:
        """What exceeds a limit, in words."""
        return tuple(
            f"{name} {used:,} of {limit:,}"
            for name, used, limit in (
                (self.ram_option, cost.ram_bytes, self.ram_bytes),
                ("--max-flash", cost.flash_bytes, self.flash_bytes),
                ("--max-cycles", cost.cycles, self.cycles),
            )
            if limit is not None and used > limit
        )

    def overshoot(self, cost: Cost) -> float:
        """By what factor the worst limit is exceeded; 1 or less: none is."""
        pairs = ((cost.ram_bytes, self.ram_bytes), (cost.flash_bytes, self.flash_bytes), (cost.cycles, self.cycles))
        return max((used / max(limit, 1) for used, limit in pairs if limit is not None), default=0.0)

    @property
    def given(self) -> bool:
        return any(limit is not None for limit in (self.ram_bytes, self.flash_bytes, self.cycles))


def parse_loss(text: str) -> LossLimit:
    """`0.5`: points of accuracy; `40dB`: signal to noise. Raises QuantizationError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(db)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise QuantizationError(f"--max-loss {text}: write points of accuracy, as 0.5, or the signal to noise to keep, as 40dB.")
    number = float(match[1])
    return LossLimit(db=number) if match[2] else LossLimit(points=number)
