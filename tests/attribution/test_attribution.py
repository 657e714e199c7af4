"""Attribution: the layer that was made bad is named, figures are what they say, what is suggested helps."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.attribution import attribute, to_html, to_markdown, wording
from arenite.attribution.suggestions import Evidence, Reader, suggestions
from arenite.errors import ArtifactError
from arenite.pipeline import ConvertOptions, convert
from arenite.report import from_json
from onnx import TensorProto, helper, numpy_helper


def save_network(path: Path, *, outlier: float = 1.0) -> None:
    """Three convolutions with Relu, a mean and a fully connected layer. One channel of the second is `outlier` times as large, and the
    third one takes it back: other channels of that tensor get few steps, and the weights that take it back are rounded coarsely."""
    rng = np.random.default_rng(4)
    weights = [
        rng.standard_normal(shape).astype(np.float32) / np.sqrt(np.prod(shape[1:])) for shape in ((8, 2, 3, 3), (8, 8, 3, 3), (8, 8, 3, 3))
    ]
    weights[1][0] *= outlier
    weights[2][:, 0] /= outlier
    nodes, inputs, name = [], [], "x"
    for index, weight in enumerate(weights):
        inputs.append(numpy_helper.from_array(weight, f"w{index}"))
        nodes.append(helper.make_node("Conv", [name, f"w{index}"], [f"c{index}"], name=f"conv{index}", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{index}"], [f"r{index}"], name=f"relu{index}"))
        name = f"r{index}"
    inputs.append(numpy_helper.from_array(rng.standard_normal((8, 5)).astype(np.float32), "dense"))
    nodes += [
        helper.make_node("GlobalAveragePool", [name], ["mean"], name="mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="flat"),
        helper.make_node("MatMul", ["flat", "dense"], ["scores"], name="scores"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [1, 2, 8, 8])], [value("scores", TensorProto.FLOAT, [1, 5])], initializer=inputs
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def save_samples(path: Path, count: int = 12, labels: bool = False) -> Path:
    x = np.random.default_rng(9).standard_normal((count, 1, 2, 8, 8)).astype(np.float32)
    np.savez(path, x=x, **({"y": np.zeros(count, np.int64)} if labels else {}))
    return path


@pytest.fixture
def built(tmp_path: Path) -> tuple[Path, Path, Path]:
    save_network(tmp_path / "m.onnx", outlier=30.0)
    data = save_samples(tmp_path / "x.npz")
    convert(tmp_path / "m.onnx", ConvertOptions(calibration=data, output=tmp_path / "out", least_db=float("-inf")))
    return tmp_path / "m.onnx", tmp_path / "out", data


def test_the_layer_that_was_made_bad_causes_the_error(built):
    found = attribute(*built)
    assert [layer.name for layer in found.layers if layer.op == "Conv"] == ["conv0", "conv1", "conv2"]
    shares = {layer.name: layer.share for layer in found.layers if layer.op != "Transpose"}
    assert shares["conv1"] + shares["conv2"] > 0.9
    assert sum(layer.share or 0 for layer in found.layers) == pytest.approx(1)
    assert found.first_diverging is not None and found.first_diverging.name in ("conv1", "conv2")
    assert found.suggestions[0][1].remedy == "--int16-layer conv2"
    assert "--int16-layer conv1 --int16-layer conv2" in [each.remedy for _, each in found.suggestions]
    assert {layer.name for layer in found.worst[:2]} == {"conv1", "conv2"}


def test_a_good_network_has_nothing_to_report(tmp_path):
    save_network(tmp_path / "m.onnx")
    data = save_samples(tmp_path / "x.npz", labels=True)
    convert(tmp_path / "m.onnx", ConvertOptions(calibration=data, output=tmp_path / "out"))
    found = attribute(tmp_path / "m.onnx", tmp_path / "out", data)
    assert found.first_diverging is None and found.output_db > 25 and found.lost is not None
    for layer in found.layers:
        assert layer.cosine == pytest.approx(1, abs=0.01)
        if layer.alone_db is not None:  # the errors of those before come on top
            assert layer.sqnr_db < layer.alone_db + 1


@pytest.mark.parametrize("precision", ["int16", "float"])
def test_widening_the_layer_gains_what_was_predicted(built, tmp_path, precision):
    model, _, data = built
    found = attribute(*built)
    _, suggestion = found.suggestions[0]
    layers = tuple(suggestion.remedy.replace("--int16-layer ", "").split())
    options = ConvertOptions(calibration=data, output=tmp_path / "again", least_db=float("-inf"), **{f"{precision}_layers": layers})
    convert(model, options)
    gained = attribute(model, tmp_path / "again", data).output_db - found.output_db
    assert gained > 0.7 * suggestion.gain_db > 3


def test_values_outside_the_range_are_counted(built, tmp_path):
    x = 3 * np.load(built[2])["x"]
    np.savez(tmp_path / "large.npz", x=x)
    found = attribute(built[0], built[1], tmp_path / "large.npz")
    values = next(layer.values for layer in found.layers if layer.name == "conv0" and layer.op == "Conv")
    assert values.saturated > 0.005 and values.high > values.greatest
    assert values.counts.sum() == 12 * 8 * 8 * 8
    assert values.counts[3 * len(values.counts) // 4 :].sum() == pytest.approx(values.saturated * values.counts.sum(), rel=0.2)


def test_recurrent_states_are_followed(tmp_path):
    rng = np.random.default_rng(5)
    weight = lambda *shape: rng.standard_normal(shape).astype(np.float32) / 3  # noqa: E731
    constants = {"w": weight(4, 4), "u": weight(4, 4)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="new"),
        helper.make_node("MatMul", ["h", "u"], ["b"], name="old"),
        helper.make_node("Add", ["a", "b"], ["s"], name="sum"),
        helper.make_node("Tanh", ["s"], ["next"], name="next"),
        helper.make_node("Identity", ["next"], ["y"], name="y"),
    ]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])  # noqa: E731
    tensors = [numpy_helper.from_array(data, name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "g", [value("x"), value("h")], [value("y"), value("next")], initializer=tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=rng.standard_normal((20, 1, 4)).astype(np.float32))
    convert(tmp_path / "m.onnx", ConvertOptions(calibration=tmp_path / "x.npz", output=tmp_path / "out", states={"next": "h"}))
    found = attribute(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz")
    assert found.samples == 20 and found.output_db > 20
    assert all(layer.alone_db > 25 for layer in found.layers if layer.alone_db is not None)


def test_the_page_shows_every_layer(built):
    found = attribute(*built)
    page = to_html(found)
    assert all(layer.name in page for layer in found.layers) and page.count("<figure>") == sum(
        layer.values is not None for layer in found.layers
    )


def test_another_model(built, tmp_path):
    graph = onnx.load(built[0])
    graph.graph.node[-1].output[0] = graph.graph.output[0].name = "other"
    onnx.save(graph, tmp_path / "other.onnx")
    with pytest.raises(ArtifactError, match="was not converted from"):
        attribute(tmp_path / "other.onnx", built[1], built[2])


def test_an_artifact_without_names(built, tmp_path):
    convert(built[0], ConvertOptions(calibration=built[2], output=tmp_path / "bare", strip_names=True))
    with pytest.raises(ArtifactError, match="--strip-names"):
        attribute(built[0], tmp_path / "bare", built[2])


def test_layers_of_16_bits_are_measured(built, tmp_path):
    model, _, data = built
    convert(model, ConvertOptions(precision="int16", calibration=data, output=tmp_path / "wide"))
    found = attribute(model, tmp_path / "wide", data)
    convolutions = [layer for layer in found.layers if layer.op == "Conv"]
    assert [layer.name for layer in convolutions] == ["conv0", "conv1", "conv2"]
    assert all(layer.dtype == "int16" and layer.kernel == "int16_weights" and layer.alone_db > 40 for layer in convolutions)
    assert found.output_db > 60 and found.first_diverging is None
    mixed = ConvertOptions(calibration=data, output=tmp_path / "mixed", least_db=float("-inf"), int16_layers=("conv1",))
    convert(model, mixed)
    by_name = {layer.name: layer for layer in attribute(model, tmp_path / "mixed", data).layers if layer.op == "Conv"}
    assert by_name["conv1"].kernel == "int16_weights" and by_name["conv2"].kernel != "int16_weights"


def test_kernels_and_their_cost(built):
    """The same as the report's."""
    found = attribute(*built)
    report = from_json(json.loads((built[1] / "report.json").read_text()), "report.json")
    calls = {call.output: call for call in report.layers}
    for layer in found.layers:
        if layer.op in ("Conv", "FullyConnected"):
            call = calls[layer.output]
            assert (layer.kernel, layer.macs, layer.weight_bytes) == (call.variant, call.macs, call.weight_bytes)
    assert sum(layer.macs for layer in found.layers) == report.macs
    assert found.layers[0].op == "input" and found.layers[0].kernel == "" and found.layers[0].share > 0


