"""What bands of rows around the peak might save, from a report alone: an estimate, for the search needs the graph."""

from __future__ import annotations

from collections.abc import Mapping

from arenite.partial import IN_BANDS
from arenite.report.contents import Report
from arenite.report.memory_use import MemoryUse, StepUse, occupied

ROWS = 3
"""That a tensor inside the group holds: of a window, or kept and new."""
MOST_BEFORE, MOST_AFTER = 6, 6
"""Layers ahead of the peak and behind it that a group of bands is looked for in."""


def bands_bytes(report: Report, use: MemoryUse) -> int | None:
    """Bytes of the arena with the layers around the peak in bands, about: what the steps of other layers need, and what is whole where the
    bands begin and end. None where that is no less than the peak."""
    by_step = {step.step: step for step in use.steps}
    peak, least = use.peak.step, use.peak.bytes
    for first in range(peak, max(peak - MOST_BEFORE, -1), -1):
        if not can_be_in_bands(report, first):
            break
        for last in range(peak, min(peak + MOST_AFTER, len(report.layers))):
            if not can_be_in_bands(report, last):
                break
            if last > first:
                others = max((step.bytes for step in use.steps if not first <= step.step <= last), default=0)
                ends = max(_whole(by_step[first], first, begins=True), _whole(by_step[last], last, begins=False))
                least = min(least, max(others, ends + _held(report, by_step, first, last)))
    return least if least < use.peak.bytes else None


def can_be_in_bands(report: Report, step: int) -> bool:
    """The layer makes an image, by an operator that makes rows of it as well."""
    if not 0 <= step < len(report.layers):
        return False
    layer = report.layers[step]
    shape = layer.output_shape
    return layer.form in IN_BANDS and len(shape) == 4 and shape[0] == 1 and shape[1] > 1 and shape[2] > 1


def _held(report: Report, by_step: Mapping[int, StepUse], first: int, last: int) -> int:
    """Bytes of rows inside the group, and of the scratch memory of its leanest kernels."""
    rows = scratch = 0
    for number in range(first, last + 1):
        layer = report.layers[number]
        written = next((buffer.bytes for buffer in by_step[number].buffers if buffer.name == layer.output), 0)
        rows += 0 if number == last else written // layer.output_shape[1] * ROWS
        lean = [offer.scratch_bytes for offer in layer.offers if offer.scratch_bytes is not None]
        scratch = max(scratch, min(lean, default=0))
    return rows + scratch


def _whole(step: StepUse, number: int, *, begins: bool) -> int:
    """Bytes that are live before the step, or behind it."""
    lasting = [b for b in step.buffers if b.kind != "scratch" and (b.first < number if begins else b.last > number)]
    return occupied((buffer.offset, buffer.offset + buffer.bytes) for buffer in lasting)
