"""The budget of a real network, MLPerf Tiny keyword spotting, on the emulated Cortex-M4."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.targets import open_engine
from arenite.targets.emulated import EmulatedEngine, Form
from arenite.targets.sources import native_root
from arenite_runtime import Model
from numpy.typing import NDArray

pytestmark = pytest.mark.emulated
SAMPLES = 12

DATA = Path(os.environ.get("ARENITE_DATA") or native_root().parent / "shared" / "data")


@pytest.fixture(scope="module")
def kws01(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = DATA / "models" / "mlperf" / "kws01_fp32.onnx"
    if not model.is_file():
        pytest.skip(f"needs the real networks: no {model} (ARENITE_DATA says where they are)")
    from arenite.pipeline import ConvertOptions, convert

    folder = tmp_path_factory.mktemp("kws01") / "kws01"
    convert(model, ConvertOptions(calibration=DATA / "data" / "kws01_f32_calib.npz", output=folder))
    return folder


@pytest.fixture(scope="module")
def clips(kws01: Path) -> list[list[NDArray[Any]]]:
    model = Model.load(kws01 / "kws01_fp32.arn")
    features = np.load(DATA / "data" / "kws01_f32_test.npz")["x"][:SAMPLES]
    return [[model.quantize_input(0, clip).reshape(model.inputs[0].shape)] for clip in features]


@pytest.fixture(scope="module")
def expected(kws01: Path, clips: list[list[NDArray[Any]]]) -> list[bytes]:
    return [outputs[0].tobytes() for outputs in open_engine("c", kws01).run(clips)]


@pytest.mark.parametrize(("form", "code_limit", "session_limit"), [(Form.INTERPRETED, 20_000, 128), (Form.COMPILED, 12_000, 0)])
def test_budget(
    kws01: Path, clips: list[list[NDArray[Any]]], expected: list[bytes], form: Form, code_limit: int, session_limit: int
) -> None:
    engine = EmulatedEngine(kws01, form, "cortex-m4")
    assert [outputs[0].tobytes() for outputs in engine.run(clips)] == expected
    info = engine.info
    assert info is not None
    assert info.code_bytes <= code_limit
    assert info.session_bytes <= session_limit
    assert info.arena_bytes <= 16_600
    assert info.open_instructions <= 100_000
    assert info.stack_bytes <= 1024
    assert len(set(expected)) > SAMPLES // 2
