"""Which layers are to have 16-bit activations, and how their weights are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LARGEST = 32767


@dataclass(frozen=True)
class Weights:
    """How weights of layers with 16-bit activations are stored."""

    variant: str
    largest: int
    dtype: type[np.signedinteger[Any]]


WEIGHTS = {8: Weights("int16_steps", 127, np.int8), 16: Weights("int16_weights", LARGEST, np.int16)}
"""By their bits."""


@dataclass(frozen=True)
class Int16Choice:
    """Layers that are to have 16-bit activations."""

    layers: frozenset[str] = frozenset()
    """By first output. Those that have no such form are of float32."""
    weights: Weights = WEIGHTS[16]


NO_INT16 = Int16Choice()
