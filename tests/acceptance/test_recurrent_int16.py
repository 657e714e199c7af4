"""Real recurrent networks with 16-bit activations and weights: no layer of theirs is float32, and they keep 60 dB end to end, as
classifiers and on streams of 100 frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from acceptance.test_recurrent_int8 import CLASSIFIERS, FRAMES, Classifier, magnitudes, results, sqnr_db, there
from acceptance.test_streaming import carried, stepwise
from arenite.graph import DType
from arenite.pipeline import Conversion, ConvertOptions, convert
from numpy.typing import NDArray

Array = NDArray[Any]
LEAST_DB = 60.0
SAME_FRAMES = 5
"""Of the engines other than C."""


def float_layers(conversion: Conversion) -> list[str]:
    return [node.op for node in conversion.quantized.graph.nodes if node.attributes.get("variant") == "float32"]


def assert_stream(conversion: Conversion, frames: list[Array], expected: Array) -> None:
    got = results(conversion, "c", frames)
    assert sqnr_db(expected, got) > LEAST_DB
    for engine in ("numpy", "compiled", "emulated"):
        np.testing.assert_array_equal(results(conversion, engine, frames[:SAME_FRAMES]), got[:SAME_FRAMES], err_msg=engine)


@pytest.mark.parametrize("one", CLASSIFIERS, ids=lambda one: one.model)
def test_classifiers(one: Classifier, data: Path, tmp_path: Path) -> None:
    """Calibrated on training samples, the same classes and 60 dB on the test's; only a Softmax may be float32."""
    path = there(data / "models" / f"{one.model}.onnx")
    values = np.load(there(data / "data" / f"{one.data}.npz"))
    train, test = (np.ascontiguousarray(one.read(values[f"x_{part}"]), np.float32) for part in ("train", "test"))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    np.savez(tmp_path / "calibration.npz", **{name: train[:, None]})
    options = ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out", precision="int16")
    conversion = convert(path, options)
    assert set(float_layers(conversion)) <= {"Softmax"}
    frames = list(test[:, None])
    scores = results(conversion, "c", frames)
    expected = np.stack([session.run(None, {name: frame})[0] for frame in frames])
    assert sqnr_db(expected, scores) > LEAST_DB
    classes = values["y_test"].reshape(-1)
    right = [float(np.mean(found.reshape(len(test), -1).argmax(1) == classes)) for found in (scores, expected)]
    assert abs(right[0] - right[1]) < 1 / len(test) + 1e-9
    np.testing.assert_array_equal(results(conversion, "compiled", frames[:4]), scores[:4])


def test_noise_suppression(data: Path, tmp_path: Path) -> None:
    """Two LSTM layers whose four states are one tensor of int16, cells of up to 140 beside small ones; the spectrum has 24 bits."""
    path = there(data / "models" / "repo" / "dtln_1.onnx")
    sound = np.load(there(data / "data" / "speech_commands_raw_48clips.npz"))["a_i16"].reshape(-1).astype(np.float32) / 32768
    np.savez(tmp_path / "calibration.npz", input_2=np.stack(magnitudes(sound, 400, 400)))
    states = {"tf_op_layer_stack_2": "input_3"}
    options = ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out", precision="int16", states=states)
    conversion = convert(path, options)
    assert not float_layers(conversion)
    (state,) = conversion.program.states
    assert conversion.program.tensors[state.input].dtype is DType.INT16
    frames = magnitudes(sound, 0, FRAMES)
    assert_stream(conversion, frames, carried(path, frames, states, {}, "input_2"))


def test_activities_step_by_step(data: Path, tmp_path: Path) -> None:
    """The classifier of activities one sample at a time, its states carried on through 100 samples of two recordings."""
    model = stepwise(onnx.load(there(data / "models" / "torch" / "har_lstm.onnx")))
    onnx.save(model, tmp_path / "step.onnx")
    states = {model.graph.output[1].name: "h", model.graph.output[2].name: "c"}
    values = np.load(there(data / "data" / "basicmotions.npz"))
    train, test = (values[f"x_{part}"][:, :, ::2].transpose(0, 2, 1).astype(np.float32) for part in ("train", "test"))
    np.savez(tmp_path / "calibration.npz", input=train.reshape(-1, 1, 6, 1))
    options = ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out", precision="int16", states=states)
    conversion = convert(tmp_path / "step.onnx", options)
    assert not float_layers(conversion)
    program = conversion.program
    assert [program.tensors[state.input].dtype for state in program.states] == [DType.INT16, DType.INT16]
    frames = list(np.ascontiguousarray(test).reshape(-1, 1, 6, 1)[:FRAMES])
    assert_stream(conversion, frames, carried(tmp_path / "step.onnx", frames, states, {}))
