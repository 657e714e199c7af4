"""What an ONNX value is during import: a tensor of the IR graph, a constant, or, behind a node that was refused, unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph.tensor import Quantization


@dataclass(frozen=True)
class Constant:
    """A value known at conversion, of any numpy type. `quantization` remembers the DequantizeLinear that it came through."""

    name: str
    array: NDArray[np.generic]
    quantization: Quantization | None = None

    def transposed(self, perm: Sequence[int]) -> Constant:
        q = self.quantization
        if q is not None and q.axis is not None:
            q = replace(q, axis=list(perm).index(q.axis))
        return replace(self, array=self.array.transpose(perm), quantization=q)

    def reshaped(self, shape: Sequence[int]) -> Constant:
        """Another shape for the same elements. The annotation is lost where the channels are no longer one axis."""
        q, shape = self.quantization, tuple(shape)
        if q is not None and q.axis is not None:
            axis = reshaped_axis(self.array.shape, shape, q.axis)
            q = None if axis is None else replace(q, axis=axis)
        return replace(self, array=self.array.reshape(shape), quantization=q)

    def part(self, index: int) -> Constant:
        """array[index]."""
        q = self.quantization
        if q is not None and q.axis is not None:
            q = Quantization(q.scale[index], q.zero_point[index], None, q.bits) if q.axis == 0 else replace(q, axis=q.axis - 1)
        return replace(self, name=f"{self.name}[{index}]", array=self.array[index], quantization=q)

    def scaled(self, factor: float) -> Constant:
        """The elements times a factor; the scales of the annotation follow where they stay positive."""
        if factor == 1:
            return self
        q = None
        if self.quantization is not None and factor > 0:
            q = replace(self.quantization, scale=(self.quantization.scale * np.float32(factor)).astype(np.float32))
        return replace(self, array=np.asarray(self.array, np.float32) * np.float32(factor), quantization=q)

    def without_annotation_off(self, axis: int) -> Constant:
        """Weights as their operator can keep them: per-channel scales along any axis but `axis`, the output channels, are dropped;
        the float values stay."""
        q = self.quantization
        return self if q is None or q.axis in (None, axis) else replace(self, quantization=None)


Value = str | Constant
"""An activation is the name of its IR tensor."""


@dataclass(frozen=True)
class TensorList:
    """A sequence of ONNX, which exists at conversion only."""

    items: tuple[Value, ...]


class Unknown:
    """The output of a refused node whose shape nobody knows."""


UNKNOWN = Unknown()


Operand = Value | Unknown | TensorList
"""What an ONNX node may read."""


def reshaped_axis(old: tuple[int, ...], new: tuple[int, ...], axis: int) -> int | None:
    """The axis of `new` that holds exactly what `axis` of `old` held; None where there is none."""
    before = prod(old[:axis])
    for candidate, size in enumerate(new):
        if size == old[axis] and prod(new[:candidate]) == before:
            return candidate
    return None
