"""What lies in each memory while a call runs: bytes in use, step by step, and the step that needs most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from arenite.report.contents import Buffer, Report


@dataclass(frozen=True)
class StepUse:
    step: int
    """−1 before the first call (inputs are written), len(layers) after the last (outputs are read)."""
    layer: str
    """Its name, or when it is, in words."""
    bytes: int
    """In use. Where tensors overlap, a byte counts once."""
    end: int
    """Of the highest byte in use: from here on the memory is free during this step."""
    buffers: tuple[Buffer, ...]
    """By offset."""

    @property
    def shared_bytes(self) -> int:
        """Bytes that overlaps save."""
        return sum(buffer.bytes for buffer in self.buffers) - self.bytes


@dataclass(frozen=True)
class MemoryUse:
    """A memory over time."""

    name: str
    bytes: int
    """That the plan needs of it."""
    steps: tuple[StepUse, ...]
    """From −1 on, every step."""
    peak: StepUse
    """The step at which most bytes are in use."""

    @property
    def between(self) -> int:
        """End of the highest byte that an input, output or state takes: from here on the memory is free between invocations."""
        return max(self.steps[0].end, self.steps[-1].end)

    @property
    def kept(self) -> int:
        """Bytes of states, which nothing else may overwrite between invocations."""
        return occupied((b.offset, b.offset + b.bytes) for b in self.steps[-1].buffers if b.kind == "state")


def memory_use(report: Report) -> tuple[MemoryUse, ...]:
    """Of every memory that holds something, in the order of the report; the arena in any case."""
    return tuple(_use(report, name, size) for i, (name, size) in enumerate(report.memories) if size or i == 0)


def label(report: Report, buffer: Buffer) -> str:
    """What a person calls a buffer: the layer that writes it, for inputs and states the tensor's own name."""
    if buffer.kind in ("input", "state", "scratch"):
        return buffer.name
    return next((layer.name for layer in report.layers if layer.output == buffer.name), buffer.name)


def writer(report: Report, buffer: Buffer) -> str:
    """The layer that writes a buffer; empty where none does, or is named after it."""
    name = label(report, buffer)
    return "" if name == buffer.name else name


def layer_at(report: Report, step: int) -> str:
    """The layer that runs, with its rows where it is executed in bands, or when it is, in words."""
    if step < 0:
        return "before the first call"
    if step >= len(report.layers):
        return "after the last call"
    layer = report.layers[step]
    return layer.name if layer.band is None else f"{layer.name}, rows {layer.band[1]} to {layer.band[2] - 1}"


def overlaps(buffers: Iterable[Buffer]) -> tuple[tuple[int, int, int, int], ...]:
    """(offset, end, first step, last step) that two buffers have in common."""
    found = []
    ordered = sorted(buffers, key=lambda buffer: buffer.first)
    for i, a in enumerate(ordered):
        for b in ordered[i + 1 :]:
            if b.first > a.last:
                break
            low, high = max(a.offset, b.offset), min(a.offset + a.bytes, b.offset + b.bytes)
            if low < high:
                found.append((low, high, b.first, min(a.last, b.last)))
    return tuple(found)


def _use(report: Report, name: str, size: int) -> MemoryUse:
    alive: dict[int, list[Buffer]] = {step: [] for step in range(-1, len(report.layers) + 1)}
    for buffer in report.buffers:
        if buffer.memory == name:
            for step in range(buffer.first, buffer.last + 1):
                alive[step].append(buffer)
    steps = []
    for step, buffers in alive.items():
        buffers.sort(key=lambda b: (b.offset, b.bytes, b.first))
        spans = [(b.offset, b.offset + b.bytes) for b in buffers]
        end = max([end for _, end in spans], default=0)
        steps.append(StepUse(step, layer_at(report, step), occupied(spans), end, tuple(buffers)))
    peak = max(steps, key=lambda use: (use.bytes, use.step == report.peak_step, -use.step))
    return MemoryUse(name, size, tuple(steps), peak)


def occupied(spans: Iterable[tuple[int, int]]) -> int:
    """Bytes in any of `spans`, each an offset and an end."""
    total = end = 0
    for low, high in sorted(spans):
        total += max(0, high - max(low, end))
        end = max(end, high)
    return total
