"""LSTM, GRU, RNN and layer normalization: NumPy, portable C and onnxruntime agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph.operators.recurrent import ACTIVATIONS, GRU, LSTM, RNN, Cell
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, assert_close, run_c, run_numpy, run_onnxruntime
from kernels.portable_library import PortableLibrary

CELLS = {cell.name: cell for cell in (LSTM, GRU, RNN)}
DEFAULTS = {"Lstm": ("Sigmoid", "Tanh", "Tanh"), "Gru": ("Sigmoid", "Tanh"), "Rnn": ("Tanh",)}
BOUNDED = ("Sigmoid", "Tanh", "HardSigmoid", "Softsign", "ScaledTanh")
"""Under which a state does not grow, so that rounding errors stay what they are."""
PARAMETERS = {"HardSigmoid": (0.25, 0.4), "ScaledTanh": (0.9, 0.7), "Affine": (0.5, 0.1), "LeakyRelu": (0.1, 0.0), "Elu": (0.7, 0.0)}


def reals(draw: DrawFn, *shape: int) -> Array:
    return np.asarray(generator(draw).standard_normal(shape) * 0.6, np.float32)


def maybe(draw: DrawFn, *shape: int) -> Array | None:
    value = reals(draw, *shape)
    return value if draw(st.booleans()) else None


@st.composite
def recurrent(draw: DrawFn, name: str, any_activation: bool = True) -> NodeCall:
    cell: Cell = CELLS[name]
    steps, batch, features, hidden = (draw(st.integers(1, most)) for most in (6, 3, 5, 7))
    reverse = draw(st.sampled_from([(False,), (True,), (False, True)]))
    n = len(reverse)
    names = DEFAULTS[name] * n
    if any_activation and draw(st.booleans()):
        names = tuple(draw(st.sampled_from(BOUNDED)) for _ in names)
    lengths = draw(st.sampled_from([None, generator(draw).integers(1, steps, batch, np.int32, endpoint=True)]))
    inputs: list[Any] = [
        reals(draw, steps, batch, features),
        reals(draw, n, cell.gates * hidden, features),
        reals(draw, n, cell.gates * hidden, hidden),
        maybe(draw, n, cell.biases * hidden),
        lengths,
        maybe(draw, n, batch, hidden),
    ]
    attributes: dict[str, Any] = {
        "hidden": hidden,
        "directions": reverse,
        "activations": tuple((activation, *PARAMETERS.get(activation, (0.0, 0.0))) for activation in names),
        "threshold": draw(st.sampled_from([float("inf"), 0.5, 3.0])),
    }
    if name == "Lstm":
        inputs += [maybe(draw, n, batch, hidden), maybe(draw, n, 3 * hidden)]
        attributes["coupled"] = draw(st.booleans())
    if name == "Gru":
        attributes["linear_before_reset"] = draw(st.booleans())
    return NodeCall(name + draw(st.sampled_from(["", "Last"])), "float32", inputs, attributes)


@pytest.mark.parametrize("name", CELLS)
def test_numpy_and_c(portable: PortableLibrary, name: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(recurrent(name))
    def check(call: NodeCall) -> None:
        assert_close(run_c(portable, call), run_numpy(call), call)

    check()


@pytest.mark.parametrize("name", CELLS)
def test_numpy_and_onnxruntime(name: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=40)
    @given(recurrent(name))
    def check(call: NodeCall) -> None:
        assert_close(run_numpy(call), run_onnxruntime(call), call)

    check()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation(portable: PortableLibrary, activation: str) -> None:
    rng = np.random.default_rng(5)
    x, w, r = (np.asarray(rng.standard_normal(shape), np.float32) for shape in ((3, 2, 4), (1, 5, 4), (1, 5, 5)))
    inputs = [x * 2, w, r * np.float32(0.3), None, None, None]
    attributes = {
        "hidden": 5,
        "directions": (False,),
        "activations": ((activation, *PARAMETERS.get(activation, (0.5, 0.0))),),
        "threshold": float("inf"),
    }
    call = NodeCall("Rnn", "float32", inputs, attributes)
    assert_close(run_c(portable, call), run_numpy(call), call)
    assert_close(run_numpy(call), run_onnxruntime(call), call)


def test_lengths_of_a_damaged_input(portable: PortableLibrary) -> None:
    """Below 0 none of the steps, beyond the end all of them."""
    rng = np.random.default_rng(6)
    x, w, r = (np.asarray(rng.standard_normal(shape), np.float32) for shape in ((3, 2, 4), (1, 5, 4), (1, 5, 5)))
    lengths = np.asarray([-(2**31), 2**31 - 1], np.int32)
    attributes = {"hidden": 5, "directions": (True,), "activations": (("Tanh", 0.0, 0.0),), "threshold": float("inf")}
    call = NodeCall("Rnn", "float32", [x, w, r, None, lengths, None], attributes)
    y, state = run_c(portable, call)
    assert not y[:, 0, 0].any() and y[:, 0, 1].all() and not state[0, 0].any()
    assert_close([y, state], run_numpy(call), call)


@st.composite
def layer_normalization(draw: DrawFn) -> NodeCall:
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    axis = draw(st.integers(0, len(shape) - 1))
    x = reals(draw, *shape) * np.float32(draw(st.sampled_from([1.0, 100.0]))) + np.float32(draw(st.sampled_from([0.0, 5.0])))
    scale, bias = maybe(draw, *shape[axis:]), maybe(draw, *shape[axis:])
    attributes = {"length": int(np.prod(shape[axis:])), "centred": draw(st.booleans()), "epsilon": draw(st.sampled_from([1e-5, 0.1]))}
    return NodeCall("LayerNormalization", "float32", [x, scale, bias], attributes)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(layer_normalization())
def test_layer_normalization(portable: PortableLibrary, call: NodeCall) -> None:
    assert_close(run_c(portable, call), run_numpy(call), call)
    assert_close(run_c(portable, call, in_place=True), run_numpy(call), call)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(layer_normalization())
def test_layer_normalization_and_onnxruntime(call: NodeCall) -> None:
    assert_close(run_numpy(call), run_onnxruntime(call), call)
