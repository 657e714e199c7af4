"""--memory, --weights-in and --board of `convert`, and the files of `inspect`, as typed."""

from __future__ import annotations

import csv
import json


def test_weights_and_a_board(project, arenite, tmp_path):
    options = ("--board", "stm32f746", "--memory", "board", "--weights-in", "dtcm,itcm=64")
    outcome = arenite("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", *options, "--json")
    value = outcome.json
    assert outcome.code == 0 and value["target"] == "cortex-m7" and value["fits"]
    assert [memory["name"] for memory in value["memories"]][:2] == ["dtcm", "sram"]
    names = {memory["name"]: memory["bytes"] for memory in value["memories"]}
    assert 0 < names["dtcm_weights"] <= 64 * 1024 - names["dtcm"]
    assert any(buffer["kind"] == "constant" for buffer in value["buffers"])
    again, plain = (arenite("run", folder, "--input", project.data, "--json").json for folder in (tmp_path / "out", project.built))
    assert again["outputs"] == plain["outputs"]


def test_what_does_not_fit(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--output", tmp_path / "out", "--memory", "dtcm=16,sram=32")
    assert outcome.code == 8 and "The peak is at step " in outcome.err and "What would help:" in outcome.err
    assert not (tmp_path / "out").exists()


def test_mistakes(project, arenite, tmp_path):
    for options, code, words in (
        (("--memory", "board"), 8, "--board NAME"),
        (("--board", "nix"), 10, "choose one of stm32f407"),
        (("--weights-in", "dtcm"), 8, "write dtcm=SIZE"),
        (("--weights-in", "dtcm=1x"), 2, "--weights-in"),
        (("--board", "stm32f746", "--target", "cortex-m0"), 10, "leave --target out"),
    ):
        outcome = arenite("convert", project.model, "--output", tmp_path / "out", *options)
        assert outcome.code == code and words in outcome.err.replace("\n", " "), options


def test_the_memory_as_a_table(project, arenite, tmp_path):
    outcome = arenite("inspect", project.built, "--memory", "--csv", tmp_path / "memory.csv", "--json")
    with (tmp_path / "memory.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    steps = json.loads(json.dumps(outcome.json))["memories"][0]["steps"]
    assert [int(row["bytes"]) for row in rows] == [step["bytes"] for step in steps]
    assert arenite("inspect", project.built, "--csv", tmp_path / "none" / "memory.csv").code == 9
