"""`convert`: what it writes, what it prints, and what it says about accuracy."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite_runtime import Model

PROMISED = {"model", "arena_bytes", "arena_lower_bound_bytes", "session_bytes", "weight_bytes", "macs", "layers", "flash"}
MACS = 6 * 6 * 4 * 27 + 4 * 5


def test_folder_holds_everything_a_build_needs(project):
    names = {path.relative_to(project.built).as_posix() for path in project.built.rglob("*") if path.is_file()}
    for name in (
        "model.arn",
        "model.c",
        "model.h",
        "model_model.c",
        "model_model.h",
        "CMakeLists.txt",
        "report.json",
        "report.md",
        "report.html",
    ):
        assert name in names
    assert {"runtime_c/include/arenite.h", "runtime_c/kernels/arn_kernels.h"} <= names
    assert any(name.startswith("runtime_c/src/") for name in names) and any(
        name.startswith("runtime_c/kernels/portable/") for name in names
    )
    assert sorted(names) == json.loads((project.built / "report.json").read_text())["files"]


def test_json_is_one_object_with_the_promised_keys(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--json")
    value = outcome.json
    assert outcome.code == 0 and set(value) >= PROMISED
    assert value["model"] == "model" and value["output"] == str(tmp_path / "out") and value["calibrated"] is True
    assert value["macs"] == MACS == sum(layer["macs"] for layer in value["layers"])
    assert 0 < value["arena_lower_bound_bytes"] <= value["arena_bytes"]
    assert value["flash"] == {"model_bytes": (tmp_path / "out" / "model.arn").stat().st_size, "code_bytes": None}
    assert value["arena_bytes"] == Model.load(tmp_path / "out" / "model.arn").arena_bytes
    for layer in value["layers"]:
        assert set(layer) >= {"name", "op", "output_shape", "macs", "weight_bytes", "scale", "zero_point", "sqnr_db"}
    assert [layer["output_shape"] for layer in value["layers"]][-1] == [1, 5]
    assert all(layer["sqnr_db"] > 20 for layer in value["layers"])


def test_inspect_says_the_same(project, arenite):
    inspected = arenite("inspect", project.built, "--json").json
    written = json.loads((project.built / "report.json").read_text())
    assert inspected == {**{k: v for k, v in written.items() if k != "files"}, "output": str(project.built)}


def test_without_calibration_the_last_line_says_so_and_how_to_calibrate(project, arenite, tmp_path):
    model = tmp_path / "some net.onnx"
    shutil.copy(project.model, model)
    outcome = arenite("convert", model, "--io", "float32", "--keep-inputs")
    last = outcome.out.strip().splitlines()[-1]
    assert outcome.code == 0 and "accuracy is unknown" in last and last.startswith("NOT CALIBRATED")
    folder = tmp_path / "some net"
    for name in ("report.md", "report.html"):
        assert "accuracy is unknown" in (folder / name).read_text()
    assert re.search(r"#define SOME_NET_CALIBRATED 0\b", (folder / "some_net.h").read_text())
    words = shlex.split(last.partition("To calibrate: ")[2])
    assert words[:2] == ["convert", str(model)] and "--keep-inputs" in words
    # The command works as printed, with data in the place of the name.
    again = arenite(*[str(project.calibration) if word == "DATA.npz" else word for word in words])
    assert again.code == 0 and "NOT CALIBRATED" not in again.out
    assert re.search(r"#define SOME_NET_CALIBRATED 1\b", (folder / "some_net.h").read_text())


def test_warning_of_missing_calibration_survives_json_and_quiet(project, arenite, tmp_path):
    outcome = arenite("convert", project.model, "--output", tmp_path / "a", "--json")
    assert outcome.json["calibrated"] is False and "accuracy is unknown" in outcome.err
    assert "--calibration DATA.npz" in outcome.json["calibrate_command"]
    assert "accuracy is unknown" in arenite("convert", project.model, "--output", tmp_path / "b", "--quiet").out


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_calibration_data_of_one_value_is_doubted(project, arenite, tmp_path, value):
    """A file of zeros, or an array that was never filled: valid, and worth nothing."""
    np.savez(tmp_path / "flat.npz", x=np.full((8, 3, 6, 6), value, np.float32))
    words = ("convert", project.model, "--calibration", tmp_path / "flat.npz", "--output")
    outcome = arenite(*words, tmp_path / "out")
    warning = f"Every sample of the input x in flat.npz is the same constant, {value:g}."
    assert outcome.code == 0 and warning in outcome.out.strip().splitlines()[-1] and "DOUBTFUL" in outcome.out
    assert warning in (tmp_path / "out" / "report.md").read_text() and warning in (tmp_path / "out" / "report.html").read_text()
    again = arenite(*words, tmp_path / "out", "--json")
    assert again.json["calibration_warnings"] == [warning] and warning in again.err
    assert warning in arenite("inspect", tmp_path / "out").out
    assert arenite("inspect", project.built, "--json").json["calibration_warnings"] == []


@pytest.mark.parametrize("words", [["arenite", "convert"], ["convert"]], ids=["arenite", "convert"])
def test_as_a_process_standard_output_is_the_object_alone(project, tmp_path, words):
    """The two installed commands: nothing but one JSON object on standard output."""
    scripts = Path(sys.executable).parent
    command = [scripts / words[0], *words[1:]]
    if not command[0].exists():
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        [*command, project.model, "--output", tmp_path / "out", "--json"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == "model"
    assert "Traceback" not in done.stderr and [path.name for path in tmp_path.iterdir()] == ["out"]


def test_nhwc_drops_the_edge_transposes(project, arenite, tmp_path):
    kept = arenite("inspect", project.built, "--json").json
    assert kept["edge_transposes"] == [{"layer": kept["edge_transposes"][0]["layer"], "port": "x", "elements": 108}]
    assert "--io-layout nhwc" in arenite("inspect", project.built).out
    words = ("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--io-layout", "nhwc")
    dropped = arenite(*words, "--json").json
    assert dropped["edge_transposes"] == [] and len(dropped["layers"]) == len(kept["layers"]) - 1
    assert dropped["inputs"][0]["shape"] == [1, 6, 6, 3] and dropped["inputs"][0]["source_shape"] == [1, 3, 6, 6]
    # The same data file serves both: verify turns the samples.
    value = arenite("verify", project.model, tmp_path / "out", "--data", project.data, "--engine", "numpy", "--json").json
    same = arenite("verify", project.model, project.built, "--data", project.data, "--engine", "numpy", "--json").json
    assert (
        value["engines"]["numpy"]["sqnr_db"] == pytest.approx(same["engines"]["numpy"]["sqnr_db"])
        and value["engines"]["numpy"]["sqnr_db"] > 20
    )


def test_float_ports(project, arenite, tmp_path):
    words = ("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--io", "float32", "--json")
    value = arenite(*words).json
    assert [(port["dtype"], port["scale"]) for port in value["inputs"] + value["outputs"]] == [("float32", None)] * 2
    verified = arenite("verify", project.model, tmp_path / "out", "--data", project.data, "--engine", "numpy", "--json").json
    assert verified["engines"]["numpy"]["sqnr_db"] > 20


def test_kept_inputs_cost_memory_and_stripped_names_save_flash(project, arenite, tmp_path):
    plain = arenite("inspect", project.built, "--json").json
    base = ("convert", project.model, "--calibration", project.calibration, "--json")
    kept = arenite(*base, "--output", tmp_path / "kept", "--keep-inputs").json
    assert kept["keeps_inputs"] and kept["arena_bytes"] >= plain["arena_bytes"]
    stripped = arenite(*base, "--output", tmp_path / "stripped", "--strip-names").json
    assert stripped["flash"]["model_bytes"] < plain["flash"]["model_bytes"]
    assert [layer["name"] for layer in stripped["layers"]] == [layer["name"] for layer in plain["layers"]]
    assert b"gemm" not in (tmp_path / "stripped" / "model.arn").read_bytes()
    assert arenite("run", tmp_path / "stripped", "--input", project.data).code == 0


def test_name(project, arenite, tmp_path):
    value = arenite("convert", project.model, "--name", "kws2", "--output", tmp_path / "out", "--json").json
    assert value["model"] == "kws2" and (tmp_path / "out" / "kws2.arn").is_file()
    assert "void kws2_invoke(void *arena)" in (tmp_path / "out" / "kws2.h").read_text()
    refused = arenite("convert", project.model, "--name", "2 fast", "--output", tmp_path / "no")
    assert refused.code == 9 and "2 fast" in refused.err and not (tmp_path / "no").exists()


def test_a_model_named_as_a_header(project, arenite, tmp_path):
    shutil.copy(project.model, tmp_path / "arenite.onnx")
    value = arenite("convert", tmp_path / "arenite.onnx", "--calibration", project.calibration, "--json").json
    assert value["model"] == "model_arenite" and (tmp_path / "arenite" / "model_arenite.h").is_file()


def test_shape_binds_dynamic_dimensions(arenite, make_classifier, project, tmp_path):
    onnx.save(make_classifier(("n", 3, "h", "w")), tmp_path / "m.onnx")
    value = arenite("convert", tmp_path / "m.onnx", "--shape", "x=1,3,6,6", "--calibration", project.calibration, "--json").json
    assert value["macs"] == MACS and value["output"] == str(tmp_path / "m")


def test_limits_give_a_verdict_and_an_exit_status(project, arenite, tmp_path):
    words = ("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out")
    fits = arenite(*words, "--max-ram", "64k", "--max-flash", "1M")
    assert fits.code == 0 and fits.out.startswith("model fits")
    exceeds = arenite(*words, "--max-flash", "200")
    assert exceeds.code == 8 and exceeds.out.startswith("model DOES NOT FIT") and "200 bytes" in exceeds.out
    value = arenite(*words, "--max-flash", "200", "--json")
    assert value.code == 8 and value.json["fits"] is False and value.json["limits"] == {"ram_bytes": None, "flash_bytes": 200}


def test_too_little_ram_is_an_error_that_says_what_would_help(project, arenite, tmp_path):
    """Nothing is written: whoever set the limit has no use for a model that exceeds it."""
    refused = arenite("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--max-ram", "200")
    assert refused.code == 8 and "200 bytes" in refused.err and "The peak is at step" in refused.err
    assert "--max-ram " in refused.err.partition("What would help")[2] and not (tmp_path / "out").exists()


def test_ram_curve_is_a_table_a_picture_and_json(project, arenite, tmp_path):
    words = ("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--ram-curve")
    assert "extra MACs" in arenite(*words).out
    value = arenite(*words, "--json").json
    points = [point["ram_bytes"] for point in value["ram_curve"]["points"]]
    assert points == sorted(points, reverse=True) and points[0] == value["ram_bytes"]
    assert (tmp_path / "out" / "ram_curve.svg").read_text().startswith("<svg")
    assert "ram_curve.json" in json.loads((tmp_path / "out" / "report.json").read_text())["files"]


def test_dump_ir_writes_the_graph_after_every_pass(project, arenite, tmp_path):
    assert arenite("convert", project.model, "--output", tmp_path / "out", "--dump-ir", tmp_path / "ir").code == 0
    dumps = sorted(path.name for path in (tmp_path / "ir").iterdir())
    assert dumps[0] == "00_load.txt" and dumps[-1].endswith("_variants.txt") and len(dumps) > 10
    assert "Conv" in (tmp_path / "ir" / dumps[-1]).read_text()


def test_same_input_same_bytes(project, arenite, tmp_path):
    """A second conversion writes the same files, the report included."""
    words = ("convert", project.model, "--calibration", project.calibration, "--output")
    for name in ("one", "two"):
        assert arenite(*words, tmp_path / name).code == 0
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m3"])
def test_target_measures_the_code(project, arenite, tmp_path, target):
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    words = ("convert", project.model, "--calibration", project.calibration, "--output", tmp_path / "out", "--target", target)
    value = arenite(*words, "--json").json
    assert value["target"] == target
    assert value["flash"]["model_bytes"] == (tmp_path / "out" / "model.arn").stat().st_size
    assert 1000 < value["flash_compiled"]["code_bytes"] < value["flash"]["code_bytes"] < 30000


def test_cmake_builds_both_forms(project, tmp_path):
    if shutil.which("cmake") is None or shutil.which("cc") is None:
        pytest.skip("cmake or a C compiler is not installed")
    for step in (["-S", project.built, "-B", tmp_path], ["--build", tmp_path, "-j", "2"]):
        done = subprocess.run(["cmake", *step], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout + done.stderr
    assert {path.name for path in tmp_path.glob("*.a")} >= {"libmodel.a", "libmodel_interpreted.a"}


def test_a_quantized_model_needs_no_calibration(arenite, tmp_path):
    """Q/DQ around the whole of the graph: the scales are the file's, and the accuracy is not unknown."""
    scale, zero = np.float32(0.05), np.int8(3)
    nodes = [
        onnx.helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "q"),
        onnx.helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], "dq"),
        onnx.helper.make_node("MaxPool", ["d"], ["m"], "pool", kernel_shape=[2, 2]),
        onnx.helper.make_node("QuantizeLinear", ["m", "s", "z"], ["mq"], "q2"),
        onnx.helper.make_node("DequantizeLinear", ["mq", "s", "z"], ["y"], "dq2"),
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [1, 2, 4, 4])],
        [onnx.helper.make_tensor_value_info("y", 1, [1, 2, 3, 3])],
        [onnx.numpy_helper.from_array(np.array(scale), "s"), onnx.numpy_helper.from_array(np.array(zero), "z")],
    )
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), tmp_path / "q.onnx")
    value = arenite("convert", tmp_path / "q.onnx", "--json").json
    assert value["calibrated"] is True and value["calibrate_command"] is None
    assert value["inputs"][0]["scale"] == pytest.approx(0.05) and value["inputs"][0]["zero_point"] == 3
