"""LSTM, GRU, RNN on int16 with weights of 8 and 16 bits: NumPy and portable C equal, for any bytes; and near to real arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph.operators.recurrent import CELLS, GRU, LSTM, Cell
from arenite.quantize.lower_recurrent import BIAS_POINT, tanh_table, wide_row_multipliers
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, run_c, run_numpy
from kernels.portable_library import PortableLibrary
from kernels.test_recurrent_int8 import DEFAULTS, integers, sigmoid

WEIGHTS = {"int16_steps": np.int8, "int16_weights": np.int16}
CASES = [(name, variant) for name in CELLS for variant in WEIGHTS]
UNIT = 2.0**-15


def rows_of(cell: Cell, row: Array, units: Array) -> Array:
    """Of an LSTM, p_c of each unit lies behind the rows."""
    return np.concatenate([row.reshape(len(row), -1), units], axis=1).astype(np.int32) if cell is LSTM else row.astype(np.int32)


def attributes_of(name: str, hidden: int, directions: tuple[bool, ...], shift: int, limit: int, state_bits: int) -> dict[str, Any]:
    return {
        "hidden": hidden,
        "directions": directions,
        "activations": tuple((activation, 0.0, 0.0) for activation in DEFAULTS[name] * len(directions)),
        "threshold": float("inf"),
        "shift": shift,
        "limit": limit,
        "state_bits": state_bits,
        "output_zero_point": 0,
        "output_multiplier": 0,
        "output_shift": 1,
    }


@st.composite
def recurrent(draw: DrawFn, name: str, variant: str) -> NodeCall:
    """Any bytes for weights, states, tables and numbers of rows: a damaged model computes something, and the same everywhere."""
    cell: Cell = CELLS[name]
    rng = generator(draw)
    steps, batch, features, hidden = (draw(st.integers(1, most)) for most in (5, 3, 6, 9))
    reverse = draw(st.sampled_from([(False,), (True,), (False, True)]))
    n, rows, sound = len(reverse), cell.gates * hidden, draw(st.booleans())
    row = integers(rng, np.int32, n, rows, 3)
    if sound:
        row = np.stack([rng.integers(-(2**21), 2**21, (n, rows)), rng.integers(0, 2**30, (n, rows)), rng.integers(0, 2**22, (n, rows))], -1)
    lengths = draw(st.sampled_from([None, integers(rng, np.int32, batch), rng.integers(0, steps, batch, np.int32, endpoint=True)]))

    def state() -> Array | None:
        value = integers(rng, np.int16, n, batch, hidden)
        return value if draw(st.booleans()) else None

    units = rng.integers(0, 15, (n, hidden), endpoint=True) if sound else integers(rng, np.int32, n, hidden)
    inputs: list[Any] = [
        integers(rng, draw(st.sampled_from([np.int16, np.int32])), steps, batch, features),
        integers(rng, WEIGHTS[variant], n, rows, features),
        integers(rng, WEIGHTS[variant], n, rows, hidden),
        rows_of(cell, row, units),
        tanh_table() if sound else integers(rng, np.int16, 513),
        lengths,
        state(),
    ]
    limit = draw(st.sampled_from([0, 1, 12345, 1 << 15, 1 << 19]))
    attributes = attributes_of(name, hidden, reverse, draw(st.integers(9, 46)), limit, draw(st.integers(0, 15)))
    if cell is LSTM:
        inputs.append(state())
        attributes |= {"coupled": False, "cell_bits": draw(st.integers(0, 15))}
    if cell is GRU:
        attributes["linear_before_reset"] = draw(st.booleans())
        bias = integers(rng, np.int32, n, hidden) >> draw(st.sampled_from([0, 8]))
        inputs.append(bias if attributes["linear_before_reset"] and draw(st.booleans()) else None)
    return NodeCall(name + draw(st.sampled_from(["", "Last"])), variant, inputs, {**attributes, "variant": variant})


def assert_same(portable: PortableLibrary, name: str, variant: str, examples: int) -> None:
    @settings(deadline=None, derandomize=True, max_examples=examples)
    @given(recurrent(name, variant))
    def check(call: NodeCall) -> None:
        for a, b in zip(run_c(portable, call), run_numpy(call), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=call.op)

    check()


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_numpy_and_c(portable: PortableLibrary, name: str, variant: str) -> None:
    assert_same(portable, name, variant, 40)


@pytest.mark.long
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_numpy_and_c_many(portable: PortableLibrary, name: str, variant: str) -> None:
    assert_same(portable, name, variant, 3000)


@st.composite
def one_step(draw: DrawFn, name: str, variant: str) -> tuple[NodeCall, Array, Array]:
    """A step from given states, with the real numbers that the rows' multipliers stand for: of x and of h, [rows]."""
    cell: Cell = CELLS[name]
    rng = generator(draw)
    features, hidden = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rows, largest = cell.gates * hidden, np.iinfo(WEIGHTS[variant]).max
    x_bits = draw(st.sampled_from([15, 23]))
    own = rng.uniform(0.1, 1, rows) * 8 * 10.0 ** draw(st.integers(-3, 0)) / (features * 2.0**x_bits * largest)
    other = rng.uniform(0.1, 1, rows) * 4 * UNIT / (hidden * largest)
    weights = [integers(rng, WEIGHTS[variant], rows, size) for size in (features, hidden)]
    bias, after = (np.rint(rng.normal(0, 2, size) * 2.0**BIAS_POINT).astype(np.int64) for size in (rows, hidden))
    sums = np.stack([np.abs(w.astype(np.int64)).sum(axis=1) << bits for w, bits in zip(weights, (x_bits, 15), strict=True)], -1)
    most = int(max(np.abs(bias).max(), np.abs(after).max()))
    multipliers, shift, exact = wide_row_multipliers(np.stack([own, other], -1) / UNIT, sums, most)
    assert exact and (multipliers * sums < 1 << 60).all() and most << (shift - 4) < 1 << 60
    units = rng.integers(8, 15, (1, hidden), endpoint=True)
    x = rng.integers(-(1 << x_bits), 1 << x_bits, (1, 1, features)).astype(np.int16 if x_bits == 15 else np.int32)
    inputs: list[Any] = [
        x,
        *(w[None] for w in weights),
        rows_of(cell, np.concatenate([bias[:, None], multipliers], -1)[None], units),
        tanh_table(),
        None,
        integers(rng, np.int16, 1, 1, hidden),
    ]
    attributes = attributes_of(name, hidden, (False,), shift, 1 << 19, draw(st.integers(10, 15)))
    if cell is LSTM:
        inputs.append(integers(rng, np.int16, 1, 1, hidden))
        attributes |= {"coupled": False, "cell_bits": 0}
    if cell is GRU:
        attributes["linear_before_reset"] = draw(st.booleans())
        inputs.append(after.astype(np.int32)[None] if attributes["linear_before_reset"] else None)
    return NodeCall(f"{name}Last", variant, inputs, {**attributes, "variant": variant}), own, other


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_against_real_arithmetic(name: str, variant: str) -> None:
    """One step in float64 on the same stored numbers, within the bound of numerics §16."""

    @settings(deadline=None, derandomize=True, max_examples=40)
    @given(one_step(name, variant))
    def check(drawn: tuple[NodeCall, Array, Array]) -> None:
        call, own, other = drawn
        a, n = call.attributes, call.attributes["hidden"]
        x, w, r = (np.asarray(v, np.float64)[0] for v in call.inputs[:3])
        numbers = call.inputs[3].reshape(1, -1)[0]
        bias = numbers.astype(np.float64)[: 3 * len(own)].reshape(-1, 3)[:, 0] * 2.0**-BIAS_POINT
        h = np.asarray(call.inputs[6], np.float64)[0, 0]
        state, half = h * 2.0 ** -a["state_bits"], 2.0 ** -a["state_bits"] / 2
        product, back = w @ x[0], r @ h
        e = UNIT * (0.5 + (np.abs(product) + np.abs(back)) * 0.5 / 2.0 ** a["shift"])
        first, second = product * own + bias, back * other
        if name == "Gru" and a["linear_before_reset"]:
            second[2 * n :] += call.inputs[7][0] * 2.0**-BIAS_POINT
        gates = first + second
        s, t = e / 4 + 1.2 * UNIT, e + 1.8 * UNIT  # errors of sigmoid and tanh of these
        last = [v.astype(np.float64)[0, 0] for v in run_numpy(call)]
        limits = (-(2.0 ** (15 - a["state_bits"])), (2.0**15 - 1) * 2.0 ** -a["state_bits"])
        if name == "Rnn":
            expected, bound = np.tanh(gates), t
        elif name == "Lstm":
            scale = 2.0 ** -numbers[3 * len(own) :].astype(np.float64)
            cell = np.asarray(call.inputs[7], np.float64)[0, 0] * scale
            i, o, f, g = np.split(gates, 4)
            (si, so, sf, _), tg = np.split(s, 4), np.split(t, 4)[3]
            new = np.clip(sigmoid(f) * cell + sigmoid(i) * np.tanh(g), -(2.0**15) * scale, (2.0**15 - 1) * scale)
            cell_bound = sf * np.abs(cell) + si + tg + si * tg + scale / 2
            assert (np.abs(last[1] * scale - new) <= cell_bound).all()
            expected, bound = sigmoid(o) * np.tanh(new), so + cell_bound + 1.8 * UNIT
        else:
            z, reset = sigmoid(gates[:n]), sigmoid(gates[n : 2 * n])
            if a["linear_before_reset"]:
                g, te = first[2 * n :] + reset * second[2 * n :], t[2 * n :] + s[n : 2 * n] * np.abs(second[2 * n :])
            else:
                g = first[2 * n :] + (r[2 * n :] @ (reset * h)) * other[2 * n :]
                te = t[2 * n :] + (np.abs(r[2 * n :]) @ (s[n : 2 * n] * np.abs(h) + 0.5)) * other[2 * n :]
            expected = (1 - z) * np.tanh(g) + z * state
            bound = s[:n] * (np.abs(state) + 1) + te
        assert (np.abs(last[0] * 2 * half - np.clip(expected, *limits)) <= bound + half + 1e-12).all()

    check()


