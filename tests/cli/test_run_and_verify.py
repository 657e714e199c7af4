"""`run`, `verify`, `inspect`: what they measure, print and promise."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.targets import ENGINES
from arenite.version import __version__
from onnx import TensorProto, helper

HOST = ["numpy", *(["c", "compiled"] if shutil.which("cc") else [])]


def float_outputs(project) -> np.ndarray:
    session = onnxruntime.InferenceSession(project.model, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"x": x[None]})[0] for x in np.load(project.data)["x"]])


@pytest.mark.parametrize("engine", HOST)
def test_run_gives_the_models_outputs(project, arenite, tmp_path, engine):
    file = tmp_path / "outputs.npz"
    outcome = arenite("run", project.built, "--input", project.data, "--engine", engine, "--output", file, "--json")
    value, expected = outcome.json, float_outputs(project)
    assert outcome.code == 0 and (value["engine"], value["samples"], value["output"]) == (engine, 12, str(file))
    (port,) = value["outputs"]
    assert (port["name"], port["shape"], port["dtype"]) == ("scores", [1, 5], "int8")
    stored = np.load(file)["scores"]
    assert stored.dtype == np.int8 and stored.shape == (12, 1, 5)
    real = port["scale"] * (stored.astype(np.float64) - port["zero_point"])
    np.testing.assert_allclose(port["first"], real[0, 0], rtol=1e-6)
    assert np.abs(real[:, 0] - expected).max() < 8 * port["scale"]
    assert port["top1"] == real.argmax(axis=2)[:, 0].tolist()


def test_run_for_a_person(project, arenite):
    outcome = arenite("run", project.built, "--input", project.data, "--samples", "3")
    assert outcome.code == 0 and "scores" in outcome.out and "1×5" in outcome.out and outcome.err == ""
    assert arenite("run", project.built, "--input", project.data, "--samples", "3", "--json").json["samples"] == 3


def test_run_writes_npz_only_and_where_it_may(project, arenite, tmp_path):
    for output, word in ((tmp_path / "o.csv", ".npz"), (tmp_path / "absent" / "o.npz", "cannot be written")):
        outcome = arenite("run", project.built, "--input", project.data, "--output", output)
        assert outcome.code == 9 and word in outcome.err


def test_run_with_data_of_another_shape(project, arenite, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((4, 2, 6, 6), np.float32))
    outcome = arenite("run", project.built, "--input", tmp_path / "x.npy")
    assert outcome.code == 6 and "(4, 2, 6, 6)" in outcome.err


@pytest.mark.emulated
def test_run_on_an_emulated_engine_adds_measurements(project, arenite):
    if shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-system-arm") is None:
        pytest.skip("arm-none-eabi-gcc or QEMU is not installed")
    outcome = arenite("run", project.built, "--input", project.data, "--engine", "emulated", "--samples", "2", "--json")
    assert outcome.code == 0, outcome.err
    value = outcome.json
    assert value["instructions"] > value["samples"] and value["open_instructions"] > 100 and 0 < value["stack_bytes"] < 4096
    assert value["flash"]["model_bytes"] == (project.built / "model.arn").stat().st_size and value["flash"]["code_bytes"] > 1000
    smaller = arenite(
        "run", project.built, "--input", project.data, "--engine", "emulated", "--target", "cortex-m3", "--samples", "2", "--json"
    ).json
    assert smaller["outputs"] == value["outputs"] and smaller["instructions"] != value["instructions"]
    # `inspect` works the session's size out on paper; here is what the linker says.
    assert value["session_bytes"] == arenite("inspect", project.built, "--json").json["session_bytes"]


def test_verify_with_labels(project, arenite):
    words = [word for name in HOST for word in ("--engine", name)]
    outcome = arenite("verify", project.model, project.built, "--data", project.data, *words, "--json")
    value = outcome.json
    labels = np.load(project.data)["y"]
    right = float(np.mean(float_outputs(project).argmax(axis=1) == labels))
    assert outcome.code == 0 and value["float"] == {"metric": "accuracy", "value": pytest.approx(right)}
    assert value["bit_exact"] is True and list(value["engines"]) == HOST
    for result in value["engines"].values():
        assert set(result) >= {"metric", "value", "top1_agreement", "sqnr_db", "samples"}
        assert result["metric"] == "accuracy" and result["samples"] == 12 and result["sqnr_db"] > 20
        assert abs(result["value"] - right) <= 1 - result["top1_agreement"] + 1e-9
    assert value["compared"] == {name: 12 for name in HOST if name != "numpy"}


def test_verify_without_labels(project, arenite, tmp_path):
    np.save(tmp_path / "x.npy", np.load(project.data)["x"])
    value = arenite("verify", project.model, project.built, "--data", tmp_path / "x.npy", "--engine", "numpy", "--json").json
    assert value["float"] == {"metric": "top1_agreement", "value": None}
    result = value["engines"]["numpy"]
    assert result["metric"] == "top1_agreement" and result["value"] == result["top1_agreement"] >= 0.9


def test_figures_of_verify_are_those_of_the_outputs(project, arenite, tmp_path):
    """SQNR and agreement, worked out again from what `run` and onnxruntime give."""
    file = tmp_path / "o.npz"
    port = arenite("run", project.built, "--input", project.data, "--output", file, "--json").json["outputs"][0]
    real = port["scale"] * (np.load(file)["scores"].astype(np.float64)[:, 0] - port["zero_point"])
    expected = float_outputs(project)
    result = arenite("verify", project.model, project.built, "--data", project.data, "--engine", "numpy", "--json").json["engines"]["numpy"]
    assert result["sqnr_db"] == pytest.approx(10 * np.log10(np.sum(expected**2) / np.sum((expected - real) ** 2)), abs=1e-3)
    assert result["top1_agreement"] == pytest.approx(np.mean(real.argmax(axis=1) == expected.argmax(axis=1)))


def test_verify_notices_an_engine_that_differs_in_one_bit(project, arenite, monkeypatch):
    honest = ENGINES["numpy"]

    def lying(folder, target):
        engine = honest(folder, target)

        class Lying:
            name, info, samples = "c", None, 0

            def run(self, samples):
                outputs = engine.run(samples)
                for sample in outputs:
                    self.samples += 1
                    if self.samples == 8:
                        sample[0] = sample[0].copy()
                        sample[0].reshape(-1)[2] ^= 1
                return outputs

        return Lying()

    monkeypatch.setitem(ENGINES, "c", lying)
    words = ("verify", project.model, project.built, "--data", project.data, "--engine", "c")
    outcome = arenite(*words, "--json")
    assert outcome.code == 1 and outcome.json["bit_exact"] is False
    (message,) = outcome.json["mismatches"]
    assert "sample 7" in message and "1 values of output scores" in message and "numpy" in message
    assert "NOT BIT-EXACT" in arenite(*words).out


def test_verify_leaves_out_engines_that_cannot_run_here(project, arenite, monkeypatch):
    from arenite.errors import ToolError

    def missing(folder, target):
        raise ToolError("no compiler in sight")

    for name in ENGINES:
        if name != "numpy":
            monkeypatch.setitem(ENGINES, name, missing)
    outcome = arenite("verify", project.model, project.built, "--data", project.data, "--json")
    assert outcome.code == 0 and list(outcome.json["engines"]) == ["numpy"] and "no compiler in sight" in outcome.err
    assert set(outcome.json["skipped"]) == set(ENGINES) - {"numpy"}
    alone = arenite("verify", project.model, project.built, "--data", project.data)
    assert alone.code == 0 and "not checked: only one engine ran" in alone.out and "Bit-exact:" not in alone.out
    named = arenite("verify", project.model, project.built, "--data", project.data, "--engine", "compiled")
    assert named.code == 10 and "no compiler in sight" in named.err


@pytest.mark.parametrize(
    ("labels", "accuracy"),
    [(np.eye(5)[np.arange(12) % 5], "same"), (np.arange(12)[:, None] % 5, "same"), (np.arange(12) / 7, None), (np.zeros((12, 3, 3)), None)],
    ids=["one-hot", "column", "fractions", "masks"],
)
def test_kinds_of_labels(project, arenite, tmp_path, labels, accuracy):
    np.savez(tmp_path / "d.npz", x=np.load(project.data)["x"], y=labels)
    words = ("verify", project.model, project.built, "--engine", "numpy", "--json", "--data")
    outcome = arenite(*words, tmp_path / "d.npz")
    if accuracy is None:
        assert outcome.code == 6 and "class number" in outcome.err
    else:
        assert outcome.json["float"] == arenite(*words, project.data).json["float"]


def test_verify_refuses_another_model(project, arenite, make_classifier, tmp_path):
    model = make_classifier()
    model.graph.input[0].name = model.graph.node[0].input[0] = "picture"
    onnx.save(model, tmp_path / "other.onnx")
    outcome = arenite("verify", tmp_path / "other.onnx", project.built, "--data", project.data)
    assert outcome.code == 11 and "picture" in outcome.err and "other.onnx" in outcome.err


def test_verify_a_model_with_two_inputs_and_two_outputs(arenite, tmp_path):
    nodes = [
        onnx.helper.make_node("Add", ["a", "b"], ["sum"], "add"),
        onnx.helper.make_node("Mul", ["a", "b"], ["product"], "mul"),
    ]
    ports = [onnx.helper.make_tensor_value_info(name, 1, [1, 8]) for name in ("a", "b", "sum", "product")]
    graph = onnx.helper.make_graph(nodes, "g", ports[:2], ports[2:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    random = np.random.default_rng(3)
    np.savez(tmp_path / "d.npz", b=random.uniform(-1, 1, (9, 8)).astype(np.float32), a=random.uniform(0, 2, (9, 8)).astype(np.float32))
    assert arenite("convert", tmp_path / "m.onnx", "--calibration", tmp_path / "d.npz").code == 0
    value = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "d.npz", "--engine", "numpy", "--json").json
    assert value["engines"]["numpy"]["sqnr_db"] > 30 and value["bit_exact"] is True


@pytest.mark.parametrize("io", ["int8", "float32"])
def test_an_input_that_is_an_output_too(arenite, tmp_path, io):
    """It keeps its name on both sides, though the output has memory of its own."""
    port = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 4))]
    relu = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", port, [relu, *port])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(0).normal(0, 1, (200, 1, 4)))
    converted = arenite("convert", tmp_path / "m.onnx", "--calibration", tmp_path / "data.npz", "--io", io, "--json").json
    assert [port["name"] for port in converted["outputs"]] == ["y", "x"]
    value = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "data.npz", "--engine", "numpy", "--json").json
    assert value["bit_exact"] and value["engines"]["numpy"]["sqnr_db"] > 30


@pytest.mark.parametrize("kind", [TensorProto.FLOAT16, TensorProto.DOUBLE])
def test_verify_feeds_the_float_type_that_the_file_declares(arenite, tmp_path, kind):
    ports = [helper.make_tensor_value_info(name, kind, (1, 4)) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(0).normal(0, 1, (200, 1, 4)))
    assert arenite("convert", tmp_path / "m.onnx", "--calibration", tmp_path / "data.npz").code == 0
    value = arenite("verify", tmp_path / "m.onnx", tmp_path / "m", "--data", tmp_path / "data.npz", "--engine", "numpy", "--json").json
    assert value["engines"]["numpy"]["sqnr_db"] > 30


def test_inspect_shows_layers_shapes_scales_macs_and_the_arena(project, arenite):
    outcome = arenite("inspect", project.built)
    report = json.loads((project.built / "report.json").read_text())
    for layer in report["layers"]:
        assert layer["name"] in outcome.out and f"{layer['macs']:,}" in outcome.out
    assert f"scale {report['inputs'][0]['scale']:.7g}" in outcome.out and "Arena: addresses down" in outcome.out
    assert outcome.out.startswith("model needs ") and "Calibrated: " in outcome.out.splitlines()[-1]
    assert "Arena: addresses down" not in arenite("inspect", project.built, "--no-memory").out


def test_version_and_help(arenite):
    assert arenite("--version").out == f"arenite {__version__}\n"
    assert all(command in arenite("--help").out for command in ("convert", "run", "verify", "inspect", "operators"))
    assert "--calibration" in arenite("convert", "-h").out


@pytest.fixture
def uint8_model(tmp_path):
    """MaxPool between uint8 ports, real value = 0.02 · (u − 100); ten samples in stored.npz (uint8) and real.npz (float32)."""
    scale, zero = onnx.numpy_helper.from_array(np.array(np.float32(0.02)), "s"), onnx.numpy_helper.from_array(np.array(np.uint8(100)), "z")
    nodes = [
        onnx.helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"], "dq"),
        onnx.helper.make_node("MaxPool", ["d"], ["m"], "pool", kernel_shape=[2, 2]),
        onnx.helper.make_node("QuantizeLinear", ["m", "s", "z"], ["y"], "q"),
    ]
    ports = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.UINT8, shape)
        for name, shape in (("x", [1, 2, 4, 4]), ("y", [1, 2, 3, 3]))
    ]
    graph = onnx.helper.make_graph(nodes, "g", ports[:1], ports[1:], [scale, zero])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    random = np.random.default_rng(0)
    np.savez(tmp_path / "stored.npz", x=random.integers(0, 256, (10, 2, 4, 4)).astype(np.uint8))
    np.savez(tmp_path / "real.npz", x=random.uniform(-2, 3, (10, 2, 4, 4)).astype(np.float32))
    return tmp_path / "m.onnx"


@pytest.mark.parametrize(("io", "dtype", "zero_point"), [("int8", "int8", -28), ("model", "uint8", 100)])
def test_uint8_inputs_and_outputs(arenite, uint8_model, tmp_path, io, dtype, zero_point):
    """As int8 with the top bit flipped, or as they are. Data as the file declares it or as real numbers; onnxruntime computes in uint8, the
    engines in int8, and both mean the same."""
    value = arenite("convert", uint8_model, "--io", io, "--json").json
    found = [(p["dtype"], p["source_dtype"], p["zero_point"]) for p in value["inputs"] + value["outputs"]]
    assert found == [(dtype, "uint8", zero_point)] * 2
    engines = [word for engine in HOST for word in ("--engine", engine)]
    for data in ("stored.npz", "real.npz"):
        result = arenite("verify", uint8_model, tmp_path / "m", "--data", tmp_path / data, *engines, "--json").json
        assert result["bit_exact"] and len(result["engines"]) == len(HOST)
        assert all(engine["sqnr_db"] is None and engine["top1_agreement"] == 1 for engine in result["engines"].values())
    run = arenite("run", tmp_path / "m", "--input", tmp_path / "stored.npz", "--json").json
    x = np.load(tmp_path / "stored.npz")["x"][0].astype(int)
    pooled = np.max([x[:, i : i + 3, j : j + 3] for i in (0, 1) for j in (0, 1)], axis=0)
    np.testing.assert_allclose(run["outputs"][0]["first"], 0.02 * (pooled.ravel() - 100), rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_the_compiled_form_converts_uint8_values(arenite, uint8_model, tmp_path):
    arenite("convert", uint8_model, "--io", "model", "--json")
    (tmp_path / "main.c").write_text("""
