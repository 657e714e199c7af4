"""Is data prepared as that of calibration was? Neither a compiler nor an engine can tell; what calibration has seen can.

Four mistakes are looked for: another range (0…255 for 0…1), a range of which hardly anything is used (the other way round), another mean
or deviation, and another order of the axes behind the right shape (NHWC that was reshaped to NCHW).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.quantize import InputStatistics, Spread, statistics
from arenite.report import ReportPort

MARGIN = 0.1
"""Of the range of calibration: values that lie no further outside are usual."""
OUTSIDE = 0.01
"""Share of values further outside that is too many."""
FAR = 1.0
"""Ranges beyond the range that not even a few values should be."""
UNUSED = 0.1
"""Share of the range that is too little to be used."""
ENOUGH = 8
"""Samples: fewer may happen to be all of a kind."""
DEVIATIONS = 2.0
"""Of what single samples of calibration have, from which on the mean of others is another."""
RATIO = 1.5
"""Of deviations, and of differences between neighbours, from which on they may be others."""
LARGE_RATIO = 4.0
"""Of deviations, from which on they are others however much those of single samples vary."""
USUAL_FACTORS = (255.0, 256.0, 32768.0)
"""That data is divided by, or not."""


@dataclass(frozen=True)
class InputCheck:
    """An input's data against what calibration has seen."""

    name: str
    elements: int
    outside: int
    """Further than a step below or above the range of calibration; 0 where that is not known."""
    saturated: int
    """Beyond what the input's integers represent by more than half a step; 0 for float32."""
    low: float
    high: float
    warnings: tuple[str, ...] = ()
    """Sentences: what is odd, and what to do."""

    def to_json(self) -> dict[str, Any]:
        """docs/cli.md, under `inputs` of `verify`."""
        return {
            "name": self.name,
            "elements": self.elements,
            "outside": self.outside,
            "saturated": self.saturated,
            "low": self.low,
            "high": self.high,
            "warnings": list(self.warnings),
        }


def check_inputs(ports: Sequence[ReportPort], inputs: Mapping[str, NDArray[Any]]) -> tuple[InputCheck, ...]:
    """`inputs`: real values by name, [samples, *shape in the ONNX file]. Integers that stand for themselves are left out."""
    return tuple(check_input(port, inputs[port.name]) for port in ports if inputs[port.name].dtype == np.float32)


def check_input(port: ReportPort, values: NDArray[Any]) -> InputCheck:
    """`values`: finite, at least one sample."""
    values = np.transpose(values, (0, *(1 + axis for axis in port.permutation)))
    found = statistics(values)
    saturated = outside = 0
    if port.scale is not None and port.zero_point is not None:
        limits = np.iinfo(port.dtype)
        least, greatest = (port.scale * (limit - port.zero_point) for limit in (limits.min - 0.5, limits.max + 0.5))
        saturated = int(np.count_nonzero((values < least) | (values > greatest)))
    expected = port.expected
    warnings: tuple[str, ...] = ()
    if expected is not None:
        step = port.scale or 0.0
        outside = int(np.count_nonzero((values < expected.low - step) | (values > expected.high + step)))
        margin = max(step, MARGIN * (expected.high - expected.low))
        far = int(np.count_nonzero((values < expected.low - margin) | (values > expected.high + margin)))
        shares = outside / values.size, far / values.size
        warnings = tuple(f"input {port.name}: {text}" for text in _oddities(port, expected, found, shares, len(values)))
    return InputCheck(port.name, values.size, outside, saturated, found.low, found.high, warnings)


def sentence(check: InputCheck, port: ReportPort) -> str:
    """The figures, for a terminal."""
    text = f"input {check.name}: {check.elements:,} values from {check.low:.4g} to {check.high:.4g}"
    if port.expected is None:
        text += "; what calibration has seen is not known"
    else:
        text += f"; {_percent(check.outside / check.elements)} outside of {port.expected.low:.4g} to {port.expected.high:.4g}"
    return f"{text}; {_percent(check.saturated / check.elements)} saturated." if port.scale is not None else f"{text}."


