"""ONNX's integers of four and two bits. Here they are int8 and uint8 in a narrower range; constants remember how many bits they had."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arenite.frontend.values import Constant


@dataclass(frozen=True)
class NarrowType:
    bits: int
    held_by: str
    """The name of the type of eight bits that holds it."""
    lowest: int
    highest: int


NARROW = {
    "int4": NarrowType(4, "int8", -8, 7),
    "uint4": NarrowType(4, "uint8", 0, 15),
    "int2": NarrowType(2, "int8", -2, 1),
    "uint2": NarrowType(2, "uint8", 0, 3),
}
"""By numpy's name of the type."""


def held_by(dtype: str) -> str:
    """The type that the elements have here."""
    return NARROW[dtype].held_by if dtype in NARROW else dtype


def bits_of(array: NDArray[np.generic]) -> int:
    """8 where the type is none of these."""
    return NARROW[array.dtype.name].bits if array.dtype.name in NARROW else 8


def widened(value: Constant) -> Constant:
    """With elements of eight bits."""
    name = value.array.dtype.name
    return Constant(value.name, value.array.astype(held_by(name)), value.quantization) if name in NARROW else value
