"""Random small models through the whole converter: every engine computes the same bytes, and every layer is within the
bound that docs/numerics.md states of what it should be in real numbers.

The default run is a sample; `make test-long` runs many more, and the emulated engines on more of them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.frontend import load
from arenite.passes import optimize
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite_runtime import Interpreter, Model
from differential.random_models import RandomModel, random_models
from differential.real_values import ORACLES, worst_excess
from hypothesis import HealthCheck, assume, given, settings
from numpy.typing import NDArray

LONG = bool(os.environ.get("ARENITE_LONG"))


def sample(count: int, long_count: int) -> settings:
    return settings(
        max_examples=long_count if LONG else count,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def converted(random: RandomModel, folder: Path) -> Conversion:
    folder.mkdir(exist_ok=True)
    onnx.save(random.model, folder / "random.onnx")
    np.savez(folder / "calibration.npz", x=random.calibration)
    options = ConvertOptions(calibration=folder / "calibration.npz", output=folder / "out", least_db=float("-inf"), force=True)
    return convert(folder / "random.onnx", options)


def converted_to_int8(random: RandomModel, folder: Path) -> Conversion:
    """The few models with magnitudes that no int8 form holds keep layers in float32, and engines agree on those to a tolerance only."""
    conversion = converted(random, folder)
    assume(conversion.quantized.precision == "int8")
    return conversion


def inputs_of(conversion: Conversion, count: int) -> list[list[NDArray[np.int8]]]:
    """All of int8, uniformly: harder on the arithmetic than calibration data."""
    rng = np.random.default_rng(7)
    shapes = [conversion.program.tensors[port.tensor].shape for port in conversion.program.inputs]
    return [[rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes] for _ in range(count)]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random")


@sample(250, 5000)
@given(random=random_models())
def test_numpy_and_c_agree_and_layers_are_right(random: RandomModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("random")
    try:
        conversion = converted_to_int8(random, folder)
        samples = inputs_of(conversion, 3)
        expected = open_engine("numpy", conversion.folder).run(samples)
        got = open_engine("c", conversion.folder).run(samples)
        for one, other in zip(expected, got, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)
        check_layers(conversion, samples)
    finally:
        shutil.rmtree(folder)


def check_layers(conversion: Conversion, samples: list[list[NDArray[np.int8]]]) -> None:
    graph = conversion.quantized.graph
    interpreter = Interpreter(Model.load(conversion.folder / f"{conversion.program.name}.arn"))
    for inputs in samples:
        values = dict(interpreter.run_all(inputs))
        values |= dict(zip(graph.inputs, inputs, strict=True))
        for node in graph.nodes:
            names = [name for name in (*node.inputs, node.output) if graph.tensor(name).data is None]
            if node.op in ORACLES and all(name in values for name in names):
                excess = worst_excess(node, graph, values)
                assert excess <= 0, f"{node.name} ({node.op}) is {excess} steps beyond its bound"


@sample(12, 300)
@given(random=random_models())
def test_compiled_agrees(random: RandomModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("random")
    try:
        conversion = converted_to_int8(random, folder)
        samples = inputs_of(conversion, 3)
        expected = open_engine("numpy", conversion.folder).run(samples)
        for one, other in zip(expected, open_engine("compiled", conversion.folder).run(samples), strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)
    finally:
        shutil.rmtree(folder)


@pytest.mark.emulated
@pytest.mark.parametrize("engine", ["emulated", "emulated-compiled"])
def test_emulated_agrees(engine: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    @sample(6, 60)
    @given(random=random_models())
    def check(random: RandomModel) -> None:
        folder = tmp_path_factory.mktemp("random")
        try:
            conversion = converted_to_int8(random, folder)
            samples = inputs_of(conversion, 2)
            expected = open_engine("numpy", conversion.folder).run(samples)
            for one, other in zip(expected, open_engine(engine, conversion.folder).run(samples), strict=True):
                for a, b in zip(one, other, strict=True):
                    np.testing.assert_array_equal(a, b)
        finally:
            shutil.rmtree(folder)

    check()


@sample(120, 2000)
@given(random=random_models())
def test_passes_keep_the_float_result(random: RandomModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the passes make of a model computes, in float, what onnxruntime computes of the original."""
    import onnxruntime
    from arenite.graph.onnx_export import evaluate

    folder = tmp_path_factory.mktemp("random")
    try:
        onnx.save(random.model, folder / "random.onnx")
        graph = optimize(load(folder / "random.onnx"))
        session = onnxruntime.InferenceSession(random.model.SerializeToString(), providers=["CPUExecutionProvider"])
        x = random.calibration[:1]
        expected = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": x}), strict=True))
        assume(all(np.isfinite(value).all() for value in expected.values()))
        got = evaluate(graph, {"x": x})
        for name, value in expected.items():
            assert got[name].shape == value.shape
            np.testing.assert_allclose(got[name], value, rtol=2e-3, atol=2e-4 * (np.abs(value).max() + 1e-9))
    finally:
        shutil.rmtree(folder)
