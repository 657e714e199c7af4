"""Every mistake of a user: message, exit status, no traceback, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.cli import convert_app
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

DATA = Path(os.environ.get("ARENITE_DATA", Path(__file__).parents[3] / "shared" / "data"))


def refused(arenite, status: int, folder: Path, *words: object) -> str:
    """Run a conversion that must end with `status`; its message. Nothing may appear in `folder`; with --json the error is the object."""
    before = sorted(folder.rglob("*"))
    outcome = arenite("convert", *words)
    assert outcome.code == status, outcome.err
    assert outcome.out == "" and outcome.err.startswith("error: ") and "Traceback" not in outcome.err
    again = arenite("convert", *words, "--json")
    assert again.json["error"]["exit_code"] == again.code == status
    assert sorted(folder.rglob("*")) == before
    return outcome.err


def test_missing_file(arenite, tmp_path):
    message = refused(arenite, 3, tmp_path, tmp_path / "absent.onnx")
    assert "absent.onnx" in message


@pytest.mark.parametrize("contents", [b"", b"I am a text file\n" * 40, b"\x89PNG\r\n\x1a\n" + bytes(256)], ids=["empty", "text", "png"])
def test_not_onnx(arenite, tmp_path, contents):
    (tmp_path / "m.onnx").write_bytes(contents)
    assert "m.onnx" in refused(arenite, 3, tmp_path, tmp_path / "m.onnx")


def test_folder_instead_of_a_model(arenite, project, tmp_path):
    (tmp_path / "m.onnx").mkdir()
    assert "m.onnx" in refused(arenite, 3, tmp_path, tmp_path / "m.onnx", "--output", tmp_path / "out")


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_truncated(arenite, project, tmp_path, keep):
    whole = project.model.read_bytes()
    (tmp_path / "cut.onnx").write_bytes(whole[: int(len(whole) * keep)])
    assert "cut.onnx" in refused(arenite, 3, tmp_path, tmp_path / "cut.onnx")


def test_missing_external_data(arenite, make_classifier, tmp_path):
    model = make_classifier()
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    (tmp_path / "weights.bin").unlink()
    message = refused(arenite, 3, tmp_path, tmp_path / "m.onnx")
    assert "weights.bin" in message


def test_unsupported_operators_are_listed_all_at_once(arenite, tmp_path):
    nodes = [
        helper.make_node("Bernoulli", ["x"], ["a"], "first"),
        helper.make_node("Frobnicate", ["a"], ["b"], "second", domain="com.example"),
        helper.make_node("Relu", ["b"], ["c"], "fine"),
        helper.make_node("Unique", ["c"], ["y"], "third"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, None)],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "m.onnx")
    message = refused(arenite, 5, tmp_path, tmp_path / "m.onnx")
    assert "3 nodes are not supported" in message
    for word in ("first (Bernoulli)", "second (com.example.Frobnicate)", "third (Unique)", "arenite operators"):
        assert word in message
    assert message.count("remedy: ") == 3 and "fine" not in message
    problems = arenite("convert", tmp_path / "m.onnx", "--json").json["error"]["problems"]
    assert [problem["node"] for problem in problems] == ["first", "second", "third"] and all(problem["remedy"] for problem in problems)


@pytest.mark.parametrize("name", ["deeploy_kws_dscnn", "har_cnn1d_norm__qdq_s8_perch", "keras3_digits_cnn_export"])
def test_models_that_must_be_refused(arenite, tmp_path, name):
    model = DATA / "models" / "refuse" / f"{name}.onnx"
    if not model.is_file():
        pytest.skip(f"{model} is not there (set ARENITE_DATA)")
    message = refused(arenite, 5, tmp_path, model, "--output", tmp_path / "out")
    assert "remedy: " in message


def test_dynamic_dimensions(arenite, make_classifier, tmp_path):
    onnx.save(make_classifier(("n", 3, "height", 6)), tmp_path / "m.onnx")
    message = refused(arenite, 4, tmp_path, tmp_path / "m.onnx")
    assert "height" in message and "--shape x=1,3," in message


@pytest.mark.parametrize("shape", ["x=1,4,6,6", "z=1,3,6,6", "x=3,6,6"], ids=["another size", "another input", "another rank"])
def test_shape_that_does_not_fit(arenite, make_classifier, tmp_path, shape):
    onnx.save(make_classifier(("n", 3, "h", "w")), tmp_path / "m.onnx")
    message = refused(arenite, 4, tmp_path, tmp_path / "m.onnx", "--shape", shape)
    assert shape[0] in message


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers(arenite, make_classifier, tmp_path, value):
    model = make_classifier()
    weights = numpy_helper.to_array(model.graph.initializer[0]).copy()
    weights[1, 2, 0, 0] = value
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "w1"))
    onnx.save(model, tmp_path / "m.onnx")
    message = refused(arenite, 3, tmp_path, tmp_path / "m.onnx")
    assert "w1" in message and "not finite" in message and "[1, 2, 0, 0]" in message


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((8, 6, 6, 3), np.float32), ["(8, 6, 6, 3)", "3, 6, 6", "transpose"]),
        (np.zeros((8, 7), np.float32), ["(8, 7)", "3, 6, 6"]),
        (np.full((8, 3, 6, 6), np.nan, np.float32), ["NaN"]),
        (np.zeros((8, 3, 6, 6), np.int64), ["int64", "float32"]),
        (np.zeros((0, 3, 6, 6), np.float32), ["no samples"]),
    ],
    ids=["NHWC", "rank", "NaN", "integers", "empty"],
)
def test_calibration_data_that_does_not_fit(arenite, project, tmp_path, array, words):
    np.savez(tmp_path / "c.npz", x=array)
    message = refused(arenite, 6, tmp_path, project.model, "--calibration", tmp_path / "c.npz", "--output", tmp_path / "out")
    assert "c.npz" in message
    for word in words:
        assert word in message


def test_calibration_file_that_is_missing_or_broken(arenite, project, tmp_path):
    words = (project.model, "--output", tmp_path / "out", "--calibration")
    assert "no such file" in refused(arenite, 6, tmp_path, *words, tmp_path / "absent.npz")
    (tmp_path / "torn.npz").write_bytes(project.calibration.read_bytes()[:100])
    assert "torn.npz" in refused(arenite, 6, tmp_path, *words, tmp_path / "torn.npz")
    np.savez(tmp_path / "other.npz", a=np.zeros(3), b=np.zeros(3))
    assert "`a`, `b`" in refused(arenite, 6, tmp_path, *words, tmp_path / "other.npz")


def test_output_that_cannot_be_written(arenite, project, tmp_path):
    (tmp_path / "file").write_text("mine")
    for output in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/arenite/out")):
        assert str(output) in refused(arenite, 9, tmp_path, project.model, "--output", output)
    assert (tmp_path / "file").read_text() == "mine"


def test_output_with_a_name_that_no_file_system_takes(arenite, project, tmp_path):
    output = tmp_path / ("a" * 300)
    assert "too long" in refused(arenite, 9, tmp_path, project.model, "--output", output)


def test_output_folder_without_permission(arenite, project, tmp_path, monkeypatch):
    """Root may write anywhere, so the answer of the system is simulated."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    assert "no permission" in refused(arenite, 9, tmp_path, project.model, "--output", tmp_path / "out")


