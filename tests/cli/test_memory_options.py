"""--memory, --weights-in and --board of `convert`, and the files of `inspect`, as typed."""

from __future__ import annotations

import csv
import json
import re


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


def test_weights_leave_what_max_ram_says(project, arenite, tmp_path):
    """What is left of a memory is no more than --max-ram leaves of all of them."""
    options = ("--memory", "a=64k,b=64k", "--weights-in", "a,b")
    all_of_them = arenite("convert", project.model, "--output", tmp_path / "all", *options, "--json").json
    for less in (1, 40, 100):
        limit = all_of_them["ram_bytes"] - less
        outcome = arenite("convert", project.model, "--output", tmp_path / "out", *options, "--max-ram", limit, "--json")
        assert outcome.code == 0 and outcome.json["fits"] and outcome.json["ram_bytes"] <= limit


def test_remedies_for_too_little_memory_help(project, arenite, tmp_path):
    """What the message names is typed, and does."""
    for options, remedy in (
        (("--max-ram", "0"), r"--max-ram (\d+): the least"),
        (("--memory", "a=64"), r"--memory (a=\d+): the least"),
        (("--memory", "a=64k", "--max-ram", "80"), r"--max-ram (\d+): the least"),
        (("--max-ram", "2k", "--weights-in", "a=8k"), r"--max-ram (\d+): the least"),
    ):
        outcome = arenite("convert", project.model, "--output", tmp_path / "out", *options)
        assert outcome.code == 8 and not (tmp_path / "out").exists()
        assert "in place of several" not in outcome.err and "leaves -" not in outcome.err
        found = re.search(remedy, outcome.err)
        assert found is not None, outcome.err
        option = found[0].split()[0]
        kept = [word for i in range(0, len(options), 2) if options[i] != option for word in options[i : i + 2]]
        assert arenite("convert", project.model, "--output", tmp_path / "good", *kept, option, found[1]).code == 0


def test_scratch_memory_at_the_peak_is_named(project, arenite, tmp_path):
    """The conv of this model: what the tensors of its layer do not explain."""
    outcome = arenite("convert", project.model, "--output", tmp_path / "out", "--max-ram", "0")
    assert re.search(r"The peak is at step .*, scratch memory of [\d,]+ bytes\)", outcome.err), outcome.err


def test_only_memories_that_there_are_hold_something(project, arenite, tmp_path):
    found = arenite("convert", project.model, "--output", tmp_path / "out", "--memory", "a=144,b=512", "--json").json
    assert {note.partition(" holds")[0] for note in found["notes"] if " holds" in note} == {"a", "b"}
