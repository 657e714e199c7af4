"""LSTM, GRU, RNN: docs/numerics.md §11. States are float32 from step to step, as in C; what is between is float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import Float64, real

Function = Callable[[Float64], Float64]


def _activation(p: Any, index: int, clipped: bool = True) -> Function:
    """Function `index` of the record, behind the record's clip unless it is that of the cell."""
    alpha, beta = p.alpha[index], p.beta[index]
    functions: tuple[Function, ...] = (
        lambda v: 0.5 * (1.0 + np.tanh(0.5 * v)),
        np.tanh,
        lambda v: np.maximum(v, 0.0),
        lambda v: alpha * v + beta,
        lambda v: np.where(v < 0, alpha * v, v),
        lambda v: np.where(v > alpha, v, 0.0),
        lambda v: alpha * np.tanh(beta * v),
        lambda v: np.clip(alpha * v + beta, 0.0, 1.0),
        lambda v: np.where(v < 0, alpha * np.expm1(np.minimum(v, 0.0)), v),
        lambda v: v / (1.0 + np.abs(v)),
        lambda v: np.logaddexp(0.0, v),
    )
    function = functions[p.activation[index]]
    return lambda v: np.asarray(function(np.clip(v, -p.clip, p.clip) if clipped else v))


def _parts(array: Array | None, p: Any, *shape: int) -> Float64:
    """An operand as [directions, …]; zeros where it is absent."""
    return np.zeros((p.directions, *shape)) if array is None else real(array.reshape(p.directions, *shape))


def _sequences(p: Any, lengths: Array | None, y: Array | None) -> Iterator[tuple[int, int, list[int]]]:
    """Direction, sample, and its steps in order; the states of every other step become 0."""
    if y is not None:
        y[...] = 0
    for d in range(p.directions):
        for b in range(p.batch):
            length = p.steps if lengths is None else int(np.clip(lengths.reshape(-1)[b], 0, p.steps))
            order = list(range(length))
            yield d, b, order[::-1] if d == 1 or p.first_reverse else order


def _states(p: Any, y: Array | None, y_h: Array, initial: Array | None) -> tuple[Array | None, Array]:
    """The outputs in the kernel's shapes, the last states holding the initial ones."""
    state = y_h.reshape(p.directions, p.batch, p.hidden)
    state[...] = 0 if initial is None else initial.reshape(state.shape)
    return None if y is None else y.reshape(p.steps, p.directions, p.batch, p.hidden), state


def _lstm(p: Any, operands: tuple[Array | None, ...], y: Array | None, y_h: Array, y_c: Array) -> None:
    x, weight, recurrent, bias, lengths, initial_h, initial_c, peephole = operands
    assert x is not None
    n, x = p.hidden, real(x.reshape(p.steps, p.batch, p.features))
    w, r = _parts(weight, p, 4 * n, p.features), _parts(recurrent, p, 4 * n, n)
    bias, peephole = _parts(bias, p, 2, 4 * n).sum(axis=1), _parts(peephole, p, 3, n)
    every, h = _states(p, y, y_h, initial_h)
    _, c = _states(p, None, y_c, initial_c)
    for d, b, order in _sequences(p, lengths, every):
        f, g, last = (_activation(p, 3 * d + i, clipped=i < 2) for i in range(3))
        for t in order:
            i, o, forget, candidate = np.split(w[d] @ x[t, b] + r[d] @ real(h[d, b]) + bias[d], 4)
            cell = real(c[d, b])
            i = f(i + peephole[d, 0] * cell)
            forget = 1.0 - i if p.coupled else f(forget + peephole[d, 2] * cell)
            c[d, b] = forget * cell + i * g(candidate)
            h[d, b] = f(o + peephole[d, 1] * real(c[d, b])) * last(real(c[d, b]))
            if every is not None:
                every[t, d, b] = h[d, b]


def _gru(p: Any, operands: tuple[Array | None, ...], y: Array | None, y_h: Array) -> None:
    x, weight, recurrent, bias, lengths, initial_h = operands
    assert x is not None
    n, x = p.hidden, real(x.reshape(p.steps, p.batch, p.features))
    w, r = _parts(weight, p, 3, n, p.features), _parts(recurrent, p, 3, n, n)
    own, other = np.split(_parts(bias, p, 6, n), 2, axis=1)
    every, h = _states(p, y, y_h, initial_h)
    for d, b, order in _sequences(p, lengths, every):
        f, g = (_activation(p, 2 * d + i) for i in range(2))
        for t in order:
            state = real(h[d, b])
            z, reset = (f(w[d, i] @ x[t, b] + r[d, i] @ state + own[d, i] + other[d, i]) for i in range(2))
            if p.linear_before_reset:
                candidate = g(w[d, 2] @ x[t, b] + own[d, 2] + reset * (r[d, 2] @ state + other[d, 2]))
            else:
                candidate = g(w[d, 2] @ x[t, b] + own[d, 2] + r[d, 2] @ (reset * state) + other[d, 2])
            h[d, b] = (1.0 - z) * candidate + z * state
            if every is not None:
                every[t, d, b] = h[d, b]


def _rnn(p: Any, operands: tuple[Array | None, ...], y: Array | None, y_h: Array) -> None:
    x, weight, recurrent, bias, lengths, initial_h = operands
    assert x is not None
    n, x = p.hidden, real(x.reshape(p.steps, p.batch, p.features))
    w, r, bias = _parts(weight, p, n, p.features), _parts(recurrent, p, n, n), _parts(bias, p, 2, n).sum(axis=1)
    every, h = _states(p, y, y_h, initial_h)
    for d, b, order in _sequences(p, lengths, every):
        f = _activation(p, d)
        for t in order:
            h[d, b] = f(w[d] @ x[t, b] + r[d] @ real(h[d, b]) + bias[d])
            if every is not None:
                every[t, d, b] = h[d, b]


def _kernel(cell: Callable[..., None], operands: int, every: bool) -> Callable[..., None]:
    def kernel(p: Any, *arrays: Array | None) -> None:
        with np.errstate(all="ignore"):
            cell(p, arrays[:operands], *(arrays[operands:] if every else (None, *arrays[operands:])))

    return kernel


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("Lstm", "float32"): _kernel(_lstm, 8, True),
    ("LstmLast", "float32"): _kernel(_lstm, 8, False),
    ("Gru", "float32"): _kernel(_gru, 6, True),
    ("GruLast", "float32"): _kernel(_gru, 6, False),
    ("Rnn", "float32"): _kernel(_rnn, 6, True),
    ("RnnLast", "float32"): _kernel(_rnn, 6, False),
}
"""By operator and variant."""
