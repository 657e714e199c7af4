"""LSTM, GRU, RNN on int8 with int16 states: docs/numerics.md §12, whose names these functions use. int64, in which accumulators
wrap as in C. What §16 shares with it is here as well.

The order of a step follows from its formulas: every gate is over the state before the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64, wrap32

ONE = 1 << 15
WIDEST = 1 << 46


def shifted(value: Array, shift: int | Int64) -> Int64:
    """⌊(v + 2^(shift − 1)) / 2^shift⌋: rounded half up."""
    return np.asarray((value + (np.int64(1) << (shift - 1))) >> shift)


def limited(value: Array) -> Int64:
    """Within int16."""
    return np.clip(value, -(1 << 15), (1 << 15) - 1)


def requantize_steps(q: Array, multiplier: int, shift: int, zero_point: int) -> Int64:
    """int16 to int8."""
    return np.clip(zero_point + shifted(q.astype(np.int64) * multiplier, shift), -128, 127)


def requantize(p: Any, x: Array, y: Array) -> None:
    y.reshape(-1)[...] = requantize_steps(x.reshape(-1), p.multiplier, p.shift, p.zero_point)


def _sign(a: Int64) -> Int64:
    """That of 0 is 1, which a damaged table would tell."""
    return np.where(a < 0, np.int64(-1), np.int64(1))


@dataclass(frozen=True)
class Functions:
    """tanh and sigmoid by the model's table."""

    table: Int64

    def _line(self, u: Int64, exponent: int) -> Int64:
        """I_e(u)."""
        last = len(self.table) - 1
        k = np.minimum(u >> exponent, last)
        f = np.where(k == last, 0, u & ((1 << exponent) - 1))
        return np.asarray((self.table[k] << exponent) + (self.table[np.minimum(k + 1, last)] - self.table[k]) * f)

    def tanh(self, a: Int64) -> Int64:
        return np.asarray(_sign(a) * ((self._line(np.abs(a), 9) + (1 << 8)) >> 9))

    def sigmoid(self, a: Int64) -> Int64:
        return np.asarray(((1 << 25) + _sign(a) * self._line(np.abs(a), 10) + (1 << 10)) >> 11)


@dataclass(frozen=True)
class Direction:
    """The operands of one direction, and what is computed of them."""

    p: Any
    weight: Int64
    recurrent: Int64
    row: Int64
    recurrent_bias: Int64
    functions: Functions
    cell_bits: Int64
    """p_c, of the layer or of each unit."""

    def own(self, x: Int64, rows: slice) -> Int64:
        """A · m_x, with the row's bias."""
        return wrap32(self.weight[rows] @ x + self.row[rows, 0]) * self.row[rows, 1]

    def other(self, h: Int64, rows: slice, bias: Int64 | int = 0) -> Int64:
        """B · m_r."""
        return wrap32(self.recurrent[rows] @ h + bias) * self.row[rows, 2]

    def given(self, h: Int64) -> Int64:
        """What the states of every step have of it."""
        return requantize_steps(h, self.p.output_multiplier, self.p.output_shift, self.p.output_zero_point)

    @staticmethod
    def beyond(p: Any) -> int:
        """What they have beyond a sequence's end."""
        return int(p.output_zero_point)

    @staticmethod
    def bits_of_cells(p: Any, units: Int64) -> Int64:
        """p_c, [directions, hidden or 1], of what lies behind the rows."""
        return np.full((p.directions, 1), p.cell_bits, np.int64)

    def argument(self, value: Int64, shift: int) -> Int64:
        return np.clip(shifted(value, shift), -self.p.limit, self.p.limit)

    def lstm(self, x: Int64, h: Int64, c: Int64) -> tuple[Int64, Int64]:
        p, f, every = self.p, self.functions, slice(None)
        i, o, forget, g = np.split(self.argument(self.own(x, every) + self.other(h, every), p.shift), 4)
        i, o, forget, g = f.sigmoid(i), f.sigmoid(o), f.sigmoid(forget), f.tanh(g)
        up = 15 - self.cell_bits
        c = limited(shifted(((forget * c) << up) + i * g, 15 + up))
        return limited(shifted(o * f.tanh(c << up), 30 - p.state_bits)), c

    def gru(self, x: Int64, h: Int64) -> Int64:
        p, f, n = self.p, self.functions, self.p.hidden
        gates, last = slice(0, 2 * n), slice(2 * n, 3 * n)
        z, r = np.split(f.sigmoid(self.argument(self.own(x, gates) + self.other(h, gates), p.shift)), 2)
        if p.linear_before_reset:
            parts = (self.own(x, last), self.other(h, last, self.recurrent_bias))
            own, other = (np.clip(shifted(part, p.shift - 8), -WIDEST, WIDEST) for part in parts)
            a = self.argument((own << 15) + r * other, 23)
        else:
            a = self.argument(self.own(x, last) + self.other(shifted(r * h, 15), last), p.shift)
        return limited(shifted((ONE - z) * f.tanh(a) + ((z * h) << (15 - p.state_bits)), 30 - p.state_bits))

    def rnn(self, x: Int64, h: Int64) -> Int64:
        a = self.argument(self.own(x, slice(None)) + self.other(h, slice(None)), self.p.shift)
        return shifted(self.functions.tanh(a) << self.p.state_bits, 15)


