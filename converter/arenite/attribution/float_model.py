"""The float network that an artifact was made from, with the names that the artifact has kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import ArtifactError
from arenite.frontend import load
from arenite.graph import Graph, Node
from arenite.graph.onnx_export import Evaluator
from arenite.passes import optimize
from arenite.quantize.evaluation import TypedEvaluator, open_evaluator
from arenite.report import Report

Array = NDArray[Any]


def float_graph(model: Path, report: Report, folder: Path) -> Graph:
    """The ONNX file as `convert` has optimized it: tensors have the names and the layout of the artifact's.

    Raises the frontend's errors, and ArtifactError where the artifact in `folder` was made from another model.
    """
    shapes = {port.name: port.source_shape for port in report.inputs}
    states = {state.output: state.input for state in report.states}
    source = load(model, shapes, values=report.values, states=states)
    graph = optimize(source, io_layout=report.io_layout, calibrates=report.precision != "float32")
    ports = [port.name for port in report.inputs], [port.name for port in report.outputs]
    if (source.input_ports, source.output_ports) != ports:
        raise ArtifactError(
            f"{folder} was not converted from {model}: its inputs and outputs are {', '.join(ports[0])} → {', '.join(ports[1])}"
        )
    return graph


class Alone:
    """One node of the float network."""

    def __init__(self, graph: Graph, node: Node) -> None:
        """Its outputs are computed from values given for its operands, and rounded where the model itself says so."""
        single = graph.copy()
        single.states, single.nodes, single.outputs = [], [node], list(node.outputs)
        single.inputs = [name for name in dict.fromkeys(node.inputs) if name is not None and not graph.tensors[name].is_constant]
        single.prune()
        self.inputs = tuple(single.inputs)
        self._run = open_evaluator(single, list(node.outputs), fake_quantize=True)

    def __call__(self, values: Mapping[str, Array]) -> dict[str, Array]:
        return self._run({name: np.asarray(values[name]) for name in self.inputs})


class Continuation:
    """The float network from the outputs of one node on."""

    def __init__(self, graph: Graph, node: Node, names: Sequence[str]) -> None:
        """`names`: activations that are asked for. Whatever needs the node's outputs is computed from values given for them; states are
        inputs like others."""
        rest = graph.copy()
        rest.states = []
        rest.nodes = [other for other in rest.nodes if other is not node]
        rest.inputs = [*rest.inputs, *(name for name in node.outputs if name not in rest.inputs)]
        self.outputs = list(names)
        computed = [name for name in self.outputs if name not in node.outputs]
        rest.outputs = computed
        rest.prune()
        self._rest: Evaluator | TypedEvaluator | None = None
        if computed:
            read = {name for other in rest.nodes for name in other.inputs}
            rest.inputs = [name for name in rest.inputs if name in read or name in computed]
            self._inputs = list(rest.inputs)
            self._rest = open_evaluator(rest, computed, fake_quantize=True)

    def __call__(self, exact: Mapping[str, Array], given: Mapping[str, Array]) -> dict[str, Array]:
        """The values of `outputs`. `exact`: the float values of its inputs and states; `given`: those of the node's outputs."""
        values = {**exact, **given}
        if self._rest is not None:
            values.update(self._rest({name: np.asarray(values[name]) for name in self._inputs}))
        return {name: values[name] for name in self.outputs}
