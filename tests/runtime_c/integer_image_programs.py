"""A program of what resizes, pools and scatters int8: numerics §8, §9, §13."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from arenite.emit import Program
from arenite.graph import DType
from runtime_c.typed_node_programs import node

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder

CLAMP = {"activation_min": -100, "activation_max": 127}


def images(b: ProgramBuilder) -> Program:
    x, indices = b.activation(2, 3, 4, 6), b.activation(2, 3, 2, 6, dtype=DType.INT64)
    update, k = b.activation(2, 3, 2, 6), b.activation(1, dtype=DType.INT64)
    first = b.constant(np.asarray([0, 1, 1, 2, 2], np.int32))
    weight = b.constant(b.random.integers(-(1 << 14), 1 << 14, (5, 2)).astype(np.int16))
    points = {"input_zero_point": 3, "output_zero_point": -5, "multiplier": 1 << 18, "shift": 0}
    window = {"kernel": (1, 2, 2), "strides": (1, 2, 2), "dilations": (1, 1, 1), "pads": (0, 0, 1, 0, 0, 1), "column_major": False}
    values, places = node(b, "MaxPoolWithIndices", "int8", [x], **window)
    outputs = [
        *node(b, "Resample", "int8", [x, first, weight], axis=2, **points, **CLAMP),
        *node(b, "MaxUnpool", "bytes", [values, places], inferred=(2, 3, 4, 6), shape=(2, 3, 5, 6), fill=3),
        *node(b, "ScatterElementsReduce", "plain_int8", [x, indices, update], axis=2, reduction="max"),
        *node(b, "Trilu", "bytes", [x, k], upper=False, fill=-7),
        *node(b, "Gather", "bytes", [x, k], axis=3),
    ]
    return b.program([x, indices, update, k], [values, places, *outputs])
