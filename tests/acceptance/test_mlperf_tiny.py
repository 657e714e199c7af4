"""The five MLPerf Tiny networks, float and as imported QDQ graphs, through every engine."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.graph import Node
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify import verify
from arenite_runtime import Model
from arenite_runtime.kernels import KERNELS
from arenite_runtime.structure import Storage
from numpy.typing import NDArray

LONG = bool(os.environ.get("ARENITE_LONG"))
NETWORKS = ("kws01", "ic01", "vww01", "ad01", "sww01")
ENGINES = ("numpy", "c", "compiled", "emulated", "emulated-compiled")


def realistic(network: str, data: Path, count: int) -> NDArray[np.float32]:
    """Inputs of the right kind, as the float model wants them, [count, …] without the batch dimension."""
    rng = np.random.default_rng(11)
    if network == "kws01":
        x: NDArray[np.float32] = np.load(data / "data" / "kws01_f32_test.npz")["x"][:count]
        return x
    if network == "sww01":
        x = np.load(data / "data" / "sww01.npz")["x"].reshape(-1, 30, 1, 40).astype(np.float32)
        return x[np.linspace(0, len(x) - 1, min(count, len(x))).astype(int)]  # the file is sorted by class
    if network == "ad01":  # smooth log-mel-like windows: a random walk over 5 frames of 128 bands
        walk = np.cumsum(rng.normal(0, 1.5, (count, 5, 128)), axis=2)
        return (walk - walk.mean(axis=2, keepdims=True) - 30).reshape(count, 640).astype(np.float32)
    size = {"ic01": 32, "vww01": 96}[network]
    from sklearn.datasets import load_sample_images

    photographs = load_sample_images().images
    crops = []
    for _ in range(count):
        image = photographs[rng.integers(len(photographs))]
        zoom = int(rng.integers(1, 4))
        top, left = rng.integers(image.shape[0] - size * zoom), rng.integers(image.shape[1] - size * zoom)
        crop = image[top : top + size * zoom, left : left + size * zoom].astype(np.float32)
        crops.append(crop.reshape(size, zoom, size, zoom, 3).mean(axis=(1, 3)))
    images = np.stack(crops).astype(np.float32)
    return images / 255 if network == "vww01" else images


@pytest.fixture(scope="module")
def converted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """(network, suffix of the file) → Conversion; made once."""
    root = tmp_path_factory.mktemp("mlperf")

    @cache
    def make(network: str, form: str) -> Conversion:
        calibration = root / f"{network}_calibration.npz"
        if network == "kws01":
            calibration = data / "data" / "kws01_f32_calib.npz"
        elif form == "fp32" and not calibration.exists():
            np.savez(calibration, x=realistic(network, data, 64))
        source = data / "models" / "mlperf" / f"{network}_{form}.onnx"
        return convert(source, ConvertOptions(calibration=calibration if form == "fp32" else None, output=root / f"{network}_{form}"))

    return make


def quantized_inputs(conversion: Conversion, x: NDArray[np.float32]) -> list[list[NDArray[np.int8]]]:
    tensor = conversion.program.tensors[conversion.program.inputs[0].tensor]
    assert tensor.quantization is not None
    scale, zero = np.float32(tensor.quantization.scale), int(tensor.quantization.zero_point)
    q = np.clip(np.rint(x / scale) + zero, -128, 127).astype(np.int8)
    return [[sample.reshape(tensor.shape)] for sample in q]


def test_kws01_accuracy_and_bytes(data: Path, converted: Any) -> None:
    """Calibrated with the 204 marked clips: at least 91.0 % on all 1000, the same bytes everywhere."""
    conversion = converted("kws01", "fp32")
    result = verify(
        data / "models" / "mlperf" / "kws01_fp32.onnx",
        conversion.folder,
        data / "data" / "kws01_f32_test.npz",
        engines=["numpy", "c", "compiled"],
    )
    assert result.float_value == pytest.approx(0.915, abs=1e-9)
    assert result.engines["c"].samples == 1000
    assert result.engines["c"].value >= 0.910
    assert result.bit_exact


def test_kws01_costs(data: Path, converted: Any) -> None:
    """RAM, code and start-up on the Cortex-M4, at -Os."""
    conversion = converted("kws01", "fp32")
    x = realistic("kws01", data, 50)
    samples = quantized_inputs(conversion, x)
    expected = open_engine("c", conversion.folder).run(samples)
    for name, code in (("emulated", 20_000), ("emulated-compiled", 12_000)):
        engine = open_engine(name, conversion.folder)
        assert_same(expected, engine.run(samples))
        info = engine.info
        assert info is not None
        assert conversion.program.arena_bytes <= 16_600
        assert info.session_bytes <= 128
        assert info.code_bytes <= code
        assert info.open_instructions <= 100_000


def assert_same(expected: list[list[NDArray[Any]]], got: list[list[NDArray[Any]]]) -> None:
    assert len(expected) == len(got)
    for one, other in zip(expected, got, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("form", ["fp32", "int8_tf2onnx_qdq"])
@pytest.mark.parametrize("network", NETWORKS)
def test_all_engines_agree(network: str, form: str, data: Path, converted: Any) -> None:
    conversion = converted(network, form)
    x = realistic(network, data, 10)
    samples = quantized_inputs(conversion, x)
    expected = open_engine("numpy", conversion.folder).run(samples)
    assert any(np.ptp(np.stack([sample[0] for sample in expected]), axis=0).ravel())  # not the same answer to everything
    for engine in ENGINES[1:]:
        assert_same(expected, open_engine(engine, conversion.folder).run(samples))


class Reference:
    """onnxruntime on a QDQ graph with the fusion that saturates on some processors off, every quantized value an output."""

    def __init__(self, path: Path) -> None:
        model = onnx.load(path)
        self.graph = model.graph
        self.quantized = {node.input[0]: node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"}
        self.by_name = {node.name: node for node in model.graph.node}
        names = set(self.quantized.values()) | {output.name for output in model.graph.output}
        declared = {output.name for output in model.graph.output}
        model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names - declared)
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        self.names = [output.name for output in self.session.get_outputs()]

    def run(self, x: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
        name = self.session.get_inputs()[0].name
        return {name: x, **dict(zip(self.names, self.session.run(self.names, {name: x}), strict=True))}

    def quantized_output(self, origins: tuple[str, ...]) -> str | None:
        """The int8 value that the last of some ONNX nodes leads to."""
        for name in reversed(origins):
            node = self.by_name.get(name)
            if node is not None and node.output[0] in self.quantized:
                return self.quantized[node.output[0]]
        return None


def run_layer(model: Model, output: str, inputs: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """What the model's nodes that write `output` make of given stored inputs, by tensor name."""
    result: NDArray[Any] | None = None
    for node in model.nodes:
        if model.tensors[node.outputs[0]].name != output:
            continue
        tensor = model.tensors[node.outputs[0]]
        result = np.zeros(tensor.shape, tensor.dtype) if result is None else result
        operands = []
        for index in node.inputs:
            assert index is not None
            operand = model.tensors[index]
            operands.append(model.constant(operand) if operand.storage is Storage.CONSTANT else inputs[operand.name].reshape(operand.shape))
        KERNELS[node.op, node.variant](node.record, *operands, result)
    assert result is not None, output
    return result


