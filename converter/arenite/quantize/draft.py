"""A quantization that can still be changed: the float graph, the ranges and the integer weights that were chosen, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from arenite.graph import Graph, Quantization
from arenite.quantize.int16_choice import NO_INT16, Int16Choice
from arenite.quantize.lower import lower
from arenite.quantize.lowering import Lowering, WeightChoice
from arenite.quantize.ranges import Range
from arenite.quantize.scales import choose_scales


@dataclass(frozen=True)
class Draft:
    graph: Graph
    """Float. A method may replace it by another that computes the same."""
    ranges: Mapping[str, Range]
    """Of the tensors whose quantization nothing else determines (scales.undetermined)."""
    typed: frozenset[str] = frozenset()
    """Nodes that are not quantized, by their first output (placement.py)."""
    apart: frozenset[str] = frozenset()
    """Tensors that are not int8 though int8 nodes see them."""
    steps: Mapping[str, Quantization | None] = field(default_factory=dict)
    """Of int16 tensors (state_scales.py)."""
    choices: Mapping[str, WeightChoice] = field(default_factory=dict)
    """Of linear layers, by first output."""
    int16: Int16Choice = NO_INT16
    """Of the typed nodes."""
    solved: dict[tuple[object, ...], Any] = field(default_factory=dict, compare=False)
    """Layers that were lowered before: drafts of one search share it."""

    def quantization(self) -> dict[str, Quantization]:
        return choose_scales(self.graph, self.ranges, self.typed, self.apart)

    def lowering(self) -> Lowering:
        """Raises QuantizationError for what has no int8 form."""
        numbers = (self.quantization(), self.typed, self.steps, self.choices, self.solved)
        return lower(self.graph, *numbers, int16=self.int16, ranges=self.ranges)

    def with_ranges(self, ranges: Mapping[str, Range]) -> Draft:
        """Other tensors keep theirs."""
        return replace(self, ranges={**self.ranges, **ranges})

    def with_choices(self, choices: Mapping[str, WeightChoice]) -> Draft:
        """Other layers keep theirs."""
        return replace(self, choices={**self.choices, **choices})
