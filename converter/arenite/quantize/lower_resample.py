"""Resample: weights in int16, as fine as the accumulator allows. Numerics §13."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node, Quantization
from arenite.quantize.lowering import Lowering, geometry
from arenite.quantize.multipliers import requantization, scale_of, zero_point_of

LARGEST_SUM = 16.0
"""Of the absolute weights of a result."""
LARGEST_RATIO = 2.0**16
FINEST = 20
"""The greatest k."""


def is_resampled(graph: Graph, node: Node) -> bool:
    """Whether the weights are within the bounds of §13."""
    weight = np.asarray(graph.tensor(node.inputs[2]).data, np.float64)
    return bool(np.abs(weight).sum(axis=1).max(initial=0.0) <= LARGEST_SUM)


@dataclass(frozen=True)
class Weights:
    """What the kernel gets."""

    steps: NDArray[np.int16]
    """w, [count, taps]."""
    scale: float
    """2^−k."""
    multiplier: int
    shift: int


def integer_weights(weight: NDArray[np.float64], ratio: float) -> Weights:
    """The integers of §13 for float weights [count, taps] and the ratio s_x / s_y of the scales."""
    ratio = min(ratio, LARGEST_RATIO)
    for k in range(FINEST, -1, -1):
        steps = np.rint(weight * 2.0**k)
        multiplier, shift = requantization(ratio * 2.0**-k)
        bound = 255 * int(np.abs(steps).sum(axis=1).max(initial=0.0))
        if np.abs(steps).max(initial=0.0) < 1 << 15 and bound << shift < 1 << 31:
            return Weights(steps.astype(np.int16), 2.0**-k, int(multiplier), shift)
    raise ValueError(f"weights with a sum beyond {LARGEST_SUM}")


def lower_resample(lowering: Lowering, node: Node) -> None:
    x, x_q = lowering.operand(node.input)
    y_q = lowering.quantization[node.output]
    weights = integer_weights(lowering.values(node, 2).astype(np.float64), scale_of(x_q) / scale_of(y_q))
    stored = lowering.constant(str(node.inputs[2]), weights.steps, Quantization.per_tensor(weights.scale, 0))
    lowering.emit(
        node,
        "Resample",
        (x, lowering.index(node.inputs[1]), stored),
        **geometry(node),
        input_zero_point=zero_point_of(x_q),
        output_zero_point=zero_point_of(y_q),
        multiplier=weights.multiplier,
        shift=weights.shift,
        **lowering.clamp(node),
    )
