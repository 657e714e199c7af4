"""What a run of an image leaves behind, whoever ran it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    status: int
    """Exit status of the app."""
    console: str
    instructions: tuple[int, ...] | None
    """Of every measured call, in order; None where the emulator could not count them."""
    emulator: str
    """Name and version, and what counted."""
