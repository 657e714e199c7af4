"""Real networks in bands: every engine, an emulated core too, computes what the plain model does; the arena is what was asked for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from arenite.errors import PlanError
from arenite.pipeline import ConvertOptions, Limits, convert
from arenite.targets import Engine, open_engine
from arenite.targets.sources import native_root
from numpy.typing import NDArray
from partial.banded import random_samples

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ARENITE_DATA") or native_root().parent / "shared" / "data")
MCUNET = DATA / "models/tflite/mcunet_vww.onnx"
DOCUMENTED = (ROOT / "docs/partial-execution.md").read_text(encoding="utf-8")
YUNET = DATA / "models/repo/yunet_n_320.onnx"
ENGINES = ("numpy", "c", "compiled")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zoo")
    subprocess.run([sys.executable, str(ROOT / "models/mlperf_shapes/build.py"), str(folder), "ic01", "vww01"], check=True)
    return folder


def in_bands(model: Path, ram: int, share: float, folder: Path, samples: int, emulated: int) -> None:
    """Convert with and without `--max-ram ram`, and compare. `share`: of the plain RAM that the limit is at most."""
    plain = convert(model, ConvertOptions(output=folder / "plain"))
    banded = convert(model, ConvertOptions(output=folder / "bands", limits=Limits(ram_bytes=ram)))
    assert banded.report.ram_bytes <= ram <= share * plain.report.ram_bytes
    assert any(call.band is not None for call in banded.program.calls)
    inputs = random_samples(plain.program, samples)
    expected = open_engine("numpy", plain.folder).run(inputs)
    for engine in ENGINES:
        assert_same(expected, open_engine(engine, banded.folder), inputs)
    if emulated:
        assert_same(expected, open_engine("emulated-compiled", banded.folder, target="cortex-m4"), inputs[:emulated])


def assert_same(expected: list[list[NDArray[np.generic]]], engine: Engine, inputs: list[list[NDArray[np.generic]]]) -> None:
    for plain, bands in zip(expected, engine.run(inputs), strict=False):
        for a, b in zip(plain, bands, strict=True):
            np.testing.assert_array_equal(a, b)


def test_ic01_within_22_kilobytes(zoo: Path, tmp_path: Path) -> None:
    in_bands(zoo / "ic01.onnx", 22_000, 0.62, tmp_path, samples=2, emulated=1)


@pytest.mark.long
def test_ic01_within_19_kilobytes(zoo: Path, tmp_path: Path) -> None:
    in_bands(zoo / "ic01.onnx", 19_000, 0.54, tmp_path, samples=4, emulated=2)


@pytest.mark.long
def test_vww01_within_30_kilobytes(zoo: Path, tmp_path: Path) -> None:
    in_bands(zoo / "vww01.onnx", 30_000, 0.77, tmp_path, samples=4, emulated=2)


@pytest.mark.long
@pytest.mark.skipif(not MCUNET.is_file(), reason=f"needs the real networks: no {MCUNET} (ARENITE_DATA says where they are)")
def test_mcunet_within_a_third(tmp_path: Path) -> None:
    in_bands(MCUNET, 27_100, 0.36, tmp_path, samples=2, emulated=1)


@pytest.mark.skipif(not YUNET.is_file(), reason=f"needs the real networks: no {YUNET} (ARENITE_DATA says where they are)")
def test_what_an_error_names_for_yunet_is_enough(tmp_path: Path) -> None:
    """The image is turned to channels last: nothing takes more, but to place what comes behind it takes a fifth more."""
    with pytest.raises(PlanError, match=r"--max-ram (\d+): the least that was found") as raised:
        convert(YUNET, ConvertOptions(output=tmp_path / "out", limits=Limits(ram_bytes=1000)))
    told = re.search(r"--max-ram (\d+): the least", str(raised.value))
    assert told is not None and int(told[1]) <= 512_052
    found = convert(YUNET, ConvertOptions(output=tmp_path / "out", limits=Limits(ram_bytes=int(told[1]))))
    assert found.report.ram_bytes <= int(told[1])


def slower(model: Path, ram: int, folder: Path) -> tuple[float, float]:
    """Per cent more instructions that a Cortex-M4 executes with `--max-ram ram`, as the documents have measured them, and the estimate."""
    row = re.search(rf"\| {model.stem} \| [\d,]+ \| {ram:,} \| [\d,]+ \| \+([\d.]+) % \|", DOCUMENTED)
    found = convert(model, ConvertOptions(output=folder / "bands", limits=Limits(ram_bytes=ram)))
    note = re.search(r"about ([\d.]+) % slower \(estimated\)", " ".join(found.report.notes))
    assert row is not None and note is not None
    return float(row[1]), float(note[1])


@pytest.mark.parametrize(("network", "ram"), [("ic01", 22_000), ("ic01", 19_000), ("vww01", 28_900)])
def test_estimates_are_near_what_is_measured(zoo: Path, network: str, ram: int, tmp_path: Path) -> None:
    measured, estimated = slower(zoo / f"{network}.onnx", ram, tmp_path)
    assert abs(estimated - measured) <= 0.5 and 0.8 * measured <= estimated <= 1.25 * measured


@pytest.mark.skipif(not MCUNET.is_file(), reason=f"needs the real networks: no {MCUNET} (ARENITE_DATA says where they are)")
def test_the_estimate_of_mcunet_is_near_what_is_measured(tmp_path: Path) -> None:
    measured, estimated = slower(MCUNET, 27_100, tmp_path)
    assert abs(estimated - measured) <= 0.2


def test_vww01_copies_no_more_than_it_keeps(zoo: Path, tmp_path: Path) -> None:
    """Five times a row of 48 × 16 bytes, which the depthwise layer reads again; nothing else is moved, and nothing is computed twice."""
    found = convert(zoo / "vww01.onnx", ConvertOptions(output=tmp_path / "bands", limits=Limits(ram_bytes=30_000)))
    (note,) = [note for note in found.report.notes if "bands of rows" in note]
    assert "no multiply-accumulate is computed twice" in note and "3,840 bytes of rows are copied" in note
    assert json.loads((tmp_path / "bands/report.json").read_text())["limits"]["ram_bytes"] == 30_000