#include <stdio.h>
#include "m.h"

int main(void) {
    static union { uint8_t bytes[M_ARENA_BYTES]; long double aligned; } arena;
    float values[M_INPUT_0_ELEMENTS] = {-3.0f, -2.0f, -0.01f, 0.01f, 0.031f, 3.1f, 9.0f};
    m_quantize_input(&arena, 0, values);
    for (int i = 0; i < 7; i++) printf("%d ", ((uint8_t *)m_input(&arena, 0))[i]);
    for (int i = 0; i < 3; i++) ((uint8_t *)m_output(&arena, 0))[i] = (uint8_t)(100 * i);
    m_dequantize_output(&arena, 0, values);
    for (int i = 0; i < 3; i++) printf("%.3f ", (double)values[i]);
    return 0;
}
""")
    folder = tmp_path / "m"
    sources = [folder / "m.c", *(folder / "runtime_c" / "kernels" / "portable").glob("*.c")]
    includes = [f"-I{path}" for path in (folder, folder / "runtime_c" / "include", folder / "runtime_c" / "kernels")]
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", *includes]
    subprocess.run([*command, tmp_path / "main.c", *sources, "-lm", "-o", tmp_path / "main"], check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert printed == "0 0 100 100 102 255 255 -2.000 0.000 2.000 "


def test_verify_layers(project, arenite, tmp_path):
    page = tmp_path / "layers.html"
    outcome = arenite(
        "verify", project.model, project.built, "--data", project.data, "--engine", "numpy", "--layers", "--html", page, "--json"
    )
    attribution = outcome.json["attribution"]
    assert outcome.code == 0 and attribution["samples"] == 12 and page.read_text().startswith("<!doctype html>")
    assert all(
        {"name", "sqnr_db", "cosine", "alone_db", "share", "values", "suggestions"} <= layer.keys() for layer in attribution["layers"]
    )
    said = arenite("verify", project.model, project.built, "--data", project.data, "--engine", "numpy", "--layers")
    assert all(layer["name"][:20] in said.out for layer in attribution["layers"]) and "diverge" in said.out


def test_the_page_of_layers_needs_layers(project, arenite, tmp_path):
    outcome = arenite("verify", project.model, project.built, "--data", project.data, "--html", tmp_path / "layers.html")
    assert outcome.code != 0 and "--layers" in outcome.err and not (tmp_path / "layers.html").exists()
