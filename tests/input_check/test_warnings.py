"""The classic mistakes of preparing data: `verify`, `run` and `inspect --data` say so, loudly, and what to do; right data passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import CalibrationError
from arenite.pipeline import ConvertOptions, convert
from arenite.quantize import statistics
from arenite.report import ReportPort, from_json, to_json
from arenite.verify import verify
from arenite.verify.execution import execute
from arenite.verify.input_check import check_input
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array = NDArray[np.float32]
SIZE = 12
MEAN, DEVIATION = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])


def images(count: int, seed: int) -> Array:
    """Colour images as of a camera, [count, 3, SIZE, SIZE] within 0 … 1: smooth, of one tint each, with some black and white."""
    rng = np.random.default_rng(seed)
    at = np.linspace(0, 1, SIZE)
    waves = rng.uniform(0.5, 3, (count, 3, 2, 1, 1)) * np.stack(np.meshgrid(at, at))[None, None]
    texture = np.sin(2 * np.pi * waves.sum(axis=2) + rng.uniform(0, 6, (count, 1, 1, 1)))
    tint = rng.uniform(0.2, 0.8, (count, 3, 1, 1))
    return np.clip(tint + 0.25 * texture + rng.normal(0, 0.02, (count, 3, SIZE, SIZE)), 0, 1).astype(np.float32)


def standardized(x: Array) -> Array:
    return (x - MEAN[:, None, None]) / DEVIATION[:, None, None]


def save_classifier(path: Path) -> None:
    rng = np.random.default_rng(7)
    weights = {"w": rng.normal(0, 0.3, (4, 3, 3, 3)), "v": rng.normal(0, 1, (4, 5))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "v"], ["scores"], "scores"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [value("scores", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(data.astype(np.float32), name) for name, data in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, Path]]:
    """Model and folder, converted with such calibration data; of each kind once."""
    made: dict[tuple[str, ...], tuple[Path, Path]] = {}

    def build(kind: str, **options: object) -> tuple[Path, Path]:
        key = (kind, *(f"{name}={value}" for name, value in options.items()))
        if key not in made:
            folder = tmp_path_factory.mktemp("built")
            save_classifier(folder / "m.onnx")
            prepare = {"0..1": lambda x: x, "0..255": lambda x: 255 * x, "standardized": standardized}[kind]
            np.savez(folder / "calibration.npz", x=prepare(images(64, 1)))
            chosen = ConvertOptions(calibration=folder / "calibration.npz", output=folder / "out", **options)  # type: ignore[arg-type]
            convert(folder / "m.onnx", chosen)
            made[key] = folder / "m.onnx", folder / "out"
        return made[key]

    return build


MISTAKES = {
    "0..255 for 0..1": (
        "0..1",
        lambda x: 255 * x,
        "lie outside of what calibration has seen, 0 to 1; these go from 0 to 255",
        "divide by 255",
    ),
    "0..1 for 0..255": ("0..255", lambda x: x, "take up only 0.39% of what calibration has seen, 0 to 255", "multiply by 255"),
    "standardized for 0..1": ("0..1", standardized, "lie outside", "(x + "),
    "0..1 for standardized": ("standardized", lambda x: x, "mean and deviation are others", ") / 0."),
    "-1..1 for 0..1": ("0..1", lambda x: 2 * x - 1, "lie outside", "(x + 1"),
    "NHWC reshaped to NCHW": ("0..1", lambda x: np.moveaxis(x, 1, -1).reshape(x.shape), "neighbours along axis", "numpy.transpose"),
}


@pytest.mark.parametrize("io", ["int8", "float32"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_loud(built: Callable[..., tuple[Path, Path]], tmp_path: Path, mistake: str, io: str) -> None:
    calibrated, spoil, said, remedy = MISTAKES[mistake]
    model, folder = built(calibrated, io=io)
    np.savez(tmp_path / "x.npz", x=spoil(images(24, 2)))
    found = verify(model, folder, tmp_path / "x.npz", engines=["numpy"])
    (note,) = found.notes
    assert note.startswith("input x: ") and said in note and remedy in note
    assert note in execute(folder, tmp_path / "x.npz", "numpy").inputs[0].warnings
    (check,) = found.to_json()["inputs"]
    assert check["warnings"] == [note] and check["elements"] == 24 * 3 * SIZE * SIZE
    assert (check["outside"] > check["elements"] / 100) == ("outside" in note)
    assert (check["saturated"] > 0) == (io == "int8" and check["outside"] > 0)


@pytest.mark.parametrize("kind", ["0..1", "0..255", "standardized"])
def test_right_data_is_not_warned_of(built: Callable[..., tuple[Path, Path]], tmp_path: Path, kind: str) -> None:
    model, folder = built(kind, io="int8")
    prepare = {"0..1": lambda x: x, "0..255": lambda x: 255 * x, "standardized": standardized}[kind]
    for seed, count in enumerate((1, 3, 10, 50)):
        np.savez(tmp_path / "x.npz", x=prepare(images(count, 10 + seed)))
        assert verify(model, folder, tmp_path / "x.npz", engines=["numpy"]).notes == ()


def test_another_shape_is_an_error_that_says_how(built: Callable[..., tuple[Path, Path]], tmp_path: Path) -> None:
    model, folder = built("0..1", io="int8")
    np.savez(tmp_path / "x.npz", x=np.moveaxis(images(4, 2), 1, -1))
    with pytest.raises(CalibrationError, match=r"numpy.transpose\(array, \(0, 3, 1, 2\)\)"):
        verify(model, folder, tmp_path / "x.npz")


@pytest.mark.parametrize("options", [{"precision": "float32"}, {"precision": "int16"}, {"io_layout": "nhwc"}])
def test_every_form_of_model(built: Callable[..., tuple[Path, Path]], tmp_path: Path, options: dict[str, str]) -> None:
    model, folder = built("0..1", **options)
    np.savez(tmp_path / "right.npz", x=images(24, 2))
    np.savez(tmp_path / "wrong.npz", x=255 * images(24, 2))
    np.savez(tmp_path / "mixed.npz", x=np.moveaxis(images(24, 2), 1, -1).reshape(24, 3, SIZE, SIZE))
    assert verify(model, folder, tmp_path / "right.npz", engines=["numpy"]).notes == ()
    for file, said in (("wrong.npz", "divide by 255"), ("mixed.npz", "neighbours along axis")):
        assert said in verify(model, folder, tmp_path / file, engines=["numpy"]).notes[0]


def test_without_calibration_nothing_is_known(tmp_path: Path) -> None:
    save_classifier(tmp_path / "m.onnx")
    conversion = convert(tmp_path / "m.onnx", ConvertOptions(output=tmp_path / "out"))
    assert conversion.report.inputs[0].expected is None
    assert "There is no EXPECTED_MIN" in (tmp_path / "out" / "m.h").read_text()
    np.savez(tmp_path / "x.npz", x=255 * images(9, 2))
    found = verify(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz", engines=["numpy"])
    assert found.notes == () and found.inputs[0].outside == 0 and found.inputs[0].saturated > 0


def test_a_model_with_its_own_scale(tmp_path: Path) -> None:
    """What the scale represents, where there is no data."""
    value = helper.make_tensor_value_info
    constants = {"s": np.float32(1 / 255), "z": np.int8(-128), "t": np.float32(0.02), "w": np.eye(4, dtype=np.float32)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("MatMul", ["d", "w"], ["m"], "layer"),
        helper.make_node("QuantizeLinear", ["m", "t", "z"], ["n"]),
        helper.make_node("DequantizeLinear", ["n", "t", "z"], ["y"]),
    ]
    tensors = [numpy_helper.from_array(np.asarray(data), name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "g", [value("x", 1, [1, 4])], [value("y", 1, [1, 4])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    report = convert(tmp_path / "m.onnx", ConvertOptions(output=tmp_path / "out")).report
    expected = report.inputs[0].expected
    assert expected is not None and (expected.low, expected.high, expected.mean) == (0, pytest.approx(1), None)
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(1).uniform(0, 255, (20, 4)).astype(np.float32))
    (note,) = verify(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz", engines=["numpy"]).notes
    assert "the model's own scale represents" in note and from_json(to_json(report), "r").inputs == report.inputs


def test_figures_of_the_report(built: Callable[..., tuple[Path, Path]]) -> None:
    _, folder = built("0..1", io="int8")
    report = from_json(json.loads((folder / "report.json").read_text()), "report.json")
    seen = statistics(images(64, 1)[:, None])
    assert report.inputs[0].expected == seen and report.outputs[0].expected is None
    assert (seen.low, seen.high) == (0, 1) and seen.changes[0] is None
    mean, deviation, changes = seen.mean, seen.deviation, seen.changes[2]
    assert mean and deviation and changes
    samples = images(64, 1).astype(np.float64)
    assert mean.mean == pytest.approx(samples.mean()) and deviation.mean == pytest.approx(samples.reshape(64, -1).std(axis=1).mean())
    rough = np.sqrt((np.diff(samples, axis=2) ** 2).mean(axis=(1, 2, 3)) / 2) / samples.reshape(64, -1).std(axis=1)
    assert changes.mean == pytest.approx(rough.mean()) and changes.deviation == pytest.approx(rough.std())
    noise = statistics(np.random.default_rng(0).normal(0, 1, (20, 1, 40, 40)).astype(np.float32)).changes[1]
    assert noise is not None and noise.mean == pytest.approx(1, abs=0.05)


def test_constant_samples_and_scalars() -> None:
    for values in (np.zeros((3, 1, 4), np.float32), np.ones((1, 1), np.float32), np.full((9, 1, 4), 7, np.float32)):
        seen = statistics(values)
        port = ReportPort(
            "x", values.shape[1:], "float32", None, None, values.shape[1:], "float32", tuple(range(values.ndim - 1)), expected=seen
        )
        assert check_input(port, values).warnings == ()
        assert check_input(port, values + 100).warnings != ()
