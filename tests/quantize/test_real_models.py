"""MLPerf Tiny: accuracy after calibration, and how closely imported QDQ graphs keep to onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.frontend import load
from arenite.graph import Graph
from arenite.graph.onnx_export import Evaluator
from arenite.passes import optimize
from arenite.quantize import QuantizedModel, input_specs, load_data, quantize
from arenite.quantize.multipliers import quantize_values
from arenite.quantize.scales import quantized_tensors

QDQ = ("kws01", "sww01", "ic01", "vww01", "ad01")
CLOSE, SAME_TOP = 0.95, 0.99
"""Shares of output values within 1 of onnxruntime, and of inputs with the same largest output, end to end."""
ON_PHOTOGRAPHS = {"ic01"}
"""ic01 averages 64 values in the scale that they have, so that one mean in 64 lies halfway between two steps. onnxruntime adds scaled
float32 numbers, whose rounding decides these ties; ours are exact. One step there moves a logit by one, and a softmax by up to 13 where
classes are close, as they are on inputs that are no images. End to end it is compared on photographs (tests/acceptance)."""


def test_keyword_spotting_reaches_its_accuracy(shared_data: Path, engine: Any) -> None:
    """Float: 91.5 % of the 1000 clips; the reference int8 model: 90.2 %."""
    graph = optimize(load(shared_data / "models/mlperf/kws01_fp32.onnx"))
    model = quantize(graph, load_data(shared_data / "data/kws01_f32_calib.npz", graph))
    assert model.calibrated
    test = load_data(shared_data / "data/kws01_f32_test.npz", graph)
    assert test.labels is not None
    runs, quantization, hits = engine(model.graph), model.graph.tensors[model.graph.inputs[0]].quantization, 0
    for sample, label in zip(test.samples(), test.labels, strict=True):
        (scores,) = runs.run([quantize_values(sample[graph.inputs[0]], quantization)])
        hits += int(np.argmax(scores) == label)
    assert len(test) == 1000
    assert hits >= 910
    assert model.sqnr_db[graph.outputs[0]] > 20


def smooth(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """int8 fields that vary slowly, over most of the range: photographs and log spectra are like that."""
    values = generator.standard_normal(shape)
    for axis in (axis for axis, size in enumerate(shape) if size > 3):
        kernel = max(2, shape[axis] // 6)
        values = sum(np.roll(values, step, axis) for step in range(kernel))
    values = values / values.std() * generator.uniform(30, 60) + generator.uniform(-30, 30)
    return np.clip(np.rint(values), -128, 127).astype(np.int8)


def inputs_for(name: str, graph: Graph, root: Path, count: int) -> list[np.ndarray]:
    shape = graph.tensors[graph.inputs[0]].shape
    if name == "kws01":
        return list(np.load(root / "data/kws01.npz")["x_int8"][7 :: 1000 // count][:count].reshape(-1, *shape))
    if name == "sww01":
        values = np.load(root / "data/sww01.npz")["x"][:: max(1, 45 // count)][:count].reshape(-1, *shape)
        return list(quantize_values(values, graph.tensors[graph.inputs[0]].quantization))
    generator = np.random.default_rng(len(name))
    return [smooth(generator, shape) for _ in range(count)]


class Reference:
    """onnxruntime on the original file without its int8 fusion (which saturates on some machines), every int8 tensor included."""

    def __init__(self, path: Path) -> None:
        model = onnx.load(path)
        quantized = {node.input[0]: node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"}
        self.outputs = [value.name for value in model.graph.output]
        self.names = [name for name in quantized if quantized[name] not in self.outputs]
        for name in self.names:
            model.graph.output.append(onnx.ValueInfoProto(name=quantized[name]))
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(first output, int8 values by the name of the float tensor that was quantized), in the file's own layout."""
        values = self.session.run(None, {self.session.get_inputs()[0].name: x})
        return values[0], dict(zip(self.names, values[len(self.outputs) :], strict=True))