def _oddities(port: ReportPort, expected: InputStatistics, found: InputStatistics, shares: tuple[float, float], samples: int) -> list[str]:
    """`shares` of the values that are outside, and that are outside by more than the margin."""
    outside, far = shares
    size = expected.high - expected.low
    beyond = max(expected.low - found.low, found.high - expected.high)
    seen = "what calibration has seen" if expected.mean is not None else "what the model's own scale represents"
    ranges = f"{_interval(expected)}; these go from {found.low:.4g} to {found.high:.4g}"
    if far > OUTSIDE or (outside > 0 and beyond > FAR * size):
        return [f"{_percent(outside)} of the values lie outside of {seen}, {ranges}. {_remedy(expected, found)}"]
    if found.high - found.low < UNUSED * size and samples >= ENOUGH:
        used = _percent((found.high - found.low) / size)
        return [f"the values take up only {used} of {seen}, {ranges}. {_remedy(expected, found)}"]
    odd = []
    slack = DEVIATIONS * (1 + 1 / math.sqrt(samples))
    if _other_level(expected, found, slack, samples):
        odd.append(f"mean and deviation are others than those of calibration. {_remedy(expected, found)}")
    for axis, (before, now) in enumerate(zip(expected.changes, found.changes, strict=False)):
        if before is not None and now is not None and _other(before, now, slack, floor=0.05):
            much = f"{now.mean / before.mean:.2g} times as much as" if before.mean > 0 else "unlike"
            odd.append(
                f"neighbours along axis {port.permutation[axis]} differ {much} in calibration. The axes may be in another order behind "
                "the right shape (NHWC read as NCHW, rows as columns): use numpy.transpose, not reshape. "
                f"If the data is right, calibrate with samples such as these."
            )
            break
    return odd


def _other_level(expected: InputStatistics, found: InputStatistics, slack: float, samples: int) -> bool:
    if expected.mean is None or expected.deviation is None or found.mean is None or found.deviation is None:
        return False
    usual = max(expected.mean.deviation, 0.25 * expected.deviation.mean)
    low, high = sorted((expected.deviation.mean, found.deviation.mean))
    if samples >= ENOUGH and high > LARGE_RATIO * low:
        return True
    return abs(found.mean.mean - expected.mean.mean) > slack * usual or _other(expected.deviation, found.deviation, slack)


def _other(expected: Spread, found: Spread, slack: float, floor: float = 0.0) -> bool:
    low, high = sorted((expected.mean, found.mean))
    return high > RATIO * low and high - low > slack * max(expected.deviation, floor)


def _remedy(expected: InputStatistics, found: InputStatistics) -> str:
    """What maps the one to the other, by mean and deviation where they are known, else by the ranges."""
    if expected.mean is None or expected.deviation is None or found.mean is None or found.deviation is None:
        return "Prepare the data as that which the model was quantized with."
    facts = (
        f"A sample has the mean {found.mean.mean:.3g} and the deviation {found.deviation.mean:.3g}, "
        f"in calibration {expected.mean.mean:.3g} and {expected.deviation.mean:.3g}"
    )
    otherwise = "If the data is right, calibrate with samples such as these."
    if expected.deviation.mean <= 0 or found.deviation.mean <= 0:
        return f"{facts}: prepare it as for calibration. {otherwise}"
    factor = found.deviation.mean / expected.deviation.mean
    usual = next((u for u in USUAL_FACTORS if max(factor / u, u / factor) < 1.3), None)
    inverse = next((u for u in USUAL_FACTORS if max(factor * u, 1 / (factor * u)) < 1.3), None)
    shift = found.mean.mean - expected.mean.mean * factor
    scaled = abs(shift) < 0.3 * found.deviation.mean
    if usual is not None and scaled:
        what = f"divide by {usual:g}, as for calibration"
    elif inverse is not None and scaled:
        what = f"multiply by {inverse:g}, as for calibration, or leave out the division"
    else:
        what = f"prepare it as for calibration; about (x {'-' if shift >= 0 else '+'} {abs(shift):.3g}) / {factor:.3g} would be alike"
    return f"{facts}: {what}. {otherwise}"


def _interval(expected: InputStatistics) -> str:
    return f"{expected.low:.4g} to {expected.high:.4g}"


def _percent(share: float) -> str:
    return f"{share:.2%}" if share < 0.01 else f"{share:.1%}"
