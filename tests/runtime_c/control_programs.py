"""Programs with control flow, call by call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from arenite.emit import Program
from arenite.emit.program import Call
from arenite.graph import DType

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder


def control(b: ProgramBuilder) -> Program:
    """A loop with a branch and another loop in it: every kind of jump, and scan outputs from both ends."""
    real, number, flag = {"dtype": DType.FLOAT32}, {"dtype": DType.INT64}, {"dtype": DType.BOOL}
    x, trips, goes_on, chosen = b.activation(4, **real), b.activation(1, **number), b.activation(1, **flag), b.activation(1, **flag)
    outer, inner, value = b.activation(1, **number), b.activation(1, **number), b.activation(4, **real)
    forwards, backwards = b.activation(5, 4, **real), b.activation(5, 4, **real)
    half = b.constant(np.full(4, 0.5, np.float32))
    shape = {"dims": (1, 1, 1, 1, 1, 4), "a_stride": (0, 0, 0, 0, 0, 1), "b_stride": (0, 0, 0, 0, 0, 1)}

    def call(op: str, inputs: tuple[int, ...], outputs: tuple[int, ...] = (), variant: str = "bytes", **record: object) -> None:
        index = len(b.calls)
        b.calls.append(Call(op, variant, f"n{index}", record, inputs, outputs, None, 0, index))  # type: ignore[arg-type]

    def add(left: int, right: int, result: int) -> None:
        call("Add", (left, right), (result,), "float32", **shape, clip_min=float("-inf"), clip_max=float("inf"))

    add(x, half, value)
    call("BeginLoop", (trips, goes_on), (outer,), limit=5, skip=10)
    call("SkipUnless", (chosen,), skip=2)
    add(value, half, value)
    call("Skip", (), skip=4)
    call("BeginLoop", (-1, -1), (inner,), limit=3, skip=2)
    add(value, x, value)
    call("RepeatLoop", (-1, -1), (inner,), limit=3, back=2)
    add(value, value, value)
    call("StoreEntry", (value, outer), (forwards,), count=5, bytes=16, backwards=0)
    call("StoreEntry", (value, outer), (backwards,), count=5, bytes=16, backwards=1)
    call("RepeatLoop", (trips, goes_on), (outer,), limit=5, back=10)
    add(value, half, value)
    return b.program([x, trips, goes_on, chosen], [value, forwards, backwards, outer])
