"""Real recurrent networks on streams of 100 frames: the converted model remembers, for onnxruntime the test does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.errors import ToolError
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from numpy.typing import NDArray
from onnx import TensorProto, helper

Array = NDArray[Any]
FRAMES, EMULATED_FRAMES = 100, 3
FRAME, CONTEXT = 512, 64
"""Samples of a frame of the voice detector, and those before it that it wants to see again."""
ENGINES = ("numpy", "c", "compiled", "emulated", "emulated-compiled")


def carried(path: Path, frames: Sequence[Array], states: Mapping[str, str], fixed: Mapping[str, Array], input_name: str = "input") -> Array:
    """onnxruntime's first output for each frame."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names, inputs = [port.name for port in session.get_outputs()], session.get_inputs()
    sizes = {port.name: [size if isinstance(size, int) else 1 for size in port.shape] for port in inputs}
    kept = {name: np.zeros(sizes[name], np.float32) for name in states.values()}
    results = []
    for frame in frames:
        values = dict(zip(names, session.run(None, {input_name: frame, **fixed, **kept}), strict=True))
        kept = {name: values[output] for output, name in states.items()}
        results.append(values[names[0]])
    return np.stack(results)


def assert_streams(folder: Path, frames: Sequence[Array], expected: Array, engine: str) -> None:
    count = EMULATED_FRAMES if engine.startswith("emulated") else len(frames)
    try:
        opened = open_engine(engine, folder)
    except ToolError as error:
        pytest.skip(str(error))
    results = np.stack([outputs[0] for outputs in opened.run([[frame] for frame in frames[:count]])])
    bound = 1e-5 * np.abs(expected).max() + 1e-6
    np.testing.assert_allclose(results, expected[:count], rtol=0, atol=bound)


@pytest.fixture(scope="module")
def silero(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Array], Array]:
    """The voice activity detector: twelve If nodes, all decided at conversion; the rate is bound, the LSTM's state kept."""
    path = data / "models" / "repo" / "silero_vad_16k.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    folder = tmp_path_factory.mktemp("silero")
    options = ConvertOptions(
        precision="float32",
        output=folder,
        shapes={"input": (1, CONTEXT + FRAME)},
        values={"sr": 16000},
        states={"stateN": "state"},
        force=True,
    )
    program = convert(path, options).program
    assert [port.name for port in (*program.inputs, *program.outputs)] == ["input", "output"]
    samples = np.load(data / "data" / "speech_commands_raw_48clips.npz")["a_i16"].reshape(-1)[: CONTEXT + FRAME * FRAMES] / 32768
    frames = [samples[None, start : start + CONTEXT + FRAME].astype(np.float32) for start in range(0, FRAME * FRAMES, FRAME)]
    expected = carried(path, frames, {"stateN": "state"}, {"sr": np.array(16000, np.int64)})
    assert expected.min() < 0.1 and expected.max() > 0.9  # silence and speech
    return folder, frames, expected


@pytest.mark.parametrize("engine", ENGINES)
def test_silero(silero: tuple[Path, list[Array], Array], engine: str) -> None:
    assert_streams(*silero, engine)


def stepwise(model: onnx.ModelProto) -> onnx.ModelProto:
    """The classifier of activities, whose LSTM reads a window of 50 samples, as a network that takes one sample and remembers."""
    step = onnx.ModelProto()
    step.CopyFrom(model)
    graph = step.graph
    lstm = next(node for node in graph.node if node.op_type == "LSTM")
    del graph.value_info[:]
    graph.input[0].type.tensor_type.shape.dim[2].dim_value = 1
    for position, name in ((5, "h"), (6, "c")):
        lstm.input[position] = name
        graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 1, 24)))
        graph.output.append(helper.make_tensor_value_info(lstm.output[position - 4], TensorProto.FLOAT, (1, 1, 24)))
    return step


@pytest.fixture(scope="module")
def activities(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Array], Array]:
    path = data / "models" / "torch" / "har_lstm.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    folder = tmp_path_factory.mktemp("activities")
    model = stepwise(onnx.load(path))
    onnx.save(model, folder / "step.onnx")
    states = {model.graph.output[1].name: "h", model.graph.output[2].name: "c"}
    plain = convert(folder / "step.onnx", ConvertOptions(precision="float32", output=folder / "plain"))
    proposal = " ".join(f"--state {output}={name}" for output, name in states.items())
    assert any(note.endswith(proposal) for note in plain.report.notes)
    convert(folder / "step.onnx", ConvertOptions(precision="float32", output=folder / "out", states=states))
    signal = np.random.default_rng(1).normal(0, 1, (6, FRAMES)).astype(np.float32)
    frames = list(np.ascontiguousarray(signal.T).reshape(FRAMES, 1, 6, 1))
    expected = carried(folder / "step.onnx", frames, states, {})
    window = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(expected[49], window.run(None, {"input": signal[None, :, :50]})[0], atol=1e-5)
    return folder / "out", frames, expected


@pytest.mark.parametrize("engine", ENGINES)
def test_activities(activities: tuple[Path, list[Array], Array], engine: str) -> None:
    """Fifty steps are the window of the original model."""
    assert_streams(*activities, engine)


def test_activities_by_window(data: Path, tmp_path: Path) -> None:
    """The model as it is, which keeps nothing: every window begins anew."""
    path = data / "models" / "torch" / "har_lstm.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    assert not convert(path, ConvertOptions(precision="float32", output=tmp_path / "out")).program.states
    frames = list(np.random.default_rng(2).normal(0, 1, (FRAMES, 1, 6, 50)).astype(np.float32))
    expected = carried(path, frames, {}, {})
    for engine in ("numpy", "c"):
        assert_streams(tmp_path / "out", frames, expected, engine)
