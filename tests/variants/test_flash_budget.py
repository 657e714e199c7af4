"""--max-flash: kernels are chosen to fit, and what would help where none do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite.report import Limits, Report
from arenite.targets.sources import native_root

DIGITS = native_root() / "models" / "digits_cnn"


def converted(folder: Path, most: int | None, target: str | None, **options: object) -> Report:
    given = {"calibration": DIGITS / "digits_calibration.npz", "optimize": "speed", "output": folder / f"{most}", **options}
    return convert(DIGITS / "digits_cnn.onnx", ConvertOptions(target=target, limits=Limits(None, most), **given)).report  # type: ignore[arg-type]


def slower(one: Report, other: Report) -> bool:
    cycles = [sum(layer.taken.cycles for layer in report.layers if layer.taken is not None) for report in (one, other)]
    return cycles[0] > cycles[1]


@pytest.mark.parametrize("target", ["cortex-m4", None])
def test_kernels_make_room(tmp_path: Path, target: str | None) -> None:
    if target is not None and shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed: the size of the code is not known")
    free = converted(tmp_path, None, target)
    ample = converted(tmp_path, free.flash_bytes, target)
    assert ample.fits and ample.layers == free.layers and ample.flash_bytes == free.flash_bytes
    tight = converted(tmp_path, free.flash_bytes - 1, target)
    assert tight.fits and tight.flash_bytes < free.flash_bytes and slower(tight, free)
    least = converted(tmp_path, 1000, target)
    assert least.fits is False and least.flash_bytes <= tight.flash_bytes
    (help_,) = [note for note in least.notes if note.startswith("--max-flash: ")]
    assert "kernels are those with the least constants and code already" in help_ and "--strip-names saves" in help_
    assert ("the compiled form needs" in help_) == (target is not None)
    assert not any(note.startswith("--max-flash") for note in (*free.notes, *ample.notes, *tight.notes))


def test_what_would_be_enough_is_said(tmp_path: Path) -> None:
    least = converted(tmp_path, 1000, None)
    nearly = converted(tmp_path, least.flash_bytes - 200, None)
    assert any("--strip-names saves" in note and "and is enough" in note for note in nearly.notes)
    assert converted(tmp_path, least.flash_bytes - 200, None, strip_names=True, output=tmp_path / "stripped").fits
