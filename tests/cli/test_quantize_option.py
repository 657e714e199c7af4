"""`convert --quantize`: the methods of a level, more of them and fewer, and what the report says they did."""

from __future__ import annotations

import json

from arenite.quantize import METHODS


def note(folder) -> str:
    notes = json.loads((folder / "report.json").read_text())["notes"]
    return next((text for text in notes if "by method" in text), "")


def test_best_tries_every_method_and_says_what_each_did(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--quantize", "best")
    assert outcome.code == 0
    for name in METHODS:
        assert (f"{name}: " in note(tmp_path / "out")) == (name != "features")


def test_methods_are_added_and_left_out(project, arenite, tmp_path):
    common = ("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out")
    assert arenite(*common, "--method", "rounding").code == 0
    assert "rounding: " in note(tmp_path / "out") and "equalize: " not in note(tmp_path / "out")
    assert arenite(*common, "--quantize", "best", "--no-method", "rounding", "--force").code == 0
    assert "rounding: " not in note(tmp_path / "out") and "equalize: " in note(tmp_path / "out")
    assert arenite(*common, "--force").code == 0
    assert note(tmp_path / "out") == ""


def test_unknown_methods_are_refused(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--output", tmp_path / "out", "--method", "adaround")
    assert outcome.code == 7
    assert "there is no such method" in outcome.err and "rounding" in outcome.err
    assert not (tmp_path / "out").exists()


def test_the_command_for_calibrating_keeps_the_methods(project, arenite, tmp_path):
    flags = ("--quantize", "best", "--no-method", "observers")
    outcome = arenite("convert", project.model, "--output", tmp_path / "out", *flags)
    assert outcome.code == 0
    assert " ".join(flags) in outcome.out
