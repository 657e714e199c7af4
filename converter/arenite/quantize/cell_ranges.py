"""The cells of LSTM layers over calibration data: how large they become in any step, which no tensor of the graph shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node
from arenite.graph.operators.recurrent import LSTM, cell_of
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.evaluation import open_evaluator

Array = NDArray[Any]
Floats = NDArray[np.float64]
OPERANDS = (0, 4, 5, 6)
"""x, lengths and the initial states: those that may be computed."""


def largest_cells(graph: Graph, data: Dataset, nodes: Sequence[Node]) -> dict[str, Floats]:
    """max |c| of each unit, [hidden], over all steps of all samples, initial ones included, by the result that holds the last c.

    Of `nodes`, recurrent layers in the form that lower_recurrent.fits_recurrent accepts, those that have a cell.
    """
    nodes = [node for node in nodes if cell_of(node.op) is LSTM]
    largest = {node.outputs[-1]: np.zeros(node.attributes["hidden"]) for node in nodes}
    if not nodes:
        return largest
    names = [name for node in nodes for i in OPERANDS if (name := _operand(node, i)) is not None and not graph.tensors[name].is_constant]
    run = open_evaluator(graph, list(dict.fromkeys(names)))
    for feeds in data.samples():
        values = run(feeds)
        for node in nodes:
            largest[node.outputs[-1]] = np.maximum(largest[node.outputs[-1]], _largest(graph, node, values))
    return largest


def _operand(node: Node, index: int) -> str | None:
    return node.inputs[index] if index < len(node.inputs) else None


def _largest(graph: Graph, node: Node, values: Mapping[str, Array]) -> Floats:
    def operand(index: int, shape: tuple[int, ...]) -> Floats:
        name = _operand(node, index)
        if name is None:
            return np.zeros(shape)
        data = graph.tensors[name].data
        return np.asarray(values[name] if data is None else data, np.float64).reshape(shape)

    hidden, directions = node.attributes["hidden"], node.attributes["directions"]
    steps, batch, features = graph.tensor(node.inputs[0]).shape
    x = operand(0, (steps, batch, features))
    weight = operand(1, (len(directions), 4 * hidden, features))
    recurrent = operand(2, (len(directions), 4 * hidden, hidden))
    bias = operand(3, (len(directions), 2, 4 * hidden)).sum(axis=1)
    h, c = (operand(index, (len(directions), batch, hidden)) for index in (5, 6))
    lengths = np.full(batch, steps) if _operand(node, 4) is None else np.clip(operand(4, (batch,)).astype(np.int64), 0, steps)
    clip, largest = float(node.attributes["threshold"]), np.abs(c).max(axis=(0, 1))
    for d, reverse in enumerate(directions):
        for b in range(batch):
            own = x[: lengths[b], b] @ weight[d].T + bias[d]
            state, cell = h[d, b], c[d, b]
            for gates in own[::-1] if reverse else own:
                i, o, forget, g = np.split(np.clip(gates + recurrent[d] @ state, -clip, clip), 4)
                cell = _sigmoid(forget) * cell + _sigmoid(i) * np.tanh(g)
                state = _sigmoid(o) * np.tanh(cell)
                largest = np.maximum(largest, np.abs(cell))
    return np.asarray(largest)


def _sigmoid(v: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * v)))
