"""What the command line says of data that is not prepared as that of calibration."""

from __future__ import annotations

import numpy as np


def test_every_command_that_reads_data_warns(project, arenite, tmp_path):
    np.savez(tmp_path / "wrong.npz", x=255 * np.load(project.data)["x"])
    for words in (
        ("verify", project.model, project.built, "--data", tmp_path / "wrong.npz", "--engine", "numpy"),
        ("run", project.built, "--input", tmp_path / "wrong.npz"),
        ("inspect", project.built, "--data", tmp_path / "wrong.npz"),
    ):
        outcome = arenite(*words)
        said = " ".join(outcome.err.split())
        assert outcome.code == 0 and "warning: input x: " in said and "divide by 255, as for calibration" in said
        assert arenite(*words, "--json").json["inputs"][0]["warnings"]
        right = [project.data if word == tmp_path / "wrong.npz" else word for word in words]
        assert "warning" not in arenite(*right).err and arenite(*right, "--json").json["inputs"][0]["warnings"] == []


def test_inspect_counts(project, arenite, tmp_path):
    outcome = arenite("inspect", project.built, "--data", project.data)
    assert "input x: 1,296 values from " in " ".join(outcome.out.split()) and "saturated." in outcome.out
    value = arenite("inspect", project.built, "--data", project.data, "--json").json
    x = np.load(project.data)["x"]
    (counts,) = value["inputs"]
    (port,) = arenite("inspect", project.built, "--json").json["inputs"]
    low, high = port["expected"]["low"], port["expected"]["high"]
    assert (counts["low"], counts["high"]) == (float(x.min()), float(x.max()))
    assert counts["outside"] == np.count_nonzero((x < low - port["scale"]) | (x > high + port["scale"]))
    least, greatest = (port["scale"] * (limit - port["zero_point"]) for limit in (-128.5, 127.5))
    assert counts["saturated"] == np.count_nonzero((x < least) | (x > greatest))
    calibration = np.load(project.calibration)["x"]
    assert (low, high) == (float(calibration.min()), float(calibration.max()))
    assert f"values from {low:.4g} to {high:.4g} expected" in " ".join(arenite("inspect", project.built).out.split())


def test_inspect_with_data_of_another_model(project, arenite, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 7), np.float32))
    assert arenite("inspect", project.built, "--data", tmp_path / "x.npz").code == 6
