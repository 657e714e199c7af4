"""Random branches and loops: every engine against onnxruntime."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import onnx
import pytest
from arenite.errors import UnsupportedModelError
from arenite.frontend import loops
from arenite.pipeline import ConvertOptions, convert
from arenite.targets.engine import open_engine
from control_flow.conftest import close, wanted
from control_flow.random_flows import random_flows
from hypothesis import HealthCheck, given, settings

LONG = bool(os.environ.get("ARENITE_LONG"))
CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def sample(count: int, long_count: int) -> settings:
    return settings(max_examples=long_count if LONG else count, deadline=None, derandomize=True, suppress_health_check=CHECKS)


def feeds(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    floats = {name: rng.standard_normal(3).astype(np.float32) for name in "xz"}
    numbers = {name: np.asarray(rng.integers(-1, 5)) for name in "nm"}
    return {**floats, **numbers, **{name: np.asarray(bool(rng.integers(2))) for name in "cd"}}


def compare(model: onnx.ModelProto, engines: tuple[str, ...], folder: Path, unrolled: int = loops.UNROLLED_NODES) -> None:
    """`unrolled`: how long a loop that is written out may become."""
    try:
        onnx.save(model, folder / "flow.onnx")
        try:
            with patch.object(loops, "UNROLLED_NODES", unrolled):
                conversion = convert(folder / "flow.onnx", ConvertOptions(precision="float32", output=folder / "out"))
        except UnsupportedModelError as error:
            assert "depends on no input" in str(error)  # an output may be constant after all
            return
        used = {port.name for port in conversion.program.inputs}
        samples = [feeds(seed) for seed in range(6)]
        arrays = [[values for name, values in one.items() if name in used] for one in samples]
        theirs = [wanted(model, one, reference=False) for one in samples]
        for engine in engines:
            for outputs, expected in zip(open_engine(engine, conversion.folder).run(arrays), theirs, strict=True):
                for got, value in zip(outputs, expected, strict=True):
                    close(got, value)
    finally:
        shutil.rmtree(folder)


@sample(10, 2000)
@given(model=random_flows(), unrolled=st.sampled_from([0, loops.UNROLLED_NODES]))
def test_numpy_c_and_onnxruntime_agree(model: onnx.ModelProto, unrolled: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    compare(model, ("numpy", "c"), tmp_path_factory.mktemp("flow"), unrolled)


@sample(3, 100)
@given(model=random_flows(), unrolled=st.sampled_from([0, loops.UNROLLED_NODES]))
def test_compiled_agrees(model: onnx.ModelProto, unrolled: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    compare(model, ("compiled",), tmp_path_factory.mktemp("flow"), unrolled)
