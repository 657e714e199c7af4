"""What a run of an image leaves behind, whoever ran it."""

from __future__ import annotations

from dataclasses import dataclass

from arenite.targets.block_counts import CallCounts


@dataclass(frozen=True)
class Outcome:
    status: int
    """Exit status of the app."""
    console: str
    instructions: tuple[int, ...] | None
    """Of every measured call, in order; None where the emulator could not count them."""
    emulator: str
    """Name and version, and what counted."""
    calls: tuple[CallCounts, ...] | None = None
    """Of every measured call, block by block; None where the emulator does not count so."""
