"""LSTM, GRU and RNN, with everything that ONNX gives them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType
from arenite.graph.operators.recurrent import ACTIVATIONS

_DEFAULTS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
"""Activations of a direction."""
_PARAMETERS: dict[str, tuple[float | None, float | None]] = {
    "Affine": (1.0, 0.0),
    "LeakyRelu": (0.01, None),
    "ThresholdedRelu": (1.0, None),
    "ScaledTanh": (1.0, 1.0),
    "HardSigmoid": (0.2, 0.5),
    "Elu": (1.0, None),
}
"""Defaults of alpha and beta; None, and functions that are not here: the function has no such number."""
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def _activations(node: NodeImport, directions: int) -> tuple[tuple[str, float, float], ...]:
    """(name, alpha, beta) of every function. The values given are consumed in order by the functions that have such a number."""
    default = _DEFAULTS[node.operator]
    names = [str(name) for name in node.attribute("activations", ())] or list(default) * directions
    if len(names) != len(default) * directions:
        node.malformed(f"{len(names)} activations for {directions} directions of {len(default)}")
    known = {name.lower(): name for name in ACTIVATIONS}
    unknown = [name for name in names if name.lower() not in known]
    if unknown:
        node.refuse(f"its activations {unknown} are not in the ONNX standard", f"use {', '.join(ACTIVATIONS)}")
    alphas, betas = (iter([float(v) for v in node.attribute(name, ())]) for name in ("activation_alpha", "activation_beta"))
    chosen = []
    for name in (known[n.lower()] for n in names):
        alpha, beta = _PARAMETERS.get(name, (None, None))
        chosen.append((name, 0.0 if alpha is None else next(alphas, alpha), 0.0 if beta is None else next(betas, beta)))
    return tuple(chosen)


def _optional(node: NodeImport, index: int) -> str | None:
    return node.activation(index) if node.has(index) else None


def _lengths(node: NodeImport) -> str | None:
    if not node.has(4):
        return None
    value = node.value(4)
    if isinstance(value, Constant):
        return node.add_constant(Constant(value.name, np.asarray(value.array, np.int32)))
    if node.graph.tensors[value].dtype is not DType.INT32:
        node.malformed(f"sequence_lens, {value}, is {node.graph.tensors[value].dtype.value} instead of int32")
    return value


def recurrent(node: NodeImport) -> Sequence[Value]:
    direction = node.attribute("direction", "forward")
    if direction not in _DIRECTIONS:
        node.malformed(f"direction is {direction!r}")
    directions = _DIRECTIONS[direction]
    batch_first = bool(node.attribute("layout", 0))
    x, weight, recurrence = (node.activation(i) for i in range(3))
    states = [_optional(node, i) for i in ((5, 6) if node.operator == "LSTM" else (5,))]
    if batch_first:
        x = _swapped(node, x, (1, 0, 2))
        states = [None if state is None else _swapped(node, state, (1, 0, 2)) for state in states]
    operands = [x, weight, recurrence, _optional(node, 3), _lengths(node), *states]
    attributes = {
        "hidden": int(node.attribute("hidden_size", node.graph.tensors[recurrence].shape[-1])),
        "directions": directions,
        "activations": _activations(node, len(directions)),
        "threshold": float(node.attribute("clip", np.inf)),
    }
    if node.operator == "LSTM":
        operands.append(_optional(node, 7))
        attributes["coupled"] = bool(node.attribute("input_forget", 0))
    if node.operator == "GRU":
        attributes["linear_before_reset"] = bool(node.attribute("linear_before_reset", 0))
    every = bool(node.outputs[0]) and node.outputs[0] in node.used
    results = node.results(node.operator.title() + ("" if every else "Last"), operands, **attributes)
    last = [_swapped(node, name, (1, 0, 2)) if batch_first else name for name in (results[1:] if every else results)]
    if not every:
        return [Constant("", np.zeros(0)), *last]
    return [_swapped(node, results[0], (2, 0, 1, 3)) if batch_first else results[0], *last]


def _swapped(node: NodeImport, x: str, perm: Sequence[int]) -> str:
    """A Transpose, or a Reshape where only dimensions of 1 change places."""
    shape = node.graph.tensors[x].shape
    moved = [axis for axis in perm if shape[axis] > 1]
    return node.reshape(x, [shape[axis] for axis in perm]) if moved == sorted(moved) else node.transpose(x, perm)


_EVERYTHING = (
    "all directions, both layouts, initial states, sequence_lens, clip, all activations; operands constant or computed; all outputs"
)

RECURRENT = {
    "LSTM": Importer(recurrent, f"{_EVERYTHING}; peepholes, input_forget"),
    "GRU": Importer(recurrent, f"{_EVERYTHING}; linear_before_reset 0 and 1"),
    "RNN": Importer(recurrent, _EVERYTHING),
}
