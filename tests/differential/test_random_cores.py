"""Random small models, converted for a core, on that core: NumPy's bytes. One emulation a core."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from arenite.targets.artifact import ArtifactModel
from arenite.targets.many_models import run_models
from differential.random_models import RandomModel, random_models
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

LONG = bool(os.environ.get("ARENITE_LONG"))
EMULATORS = {"cortex-m0": "unicorn", "cortex-m3": "qemu", "cortex-m7": "qemu", "cortex-m33": "qemu", "cortex-m55": "qemu"}
"""unicorn runs an image of any size as a Cortex-M0: it refuses what that core lacks."""

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


@pytest.mark.parametrize("target", EMULATORS)
def test_random_models_give_numpys_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    emulator = EMULATORS[target]
    if not (find_spec("unicorn") if emulator == "unicorn" else shutil.which("qemu-system-arm")):
        pytest.skip(f"the emulator {emulator} is not installed")
    monkeypatch.setenv("ARENITE_EMULATOR", emulator)
    monkeypatch.setattr("arenite.pipeline.measure_flash", lambda files, target: {})  # two images a model: most of the time
    jobs: list[tuple[ArtifactModel, list[list[NDArray[np.int8]]]]] = []
    rng = np.random.default_rng(7)

    @settings(max_examples=80 if LONG else 6, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(random=random_models())
    def collect(random: RandomModel) -> None:
        folder = tmp_path / str(len(jobs))
        folder.mkdir(exist_ok=True)
        onnx.save(random.model, folder / "random.onnx")
        np.savez(folder / "calibration.npz", x=random.calibration)
        options = ConvertOptions(
            calibration=folder / "calibration.npz", output=folder / "out", least_db=float("-inf"), force=True, target=target
        )
        conversion = convert(folder / "random.onnx", options)
        if conversion.quantized.precision == "int8":  # the others agree to a tolerance only
            model = ArtifactModel.read(conversion.folder)
            jobs.append((model, [[rng.integers(-128, 128, port.shape).astype(np.int8) for port in model.inputs] for _ in range(2)]))

    collect()
    assert len(jobs) > 3
    for (model, samples), run in zip(jobs, run_models(jobs, target), strict=True):
        assert run.status == 0
        for found, expected in zip(run.outputs, open_engine("numpy", model.folder).run(samples), strict=True):
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=str(model.folder))
