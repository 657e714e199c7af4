"""Programs of recurrent layers on int8 and int16 with int16 states, and of the conversions of these: numerics §12, §16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from arenite.emit import Program
from arenite.graph import DType
from arenite.quantize.lower_recurrent import tanh_table
from runtime_c.typed_node_programs import node

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder

STEPS, BATCH, FEATURES, HIDDEN = 4, 2, 5, 3
NUMBERS = {"shift": 28, "limit": 1 << 19, "state_bits": 15, "output_zero_point": -5, "output_multiplier": 20000, "output_shift": 22}


def recurrent(b: ProgramBuilder) -> Program:
    x, wide = b.activation(STEPS, BATCH, FEATURES), b.activation(STEPS, BATCH, FEATURES, dtype=DType.INT16)
    lengths, real = b.activation(BATCH, dtype=DType.INT32), b.activation(2, BATCH, HIDDEN, dtype=DType.FLOAT32)
    state = b.activation(2, BATCH, HIDDEN, dtype=DType.INT16)
    b.call("Quantize", (real,), state, "int16_steps", count=12, scale=2.0**-15, zero_point=0)
    table = b.constant(tanh_table())

    def cell(op: str, gates: int, source: int, *more: int, **own: Any) -> tuple[int, ...]:
        rows = gates * HIDDEN
        limits = np.asarray([1 << 14, 1 << 28, 1 << 20])
        row = b.constant((b.random.uniform(0, 1, (2, rows, 3)) * limits).astype(np.int32))
        matrices = (b.weights(2, rows, FEATURES), b.weights(2, rows, HIDDEN))
        attributes = {"hidden": HIDDEN, "directions": (False, True), **NUMBERS, **own}
        return node(b, op, "int8", [source, *matrices, row, table, lengths, state, *more], **attributes)

    bias = b.constant(b.random.integers(-(1 << 20), 1 << 20, (2, HIDDEN), np.int32))
    outputs = [*cell("Lstm", 4, x, state, cell_bits=12), *cell("LstmLast", 4, wide, -1, cell_bits=15)]
    outputs += [*cell("Gru", 3, x, bias, linear_before_reset=True), *cell("GruLast", 3, wide, -1, linear_before_reset=False)]
    outputs += [*cell("Rnn", 1, wide), *cell("RnnLast", 1, x)]
    narrow = b.activation(2, BATCH, HIDDEN)
    b.call("Requantize", (outputs[1],), narrow, "int16_steps", count=12, multiplier=30000, shift=22, zero_point=7)
    back = b.activation(2, BATCH, HIDDEN, dtype=DType.FLOAT32)
    b.call("Dequantize", (outputs[2],), back, "int16_steps", count=12, scale=2.0**-12, zero_point=0)
    return b.program([x, wide, lengths, real], [*outputs, narrow, back])


def recurrent_16(b: ProgramBuilder) -> Program:
    """Weights of 8 and of 16 bits, x of int16 and of int32."""
    real, x = b.activation(STEPS, BATCH, FEATURES, dtype=DType.FLOAT32), b.activation(STEPS, BATCH, FEATURES, dtype=DType.INT16)
    fine = b.activation(STEPS, BATCH, FEATURES, dtype=DType.INT32)
    lengths, state = b.activation(BATCH, dtype=DType.INT32), b.activation(2, BATCH, HIDDEN, dtype=DType.INT16)
    b.call("Quantize", (real,), fine, "int32_steps", count=STEPS * BATCH * FEATURES, scale=2.0**-20, zero_point=0)
    table = b.constant(tanh_table())
    numbers = {**NUMBERS, "output_zero_point": 0, "output_multiplier": 0, "output_shift": 1}

    def cell(op: str, gates: int, dtype: Any, source: int, *more: int, **own: Any) -> tuple[int, ...]:
        rows = gates * HIDDEN
        row = (b.random.uniform(0, 1, (2, rows, 3)) * np.asarray([1 << 20, 1 << 22, 1 << 14])).astype(np.int32)
        if gates == 4:
            row = np.concatenate([row.reshape(2, -1), b.random.integers(0, 16, (2, HIDDEN), np.int32)], axis=1)
        limits = np.iinfo(dtype)
        matrices = [b.constant(b.random.integers(limits.min, limits.max, (2, rows, size), dtype)) for size in (FEATURES, HIDDEN)]
        attributes = {"hidden": HIDDEN, "directions": (False, True), **numbers, **own}
        variant = "int16_steps" if dtype is np.int8 else "int16_weights"
        return node(b, op, variant, [source, *matrices, b.constant(row), table, lengths, state, *more], **attributes)

    bias = b.constant(b.random.integers(-(1 << 20), 1 << 20, (2, HIDDEN), np.int32))
    outputs: list[int] = []
    for dtype, first, second in ((np.int8, x, fine), (np.int16, fine, x)):
        outputs += [*cell("Lstm", 4, dtype, first, state, cell_bits=0), *cell("LstmLast", 4, dtype, second, -1, cell_bits=0)]
        outputs += [*cell("Gru", 3, dtype, second, bias, linear_before_reset=True)]
        outputs += [*cell("GruLast", 3, dtype, first, -1, linear_before_reset=False)]
        outputs += [*cell("Rnn", 1, dtype, first), *cell("RnnLast", 1, dtype, second)]
    return b.program([real, x, lengths, state], outputs)
