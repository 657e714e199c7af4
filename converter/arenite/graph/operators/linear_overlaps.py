"""Operator.overlaps of what goes through its operand from end to end: element-wise operators, FullyConnected, means. docs/memory.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Inputs, Overlap, given
from arenite.graph.operators.progress import NOTHING, Progress, of_operand, overlap
from arenite.graph.tensor import Tensor

FILTERS = 4
"""ARN_DOT_FILTERS, ARN_DOT_S16_FILTERS and ARN_DOT_F32_FILTERS: outputs that the portable kernels make at a time, at most."""
BLOCKS = {"wide": 1, **dict.fromkeys(("int16_steps", "int16_weights", "int4", "float32", "int8"), FILTERS), "paired_row": 2}
"""By variant of FullyConnected that reads a row again for every block of outputs: those of a block, where they are fewest."""
VECTOR_OUTPUTS = 128
"""ARN_MVE_ACCUMULATORS: outputs that kernels/mve make at a time, at most."""


def first_elementwise(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    """Element i of operand 0 is read before element i of the result is written, both in ascending order."""
    return _elementwise((0,), inputs, outputs[0])


def both_elementwise(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    """The same of operands 0 and 1, whichever of them has as many elements as the result."""
    return _elementwise((0, 1), inputs, outputs[0])


def _elementwise(positions: Sequence[int], inputs: Inputs, result: Tensor) -> Mapping[int, Overlap]:
    found = {}
    index = np.arange(result.elements, dtype=np.int64)
    for position in positions:
        operand = given(inputs, position)
        if operand.elements == result.elements:
            progress = Progress.of(index * operand.dtype.itemsize, (index + 1) * result.dtype.itemsize)
            found[position] = overlap([progress], result.bytes)
    return {position: kept for position, kept in found.items() if kept is not None}


def fully_connected_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    features, taps = given(inputs, 1).shape
    x, y = given(inputs, 0), outputs[0]
    rows, in_row, out_row = y.elements // features, taps * x.dtype.itemsize, features * y.dtype.itemsize
    row = np.arange(rows, dtype=np.int64)
    variant = str(node.attributes.get("variant"))
    if variant in ("paired", "int4_lanes"):
        pairs = np.arange(0, rows, 2, dtype=np.int64)  # dsp: two rows are copied, then their outputs are written; else one
        in_pairs = Progress.of(pairs * in_row, np.minimum(pairs + 2, rows) * out_row)
        return of_operand([in_pairs, Progress.of(row * in_row, (row + 1) * out_row)], y.bytes)
    if variant == "int4" and rows > 1:  # a pass over all rows for each block of outputs
        return {}
    block = BLOCKS.get(variant)
    if block is None or (variant == "int8" and rows > 1 and features > VECTOR_OUTPUTS):  # mve: a pass over all rows for each 128 outputs
        return {}
    # Some outputs of a row are written before the row is read for the last ones.
    before = (features - 1) // block * block * y.dtype.itemsize
    read, done = row * in_row, row * out_row
    return of_operand([Progress.through((read, done), (np.full_like(read, NOTHING), done + before), (read, done + out_row))], y.bytes)


def reduce_mean_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    """Element i of a row of the result is written when elements i, i + inner, … have been read."""
    x, y = given(inputs, 0), outputs[0]
    axes = [axis for axis in node.attributes["axes"] if x.shape[axis] > 1] or list(node.attributes["axes"][:1])
    if any(x.shape[axis] > 1 and axis not in axes for axis in range(axes[0], axes[-1] + 1)):
        return {}  # not lowered yet
    inner = prod(x.shape[axes[-1] + 1 :])
    element = np.arange(y.elements, dtype=np.int64)
    row = element // inner * (x.elements // max(1, y.elements // inner))
    return of_operand([Progress.of((row + element % inner) * x.dtype.itemsize, (element + 1) * y.dtype.itemsize)], y.bytes)
