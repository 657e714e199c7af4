"""LSTM, GRU, RNN on int8 with int16 states: NumPy and portable C equal, for any bytes; and near to real arithmetic, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph.operators.recurrent import CELLS, GRU, LSTM, Cell
from arenite.quantize.lower_recurrent import row_multipliers, tanh_table
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, run_c, run_numpy
from kernels.portable_library import PortableLibrary

DEFAULTS = {"Lstm": ("Sigmoid", "Tanh", "Tanh"), "Gru": ("Sigmoid", "Tanh"), "Rnn": ("Tanh",)}


def integers(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@st.composite
def recurrent(draw: DrawFn, name: str) -> NodeCall:
    """Any bytes for weights, states, tables and numbers of rows: a damaged model computes something, and the same everywhere."""
    cell: Cell = CELLS[name]
    rng = generator(draw)
    steps, batch, features = (draw(st.integers(1, most)) for most in (5, 3, 6))
    hidden = draw(st.integers(1, 9))
    reverse = draw(st.sampled_from([(False,), (True,), (False, True)]))
    n, rows = len(reverse), cell.gates * hidden
    sound = draw(st.booleans())
    row = integers(rng, np.int32, n, rows, 3)
    if sound:
        row = np.stack([rng.integers(-(2**20), 2**20, (n, rows)), rng.integers(0, 2**30, (n, rows)), rng.integers(0, 2**22, (n, rows))], -1)
    lengths = draw(st.sampled_from([None, integers(rng, np.int32, batch), rng.integers(0, steps, batch, np.int32, endpoint=True)]))

    def state() -> Array | None:
        value = integers(rng, np.int16, n, batch, hidden)
        return value if draw(st.booleans()) else None

    inputs: list[Any] = [
        integers(rng, draw(st.sampled_from([np.int8, np.int16])), steps, batch, features),
        integers(rng, np.int8, n, rows, features),
        integers(rng, np.int8, n, rows, hidden),
        row.astype(np.int32),
        tanh_table() if sound else integers(rng, np.int16, 513),
        lengths,
        state(),
    ]
    attributes: dict[str, Any] = {
        "hidden": hidden,
        "directions": reverse,
        "activations": tuple((activation, 0.0, 0.0) for activation in DEFAULTS[name] * n),
        "threshold": float("inf"),
        "shift": draw(st.integers(9, 46)),
        "limit": draw(st.sampled_from([0, 1, 12345, 1 << 15, 1 << 19])),
        "state_bits": draw(st.integers(0, 15)),
        "output_zero_point": draw(st.integers(-128, 127)),
        "output_multiplier": draw(st.integers(0, 2**15 - 1)),
        "output_shift": draw(st.integers(1, 30)),
    }
    if cell is LSTM:
        inputs.append(state())
        attributes |= {"coupled": False, "cell_bits": draw(st.integers(0, 15))}
    if cell is GRU:
        attributes["linear_before_reset"] = draw(st.booleans())
        bias = integers(rng, np.int32, n, hidden) >> draw(st.sampled_from([0, 8]))
        inputs.append(bias if attributes["linear_before_reset"] and draw(st.booleans()) else None)
    return NodeCall(name + draw(st.sampled_from(["", "Last"])), "int8", inputs, {**attributes, "variant": "int8"})


@pytest.mark.parametrize("name", CELLS)
def test_numpy_and_c(portable: PortableLibrary, name: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(recurrent(name))
    def check(call: NodeCall) -> None:
        for a, b in zip(run_c(portable, call), run_numpy(call), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=call.op)

    check()


def sigmoid(v: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * v)))


@st.composite
def one_step(draw: DrawFn, name: str) -> tuple[NodeCall, Array, Array]:
    """A step from given states, with the real numbers that the rows' multipliers stand for: of x and of h, [rows]."""
    cell: Cell = CELLS[name]
    rng = generator(draw)
    features, hidden = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rows = cell.gates * hidden
    spread = 10.0 ** draw(st.integers(-3, 0))
    own = rng.uniform(0.1, 1, rows) * 8 * spread / (features * 127)
    other = rng.uniform(0.1, 1, rows) * 2.0**-15 * 4 / (hidden * 127)
    multipliers, shift, _ = row_multipliers(np.stack([own, other], -1) * 2.0**15)
    bias = np.rint(rng.normal(0, 1, rows) / own).astype(np.int64)
    inputs: list[Any] = [
        integers(rng, np.int8, 1, 1, features),
        integers(rng, np.int8, 1, rows, features),
        integers(rng, np.int8, 1, rows, hidden),
        np.concatenate([bias[:, None], multipliers], -1).astype(np.int32)[None],
        tanh_table(),
        None,
        integers(rng, np.int16, 1, 1, hidden),
    ]
    attributes: dict[str, Any] = {
        "hidden": hidden,
        "directions": (False,),
        "activations": tuple((activation, 0.0, 0.0) for activation in DEFAULTS[name]),
        "threshold": float("inf"),
        "shift": shift,
        "limit": 1 << 19,
        "state_bits": draw(st.integers(10, 15)),
        "output_zero_point": 0,
        "output_multiplier": 0,
        "output_shift": 1,
        "variant": "int8",
    }
    if cell is LSTM:
        inputs.append(integers(rng, np.int16, 1, 1, hidden))
        attributes |= {"coupled": False, "cell_bits": draw(st.integers(8, 15))}
    if cell is GRU:
        attributes["linear_before_reset"] = draw(st.booleans())
        inputs.append(
            np.rint(rng.normal(0, 1, (1, hidden)) / other[2 * hidden :]).astype(np.int32) if attributes["linear_before_reset"] else None
        )
    return NodeCall(f"{name}Last", "int8", inputs, attributes), own, other


