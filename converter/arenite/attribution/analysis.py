"""attribute(): where a network's quantization error comes from, layer by layer, measured on samples.

Two measurements a layer. Along the network: the quantized network's value against the float one's, which shows where errors have become
large. Alone: the layer's own kernels on float operands, and the float network from there on, which shows who has caused them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from arenite_runtime import Interpreter, Model
from numpy.typing import NDArray

from arenite.artifact import REPORT, read_artifact
from arenite.attribution.bands import Gathered, gathered
from arenite.attribution.figures import INPUT, Attribution, LayerFigures
from arenite.attribution.float_model import Alone, Continuation, float_graph
from arenite.attribution.parts import Held, held, parts, real_values
from arenite.attribution.study import Decisions, Noise, Study
from arenite.attribution.suggestions import Evidence, Reader, suggestions
from arenite.errors import ArtifactError, CalibrationError
from arenite.graph import DType, Graph, Node
from arenite.quantize.evaluation import open_evaluator
from arenite.quantize.lower_movement import CARRYING
from arenite.quantize.model import CONVERSIONS, METHODS_NOTE
from arenite.quantize.output_error import judged_tensors
from arenite.report import Layer, Report, from_json
from arenite.verify import class_labels
from arenite.verify.ports import Ports

Array = NDArray[Any]
Progress = Callable[[str, int, int], None]

SAMPLES = 100
"""By default: every sample costs an inference a layer."""


def attribute(model: Path, folder: Path, data: Path, *, samples: int | None = None, progress: Progress | None = None) -> Attribution:
    """Compare the artifact in `folder` with the float ONNX file `model`, layer by layer, on the samples of `data` (SAMPLES of them).

    A model that was quantized before conversion is its own reference, with the roundings that it has.
    Of a model with states the samples are a sequence; a layer alone starts from the float states.
    Raises the AreniteErrors of its parts; ArtifactError for an artifact without names.
    """
    advance = progress or (lambda stage, done, total: None)
    ports = Ports.read(folder)
    report = from_json(read_artifact(folder).report, str(folder / REPORT))
    graph = float_graph(model, report, folder)
    dataset = ports.load(data).first(SAMPLES if samples is None else samples)
    if len(dataset) == 0:
        raise CalibrationError(f"{data}: no samples to compare with")
    labels = class_labels(dataset.labels, data)
    whole_layers = gathered(ports.model, report)
    holding = held(graph, whole_layers.model)
    judged = _judged(graph, holding)
    studies = _studies(graph, whole_layers.model, holding, judged, advance)
    if not studies:
        raise ArtifactError(f"{folder}: the artifact has no tensor of the names of {model}: convert again, without --strip-names")

    names = list(dict.fromkeys([*graph.inputs, *(name for node in graph.nodes for name in node.outputs)]))
    exact_run = open_evaluator(graph, [name for name in names if name not in graph.inputs], fake_quantize=True)
    quantized_run = Interpreter(ports.model)
    outputs, seen = [Noise() for _ in graph.output_ports], [Noise() for _ in judged]
    whole = Decisions()
    states: dict[str, Array] = {s.input: np.zeros(graph.tensors[s.input].shape, np.float32) for s in graph.states}
    for index in range(len(dataset)):
        sample = dataset.sample(index)
        feeds = {
            port.name: np.ascontiguousarray(np.transpose(sample[port.name], port.permutation)).reshape(graph.tensors[port.name].shape)
            for port in ports.inputs
        }
        exact: dict[str, Array] = {**feeds, **states, **exact_run(feeds)}
        label = None if labels is None else int(labels[index])
        quantized = whole_layers.values(quantized_run.run_all(ports.engine_inputs(sample)))
        results = [_value(holding, quantized, name, exact[name]) for name in graph.output_ports]
        for noise, result, name in zip(outputs, results, graph.output_ports, strict=True):
            noise.add(exact[name], result)
        for noise, (name, centred) in zip(seen, judged.items(), strict=True):
            noise.add(exact[name], _value(holding, quantized, name, exact[name]), centred=centred)
        whole.add(exact[graph.output_ports[0]], results[0], label)
        for study in studies:
            study.follow(exact, quantized)
            study.isolate(exact, label)
        states = {state.input: exact[state.output] for state in graph.states}
        advance("layers", index + 1, len(dataset))
    caused = Noise.together([noise for study in studies for noise in study.outputs]).noise
    figures = tuple(_figures(study, caused, report, whole_layers) for study in studies)
    own = any(tensor.quantization is not None for tensor in graph.tensors.values())
    tried = own or not report.calibrated or any(note.startswith(METHODS_NOTE) for note in report.notes)
    return Attribution(
        model=report.model,
        source=report.source,
        samples=len(dataset),
        output_db=Noise.together(outputs).db,
        judged=tuple(judged),
        judged_db=Noise.together(seen).db,
        changed=whole.share,
        lost=whole.lost,
        layers=figures,
        tried_methods=tried,
    )


def _judged(graph: Graph, holding: Held) -> dict[str, bool]:
    """Where the error of the outputs is measured: in front of a Softmax or an ArgMax, if the artifact has the values there."""
    judged = judged_tensors(graph)
    if judged and all(holding.result(name) is not None for name in judged):
        return judged
    return dict.fromkeys(graph.output_ports, False)


def _studies(graph: Graph, model: Model, holding: Held, judged: Mapping[str, bool], advance: Progress) -> list[Study]:
    found = parts(graph, model)
    asked = list(dict.fromkeys([*judged, graph.output_ports[0]]))
    studies = []
    for name in graph.input_ports:
        tensor = holding.result(name)
        if tensor is not None and tensor.quantization is not None and graph.tensors[name].dtype is DType.FLOAT32:
            node = Node(INPUT, name, (), (name,))
            studies.append(Study(node, graph, model, tensor, None, holding, None, Continuation(graph, node, asked), judged))
    for number, node in enumerate(graph.nodes):
        advance("preparing layers", number + 1, len(graph.nodes))
        part, tensor = found.get(node.output), holding.result(node.output)
        if tensor is None:  # fused into another
            continue
        alone = None if part is None else Alone(graph, node)
        behind = None if part is None else Continuation(graph, node, asked)
        studies.append(Study(node, graph, model, tensor, part, holding, alone, behind, judged))
    return studies


def _value(holding: Held, quantized: Mapping[str, Array], name: str, exact: Array) -> Array:
    tensor = holding.result(name)
    if tensor is None or tensor.name not in quantized:
        return exact  # an input that is an output as well
    return real_values(tensor, quantized[tensor.name]).reshape(exact.shape).astype(exact.dtype)


def _kernel(node: Node, calls: Sequence[Layer]) -> str:
    """Conversions of operands and results are not named where something else is computed."""
    computing = [call for call in calls if call.op not in CONVERSIONS] or calls
    named = (call.variant if call.op == node.op else f"{call.op} {call.variant}" for call in computing)
    return ", ".join(dict.fromkeys(named))


def _readers(graph: Graph, name: str) -> tuple[Reader, ...]:
    """Layers that compute with an activation, and those that only move its elements on the way there."""
    found: dict[str, Reader] = {}
    pending = [name]
    while pending:
        for node in graph.consumers()[pending.pop()]:
            if node.name not in found:
                found[node.name] = Reader(node.name, node.op)
                pending += node.outputs if node.op in CARRYING else ()
    return tuple(found.values())


def _figures(study: Study, caused: float, report: Report, whole_layers: Gathered) -> LayerFigures:
    """`caused`: the noise at the network's outputs of all layers, each alone. Bands of a layer read the same weights."""
    output = Noise.together(study.outputs)
    measured = study.part is not None or study.node.op == INPUT
    numbers = [] if study.part is None else [whole_layers.calls[index] for index in study.part.nodes]
    calls = tuple(report.layers[number] for number in numbers if number is not None)
    share = output.noise / caused if measured and caused > 0 else None
    layer = LayerFigures(
        name=study.node.name,
        op=study.node.op,
        output=study.node.output,
        dtype=np.dtype(study.tensor.dtype).name,
        sqnr_db=study.along.db if study.seen else None,
        cosine=study.along.cosine if study.seen else None,
        alone_db=study.itself.db if measured else None,
        output_db=output.db if measured else None,
        share=share,
        changed=study.decisions.share if measured else None,
        lost=study.decisions.lost if measured else None,
        values=study.values,
        kernel=_kernel(study.node, calls),
        macs=sum(call.macs for call in calls),
        weight_bytes=sum({call.output if call.band is None else (call.name, call.band[0]): call.weight_bytes for call in calls}.values()),
    )
    readers, is_float = _readers(study.graph, study.node.output), layer.kernel == "float32"
    evidence = Evidence(share or 0.0, study.itself.noise, study.rounding.noise, readers, is_float)
    return replace(layer, suggestions=suggestions(layer, evidence))
