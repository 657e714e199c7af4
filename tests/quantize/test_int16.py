"""Layers with 16-bit activations: near to float, the same in every engine, and float32 where they have no such form."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import QuantizationError
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.verify import Verification, verify
from onnx import TensorProto, helper, numpy_helper

HOST = ["numpy", *(["compiled"] if shutil.which("cc") else [])]


def save_network(path: Path) -> None:
    """All that has a 16-bit form, and a Softmax, which has none."""
    rng = np.random.default_rng(12)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32), name)

    constants = [
        weight("w", 6, 3, 3, 3),
        weight("b", 6),
        weight("d", 6, 1, 3, 3),
        weight("p", 6, 6, 1, 1),
        weight("g", 5, 6),
        weight("c", 5),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "d"], ["e"], name="depthwise", group=6, pads=[2, 2, 2, 2], dilations=[2, 2]),
        helper.make_node("Sigmoid", ["e"], ["s"], name="gate"),
        helper.make_node("Mul", ["a", "s"], ["m"], name="gated"),
        helper.make_node("Conv", ["m", "p"], ["q"], name="pointwise"),
        helper.make_node("Sub", ["q", "a"], ["r"], name="residual"),
        helper.make_node("Relu", ["r"], ["t"], name="relu"),
        helper.make_node("MaxPool", ["t"], ["mp"], name="greatest", kernel_shape=[2, 3], pads=[0, 1, 0, 1], ceil_mode=1, strides=[2, 1]),
        helper.make_node("AveragePool", ["mp"], ["ap"], name="blur", kernel_shape=[2, 2], pads=[1, 0, 0, 1], count_include_pad=1),
        helper.make_node("GlobalAveragePool", ["ap"], ["u"], name="mean"),
        helper.make_node("Flatten", ["u"], ["v"], name="flat"),
        helper.make_node("Gemm", ["v", "g", "c"], ["z"], name="dense", transB=1),
        helper.make_node("Softmax", ["z"], ["y"], name="softmax"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [1, 3, 7, 6])], [value("y", TensorProto.FLOAT, [1, 5])], initializer=constants
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def converted(tmp_path: Path, **options: object) -> tuple[Conversion, Verification]:
    save_network(tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(3).standard_normal((10, 1, 3, 7, 6)).astype(np.float32))
    conversion = convert(tmp_path / "m.onnx", ConvertOptions(calibration=tmp_path / "x.npz", output=tmp_path / "out", **options))
    return conversion, verify(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz", engines=HOST)


def variants(conversion: Conversion) -> dict[str, str]:
    return {layer.name: layer.variant for layer in conversion.report.layers if layer.op not in ("Quantize", "Dequantize", "StridedCopy")}


@pytest.mark.parametrize(("precision", "kind", "least"), [("int16", "int16_weights", 70), ("int16x8", "int16_steps", 35)])
def test_a_network(tmp_path, precision, kind, least):
    conversion, found = converted(tmp_path, precision=precision)
    assert found.agree, found.mismatches
    assert min(result.sqnr_db for result in found.engines.values()) > least
    layers = variants(conversion)
    assert {layers[name] for name in ("conv", "depthwise", "pointwise", "dense")} == {kind}
    assert {layers[name] for name in ("gate", "gated", "residual", "greatest", "blur", "mean")} == {"int16_steps"}
    assert layers["softmax"] == "float32"
    assert any("16-bit activations" in note and "conv" in note for note in conversion.report.notes)
    assert any("not quantized: softmax" in note for note in conversion.report.notes)


def test_weights_of_8_bits_take_half(tmp_path):
    sizes = [converted(tmp_path, precision=precision)[0].report.weight_bytes for precision in ("int16", "int16x8")]
    assert sizes[0] - sizes[1] == 6 * 27 + 6 * 9 + 36 + 30


def test_single_layers_of_an_int8_model(tmp_path):
    conversion, found = converted(tmp_path, int16_layers=("pointwise", "residual"), least_db=float("-inf"))
    assert found.agree, found.mismatches
    layers = variants(conversion)
    assert layers["pointwise"] == "int16_weights" and layers["residual"] == "int16_steps" and layers["conv"] != "int16_weights"


def test_int8_ports_do_not_go_with_it(tmp_path):
    with pytest.raises(QuantizationError, match="--io int8 does not go with --precision int16"):
        converted(tmp_path, precision="int16", io="int8")


def test_a_name_that_no_layer_has(tmp_path):
    with pytest.raises(QuantizationError, match=r"--int16-layer pointwize: no layer has this name\. Similar ones: pointwise"):
        converted(tmp_path, int16_layers=("pointwize",))


@pytest.mark.parametrize("precision", ["int16", "int16x8"])
@pytest.mark.parametrize(
    ("weights", "bias"),
    [(1.0, 1e9), (1.0, 1e30), (1e-40, 0.1), (0.0, 1e-3)],
    ids=["bias of 1e9", "bias of 1e30", "weights of 1e-40", "no weights"],
)
def test_a_bias_that_dwarfs_the_weights(tmp_path, precision, weights, bias):
    """It is kept: weights that come to nothing beside it may be coarse."""
    rng = np.random.default_rng(5)
    w = rng.standard_normal((6, 4)).astype(np.float32)
    w[2] *= weights
    b = np.full(6, 1e-3, np.float32)
    b[2] = bias
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="dense", transB=1)],
        "g",
        [value("x", TensorProto.FLOAT, [1, 4])],
        [value("y", TensorProto.FLOAT, [1, 6])],
        initializer=[numpy_helper.from_array(w if weights else w * 0, "w"), numpy_helper.from_array(b, "b")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=1e4 * rng.standard_normal((10, 1, 4)).astype(np.float32))
    conversion = convert(tmp_path / "m.onnx", ConvertOptions(precision=precision, calibration=tmp_path / "x.npz", output=tmp_path / "out"))
    assert variants(conversion)["dense"].startswith("int16")
    found = verify(tmp_path / "m.onnx", tmp_path / "out", tmp_path / "x.npz", engines=HOST)
    assert found.agree, found.mismatches
    assert min(result.sqnr_db for result in found.engines.values()) > 45  # weights of 8 bits leave some 50