@pytest.mark.parametrize("name", CELLS)
def test_against_real_arithmetic(name: str) -> None:
    """One step in float64 on the same stored numbers, within the bound of numerics §12."""

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(one_step(name))
    def check(drawn: tuple[NodeCall, Array, Array]) -> None:
        call, own, other = drawn
        a, n, unit = call.attributes, call.attributes["hidden"], 2.0**-15
        x, w, r, row = (np.asarray(v, np.float64)[0] for v in call.inputs[:4])
        h = np.asarray(call.inputs[6], np.float64)[0, 0]
        state = h * 2.0 ** -a["state_bits"]
        product, back = w @ x[0] + row[:, 0], r @ h
        if name == "Gru" and a["linear_before_reset"]:
            back[2 * n :] += call.inputs[7][0]
        gates = product * own + back * other
        e = unit * (0.5 + (np.abs(product) + np.abs(back)) * 0.5 / 2.0 ** a["shift"])
        s, t = e / 4 + 1.2 * unit, e + 1.8 * unit  # errors of sigmoid and tanh of these
        last = [v.astype(np.float64)[0, 0] for v in run_numpy(call)]
        half = 2.0 ** -a["state_bits"] / 2
        limits = (-(2.0 ** (15 - a["state_bits"])), (2.0**15 - 1) * 2.0 ** -a["state_bits"])
        if name == "Rnn":
            expected, bound = np.tanh(gates), t
        elif name == "Lstm":
            scale = 2.0 ** -a["cell_bits"]
            cell = np.asarray(call.inputs[7], np.float64)[0, 0] * scale
            i, o, f, g = np.split(gates, 4)
            si, so, sf, tg = np.split(s, 4)[0], np.split(s, 4)[1], np.split(s, 4)[2], np.split(t, 4)[3]
            new = np.clip(sigmoid(f) * cell + sigmoid(i) * np.tanh(g), -(2.0**15) * scale, (2.0**15 - 1) * scale)
            cell_bound = sf * np.abs(cell) + si + tg + si * tg + scale / 2
            assert (np.abs(last[1] * scale - new) <= cell_bound).all()
            expected, bound = sigmoid(o) * np.tanh(new), so + cell_bound + 1.8 * unit
        else:
            z, reset, g = sigmoid(gates[:n]), sigmoid(gates[n : 2 * n]), gates[2 * n :]
            te, first, second = t[2 * n :], product[2 * n :] * own[2 * n :], back[2 * n :] * other[2 * n :]
            if a["linear_before_reset"]:
                g, te = first + reset * second, te + s[n : 2 * n] * np.abs(second)
            else:
                g = first + (r[2 * n :] @ (reset * h)) * other[2 * n :]
                te = te + (np.abs(r[2 * n :]) @ (s[n : 2 * n] * np.abs(h) + 0.5)) * other[2 * n :]
            expected = (1 - z) * np.tanh(g) + z * state
            bound = s[:n] * (np.abs(state) + 1) + te
        assert (np.abs(last[0] * 2 * half - np.clip(expected, *limits)) <= bound + half + 1e-12).all()

    check()
