"""attribute(): where a network's quantization error comes from, layer by layer, measured on samples.

Two measurements a layer. Along the network: the quantized network's value against the float one's, which shows where errors have become
large. Alone: the layer's own kernels on float operands, and the float network from there on, which shows who has caused them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from arenite_runtime import Interpreter, Model
from numpy.typing import NDArray

from arenite.artifact import REPORT, read_artifact
from arenite.attribution.figures import Attribution, LayerFigures
from arenite.attribution.float_model import Alone, Continuation, float_graph
from arenite.attribution.parts import held, parts, real_values
from arenite.attribution.study import Decisions, Noise, Study
from arenite.attribution.suggestions import Evidence, suggestions
from arenite.errors import ArtifactError, CalibrationError
from arenite.graph import Graph
from arenite.quantize.evaluation import open_evaluator
from arenite.report import from_json
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
    studies = _studies(graph, ports.model, advance)
    if not studies:
        raise ArtifactError(f"{folder}: the artifact has no tensor of the names of {model}: convert again, without --strip-names")

    names = list(dict.fromkeys([*graph.inputs, *(name for node in graph.nodes for name in node.outputs)]))
    exact_run = open_evaluator(graph, [name for name in names if name not in graph.inputs], fake_quantize=True)
    quantized_run = Interpreter(ports.model)
    outputs = [Noise() for _ in graph.output_ports]
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
        quantized = quantized_run.run_all(ports.engine_inputs(sample))
        results = [_value(ports.model, quantized, name, exact[name]) for name in graph.output_ports]
        for noise, result, name in zip(outputs, results, graph.output_ports, strict=True):
            noise.add(exact[name], result)
        whole.add(exact[graph.output_ports[0]], results[0], label)
        for study in studies:
            study.follow(exact, quantized)
            study.isolate(exact, label)
        states = {state.input: exact[state.output] for state in graph.states}
        advance("layers", index + 1, len(dataset))
    figures = tuple(_figures(study, Noise.together([n for s in studies for n in s.outputs]).noise) for study in studies)
    return Attribution(report.model, report.source, len(dataset), Noise.together(outputs).db, whole.share, whole.lost, figures)


def _studies(graph: Graph, model: Model, advance: Progress) -> list[Study]:
    holding = held(graph, model)
    found = parts(graph, model)
    studies = []
    for number, node in enumerate(graph.nodes):
        advance("preparing layers", number + 1, len(graph.nodes))
        part, tensor = found.get(node.output), holding.result(node.output)
        if tensor is None:  # fused into another, or cut into bands
            continue
        evaluators = (None, None) if part is None else (Alone(graph, node), Continuation(graph, node))
        studies.append(Study(node, graph, model, tensor, part, holding, *evaluators))
    return studies


def _value(model: Model, quantized: Mapping[str, Array], name: str, exact: Array) -> Array:
    tensor = next((tensor for tensor in model.tensors if tensor.name == name), None)
    if tensor is None or name not in quantized:
        return exact  # an input that is an output as well
    return real_values(tensor, quantized[name]).reshape(exact.shape).astype(exact.dtype)


def _figures(study: Study, caused: float) -> LayerFigures:
    """`caused`: the noise at the network's outputs of all layers, each alone."""
    output = Noise.together(study.outputs)
    measured = study.part is not None
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
    )
    readers = tuple(dict.fromkeys(node.name for node in study.graph.consumers()[study.node.output]))
    evidence = Evidence(share or 0.0, study.itself.noise, study.rounding.noise, readers)
    return replace(layer, suggestions=suggestions(layer, evidence))
