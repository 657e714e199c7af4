"""Weights in another order: constant ones at conversion, computed ones by movement at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.node_import import NodeImport
from arenite.frontend.values import Constant, Value


def weights(node: NodeImport, index: int, what: str) -> Value:
    """Operand `index` as float32: finite where it is constant."""
    if not node.has(index):
        node.malformed(f"{what} (input {index}) is missing")
    value = node.value(index)
    return node.finite(value) if isinstance(value, Constant) else node.activation(index)


def stored(node: NodeImport, value: Value) -> str:
    """As a tensor of the graph."""
    return node.add_constant(value) if isinstance(value, Constant) else value


def reshaped(node: NodeImport, value: Value, shape: Sequence[int]) -> Value:
    return value.reshaped(shape) if isinstance(value, Constant) else node.reshape(value, shape)


def transposed(node: NodeImport, value: Value, perm: Sequence[int]) -> Value:
    return value.transposed(perm) if isinstance(value, Constant) else node.transpose(value, perm)


def reversed_along(node: NodeImport, value: Value, axes: Sequence[int]) -> Value:
    """The order of the elements along `axes` turned round. The annotation of a constant is lost."""
    shape = node.shape(value)
    if isinstance(value, Constant):
        return Constant(value.name, np.flip(value.array, tuple(axes)))
    if not axes:
        return value
    starts = tuple(n - 1 if d in axes else 0 for d, n in enumerate(shape))
    steps = tuple(-1 if d in axes and n > 1 else 1 for d, n in enumerate(shape))
    return node.emit("Slice", [value], starts=starts, steps=steps, sizes=shape)


def padded_behind(node: NodeImport, value: Value, axis: int, count: int) -> Value:
    """With `count` zeros behind the last element along an axis. The annotation of a constant is lost."""
    pads = [(0, count if d == axis else 0) for d in range(len(node.shape(value)))]
    if isinstance(value, Constant):
        return Constant(value.name, np.pad(value.array, pads))
    if count == 0:
        return value
    return node.emit("Pad", [value], pads=(*(a for a, _ in pads), *(b for _, b in pads)), value=0.0)


def cut_behind(node: NodeImport, value: Value, axis: int, size: int) -> Value:
    """The first `size` elements along an axis. The annotation of a constant is lost."""
    shape = node.shape(value)
    if isinstance(value, Constant):
        return Constant(value.name, np.take(value.array, range(size), axis))
    if size == shape[axis]:
        return value
    sizes = tuple(size if d == axis else n for d, n in enumerate(shape))
    return node.emit("Slice", [value], starts=(0,) * len(shape), steps=(1,) * len(shape), sizes=sizes)


def repeated(node: NodeImport, value: Value, axis: int, count: int) -> Value:
    """A dimension of 1 along `axis`, repeated. The annotation of a constant is lost."""
    shape = node.shape(value)
    wide = (*shape[:axis], count, *shape[axis + 1 :])
    if isinstance(value, Constant):
        return Constant(value.name, np.broadcast_to(value.array, wide))
    return node.emit("Expand", [value], shape=wide) if count > 1 else value