def test_foreign_folder_needs_force_and_is_kept(arenite, project, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    assert "--force" in refused(arenite, 9, tmp_path, project.model, "--output", out)
    assert arenite("convert", project.model, "--output", out, "--force").code == 0
    assert (out / "thesis.txt").read_text() == "years of work" and (out / "model.arn").is_file()


def test_disk_full_leaves_the_old_folder_as_it_was(arenite, project, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert arenite("convert", project.model, "--output", out).code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    write, count = Path.write_bytes, 0

    def full(path: Path, data: bytes) -> int:
        nonlocal count
        count += 1
        if count % 9 == 0:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    message = refused(arenite, 9, tmp_path, project.model, "--name", "other", "--output", out)
    assert "No space left on device" in message
    refused(arenite, 9, tmp_path, project.model, "--output", tmp_path / "deep" / "new")
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_unknown_target(arenite, project, tmp_path):
    message = refused(arenite, 10, tmp_path, project.model, "--output", tmp_path / "out", "--target", "pdp-11")
    assert "cortex-m4" in message


@pytest.mark.parametrize(
    "words",
    [[], ["m.onnx", "--io", "int4"], ["m.onnx", "--shape", "x"], ["m.onnx", "--max-ram", "much"], ["m.onnx", "--nonsense"]],
    ids=["no model", "io", "shape", "size", "option"],
)
def test_usage_errors_end_with_status_2(arenite, words):
    outcome = arenite("convert", *words)
    assert outcome.code == 2 and outcome.out == "" and "Traceback" not in outcome.err and "convert" in outcome.err
    assert "Value error" not in outcome.err
    again = arenite("convert", "--json", *words)
    error = again.json["error"]
    assert again.code == error["exit_code"] == 2 and again.err == outcome.err
    assert error["type"] == "UsageError" and error["message"] in again.err and "Value error" not in error["message"]


def test_an_unknown_command_is_a_usage_error(arenite):
    outcome = arenite("nonsense", "--json")
    assert outcome.code == outcome.json["error"]["exit_code"] == 2 and "nonsense" in outcome.json["error"]["message"]
    assert arenite("nonsense").out == ""


@pytest.mark.parametrize(
    "words", [["m.onnx", "--observer", "nope"], ["--json=1"], ["m.onnx", "--shape", "x"]], ids=["value", "option", "shape"]
)
def test_usage_errors_of_the_convert_command(words):
    """Alone, without `arenite` in front."""
    result = CliRunner().invoke(convert_app, [*words, "--json"])
    assert result.exit_code == 2 and json.loads(result.stdout)["error"]["message"] in result.stderr


def test_a_fault_of_ours_is_admitted_without_a_traceback(arenite, project, tmp_path, monkeypatch):
    def fault(*args: object, **options: object) -> None:
        raise RuntimeError("planner upset")

    monkeypatch.setattr("arenite.pipeline.build_program", fault)
    outcome = arenite("convert", project.model, "--output", tmp_path / "out")
    assert outcome.code == 70 and "planner upset" in outcome.err and "--debug" in outcome.err and "Traceback" not in outcome.err
    assert arenite("convert", project.model, "--output", tmp_path / "out", "--json").json["error"]["type"] == "RuntimeError"
    with pytest.raises(AssertionError) as caught:  # the fixture insists on exits; --debug lets the exception through
        arenite("convert", project.model, "--output", tmp_path / "out", "--debug")
    assert "planner upset" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_control_c_leaves_nothing(arenite, project, tmp_path, monkeypatch):
    def interrupt(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("arenite.artifact._replace", interrupt)
    outcome = arenite("convert", project.model, "--output", tmp_path / "out")
    assert outcome.code == 130 and "interrupted" in outcome.err and "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_control_c_as_a_signal(make_classifier, project, tmp_path):
    """A real process under a real SIGINT, in the middle of a long calibration."""
    program = Path(sys.executable).parent / "convert"
    if not program.exists():
        pytest.skip(f"{program} is not installed")
    np.savez(tmp_path / "long.npz", x=np.zeros((200_000, 3, 6, 6), np.float32))
    words = ["--calibration", tmp_path / "long.npz", "--output", tmp_path / "out", "--dump-ir", tmp_path / "ir", "--json"]
    command = [program, project.model, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "ir" / "00_load.txt").exists():  # then the data is read, which takes a while, and calibration begins
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and out == "" and "interrupted" in err and "Traceback" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"long.npz", "ir"}


@pytest.mark.parametrize("command", ["inspect", "run", "verify"])
def test_a_folder_that_convert_did_not_write(arenite, project, tmp_path, command):
    words = {
        "inspect": (tmp_path,),
        "run": (tmp_path, "--input", project.data),
        "verify": (project.model, tmp_path, "--data", project.data),
    }[command]
    outcome = arenite(command, *words)
    assert outcome.code == 11 and str(tmp_path) in outcome.err and outcome.out == ""
    outcome = arenite(command, *(project.folder / "absent" if word == tmp_path else word for word in words))
    assert outcome.code == 11 and "does not exist" in outcome.err


def test_an_artifact_that_was_tampered_with(arenite, project, tmp_path):
    folder = tmp_path / "built"
    shutil.copytree(project.built, folder)
    damaged = bytearray((folder / "model.arn").read_bytes())
    damaged[len(damaged) // 2] ^= 0x10
    (folder / "model.arn").write_bytes(damaged)
    assert arenite("inspect", folder).code == 11
    outcome = arenite("run", folder, "--input", project.data)
    assert outcome.code == 11 and "model.arn" in outcome.err
    report = json.loads((folder / "report.json").read_text())
    del report["layers"]
    (folder / "report.json").write_text(json.dumps(report))
    outcome = arenite("inspect", folder)
    assert outcome.code == 11 and "report.json" in outcome.err


@pytest.mark.parametrize("size", [5, 60, 1000])
@pytest.mark.parametrize("command", ["inspect", "run"])
def test_a_truncated_artifact(arenite, project, tmp_path, command, size):
    """What a reader stumbles over is nobody's business; how much is missing is."""
    folder = tmp_path / "built"
    shutil.copytree(project.built, folder)
    whole = (folder / "model.arn").read_bytes()
    (folder / "model.arn").write_bytes(whole[:size])
    outcome = arenite(command, folder, *(["--input", project.data] if command == "run" else []))
    assert outcome.code == 11 and "model.arn: the file is truncated" in outcome.err and f"{size:,} bytes" in outcome.err
    assert size < 1000 or f"it says that it has {len(whole):,}" in outcome.err
