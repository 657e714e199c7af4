"""LSTM, GRU and RNN with 16-bit activations: whole models through every engine, near to float; what is int16, with which scales, and what
stays float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.graph import DType, Node
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.verify import verify
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from quantize.test_recurrent import BATCH, CASES, FEATURES, GATES, HIDDEN, OPTIONS, STEPS, converted, recurrent_model, samples

Array = NDArray[Any]
ENGINES = ("numpy", "c", "compiled")


def recurrent_nodes(conversion: Conversion) -> list[Node]:
    return [node for node in conversion.quantized.graph.nodes if node.op.removesuffix("Last") in ("Lstm", "Gru", "Rnn")]


def assert_near(path: Path, folder: Path, least_db: float, engines: tuple[str, ...] = ENGINES) -> None:
    """Equal bytes from the engines, and near to onnxruntime."""
    found = verify(path, folder / "out", folder / "data.npz", engines=engines)
    assert found.agree, found.mismatches
    assert all(result.sqnr_db is None or result.sqnr_db > least_db for result in found.engines.values())


@pytest.mark.parametrize(("op", "name"), CASES)
def test_every_option(op: str, name: str, tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", op, **OPTIONS[name])
    conversion = converted(path, tmp_path, precision="int16")
    assert [node.attributes["variant"] for node in recurrent_nodes(conversion)] == ["int16_weights"]
    assert "float32" not in [node.attributes.get("variant") for node in conversion.quantized.graph.nodes]
    assert conversion.quantized.notes == (f"1 of 1 layers have 16-bit activations: layer ({op.title()}{'Last' if name == 'last' else ''})",)
    assert_near(path, tmp_path, 72)


@pytest.mark.parametrize("op", GATES)
def test_weights_of_8_bits(op: str, tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", op, direction="bidirectional")
    sizes = {}
    for precision in ("int16", "int16x8"):
        (tmp_path / precision).mkdir()
        sizes[precision] = converted(path, tmp_path / precision, precision=precision)
    assert [node.attributes["variant"] for node in recurrent_nodes(sizes["int16x8"])] == ["int16_steps"]
    weights = 2 * GATES[op] * HIDDEN * (FEATURES + HIDDEN)
    assert sizes["int16"].report.weight_bytes - sizes["int16x8"].report.weight_bytes == weights
    assert_near(path, tmp_path / "int16x8", 43)


@pytest.mark.parametrize("op", GATES)
def test_emulated(op: str, tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", op, direction="bidirectional", initial=True)
    converted(path, tmp_path, precision="int16")
    found = verify(path, tmp_path / "out", tmp_path / "data.npz", engines=("numpy", "emulated", "emulated-compiled"), emulated_samples=2)
    assert found.agree


@pytest.mark.parametrize(
    ("op", "options", "reason"),
    [
        ("LSTM", {"activations": ["HardSigmoid", "Tanh", "Tanh"]}, "the activations HardSigmoid, Tanh"),
        ("LSTM", {"input_forget": 1}, "coupled gates"),
        ("GRU", {"activations": ["Sigmoid", "Relu"]}, "the activations Sigmoid, Relu"),
    ],
)
def test_what_stays_float32_has_a_reason(op: str, options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", op, **options)
    conversion = converted(path, tmp_path, precision="int16")
    assert [node.attributes["variant"] for node in recurrent_nodes(conversion)] == ["float32"]
    (layer,) = (layer for layer in conversion.quantized.layers if layer.name == "layer")
    assert layer.notes == (f"float32, not 16 bits: {reason}",)


def test_a_bias_beyond_its_bits_stays_float32(tmp_path: Path) -> None:
    model = onnx.load(recurrent_model(tmp_path / "model.onnx", "RNN"))
    bias = next(value for value in model.graph.initializer if value.name == "B")
    bias.CopyFrom(numpy_helper.from_array(np.where(np.arange(2 * HIDDEN) == 3, 5000.0, 0.1).astype(np.float32)[None], "B"))
    onnx.save(model, tmp_path / "model.onnx")
    conversion = converted(tmp_path / "model.onnx", tmp_path, precision="int16")
    (layer,) = (layer for layer in conversion.quantized.layers if layer.name == "layer")
    assert layer.notes == ("float32, not 16 bits: a bias of 4096 or more",)


def stacked(path: Path, direction: str = "bidirectional") -> Path:
    """GRU, its states of every step turned and flattened as exporters do it, LSTM, and a dense layer on the last state."""
    rng = np.random.default_rng(3)
    directions = 2 if direction == "bidirectional" else 1

    def constant(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.normal(0, 0.5, shape).astype(np.float32), name)

    between = directions * HIDDEN
    initializers = [
        *(constant("W1", directions, 3 * HIDDEN, FEATURES), constant("R1", directions, 3 * HIDDEN, HIDDEN)),
        *(constant("W2", 1, 4 * HIDDEN, between), constant("R2", 1, 4 * HIDDEN, HIDDEN), constant("dense", HIDDEN, 3)),
        numpy_helper.from_array(np.array([STEPS, BATCH, between], np.int64), "flat"),
        numpy_helper.from_array(np.array([BATCH, HIDDEN], np.int64), "rows"),
    ]
    nodes = [
        helper.make_node("GRU", ["x", "W1", "R1"], ["y1"], name="first", hidden_size=HIDDEN, direction=direction),
        helper.make_node("Transpose", ["y1"], ["t"], perm=[0, 2, 1, 3], name="turned"),
        helper.make_node("Reshape", ["t", "flat"], ["r"], name="flattened"),
        helper.make_node("LSTM", ["r", "W2", "R2"], ["", "h"], name="second", hidden_size=HIDDEN),
        helper.make_node("Reshape", ["h", "rows"], ["last"], name="last"),
        helper.make_node("MatMul", ["last", "dense"], ["y"], name="dense"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "stacked",
        [value("x", TensorProto.FLOAT, [STEPS, BATCH, FEATURES])],
        [value("y", TensorProto.FLOAT, [BATCH, 3])],
        initializers,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_layers_hand_on_what_they_have(direction: str, tmp_path: Path) -> None:
    """No conversion between two recurrent layers and the one behind: nothing is rounded again."""
    path = stacked(tmp_path / "model.onnx", direction)
    conversion = converted(path, tmp_path, precision="int16")
    conversions = [node.op for node in conversion.quantized.graph.nodes if node.op in ("Quantize", "Dequantize", "Requantize")]
    assert conversions == ["Quantize", "Dequantize"]
    assert_near(path, tmp_path, 72)


@pytest.mark.parametrize(("layers", "kinds"), [(("first",), ("int16_weights", "int8")), (("second",), ("int8", "int16_weights"))])
def test_beside_int8(layers: tuple[str, ...], kinds: tuple[str, ...], tmp_path: Path) -> None:
    path = stacked(tmp_path / "model.onnx")
    conversion = converted(path, tmp_path, int16_layers=layers)
    assert tuple(node.attributes["variant"] for node in recurrent_nodes(conversion)) == kinds
    assert_near(path, tmp_path, 30)


def test_beside_float32(tmp_path: Path) -> None:
    path = stacked(tmp_path / "model.onnx")
    conversion = converted(path, tmp_path, precision="int16", float_layers=("first", "dense"))
    assert [node.attributes["variant"] for node in recurrent_nodes(conversion)] == ["float32", "int16_weights"]
    assert_near(path, tmp_path, 72)


def test_units_have_scales_of_their_own(tmp_path: Path) -> None:
    """A cell that counts to hundreds beside those that stay below 1: with one scale for all it is 40 dB."""
    model = onnx.load(recurrent_model(tmp_path / "model.onnx", "LSTM", last=True))
    bias = next(value for value in model.graph.initializer if value.name == "B")
    values = numpy_helper.to_array(bias).copy()
    values[0, [0, 2 * HIDDEN]] = 30.0  # input and forget gates of unit 0 stay open
    bias.CopyFrom(numpy_helper.from_array(values, "B"))
    model.graph.output.pop()  # the cells: seen from outside they would share a scale
    onnx.save(model, tmp_path / "model.onnx")
    conversion = converted(tmp_path / "model.onnx", tmp_path, precision="int16")
    (node,) = recurrent_nodes(conversion)
    row = conversion.quantized.graph.tensors[str(node.inputs[3])].data
    assert row is not None
    bits = row.reshape(1, -1)[0, 12 * HIDDEN :]
    assert bits[0] < bits[1:].min() and node.attributes["cell_bits"] == bits.min()
    assert_near(tmp_path / "model.onnx", tmp_path, 72)


def test_cells_that_are_seen_share_a_scale(tmp_path: Path) -> None:
    path = recurrent_model(tmp_path / "model.onnx", "LSTM", initial=True, last=True)
    conversion = converted(path, tmp_path, precision="int16")
    (node,) = recurrent_nodes(conversion)
    row = conversion.quantized.graph.tensors[str(node.inputs[3])].data
    assert row is not None and len(np.unique(row.reshape(1, -1)[0, 12 * HIDDEN :])) == 1
    cells = conversion.quantized.graph.tensors[node.outputs[1]].quantization
    assert cells is not None and float(cells.scale) == 2.0 ** -node.attributes["cell_bits"]


@pytest.mark.parametrize("swapped", [False, True])
def test_states_are_int16(swapped: bool, tmp_path: Path) -> None:
    """Kept from invocation to invocation, by unit; where the graph exchanges units on the way, with one scale."""
    model = onnx.load(recurrent_model(tmp_path / "model.onnx", "LSTM", initial=True))
    if swapped:
        order = numpy_helper.from_array(np.arange(HIDDEN)[::-1].copy(), "order")
        model.graph.initializer.append(order)
        (node,) = model.graph.node
        node.output[2] = "cells"
        model.graph.node.append(helper.make_node("Gather", ["cells", "order"], ["last_c"], axis=2, name="swap"))
    onnx.save(model, tmp_path / "model.onnx")
    np.savez(tmp_path / "data.npz", x=np.load(samples(tmp_path / "model.onnx", tmp_path))["x"])
    states = {"last_h": "h", "last_c": "c"}
    options = ConvertOptions(calibration=tmp_path / "data.npz", output=tmp_path / "out", precision="int16", states=states)
    conversion = convert(tmp_path / "model.onnx", options)
    program = conversion.program
    if not swapped:
        assert [program.tensors[state.input].dtype for state in program.states] == [DType.INT16, DType.INT16]
    (layer,) = recurrent_nodes(conversion)
    row = conversion.quantized.graph.tensors[str(layer.inputs[3])].data
    assert row is not None
    assert (len(np.unique(row.reshape(1, -1)[0, 12 * HIDDEN :])) == 1) is swapped
    assert_near(tmp_path / "model.onnx", tmp_path, 70)


def test_spectra_have_24_bits(tmp_path: Path) -> None:
    """Quiet samples among a loud one: 16 bits leave them a step."""
    path = recurrent_model(tmp_path / "model.onnx", "GRU", last=True)
    x = np.load(samples(path, tmp_path))["x"]
    x[1:] *= 1e-3
    np.savez(tmp_path / "data.npz", x=x)
    options = ConvertOptions(calibration=tmp_path / "data.npz", output=tmp_path / "out", precision="int16")
    conversion = convert(path, options)
    (node,) = recurrent_nodes(conversion)
    assert conversion.quantized.graph.tensors[node.input].dtype is DType.INT32
    assert ("Quantize", "int32_steps") in [(n.op, n.attributes.get("variant")) for n in conversion.quantized.graph.nodes]
    np.savez(tmp_path / "data.npz", x=x[1:])
    assert_near(path, tmp_path, 60)
