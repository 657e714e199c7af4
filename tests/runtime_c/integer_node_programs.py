"""A program of the int8 forms of normalizations and reductions, and of what compares bytes: numerics §14, §15."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from arenite.emit import Program
from arenite.graph import DType
from runtime_c.typed_node_programs import node

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder

CLAMP = {"activation_min": -100, "activation_max": 127}
REQUANTIZED = {"input_zero_point": 3, "output_zero_point": -5, "multiplier": 3_000_000, "shift": 27, **CLAMP}


def statistics(b: ProgramBuilder) -> Program:
    x, other = b.activation(3, 2, 4, 5), b.activation(1, 2, 1, 5)
    fixed = {
        "input_zero_point": 3,
        "epsilon_low": -5,
        "epsilon_high": 1 << 10,
        "precision": 12,
        "fraction": 25,
        "shift": 18,
    }
    gains = [b.constant(b.random.integers(-(1 << 22), 1 << 22, shape, np.int32)) for shape in ((1, 20), (1, 20), (2, 4), (2, 4))]
    table = b.constant(np.rint(2.0**20 * np.exp(-0.05 * np.arange(256))).astype(np.int32))
    outputs = [
        *node(b, "LayerNormalization", "int8", [x, *gains[:2]], length=20, period=1, centred=True, epsilon=0.0, **fixed, **CLAMP),
        *node(b, "LayerNormalization", "int8", [x, *gains[2:]], length=20, period=2, centred=False, epsilon=0.0, **fixed, **CLAMP),
    ]
    for op in ("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare"):
        outputs += node(b, op, "int8", [x], axes=(0, 2), keepdims=False, **REQUANTIZED)
    logarithmic = {"exponent": 20, "greatest_low": -1, "greatest_high": 200, "logarithm_low": 5, "logarithm_high": 0}
    points = {"input_zero_point": 3, "output_zero_point": -5, **CLAMP}
    outputs += node(b, "ReduceLogSumExp", "int8", [x, table], axes=(1, 3), keepdims=True, **logarithmic, **points)
    outputs += node(b, "CumSum", "int8", [x], axis=2, exclusive=True, reverse=True, **REQUANTIZED)
    outputs += node(b, "ReduceMax", "plain_int8", [x], axes=(0, 2), keepdims=True)
    outputs += node(b, "ArgMin", "plain_int8", [x], axis=2, keepdims=False, last=True)
    outputs += node(b, "TopK", "plain_int8", [x], axis=3, k=3, largest=True)
    for op in ("Max", "Min", "Less", "LessOrEqual", "Equal"):
        outputs += node(b, op, "plain_int8", [x, other])
    return b.program([x, other], outputs[-8:] + [i for i in outputs[:-8] if b.tensors[i].dtype is DType.INT8][:4])
