"""Affine nodes: what is y = factor · x + shift for every channel of the last axis, under whichever names exporters write it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import DType, Tensor

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Affine:
    """float64, each of shape (C,) or, where one value serves all channels, ()."""

    x: str
    factor: Vector
    shift: Vector
    constant: str | None = None
    """The constant operand, where the node is nothing but the addition of it."""

    @property
    def is_scalar(self) -> bool:
        return self.factor.ndim == 0 and self.shift.ndim == 0

    def vectors(self, channels: int) -> tuple[Vector, Vector]:
        return np.broadcast_to(self.factor, (channels,)), np.broadcast_to(self.shift, (channels,))


def affine_of(graph: Graph, node: Node) -> Affine | None:
    """None where the node is not affine: has a fused activation, a divisor of 0, or a constant that varies along another axis."""
    if tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED or graph.tensors[node.output].dtype is not DType.FLOAT32:
        return None
    if node.op == "BatchNormalization":
        scale, bias, mean, variance = (np.asarray(graph.tensor(name).data, np.float64) for name in node.inputs[1:5])
        with np.errstate(all="ignore"):
            factor = scale / np.sqrt(variance + node.attributes["epsilon"])
            shift = bias - mean * factor
        return _finite(Affine(node.input, _collapsed(factor), _collapsed(shift)))
    if node.op not in ("Add", "Sub", "Mul", "Div"):
        return None
    a, b = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    if a.is_constant == b.is_constant:
        return None
    x, constant = (b, a) if a.is_constant else (a, b)
    if x.shape != graph.tensors[node.output].shape:
        return None
    values = channel_values(constant)
    if values is None:
        return None
    one, zero = np.ones((), np.float64), np.zeros((), np.float64)
    match node.op, a.is_constant:
        case "Add", _:
            return _finite(Affine(x.name, one, values, constant.name))
        case "Mul", _:
            return _finite(Affine(x.name, values, zero))
        case "Sub", False:
            return _finite(Affine(x.name, one, -values))
        case "Sub", True:
            return _finite(Affine(x.name, -one, values))
        case "Div", False:
            with np.errstate(all="ignore"):
                return _finite(Affine(x.name, 1 / values, zero))
    return None


def channel_values(constant: Tensor) -> Vector | None:
    """The constant as one value, or one a channel of the last axis; None where it varies along another axis."""
    data = _collapsed(np.asarray(constant.data, np.float64))
    if data.ndim == 0:
        return data
    return data.reshape(-1) if data.size == data.shape[-1] else None


def _collapsed(data: Vector) -> Vector:
    """One value where all are equal."""
    return np.full((), data.flat[0]) if np.all(data == data.flat[0]) else data


def _finite(affine: Affine) -> Affine | None:
    return affine if np.all(np.isfinite(affine.factor)) and np.all(np.isfinite(affine.shift)) else None
