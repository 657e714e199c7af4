"""Random small models with `--precision float32`: NumPy, C, the compiled form and onnxruntime compute the same within what float32 allows.

How much the last digits of an intermediate result matter depends on the model: a difference of nearly equal numbers makes any error large.
So the tolerance of the design, which is for one operator, is multiplied by the model's own condition, measured: how much its outputs move
where every intermediate result is rounded to fewer digits.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify.agreement import ABSOLUTE, RELATIVE
from arenite_runtime import Interpreter, Model
from differential.random_models import RandomModel, random_models
from hypothesis import HealthCheck, assume, given, settings
from numpy.typing import NDArray

LONG = bool(os.environ.get("ARENITE_LONG"))
Outputs = list[NDArray[np.float32]]


def sample(count: int, long_count: int) -> settings:
    return settings(
        max_examples=long_count if LONG else count,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


def converted(random: RandomModel, folder: Path) -> Conversion:
    onnx.save(random.model, folder / "random.onnx")
    return convert(folder / "random.onnx", ConvertOptions(precision="float32", output=folder / "out"))


class Perturbed(Interpreter):
    """Moves every result by up to so many parts of the tensor's largest value."""

    def __init__(self, model: Model, amount: float, seed: int) -> None:
        super().__init__(model)
        self._amount, self._rng = amount, np.random.default_rng(seed)

    def _execute(self, at: int) -> int:
        jump, node = super()._execute(at), self.model.nodes[at]
        for index in node.outputs:
            view = self._views[index]
            if view.dtype == np.float32 and node.op not in ("StridedCopy", "Fill"):
                view += np.float32(self._amount) * np.abs(view).max() * self._rng.uniform(-1, 1, view.shape).astype(np.float32)
        return jump


def bounds(conversion: Conversion, x: NDArray[np.float32], exact: Outputs) -> list[float]:
    """By output: the design's tolerance, or how far errors of that size in every operator move the output."""
    model = Model.load(conversion.folder / f"{conversion.program.name}.arn")
    moved = [0.0] * len(exact)
    for seed in range(4):
        for i, (output, expected) in enumerate(zip(Perturbed(model, RELATIVE, seed).run([x]), exact, strict=True)):
            moved[i] = max(moved[i], float(np.abs(output.astype(np.float64) - expected).max()))
    return [RELATIVE * float(np.abs(y).max()) + ABSOLUTE + 3 * m for y, m in zip(exact, moved, strict=True)]


def check(conversion: Conversion, x: NDArray[np.float32], exact: Outputs, got: Outputs) -> None:
    for expected, values, bound in zip(exact, got, bounds(conversion, x, exact), strict=True):
        assert np.abs(values.astype(np.float64).reshape(expected.shape) - expected).max() <= bound


@sample(150, 4000)
@given(random=random_models())
def test_numpy_c_and_onnxruntime_agree(random: RandomModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("random")
    try:
        conversion = converted(random, folder)
        session = onnxruntime.InferenceSession(random.model.SerializeToString(), providers=["CPUExecutionProvider"])
        for x in (random.calibration[:1], random.calibration[1:2]):
            theirs = session.run(None, {"x": x})
            assume(all(np.isfinite(value).all() for value in theirs))
            exact = open_engine("numpy", conversion.folder).run([[x]])[0]
            # The maximum of a window that lies in the padding is −∞ here, and the lowest float in onnxruntime.
            assume(all(np.isfinite(value).all() for value in exact))
            check(conversion, x, exact, open_engine("c", conversion.folder).run([[x]])[0])
            check(conversion, x, exact, [np.asarray(value) for value in theirs])
    finally:
        shutil.rmtree(folder)


@sample(10, 200)
@given(random=random_models())
def test_compiled_equals_the_interpreter(random: RandomModel, tmp_path_factory: pytest.TempPathFactory) -> None:
    """They call the same kernels in the same order: byte for byte."""
    folder = tmp_path_factory.mktemp("random")
    try:
        conversion = converted(random, folder)
        samples = [[x] for x in np.split(random.calibration[:3], 3)]
        expected = open_engine("c", conversion.folder).run(samples)
        for one, other in zip(expected, open_engine("compiled", conversion.folder).run(samples), strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))
    finally:
        shutil.rmtree(folder)
