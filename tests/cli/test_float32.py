"""`--precision float32` on the command line: no calibration, float ports, engines compared within a tolerance."""

import re

import numpy as np
import pytest
from arenite.targets.engine import ENGINES, NumpyEngine
from arenite_runtime import Model


@pytest.fixture(scope="module")
def built(project, arenite, tmp_path_factory):
    folder = tmp_path_factory.mktemp("float32") / "out"
    outcome = arenite("convert", project.model, "--precision", "float32", "--output", folder)
    assert outcome.code == 0, outcome.err
    assert outcome.out.strip().splitlines()[-1] == "float32: nothing is quantized, so that no calibration is needed."
    assert "NOT CALIBRATED" not in outcome.out + outcome.err
    return folder


def test_report_and_headers(built, arenite):
    value = arenite("inspect", built, "--json").json
    assert (value["precision"], value["calibrated"], value["calibrate_command"]) == ("float32", True, None)
    assert {port["dtype"] for port in value["inputs"] + value["outputs"]} == {"float32"}
    assert {layer["variant"] for layer in value["layers"]} <= {"float32", "bytes"}
    assert all(layer["scale"] is None for layer in value["layers"])
    text = arenite("inspect", built).out
    assert "float32" in text and "zero point" not in text
    for report in ("report.md", "report.html"):
        assert "zero point" not in (built / report).read_text()
    header = (built / "model.h").read_text()
    assert "there is nothing to calibrate" in header and "#define MODEL_CALIBRATED 1" in header
    (arn,) = built.glob("*.arn")
    assert {port.dtype for port in Model.load(arn).inputs} == {np.dtype(np.float32)}


def test_run_and_verify(built, project, arenite):
    outcome = arenite("verify", project.model, built, "--data", project.data, "--engine", "c", "--engine", "compiled", "--json")
    assert outcome.code == 0
    value = outcome.json
    assert value["agree"] is True and value["bit_exact"] is True and value["compared_by"] == {"scores": "tolerance"}
    assert value["engines"]["c"]["value"] == value["float"]["value"] and value["engines"]["c"]["sqnr_db"] > 100
    text = arenite("verify", project.model, built, "--data", project.data, "--engine", "c").out
    assert re.search(r"Engines agree: .* every value of scores within 1e-05 · max \|output\| \+ 1e-06\.", text)
    assert arenite("run", built, "--input", project.data, "--engine", "compiled", "--json").json["outputs"][0]["dtype"] == "float32"


@pytest.mark.parametrize(("factor", "code"), [(1 + 2e-6, 0), (1 + 1e-4, 1)])
def test_verify_notices_what_is_beyond_the_tolerance(built, project, arenite, monkeypatch, factor, code):
    class Lying(NumpyEngine):
        name = "c"

        def run(self, samples):
            return [[output * np.float32(factor) for output in outputs] for outputs in super().run(samples)]

    monkeypatch.setitem(ENGINES, "c", lambda folder, target: Lying(folder))
    outcome = arenite("verify", project.model, built, "--data", project.data, "--engine", "c", "--json")
    assert outcome.code == code and outcome.json["agree"] is (code == 0)
    if code:
        assert "DIFFERENT: c and numpy differ" in arenite("verify", project.model, built, "--data", project.data, "--engine", "c").out


def test_int8_ports_need_a_scale(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--precision", "float32", "--io", "int8", "--output", tmp_path / "out")
    assert outcome.code == 7 and "--io int8 does not go with --precision float32" in outcome.err
    assert not (tmp_path / "out").exists()


def test_calibration_data_is_not_used_and_the_report_says_so(project, arenite, tmp_path):
    words = ("--precision", "float32", "--calibration", project.calibration, "--output", tmp_path / "out")
    outcome = arenite("convert", project.model, *words, "--json")
    assert outcome.code == 0 and any("calibration.npz is not used" in note for note in outcome.json["notes"])


def test_a_single_layer_in_float(project, arenite, tmp_path):
    words = ("--calibration", project.calibration, "--float-layer", "gemm", "--output", tmp_path / "out")
    value = arenite("convert", project.model, *words, "--json").json
    assert value["precision"] == "mixed" and any("gemm (FullyConnected)" in note for note in value["notes"])
    forms = [(layer["op"], layer["variant"]) for layer in value["layers"]]
    assert forms[-3:] == [("Dequantize", "int8"), ("FullyConnected", "float32"), ("Quantize", "int8")] and ("Conv", "paired") in forms
    words = ("verify", project.model, tmp_path / "out", "--data", project.data, "--engine", "c", "--engine", "compiled")
    verified = arenite(*words, "--json").json
    assert verified["agree"] is True and verified["compared_by"] == {"scores": "step"} and verified["engines"]["c"]["sqnr_db"] > 20
    assert "every value of scores within a step of int8" in arenite(*words).out


def test_a_layer_that_is_not_there(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--float-layer", "gem", "--output", tmp_path / "out")
    assert outcome.code == 7 and "--float-layer gem: no layer has this name. Similar ones: gemm" in outcome.err
