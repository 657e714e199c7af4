"""Layers whose weights have four bits, in every shape of their blocks."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from arenite.emit.program import Program
from arenite.graph import DType
from arenite.graph.operators.convolution import fours
from arenite.graph.operators.int4 import columns_bytes, lanes_bytes, scratch_bytes, stream_bytes

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder


def four_bits(b: ProgramBuilder, variant: str = "int4") -> Program:
    """`variant`: int4 or int4_lanes."""
    clamp = {"activation_min": -128, "activation_max": 127}
    points = {"input_zero_point": 3, "output_zero_point": -5}
    lanes = variant == "int4_lanes"

    def stream(filters: int, taps: int, group: int = 1) -> int:
        size = (lanes_bytes if lanes else stream_bytes)(filters, taps, group)
        return b.constant(b.random.integers(-(1 << 24), 1 << 24, size // 4).astype(np.int32))

    def scratch(weight: tuple[int, ...], group: int = 1, rows: int | None = None, copied: int = 0) -> int:
        """`copied`: bytes of a row, which int4_lanes copies where channels are no multiple of four."""
        size = scratch_bytes(weight, group, rows)
        if lanes:
            taps = prod(weight[1:])
            size = columns_bytes(taps) + (weight[1] * copied + fours(taps) + 8 if copied else 0)
        return b.activation(-(-size // 4), dtype=DType.FLOAT32)

    x, c, g = b.activation(1, 7, 6, 4), b.activation(1, 4, 3, 6), b.activation(1, 4, 3, 10)
    padded = {"pad_top": 1, "pad_left": 1}
    record = b.image(x, c, (3, 3), stride_h=2, stride_w=2, **padded, group=1, shift=2, **points)
    b.call("Conv", (x, stream(6, 36)), c, variant, scratch((6, 3, 3, 4)), **record)
    record = b.image(c, g, (3, 2), dilation_w=2, **padded, group=2, shift=0, **points)
    b.call("Conv", (c, stream(5, 18, 2)), g, variant, scratch((10, 3, 2, 3), 2, copied=fours(5 * 6 + 3)), **record)

    def layer(x: int, y: int, shift: int) -> int:
        (count, taps), filters = b.tensors[x].shape, b.tensors[y].shape[1]
        record = {"rows": count, "in_features": taps, "out_features": filters, "output_zero_point": 1, "shift": shift, **clamp}
        return b.call("FullyConnected", (x, stream(filters, taps)), y, variant, scratch((filters, taps), rows=count), **record)

    rows = layer(b.call("StridedCopy", (g,), b.activation(12, 10), "bytes", **_copied(120)), b.activation(12, 7), 3)
    row = b.call("StridedCopy", (rows,), b.activation(1, 84), "bytes", **_copied(84))
    y = layer(layer(layer(row, b.activation(1, 5), 0), b.activation(1, 300), 0), b.activation(1, 3), 0)
    return b.program([x], [y, g])


def _copied(count: int) -> dict[str, object]:
    run = (0, 0, 0, 0, 0, 1)
    view = {"dims": (1, 1, 1, 1, 1, count), "input_stride": run, "output_stride": run, "input_offset": 0, "output_offset": 0}
    return {"element_size": 1, **view}