def as_stored(value: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An ONNX value in the layout of ours: NCHW becomes NHWC."""
    if value.ndim == 4 and len(shape) == 4 and value.shape != shape:
        return value.transpose(0, 2, 3, 1).reshape(shape)
    return value.reshape(shape)


def ancestry(node: Node) -> tuple[str, ...]:
    return node.origins or (node.name,)


@pytest.mark.parametrize("network", NETWORKS)
def test_imported_scales_are_kept_layer_by_layer(network: str, data: Path, converted: Any) -> None:
    """Given onnxruntime's own int8 inputs, every layer is within 1 everywhere and equal on 99.5 % of values."""
    conversion = converted(network, "int8_tf2onnx_qdq")
    reference = Reference(data / "models" / "mlperf" / f"{network}_int8_tf2onnx_qdq.onnx")
    graph = conversion.quantized.graph
    samples = quantized_inputs(conversion, realistic_int8_source(network, data, conversion, 10))
    producer = {node.output: node for node in graph.nodes}
    model = Model.load(conversion.folder / f"{conversion.program.name}.arn")
    equal: dict[str, list[float]] = {}
    for (x,) in samples:
        theirs = reference.run(x)
        for node in graph.nodes:
            names = {}
            for name in node.inputs:
                if name is None or graph.tensor(name).data is not None:
                    continue
                root = name
                while root in producer and producer[root].op == "Reshape":
                    root = producer[root].input
                source = root if root in graph.inputs else reference.quantized_output(ancestry(producer[root]))
                if source is not None:
                    names[name] = as_stored(theirs[source], graph.tensor(name).shape)
            target = reference.quantized_output(ancestry(node))
            wanted = len([name for name in node.inputs if name is not None and graph.tensor(name).data is None])
            if target is None or len(names) != wanted or node.op == "Reshape":
                continue
            got = run_layer(model, node.output, names)
            expected = as_stored(theirs[target], graph.tensor(node.output).shape).astype(int)
            difference = np.abs(got.astype(int) - expected)
            assert difference.max() <= 1, node.name
            equal.setdefault(node.name, []).append(float(np.mean(difference == 0)))
    assert len(equal) >= len([node for node in graph.nodes if node.op != "Reshape"]) - 1  # all but a removed copy were compared
    for name, shares in equal.items():
        assert np.mean(shares) >= 0.995, f"{name}: equal on {np.mean(shares):.4f}"


def realistic_int8_source(network: str, data: Path, conversion: Conversion, count: int) -> NDArray[np.float32]:
    """Real values for the input of an imported graph, whose scale may be that of raw pixels."""
    x = realistic(network, data, count)
    tensor = conversion.program.tensors[conversion.program.inputs[0].tensor]
    assert tensor.quantization is not None
    return x * 255 if network == "vww01" and float(tensor.quantization.scale) == 1.0 else x


@pytest.mark.parametrize("network", NETWORKS)
def test_imported_graph_end_to_end(network: str, data: Path, converted: Any) -> None:
    """Outputs within 1 on 95 % of values, top-1 equal on 99 % of inputs."""
    conversion = converted(network, "int8_tf2onnx_qdq")
    reference = Reference(data / "models" / "mlperf" / f"{network}_int8_tf2onnx_qdq.onnx")
    count = 1000 if LONG else 400
    samples = quantized_inputs(conversion, realistic_int8_source(network, data, conversion, count))
    ours = np.stack([out[0].reshape(-1) for out in open_engine("c", conversion.folder).run(samples)]).astype(int)
    name = reference.graph.output[0].name
    theirs = np.stack([reference.run(x)[name].reshape(-1) for (x,) in samples]).astype(int)
    assert np.mean(np.abs(ours - theirs) <= 1) >= 0.95
    if network != "ad01":  # the autoencoder has no classes
        assert np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1)) >= 0.99