def test_the_widest_accumulator_does_not_leave_64_bits(portable: PortableLibrary) -> None:
    """The largest sums that there are: |A| is 2^53 but for rounding and worth 4, B and the bias are worth 1 each."""
    features = 1 << 15
    sums = np.asarray([[features * 32767 << 23, 32767 << 15]])
    multipliers, shift, exact = wide_row_multipliers(np.asarray([[2.0**-36, 2.0**-15]]), sums, 1 << 19)
    assert exact and (multipliers * sums < 1 << 60).all()
    for sign in (1, -1):
        row = np.asarray([[[sign << 19, *multipliers[0]]]], np.int32)
        inputs: list[Any] = [
            np.full((1, 1, features), sign * (1 << 23), np.int32),
            np.full((1, 1, features), 32767, np.int16),
            np.full((1, 1, 1), 32767, np.int16),
            row,
            tanh_table(),
            None,
            np.full((1, 1, 1), sign * 32767, np.int16),
        ]
        attributes = attributes_of("Rnn", 1, (False,), shift, 1 << 19, 15)
        call = NodeCall("RnnLast", "int16_weights", inputs, {**attributes, "variant": "int16_weights"})
        (got,) = (array.item() for array in run_c(portable, call))
        assert got == run_numpy(call)[0].item() and abs(got - sign * 2.0**15 * np.tanh(6)) < 2
