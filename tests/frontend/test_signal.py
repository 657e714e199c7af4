"""DFT and STFT as ONNX spells them: axes, lengths, opsets, windows."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper

BOTH = ("onnxruntime", "reference")


@pytest.mark.parametrize("length", [None, 4, 12])
@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("how", [{}, {"onesided": 1}, {"inverse": 1}], ids=str)
def test_dft(how, axis, length, agree, values):
    x = values(5, 6, 8, 2 if "inverse" in how else 1)
    constants = {"a": np.array(axis), **({"n": np.array(length)} if length else {})}
    node = helper.make_node("DFT", ["x", "n" if length else "", "a"], ["y"], **how)
    agree(node, {"x": x}, constants, opset=20, oracles=("reference",) if how == {"onesided": 1} and axis == 0 else BOTH)


@pytest.mark.parametrize("length", [None, 7, 8])
def test_back_to_real_values(length, agree, values):
    """The default length is even. (onnxruntime 1.32 gives the complex result.)"""
    node = helper.make_node("DFT", ["x", "n"] if length else ["x"], ["y"], inverse=1, onesided=1)
    agree(node, {"x": values(3, 6, 2)}, {"n": np.array(length)} if length else {}, opset=20, oracles=("reference",))


def test_dft_of_opset_17(agree, values):
    """The axis is an attribute, 1 by default."""
    agree(helper.make_node("DFT", ["x"], ["y"]), {"x": values(3, 6, 5, 2)}, opset=17, oracles=BOTH)
    agree(helper.make_node("DFT", ["x"], ["y"], axis=2, onesided=1), {"x": values(3, 6, 5, 1)}, opset=17, oracles=BOTH)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("window", ["constant", "computed", None])
@pytest.mark.parametrize("length", [16, 15])
def test_stft(length, window, onesided, agree, values):
    x, taps = values(2, 70, 1), np.hanning(length).astype(np.float32)
    node = helper.make_node("STFT", ["x", "step", "w" if window else "", "" if window else "n"], ["y"], onesided=onesided)
    constants = {"step": np.array(6), **({} if window else {"n": np.array(length)}), **({"w": taps} if window == "constant" else {})}
    inputs = {"x": x, **({"w": taps} if window == "computed" else {})}
    agree(node, inputs, constants, oracles=BOTH if length == 16 else ("reference",))


def test_stft_of_a_signal_without_its_last_dimension(agree, values):
    """[batch, length]: torch.stft exports it, onnxruntime computes it."""
    node = helper.make_node("STFT", ["x", "step", "w"], ["y"])
    agree(node, {"x": values(2, 40)}, {"step": np.array(5), "w": values(16, seed=1)}, oracles=("onnxruntime",))


def test_stft_of_a_complex_signal(agree, values):
    node = helper.make_node("STFT", ["x", "step", "", "n"], ["y"], onesided=0)
    agree(node, {"x": values(1, 40, 2)}, {"step": np.array(8), "n": np.array(16)}, oracles=BOTH)


def test_refusals(attempt, values):
    with pytest.raises(UnsupportedModelError, match="onesided=1"):
        attempt(helper.make_node("DFT", ["x"], ["y"], onesided=1), {"x": values(2, 8, 2)}, opset=20)
    with pytest.raises(ModelFileError, match="axis"):
        attempt(helper.make_node("DFT", ["x", "", "a"], ["y"]), {"x": values(2, 8, 2)}, {"a": np.array(2)}, opset=20)
    with pytest.raises(ModelFileError, match="window of 5"):
        constants = {"s": np.array(2), "w": np.ones(5, np.float32), "n": np.array(6)}
        attempt(helper.make_node("STFT", ["x", "s", "w", "n"], ["y"]), {"x": values(1, 8, 1)}, constants)
    with pytest.raises(ModelFileError, match="longer than the signal"):
        attempt(helper.make_node("STFT", ["x", "s", "", "n"], ["y"]), {"x": values(1, 8, 1)}, {"s": np.array(2), "n": np.array(9)})
