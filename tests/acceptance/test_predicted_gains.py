"""What `verify --layers` predicts, against the model that is converted so: the table of docs/cli.md."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from acceptance.model_pack import Pack
from arenite.attribution import Attribution, attribute
from arenite.cli import app
from typer.testing import CliRunner

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
SAMPLES = 100
SLACK_DB = 0.15
"""Another processor may round another way, and a method choose another range."""


def rows() -> dict[str, list[tuple[str, float, float]]]:
    """The document's: option, predicted and measured gain by model with its options."""
    table = re.search(r"<!-- gains -->\n(.*?)<!-- end -->", DOCUMENT.read_text(encoding="utf-8"), re.S)
    assert table is not None
    found: dict[str, list[tuple[str, float, float]]] = {}
    model = ""
    for line in table[1].splitlines()[2:]:
        name, option, predicted, measured = (cell.strip() for cell in line.strip("|").split("|"))
        model = name.replace("`", "") or model
        found.setdefault(model, []).append((option.strip("`"), float(predicted.removeprefix("up to ")), float(measured)))
    return found


def analysis(model: Path, folder: Path, calibration: Path, test: Path, options: Sequence[str]) -> Attribution:
    words = ["convert", str(model), "--calibration", str(calibration), "--output", str(folder), *options]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return attribute(model, folder, test, samples=SAMPLES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long if name.startswith("mlperf") else ()) for name in rows()])
def test_gains(data: Path, tmp_path: Path, name: str) -> None:
    path, *base = name.replace(",", "").split()
    pack = Pack(data)
    entry = pack.models[f"models/{path}.onnx"]
    for file, part in (("calibration", "calib" if path.startswith("mlperf") else "train"), ("test", "test")):
        np.savez(tmp_path / f"{file}.npz", x=pack.check.load(entry.entry["eval"]["data"], part)[0])
    files = entry.path, tmp_path / "out", tmp_path / "calibration.npz", tmp_path / "test.npz"
    before = analysis(*files, base)
    predictions = {each.remedy: each for _, each in before.suggestions}
    for option, predicted, measured in rows()[name]:
        suggestion = predictions[option]
        after = analysis(*files, [*base, *shlex.split(option)])
        assert before.judged_db is not None and after.judged_db is not None
        gained = after.judged_db - before.judged_db
        assert suggestion.gain_db == pytest.approx(predicted, abs=SLACK_DB) and gained == pytest.approx(measured, abs=SLACK_DB)
        assert suggestion.at_most == (option == "--method observers")
        assert gained > 0.35 * suggestion.gain_db  # it helps, and by something like that
