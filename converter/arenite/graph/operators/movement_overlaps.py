"""Operator.overlaps of Slice and Transpose, which StridedCopy does: element by element in the order of the result. docs/memory.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Inputs, Overlap, given
from arenite.graph.operators.progress import Places, Progress, of_operand
from arenite.graph.tensor import Tensor

Taken = Callable[[Places], Places]

MOST_ELEMENTS = 1 << 20
"""Of an operand whose elements are looked at one by one."""
LOOPS = 6
"""Dimensions that one StridedCopy walks; with more, the order would be another."""


def slice_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    starts, steps, sizes = (node.attributes[name] for name in ("starts", "steps", "sizes"))
    along = [start + step * np.arange(size) for start, step, size in zip(starts, steps, sizes, strict=True)]
    return _copied(inputs, outputs[0], lambda places: places[np.ix_(*along)])


def transpose_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    return _copied(inputs, outputs[0], lambda places: places.transpose(node.attributes["perm"]))


def _copied(inputs: Inputs, y: Tensor, taken: Taken) -> Mapping[int, Overlap]:
    """`taken`: of the operand's elements, those that the result has, in its shape."""
    x = given(inputs, 0)
    if x.elements > MOST_ELEMENTS or sum(size > 1 for size in y.shape) > LOOPS or y.elements == 0:
        return {}
    read = taken(np.arange(x.elements, dtype=np.int64).reshape(x.shape)).reshape(-1)
    return of_operand([Progress.of(read * y.dtype.itemsize, np.arange(1, y.elements + 1) * y.dtype.itemsize)], y.bytes)
