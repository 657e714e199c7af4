"""How far a kernel's reading of an operand is ahead of its writing, stated as data; and how near the two may lie. docs/memory.md.

A kernel goes through its operand and its result in steps; in each it reads, then writes. Two arrays say all that matters: the lowest byte
that every step reads, and where what has been written ends after it. A step that writes before it has read all that it will is two: one
that writes, one that reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from arenite.graph.operators.declaration import Overlap

Places = NDArray[np.int64]

NOTHING = np.int64(1 << 62)
"""What a step reads that reads nothing."""


@dataclass(frozen=True)
class Progress:
    """Of one kernel through one operand and the result."""

    read: Places
    """By step: the lowest byte of the operand that it reads, NOTHING where it reads none."""
    written: Places
    """By step: behind the last byte of the result that has been written, at its end."""
    step: int = 1
    """More than 1: the kernel makes a pass for each group of channels, which touches only bytes of the same remainder by `step` in operand
    and result; every pass goes through the pixels as `read` and `written` say, which are multiples of `step`. A distance has to be one."""

    def __post_init__(self) -> None:
        if self.read.shape != self.written.shape or self.read.ndim != 1:
            raise ValueError(f"{self.read.shape} reads do not fit {self.written.shape} writes")

    @staticmethod
    def of(read: Places, written: Places, step: int = 1) -> Progress:
        """Of arrays of any shape, in C order."""
        return Progress(read.reshape(-1), written.reshape(-1), step)

    @staticmethod
    def through(*sides: tuple[Places, Places], step: int = 1) -> Progress:
        """Of (read, written) pairs that take turns: step 0 of each, step 1 of each, …"""
        read = np.stack([np.asarray(read, np.int64).reshape(-1) for read, _ in sides], axis=1)
        written = np.stack([np.asarray(written, np.int64).reshape(-1) for _, written in sides], axis=1)
        return Progress.of(read, written, step)

    def of_batch(self, count: int, operand_bytes: int, result_bytes: int) -> Progress:
        """Image after image, each of so many bytes."""
        if count == 1:
            return self
        image = np.arange(count, dtype=np.int64)[:, None]
        read = np.where(self.read == NOTHING, NOTHING, self.read + image * operand_bytes)
        return Progress.of(read, self.written + image * result_bytes, self.step)

    def distance(self) -> int:
        """The least multiple of `step`, not negative, by which the operand has to lie behind the result."""
        later = np.minimum.accumulate(self.read[::-1])[::-1]
        needed = np.append(later[1:], NOTHING)
        most = int((np.maximum.accumulate(self.written) - needed).max(initial=0))
        return -(-most // self.step) * self.step


def overlap(kernels: Sequence[Progress | None], result_bytes: int) -> Overlap | None:
    """What holds for all `kernels` of a variant; None is one that needs its operand whole. None where the two have to be disjoint."""
    known = [kernel for kernel in kernels if kernel is not None]
    if not known or len(known) < len(kernels):
        return None
    step = lcm(*(kernel.step for kernel in known))
    distance = -(-max(kernel.distance() for kernel in known) // step) * step
    return Overlap(distance, step) if distance < result_bytes else None


def of_operand(kernels: Sequence[Progress | None], result_bytes: int, operand: int = 0) -> Mapping[int, Overlap]:
    """The value of Operator.overlaps where only one operand may overlap."""
    found = overlap(kernels, result_bytes)
    return {} if found is None else {operand: found}
