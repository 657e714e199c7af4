"""`--operators` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from arenite.cli import app
from typer.testing import CliRunner


def run(*words: object) -> tuple[int, Any, str]:
    result = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, json.loads(result.stdout), result.stderr


def test_convert_run_verify(files: Path, declaration: Path, tmp_path: Path) -> None:
    built, data, own = tmp_path / "built", files / "data.npz", ("--operators", declaration)
    code, value, _ = run("convert", files / "model.onnx", "--calibration", data, "--output", built, *own)
    assert code == 0 and value["output"] == str(built)
    layers = {layer["name"]: layer for layer in value["layers"]}
    assert {"first", "conv", "second"} <= set(layers)
    code, value, _ = run("run", built, "--input", data, *own)
    assert code == 0 and value["samples"] == 4
    code, value, _ = run("verify", files / "model.onnx", built, "--data", data, "--engine", "numpy", "--engine", "c", *own)
    assert code == 0 and value["bit_exact"] and value["compared"] == {"c": 4}
    assert 20 < value["engines"]["c"]["sqnr_db"] < 60
    assert run("inspect", built)[0] == 0


def test_without_it(files: Path, declaration: Path, tmp_path: Path) -> None:
    code, value, error = run("convert", files / "model.onnx", "--output", tmp_path / "built")
    assert code == 5
    assert {problem["operator"] for problem in value["error"]["problems"]} == {"com.example.MedianFilter"}
    assert "--operators" in error
    code, value, _ = run("convert", files / "model.onnx", "--output", tmp_path / "built", "--operators", declaration)
    assert code == 0 and "--operators" in value["calibrate_command"]
    code, value, error = run("run", tmp_path / "built", "--input", files / "data.npz")
    assert code == 11 and "com.example::MedianFilter" in error


@pytest.mark.parametrize("command", ["convert", "operators"])
def test_a_file_that_is_wrong(files: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "mine.py").write_text("1 / 0\n")
    words = [command, *([files / "model.onnx"] if command == "convert" else []), "--operators", tmp_path / "mine.py"]
    code, value, error = run(*words)
    assert (code, value["error"]["type"]) == (12, "OperatorError")
    assert "mine.py: ZeroDivisionError" in error