def test_a_model_that_came_quantized_is_its_own_reference(tmp_path):
    """Saturation stands for a Relu, as exporters leave it: the layer alone does the same, rounding included."""
    rng = np.random.default_rng(2)
    constants = {
        "s": np.float32(0.02),
        "z": np.int8(0),
        "t": np.float32(0.03),
        "low": np.int8(-128),
        "w": rng.normal(0, 0.3, (8, 6)).astype(np.float32),
        "v": rng.normal(0, 0.3, (6, 4)).astype(np.float32),
    }
    nodes = []
    for name, scale, zero in (("x", "s", "z"), ("m", "t", "low"), ("n", "t", "z")):
        nodes += [
            helper.make_node("QuantizeLinear", [name, scale, zero], [f"{name}_q"]),
            helper.make_node("DequantizeLinear", [f"{name}_q", scale, zero], [f"{name}_d" if name != "n" else "y"]),
        ]
    layers = [helper.make_node("MatMul", ["x_d", "w"], ["m"], "first"), helper.make_node("MatMul", ["m_d", "v"], ["n"], "second")]
    nodes = [*nodes[:2], layers[0], *nodes[2:4], layers[1], *nodes[4:]]
    value = helper.make_tensor_value_info
    tensors = [numpy_helper.from_array(np.asarray(data), name) for name, data in constants.items()]
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1, 8])], [value("y", TensorProto.FLOAT, [1, 4])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=rng.normal(0, 1, (30, 1, 8)).astype(np.float32))
    convert(tmp_path / "m.onnx", ConvertOptions(output=tmp_path / "out"))
    found = attribute(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz")
    first = next(layer for layer in found.layers if layer.name == "first")
    assert first.alone_db > 30 and found.output_db > 25 and found.tried_methods


def test_decisions_are_measured_in_front_of_a_softmax(tmp_path):
    save_network(tmp_path / "m.onnx", outlier=30.0)
    model = onnx.load(tmp_path / "m.onnx")
    model.graph.node.append(helper.make_node("Softmax", ["scores"], ["probabilities"], name="softmax"))
    model.graph.output[0].name = "probabilities"
    onnx.save(model, tmp_path / "m.onnx")
    data = save_samples(tmp_path / "x.npz")
    convert(tmp_path / "m.onnx", ConvertOptions(calibration=data, output=tmp_path / "out", least_db=float("-inf")))
    found = attribute(tmp_path / "m.onnx", tmp_path / "out", data)
    assert found.judged == ("scores",) and found.judged_db != pytest.approx(found.output_db, abs=0.1)
    softmax = next(layer for layer in found.layers if layer.op == "Softmax")
    assert softmax.share == 0 and softmax.values.saturated == 0
    assert "dB at scores" in wording.summary(found) and "at scores, each by itself" in wording.suggestions_title(found)


def test_what_is_said(built, tmp_path):
    """What a pull request needs: who diverges first, the worst, options with their gains; names that a shell would split are quoted."""
    found = attribute(*built)
    text, page = to_markdown(found), to_html(found)
    first, worst = found.first_diverging, found.worst
    assert (
        f"First layer to diverge (below 20 dB): {first.name} (Conv), " in text and f"{worst[0].name} (Conv, {worst[0].share:.1%})" in text
    )
    layer, suggestion = found.suggestions[0]
    assert f"- `{suggestion.remedy}`: about {suggestion.gain_db:+.1f} dB; the weights of {layer.name} cause" in text
    assert "--quantize best" in text and "--quantize best" in page and suggestion.remedy in page
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(found.layers) and {row.count("|") for row in rows} == {len(wording.TITLES) + 1}
    for _, each in found.suggestions:
        assert all(
            word in ("--int16-layer", "--float-layer", "--method", "--io") or not word.startswith("-") for word in shlex.split(each.remedy)
        )
    hostile = replace(layer, name="a b;c|d")
    assert "--int16-layer 'a b;c|d'" in [s.remedy for s in suggestions(hostile, Evidence(0.5, 1.0, 0.0, ()))]
    assert "a b;c\\|d" in to_markdown(replace(found, layers=(hostile,)))


def test_the_output_of_a_float_layer_is_rounded_for_its_readers(built):
    layer = next(layer for layer in attribute(*built).layers if layer.name == "conv1" and layer.op == "Conv")
    readers = (Reader("next", "Conv"), Reader("odd", "Softmax"))
    (found,) = suggestions(replace(layer, values=None), Evidence(0.5, 1.0, 1.0, readers, is_float=True))
    assert found.remedy == "--int16-layer next --float-layer odd" and found.gain_db == pytest.approx(10 * np.log10(2))
    at_the_end = suggestions(replace(layer, values=None), Evidence(0.5, 1.0, 1.0, ()))
    assert [s.remedy for s in at_the_end] == ["--io float32 --int16-layer conv1"]
