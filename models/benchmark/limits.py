"""What a release must reach, and whether the measured rows do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from networks import HELLO
from peers import CORTEX_M4, NETWORKS, TFLM_OTHER_CORES
from rows import Index, Row

M4 = "cortex-m4"
Amount = Callable[[Row], int | None]
Figures = Mapping[str, float]
"""By network."""


@dataclass(frozen=True)
class Check:
    """A figure of a network, and the most that it may be."""

    limit: str
    """Which, in words."""
    network: str
    measured: float | None
    """None: it was not measured."""
    most: float

    @property
    def kept(self) -> bool:
        return self.measured is not None and self.measured <= self.most


def _by_network(*values: float, scale: float = 1) -> dict[str, float]:
    return {network: round(value * scale) for network, value in zip(NETWORKS, values, strict=True)}


def _millions(*values: float) -> dict[str, float]:
    return _by_network(*values, scale=1e6)


SPEED_INSTRUCTIONS = _millions(3.5, 10.5, 10, 0.33, 1.1)
SPEED_CYCLES = _millions(3.8, 11.5, 11, 0.36, 1.25)
BALANCED_CYCLES = _millions(4.0, 15, 11.5, 0.37, 1.3)
AIMS = _millions(3.0, 9, 7.5, 0.32, 1.0)
"""Cycles on a Cortex-M4 that are hoped for, not required."""
CONSTANTS = {"speed": 2.1, "balanced": 1.25}
"""Of the model in the plain INT8 layout."""
CODE = {"balanced": 12_000, "size": 8_000}
"""Of kws01 on a Cortex-M4, compiled form, -Os."""
LARGE = ("kws01", "ic01", "vww01")
INTERPRETED = 1.03
"""Of the compiled form's instructions, for LARGE networks."""
SIZE = 0.75
OTHER_CORES = {"cortex-m55": 0.8, "cortex-m3": 0.7, "cortex-m0": 0.6}
"""Of the instructions of TFLM + CMSIS-NN at its best on the same core; SIZE on a Cortex-M4 for `--optimize size`."""
HELLO_INSTRUCTIONS = {"compiled": 1200, "interpreted": 2000}


def checks(rows: Sequence[Row]) -> list[Check]:
    """Every limit for every network that it is about, in the order of the document."""
    index = Index(rows)
    tflm = dict(zip(NETWORKS, CORTEX_M4[0].instructions, strict=True))
    found = [
        *_each("Cortex-M4, speed: instructions", index, "speed", SPEED_INSTRUCTIONS, _instructions),
        *_each("Cortex-M4, speed: cycles", index, "speed", SPEED_CYCLES, lambda row: row.cycles),
        *_each("Cortex-M4, balanced: cycles", index, "balanced", BALANCED_CYCLES, lambda row: row.cycles),
    ]
    for goal, most in CONSTANTS.items():
        text = f"Cortex-M4, {goal}: constants beside plain INT8"
        found += [Check(text, n, _ratio(index.row(n, M4, goal), lambda row: row.model, lambda row: row.plain), most) for n in NETWORKS]
    for goal, code in CODE.items():
        small = index.row("kws01", M4, goal, flags="-Os")
        found.append(Check(f"Cortex-M4, {goal}, -Os: bytes of code", "kws01", small and small.code, code))
    found += [_interpreted(rows, index, network) for network in LARGE]
    text = "Cortex-M4, size: instructions beside TFLM + CMSIS-NN"
    found += [Check(text, n, _beside(index.row(n, M4, "size"), tflm[n]), SIZE) for n in NETWORKS]
    for target, most in OTHER_CORES.items():
        theirs = dict(zip(NETWORKS, TFLM_OTHER_CORES[target], strict=True))
        text = f"{target.title()}, speed: instructions beside TFLM + CMSIS-NN"
        found += [Check(text, n, _beside(index.row(n, target, "speed"), theirs[n]), most) for n in NETWORKS]
    for form, instructions in HELLO_INSTRUCTIONS.items():
        row = index.row(HELLO, M4, "balanced", form)
        found.append(Check(f"Cortex-M4, {form}: instructions of {HELLO}", HELLO, row and row.instructions, instructions))
    return found


def _instructions(row: Row) -> int:
    return row.instructions


def _each(text: str, index: Index, goal: str, most: Figures, amount: Amount) -> list[Check]:
    rows = {network: index.row(network, M4, goal) for network in NETWORKS}
    return [Check(text, network, row and amount(row), most[network]) for network, row in rows.items()]


def _interpreted(rows: Sequence[Row], index: Index, network: str) -> Check:
    """The largest ratio of any of its builds, on every core."""
    compiled = [row for row in rows if (row.network, row.form) == (network, "compiled")]
    builds = [(index.row(network, row.target, row.goal, "interpreted", row.flags), row) for row in compiled]
    ratios = [read.instructions / row.instructions for read, row in builds if read is not None]
    return Check("every core and build: instructions, interpreted beside compiled", network, max(ratios, default=None), INTERPRETED)


def _ratio(row: Row | None, part: Amount, whole: Amount) -> float | None:
    below = row and whole(row)
    above = row and part(row)
    return None if not below or above is None else above / below


def _beside(row: Row | None, theirs: int | None) -> float | None:
    return None if row is None or not theirs else row.instructions / theirs
