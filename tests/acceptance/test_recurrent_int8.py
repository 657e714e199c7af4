"""Real recurrent networks in int8: classifiers keep their figures, and two networks that listen to streams of sound stay near to float."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acceptance.test_streaming import CONTEXT, FRAME, carried
from arenite.errors import ToolError
from arenite.graph import DType
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from numpy.typing import NDArray

Array = NDArray[Any]
SMALL_LOSS = 0.005
"""Share of test samples."""
FRAMES = 100


@dataclass(frozen=True)
class Classifier:
    model: str
    data: str
    figure: float
    """Share of the test samples that float gets right."""
    read: Callable[[Array], Array] = lambda x: x


CLASSIFIERS = (
    Classifier("torch/har_lstm", "basicmotions", 1.0, lambda x: x[:, :, ::2]),
    Classifier("torch/har_gru2_dynamo", "basicmotions", 1.0, lambda x: x[:, :, ::2]),
    Classifier("torch/vowels_bigru", "japanesevowels", 0.962162),
    Classifier("keras/keras_har_lstm2", "basicmotions", 0.925, lambda x: x[:, :, ::2].transpose(0, 2, 1)),
)


def there(path: Path) -> Path:
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return path


def results(conversion: Conversion, engine: str, inputs: Sequence[Array]) -> Array:
    """The first output for each input. Skips where the engine's tools are absent."""
    try:
        opened = open_engine(engine, conversion.folder)
    except ToolError as error:
        pytest.skip(str(error))
    return np.stack([outputs[0] for outputs in opened.run([[x] for x in inputs])])


@pytest.mark.parametrize("one", CLASSIFIERS, ids=lambda one: one.model)
def test_classifiers(one: Classifier, data: Path, tmp_path: Path) -> None:
    """Calibrated on training samples; every recurrent layer in int8; NumPy, C and the compiled form equal."""
    values = np.load(there(data / "data" / f"{one.data}.npz"))
    train, test = (np.ascontiguousarray(one.read(values[f"x_{part}"]), np.float32) for part in ("train", "test"))
    (name,) = (port.name for port in convert(there(data / "models" / f"{one.model}.onnx"), _float(tmp_path)).program.inputs)
    np.savez(tmp_path / "calibration.npz", **{name: train[:, None]})
    options = ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out", io="float32")
    conversion = convert(data / "models" / f"{one.model}.onnx", options)
    assert conversion.quantized.precision == "int8"
    scores = results(conversion, "c", list(test[:, None]))
    right = float(np.mean(scores.reshape(len(test), -1).argmax(1) == values["y_test"].reshape(-1)))
    assert right >= one.figure - SMALL_LOSS
    for engine in ("numpy", "compiled"):
        np.testing.assert_array_equal(results(conversion, engine, list(test[:4, None])), scores[:4], err_msg=engine)


def _float(folder: Path) -> ConvertOptions:
    return ConvertOptions(precision="float32", output=folder / "float")


def sqnr_db(expected: Array, got: Array) -> float:
    return float(10 * np.log10(np.sum(expected**2) / np.sum((expected - got) ** 2)))


@pytest.fixture(scope="module")
def sound(data: Path) -> Array:
    values = np.load(there(data / "data" / "speech_commands_raw_48clips.npz"))["a_i16"]
    return np.asarray(values.reshape(-1) / 32768, np.float32)


def voice_frames(sound: Array, first: int, count: int) -> list[Array]:
    starts = range(FRAME * first, FRAME * (first + count), FRAME)
    return [np.ascontiguousarray(sound[None, start : start + CONTEXT + FRAME]) for start in starts]


@pytest.fixture(scope="module")
def voice(data: Path, sound: Array, tmp_path_factory: pytest.TempPathFactory) -> Conversion:
    """The voice activity detector, calibrated on other clips than those that it is tested on."""
    folder = tmp_path_factory.mktemp("voice")
    np.savez(folder / "calibration.npz", input=np.stack(voice_frames(sound, FRAMES + 1, 400)))
    options = ConvertOptions(
        calibration=folder / "calibration.npz",
        output=folder / "out",
        io="float32",
        shapes={"input": (1, CONTEXT + FRAME)},
        values={"sr": 16000},
        states={"stateN": "state"},
    )
    return convert(there(data / "models" / "repo" / "silero_vad_16k.onnx"), options)


def test_voice(voice: Conversion, data: Path, sound: Array) -> None:
    """Spectrum and magnitude stay float32, and the report says so; everything behind them is int8, and the state int16."""
    frames = voice_frames(sound, 0, FRAMES)
    path = data / "models" / "repo" / "silero_vad_16k.onnx"
    expected = carried(path, frames, {"stateN": "state"}, {"sr": np.array(16000, np.int64)})
    got = results(voice, "c", frames)
    assert sqnr_db(expected, got) > 25
    assert np.mean(np.abs(expected - got)) < 0.02 and np.mean((expected > 0.5) == (got > 0.5)) >= 0.98
    (note,) = (note for note in voice.report.notes if note.startswith("not int8"))
    assert "/model/stft/Pow" in note
    int8 = [(node.op, node.name) for node in voice.quantized.graph.nodes if node.attributes.get("variant") == "int8"]
    assert [op for op, _ in int8 if op in ("Conv", "LstmLast")] == ["Conv"] * 3 + ["LstmLast", "Conv"]
    (state,) = voice.program.states
    assert voice.program.tensors[state.input].dtype is DType.INT16


@pytest.mark.parametrize("engine", ["numpy", "compiled", "emulated"])
def test_voice_in_every_engine(voice: Conversion, sound: Array, engine: str) -> None:
    """To the tolerance of what is float32 in it: a step of int8 may fall the other way."""
    frames = voice_frames(sound, 20, 3)
    np.testing.assert_allclose(results(voice, engine, frames), results(voice, "c", frames), rtol=0, atol=0.02)


def magnitudes(sound: Array, first: int, count: int) -> list[Array]:
    starts = range(128 * first, 128 * (first + count), 128)
    return [np.abs(np.fft.rfft(sound[start : start + 512])).astype(np.float32).reshape(1, 1, 257) for start in starts]


def test_noise_suppression(data: Path, sound: Array, tmp_path: Path) -> None:
    """Two LSTM layers whose four states are one tensor, cells a hundred times larger than what they let out; the spectrum that they read is
    int16. Its mask over 100 frames, and the engines equal."""
    path = there(data / "models" / "repo" / "dtln_1.onnx")
    np.savez(tmp_path / "calibration.npz", input_2=np.stack(magnitudes(sound, 400, 400)))
    states = {"tf_op_layer_stack_2": "input_3"}
    options = ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out", io="float32", states=states)
    conversion = convert(path, options)
    assert conversion.quantized.precision == "int8" and conversion.program.weight_bytes < 400_000
    frames = magnitudes(sound, 0, FRAMES)
    got = results(conversion, "c", frames)
    expected = carried(path, frames, states, {}, "input_2")
    assert sqnr_db(expected, got) > 28
    for engine in ("numpy", "compiled"):
        np.testing.assert_array_equal(results(conversion, engine, frames[:5]), got[:5], err_msg=engine)
