"""What an uncalibrated conversion says to type: the same options, and calibration data."""

from __future__ import annotations

import shlex

import pytest


@pytest.mark.parametrize(
    "options",
    [
        ("--max-ram", "2k", "--max-flash", "64k", "--observer", "mse", "--ram-curve"),
        ("--precision", "int16", "--max-ram", "4000"),
        ("--int16-layer", "conv", "--memory", "fast=1k,slow", "--weights-in", "fast"),
    ],
)
def test_it_keeps_the_options(project, arenite, tmp_path, options):
    first = arenite("convert", project.model, "--output", tmp_path / "a folder", *options, "--json")
    assert first.code == 0
    program, *words = shlex.split(first.json["calibrate_command"])
    assert program == "convert"
    second = arenite(program, *(str(project.calibration) if word == "DATA.npz" else word for word in words), "--json")
    assert second.code == 0 and second.json["calibrated"]
    for key in ("limits", "precision", "memories", "output", "macs"):
        assert second.json[key] == first.json[key], key
    assert ("ram_curve" in second.json) == ("ram_curve" in first.json)
    assert [layer["op"] for layer in second.json["layers"]] == [layer["op"] for layer in first.json["layers"]]
    if "--observer" in options:
        assert "(mse)" in second.json["calibration"]


def test_a_board_says_its_sizes_itself(project, arenite, tmp_path):
    found = arenite("convert", project.model, "--output", tmp_path / "out", "--board", "nrf52840", "--json").json
    assert "--board nrf52840" in found["calibrate_command"] and "--max-" not in found["calibrate_command"]
    less = arenite("convert", project.model, "--output", tmp_path / "out", "--board", "nrf52840", "--max-ram", "9k", "--json").json
    assert "--max-ram 9216" in less["calibrate_command"] and "--max-flash" not in less["calibrate_command"]