def _directions(
    p: Any, gates: int, operands: tuple[Array | None, ...], recurrent_bias: Array | None, kind: type[Direction]
) -> list[Direction]:
    weight, recurrent, numbers, table = (np.asarray(array, np.int64) for array in operands[1:5])
    n = p.hidden
    bias = np.zeros((p.directions, n), np.int64) if recurrent_bias is None else recurrent_bias.astype(np.int64).reshape(-1, n)
    functions = Functions(table.reshape(-1))
    w, r = weight.reshape(p.directions, gates * n, -1), recurrent.reshape(p.directions, gates * n, n)
    numbers = numbers.reshape(p.directions, -1)
    row = numbers[:, : 3 * gates * n].reshape(p.directions, -1, 3)
    cell_bits = kind.bits_of_cells(p, numbers[:, 3 * gates * n :]) if gates == 4 else numbers
    return [kind(p, w[d], r[d], row[d], bias[d], functions, cell_bits[d]) for d in range(p.directions)]


def _sequences(p: Any, lengths: Array | None) -> Iterator[tuple[int, int, list[int]]]:
    """Direction, sample, and its steps in order."""
    for d in range(p.directions):
        for b in range(p.batch):
            length = p.steps if lengths is None else int(np.clip(lengths.reshape(-1)[b], 0, p.steps))
            order = list(range(length))
            yield d, b, order[::-1] if d == 1 or p.first_reverse else order


def _started(p: Any, last: Array, initial: Array | None) -> Array:
    """The output that holds a last state, in the kernel's shape, with the initial one."""
    state = last.reshape(p.directions, p.batch, p.hidden)
    state[...] = 0 if initial is None else initial.reshape(state.shape)
    return state


def _run(
    p: Any,
    gates: int,
    operands: tuple[Array | None, ...],
    recurrent_bias: Array | None,
    y: Array | None,
    y_h: Array,
    y_c: Array | None,
    kind: type[Direction],
) -> None:
    directions = _directions(p, gates, operands, recurrent_bias, kind)
    x = np.asarray(operands[0], np.int64).reshape(p.steps, p.batch, p.features)
    h = _started(p, y_h, operands[6])
    c = None if y_c is None else _started(p, y_c, operands[7])
    every = None if y is None else y.reshape(p.steps, p.directions, p.batch, p.hidden)
    if every is not None:
        every[...] = kind.beyond(p)
    for d, b, order in _sequences(p, operands[5]):
        cell, state = directions[d], h[d, b].astype(np.int64)
        kept = state if c is None else c[d, b].astype(np.int64)
        for t in order:
            if c is not None:
                state, kept = cell.lstm(x[t, b], state, kept)
            else:
                state = cell.gru(x[t, b], state) if gates == 3 else cell.rnn(x[t, b], state)
            if every is not None:
                every[t, d, b] = cell.given(state)
        h[d, b] = state
        if c is not None:
            c[d, b] = kept


def recurrent_kernels(variant: str, kind: type[Direction]) -> dict[tuple[str, str], Callable[..., None]]:
    """Of all cells, by operator and variant, that compute with such directions."""
    return {
        (name + last, variant): _kernel(gates, operands, not last, kind)
        for name, gates, operands in (("Lstm", 4, 8), ("Gru", 3, 8), ("Rnn", 1, 7))
        for last in ("", "Last")
    }


def _kernel(gates: int, operands: int, every: bool, kind: type[Direction]) -> Callable[..., None]:
    def kernel(p: Any, *arrays: Array | None) -> None:
        inputs, outputs = arrays[:operands], arrays[operands:]
        y, y_h, y_c = (*(outputs if every else (None, *outputs)), None)[:3]
        assert y_h is not None
        with np.errstate(over="ignore"):  # a damaged model's products wrap
            _run(p, gates, inputs, inputs[7] if gates == 3 else None, y, y_h, y_c, kind)

    return kernel


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    **recurrent_kernels("int8", Direction),
    ("Requantize", "int16_steps"): requantize,
}
"""By operator and variant."""
