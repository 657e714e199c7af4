"""Oracles of what picks and places elements by index, and of weighted sums along an axis. As real_values.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from arenite.graph import Graph, Node, Tensor
from differential.expectation import EDGE, Expectation, real, scale_of
from numpy.typing import NDArray

Stored = Sequence[NDArray[np.generic]]
Oracle = Callable[[Node, Graph, Stored, Tensor], Expectation]


def _x(node: Node, graph: Graph, inputs: Stored, index: int = 0) -> NDArray[np.float64]:
    tensor = graph.tensor(node.inputs[index])
    return real(tensor, np.asarray(inputs[index]).reshape(tensor.shape))


def _gather(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    return Expectation(np.take(_x(node, graph, inputs), inputs[1].astype(np.int64), axis=node.attributes["axis"]), EDGE)


def _gather_elements(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, axis = _x(node, graph, inputs), node.attributes["axis"]
    index = np.indices(inputs[1].shape)
    index[axis] = inputs[1].astype(np.int64) % x.shape[axis]
    return Expectation(x[tuple(index)], EDGE)


def _gather_nd(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, indices, batch = _x(node, graph, inputs), inputs[1].astype(np.int64), node.attributes["batch_dims"]
    flat = x.reshape(-1, *x.shape[batch:])
    rows = indices.reshape(len(flat), -1, indices.shape[-1])
    picked = [matrix[tuple(row)] for matrix, own in zip(flat, rows, strict=True) for row in own]
    return Expectation(np.asarray(picked).reshape(y.shape), EDGE)


def _scatter_elements(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, updates, axis = _x(node, graph, inputs).copy(), _x(node, graph, inputs, 2), node.attributes["axis"]
    for place in np.ndindex(updates.shape):
        target = list(place)
        target[axis] = int(inputs[1][place])
        x[tuple(target)] = updates[place]
    return Expectation(x, EDGE)


def _scatter_nd(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, updates = _x(node, graph, inputs).copy(), _x(node, graph, inputs, 2)
    for place in np.ndindex(inputs[1].shape[:-1]):
        x[tuple(int(i) for i in inputs[1][place])] = updates[place]
    return Expectation(x, EDGE)


def _trilu(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    k = int(inputs[1].reshape(())) if len(inputs) > 1 else 0
    x = _x(node, graph, inputs)
    return Expectation(np.triu(x, k) if node.attributes["upper"] else np.tril(x, k), EDGE)


def _reverse_sequence(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, time = _x(node, graph, inputs).copy(), node.attributes["time_axis"]
    sequences = np.moveaxis(x, time, 1)
    for sequence, length in zip(sequences, inputs[1].astype(np.int64), strict=True):
        sequence[:length] = sequence[:length][::-1].copy()
    return Expectation(x, EDGE)


def _expand(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    return Expectation(np.broadcast_to(_x(node, graph, inputs), y.shape), EDGE)


def _max_unpool(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    a = node.attributes
    whole = np.zeros(a["inferred"])
    whole.reshape(-1)[inputs[1].reshape(-1).astype(np.int64)] = _x(node, graph, inputs).reshape(-1)
    behind = [(0, size - own) for size, own in zip(a["shape"], a["inferred"], strict=True)]
    return Expectation(np.pad(whole, behind), EDGE)


def _resample(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    """§13 with the weights as they are stored; how they are rounded is checked where that is done (tests/quantize)."""
    x, weight, axis = _x(node, graph, inputs), _x(node, graph, inputs, 2), node.attributes["axis"]
    lines = np.moveaxis(x, axis, -1)
    places = inputs[1].astype(np.int64)[:, None] + np.arange(weight.shape[1])
    value = np.moveaxis((lines[..., places] * weight).sum(axis=-1), -1, axis)
    x_scale, _ = scale_of(graph.tensor(node.inputs[0]))
    clamped = np.abs(value).max(initial=0) if float(x_scale) >= 2.0**16 * float(scale_of(y)[0]) else 0.0
    return Expectation(value, 0.75 + clamped / float(scale_of(y)[0]))


MOVED: dict[str, Oracle] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Trilu": _trilu,
    "ReverseSequence": _reverse_sequence,
    "Expand": _expand,
    "MaxUnpool": _max_unpool,
    "Resample": _resample,
}