def steps(
    graph: Graph, model: QuantizedModel, x: np.ndarray, evaluator: Evaluator, original: dict[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """int8 values as onnxruntime has them: from the original file, for tensors that kept name and size (NCHW becomes NHWC), and of every
    activation of the optimized float graph with its quantizers."""
    (spec,) = input_specs(graph)
    exported = {
        name: quantize_values(values, model.graph.tensors[name].quantization)
        for name, values in evaluator({spec.name: spec.real_values(x)}).items()
    }
    own = {spec.name: x}
    for name, like in exported.items():
        values = original.get(name, original.get(name.rpartition("/")[0]))  # a layout change names what it moved NAME/Operator
        for candidate in () if values is None else (values.transpose(0, 2, 3, 1) if values.ndim == 4 else values, values):
            if candidate.shape == like.shape:
                own[name] = candidate
                break
    return own, exported


def layer(graph: Graph, model: QuantizedModel, node: Any) -> Graph:
    """The part of the int8 graph that computes one node of the float graph."""
    part = model.graph.copy()
    part.inputs = [name for name in dict.fromkeys(node.inputs) if name is not None and not graph.tensors[name].is_constant]
    part.outputs = [node.output]
    part.nodes = [n for n in part.nodes if n.output not in part.inputs]
    part.prune()
    return part


def end_to_end(reference: Reference, runs: Any, inputs: list[np.ndarray], least: tuple[float, float]) -> None:
    close = total = same_top = 0
    for x in inputs:
        expected, _ = reference(x)
        (got,) = runs.run([x])
        close += int(np.count_nonzero(np.abs(expected.astype(int) - got) <= 1))
        total += got.size
        same_top += int(expected.argmax() == got.argmax())
    assert close >= least[0] * total
    assert same_top >= least[1] * len(inputs)


def fidelity(name: str, root: Path, engine: Any, count: int, runs: int) -> None:
    path = root / f"models/mlperf/{name}_int8_tf2onnx_qdq.onnx"
    graph = optimize(load(path))
    model = quantize(graph)
    assert model.calibrated  # annotations say all
    assert all(not entry.notes for entry in model.layers)
    reference, evaluator = Reference(path), Evaluator(graph, quantized_tensors(graph), fake_quantize=True)
    if name not in ON_PHOTOGRAPHS:
        end_to_end(reference, engine(model.graph), inputs_for(name, graph, root, runs), (CLOSE, SAME_TOP))
    values = []
    for x in inputs_for(name, graph, root, count):
        _, original = reference(x)
        values.append(steps(graph, model, x, evaluator, original))
    from_file = 0
    for node in graph.nodes:
        part = engine(layer(graph, model, node))
        operands = [i for i in dict.fromkeys(node.inputs) if i is not None and not graph.tensors[i].is_constant]
        different = elements = 0
        for own, exported in values:
            value = own if {*operands, node.output} <= set(own) else exported  # never mixed: they may differ by a step
            from_file += value is own
            (got,) = part.run([value[i] for i in operands])
            distance = np.abs(got.astype(int) - value[node.output])
            assert distance.max() <= 1, f"{node.name} ({node.op})"
            different, elements = different + int(np.count_nonzero(distance)), elements + distance.size
        # Two are allowed of few values: ties of a mean are decided by onnxruntime's rounding of its float32 sum.
        assert different <= max(0.005 * elements, 2), f"{node.name} ({node.op}): {different} of {elements}"
    assert from_file > count


@pytest.mark.parametrize("name", QDQ)
def test_qdq_graphs_follow_onnxruntime(shared_data: Path, engine: Any, name: str) -> None:
    fidelity(name, shared_data, engine, 2, 4 if name == "vww01" else 24)


@pytest.mark.long
@pytest.mark.parametrize("name", QDQ)
def test_qdq_graphs_follow_onnxruntime_on_many_inputs(shared_data: Path, engine: Any, name: str) -> None:
    fidelity(name, shared_data, engine, 10, 200)
