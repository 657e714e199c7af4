"""Attribution: the layer that was made bad is named, figures are what they say, what is suggested helps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.attribution import attribute, to_html
from arenite.errors import ArtifactError
from arenite.pipeline import ConvertOptions, convert
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
    assert found.suggestions[0][1].remedy == "--float-layer conv2"
    assert "--float-layer conv1 --float-layer conv2" in [each.remedy for _, each in found.suggestions]


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


def test_keeping_the_layer_float_gains_what_was_predicted(built, tmp_path):
    model, _, data = built
    found = attribute(*built)
    _, suggestion = found.suggestions[0]
    layers = tuple(suggestion.remedy.replace("--float-layer ", "").split())
    options = ConvertOptions(calibration=data, output=tmp_path / "again", least_db=float("-inf"), float_layers=layers)
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
