"""Intervals of real values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Closed interval of real values, low ≤ high."""

    low: float
    high: float

    @property
    def with_zero(self) -> Range:
        """Zero must be representable: padding, ReLU and sparse data are exactly zero."""
        return Range(min(self.low, 0.0), max(self.high, 0.0))

    @property
    def width(self) -> float:
        return self.high - self.low

    def union(self, other: Range) -> Range:
        return Range(min(self.low, other.low), max(self.high, other.high))
