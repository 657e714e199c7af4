"""Oracles of normalizations, reductions, orders and choices. As real_values.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from arenite.graph import Graph, Node, Tensor
from differential.expectation import EDGE, Expectation, Real, real, scale_of
from differential.real_movement import Oracle, Stored


def _x(node: Node, graph: Graph, inputs: Stored, index: int = 0) -> Real:
    tensor = graph.tensor(node.inputs[index])
    return real(tensor, np.asarray(inputs[index]).reshape(tensor.shape))


def _layer_normalization(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    """Scale and bias are in the gains and offsets; what is left to check is the statistics, and that each meets its element."""
    a, (y_scale, y_zero) = node.attributes, scale_of(y)
    rows = _x(node, graph, inputs).reshape(-1, a["length"])
    mean = rows.mean(axis=1, keepdims=True) if a["centred"] else 0.0
    deviation = np.sqrt(((rows - mean) ** 2).mean(axis=1, keepdims=True) + a["epsilon"])
    normal = np.divide(rows - mean, deviation, out=np.zeros_like(rows), where=deviation > 0)
    gain, offset = (
        np.repeat(
            np.asarray(operand, np.float64).reshape(a["period"], -1), a["length"] // (np.asarray(operand).size // a["period"]), axis=1
        )
        for operand in inputs[1:]
    )
    repeats = len(rows) // a["period"]
    gain = np.tile(gain, (repeats, 1)) * 2.0 ** (a["fraction"] - 32 - a["shift"])
    offset = np.tile(offset, (repeats, 1)) * 2.0 ** -a["shift"] - 0.5
    value = (normal * gain + offset - y_zero) * y_scale
    limited = a["epsilon_high"] >= 1 << 29
    return Expectation(
        value.reshape(y.shape),
        np.inf if limited else 0.5 + 2.0 ** -a["shift"] + (np.abs(gain) * a["length"] ** 0.5 * 2.0**-26).reshape(y.shape),
    )


def _reduction(function: Callable[..., Real], slack: Callable[[Real], Real | float]) -> Oracle:
    def oracle(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
        axes, keepdims = tuple(node.attributes["axes"]), bool(node.attributes["keepdims"])
        value = function(_x(node, graph, inputs), axis=axes, keepdims=keepdims).reshape(y.shape)
        return Expectation(value, slack(value / scale_of(y)[0]))

    return oracle


def _rounded(steps: Real) -> Real:
    return np.asarray(0.5 + np.minimum(np.abs(steps), 2.0**31) * 2.0**-21)


def _log_sum_exp(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    axes, keepdims = tuple(node.attributes["axes"]), bool(node.attributes["keepdims"])
    x = _x(node, graph, inputs)
    count = x.size // y.elements
    greatest = x.max(axis=axes, keepdims=True)
    value = (greatest + np.log(np.exp(x - greatest).sum(axis=axes, keepdims=True))).max(axis=axes, keepdims=keepdims)
    k = min(23, 31 - (count - 1).bit_length())
    y_scale, x_scale = float(scale_of(y)[0]), float(scale_of(graph.tensor(node.inputs[0]))[0])
    limited = x_scale / y_scale > 2**10 or np.log(2) / y_scale > 2**16
    bound = 0.5 + (2.0**-19 + 0.5 * count * 2.0**-k) / y_scale + 0.01
    return Expectation(value.reshape(y.shape), np.inf if limited else bound)


def _l2(x: Real, axis: tuple[int, ...], keepdims: bool) -> Real:
    return np.asarray(np.sqrt((x * x).sum(axis=axis, keepdims=keepdims)))


def _cum_sum(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, a = _x(node, graph, inputs), node.attributes
    x = np.flip(x, a["axis"]) if a["reverse"] else x
    value = np.cumsum(x, axis=a["axis"]) - (x if a["exclusive"] else 0)
    value = np.flip(value, a["axis"]) if a["reverse"] else value
    return Expectation(value, _rounded(value / scale_of(y)[0]))


def _extremum(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    a, b = (_x(node, graph, inputs, i) for i in (0, 1))
    return Expectation(np.maximum(a, b) if node.op == "Max" else np.minimum(a, b), EDGE)


def _where(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    return Expectation(np.where(np.asarray(inputs[0]) != 0, _x(node, graph, inputs, 1), _x(node, graph, inputs, 2)), EDGE)


def _top_k(node: Node, graph: Graph, inputs: Stored, y: Tensor) -> Expectation:
    x, a = _x(node, graph, inputs), node.attributes
    ordered = np.sort(x, axis=a["axis"])
    ordered = np.flip(ordered, a["axis"]) if a["largest"] else ordered
    return Expectation(np.take(ordered, range(a["k"]), axis=a["axis"]), EDGE)


REDUCED: dict[str, Oracle] = {
    "LayerNormalization": _layer_normalization,
    "ReduceSum": _reduction(np.sum, _rounded),
    "ReduceL1": _reduction(lambda x, **axes: np.abs(x).sum(**axes), _rounded),
    "ReduceSumSquare": _reduction(lambda x, **axes: (x * x).sum(**axes), _rounded),
    "ReduceL2": _reduction(_l2, lambda steps: _rounded(steps) + np.abs(steps) * 2.0**-16),
    "ReduceMax": _reduction(np.max, lambda steps: EDGE),
    "ReduceMin": _reduction(np.min, lambda steps: EDGE),
    "ReduceLogSumExp": _log_sum_exp,
    "CumSum": _cum_sum,
    "Max": _extremum,
    "Min": _extremum,
    "Where": _where,
    "TopK": _top_k,
}
