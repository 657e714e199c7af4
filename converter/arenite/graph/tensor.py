"""Tensors of the IR: name, shape, element type, constant data, quantization."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray


class DType(Enum):
    """Element types; the values are the names in the flat model's schema."""

    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    BOOL = "bool"
    UINT16 = "uint16"
    UINT32 = "uint32"

    @property
    def itemsize(self) -> int:
        """Bytes an element."""
        return self.numpy.itemsize

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return np.dtype(self.value)

    @classmethod
    def of(cls, array: NDArray[np.generic]) -> DType:
        """The type of an array. Raises ValueError where the IR has none (float64, strings, …)."""
        return cls(array.dtype.name)


@dataclass(frozen=True)
class Quantization:
    """Real value = scale · (q − zero_point).

    `scale` is float32 of shape () for the whole tensor, or (C,) along `axis`; `zero_point` is int32 of the same shape and
    belongs to int8 values (a uint8 zero point of an imported graph has had 128 subtracted).
    """

    scale: NDArray[np.float32]
    zero_point: NDArray[np.int32]
    axis: int | None = None
    bits: int = 8
    """Of q as an imported graph stores it: constants of INT4 and UINT4 have 4."""

    @classmethod
    def per_tensor(cls, scale: float | np.floating, zero_point: int) -> Quantization:
        return cls(np.asarray(scale, np.float32).reshape(()), np.asarray(zero_point, np.int32).reshape(()))

    @classmethod
    def per_channel(cls, scale: NDArray[np.float32], axis: int) -> Quantization:
        """Symmetric: every zero point is 0."""
        return cls(np.asarray(scale, np.float32), np.zeros(scale.shape, np.int32), axis)

    @property
    def is_per_tensor(self) -> bool:
        return self.axis is None

    @property
    def is_one_sided(self) -> bool:
        """Whether a tensor's values reach further from 0 than 2^(bits − 1) steps: not without a zero point."""
        half = 1 << (self.bits - 1)
        return max(half + int(self.zero_point), half - 1 - int(self.zero_point)) > half

    def same_as(self, other: Quantization | None) -> bool:
        return (
            other is not None
            and (self.axis, self.bits) == (other.axis, other.bits)
            and np.array_equal(self.scale, other.scale)
            and np.array_equal(self.zero_point, other.zero_point)
        )


@dataclass(frozen=True)
class Tensor:
    """A value of the graph. Immutable: a rewrite replaces it.

    In a float graph `dtype` is FLOAT32 throughout; `quantization` is then an annotation that an imported Q/DQ pair left (or that
    calibration added): what the tensor shall be quantized to. In a quantized graph the data is stored that way.
    A constant with `data` float32 and an annotation holds exactly scale · (q − zero_point).
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    data: NDArray[np.generic] | None = field(default=None, compare=False, repr=False)
    quantization: Quantization | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.data is not None and (self.data.shape != self.shape or self.data.dtype != self.dtype.numpy):
            raise ValueError(f"{self.name}: data is {self.data.dtype}{self.data.shape}, tensor {self.dtype.value}{self.shape}")

    @classmethod
    def constant(cls, name: str, data: NDArray[np.generic], quantization: Quantization | None = None) -> Tensor:
        data = np.asarray(data, order="C")
        return cls(name, data.shape, DType.of(data), data, quantization)

    @property
    def is_constant(self) -> bool:
        return self.data is not None

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.itemsize
