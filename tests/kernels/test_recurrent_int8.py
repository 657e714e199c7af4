"""LSTM, GRU, RNN on int8 with int16 states: NumPy and portable C equal, for any bytes; and near to real arithmetic, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph.operators.recurrent import CELLS, GRU, LSTM, Cell
from arenite.quantize.lower_recurrent import tanh_table
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
