"""A scale for the cell of each unit of an LSTM with 16-bit activations.

Units count to very different numbers: one scale for all of them leaves those that stay small a few steps. A unit keeps its own scale where
nobody but the layer looks at its cells, and where what is kept for the next invocation comes back to the same unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node, Quantization
from arenite.quantize.evaluation import moved

HEADROOM = 1.5
"""Beyond the largest cell that calibration shows of a unit."""
LEAST_REACH = 2.0
"""Also of units that calibration has hardly moved."""
MOST_BITS = 15
UNIT_AXIS = 2
"""Of the states, [directions, batch, hidden]."""

Array = NDArray[Any]


def unit_quantization(largest: NDArray[np.float64]) -> Quantization:
    """Scales 2^−p of cells, from the largest of each unit: the greatest p ≤ 15 with which it fits, headroom included."""
    reach = np.maximum(largest * HEADROOM, LEAST_REACH)
    bits = np.clip(np.floor(MOST_BITS - np.log2(reach)), 0, MOST_BITS)
    return Quantization.per_channel(np.asarray(2.0**-bits, np.float32), UNIT_AXIS)


def keeps_units(graph: Graph, movement: list[Node], inputs: list[str], last: str, start: str | None) -> bool:
    """Whether the elements of `last` that `movement` takes to the next invocation all come back as the same unit of `start`, and whether
    nothing else does. `inputs`: those of the graph that `movement` moves."""
    shape = graph.tensors[last].shape
    units = np.broadcast_to(np.arange(shape[UNIT_AXIS]), shape)
    others = {name: np.full(graph.tensors[name].shape, -1) for name in _sources(graph, movement)}
    end = _moved(graph, movement, {**others, last: units})
    for state in graph.states:
        after = end.get(state.output, np.full(graph.tensors[state.output].shape, -1)).reshape(-1)
        before = np.full(after.shape, -1)
        if start is not None and state.input in inputs:
            places = _moved(graph, movement, {state.input: np.arange(after.size).reshape(graph.tensors[state.input].shape)}).get(start)
            if places is not None:
                before[places.reshape(-1)] = units.reshape(-1)
        if not np.array_equal(before, after):
            return False
    return True


def _sources(graph: Graph, movement: list[Node]) -> list[str]:
    """What is moved and no result of movement."""
    written = {node.output for node in movement}
    names = [name for node in movement for name in node.inputs if name is not None]
    return [name for name in names if name not in written and not graph.tensors[name].is_constant]


def _moved(graph: Graph, movement: list[Node], values: dict[str, Array]) -> dict[str, Array]:
    """`values`, and what movement makes of nothing but them and constants, whose elements are −1."""
    values = dict(values)
    for node in movement:
        sources = [graph.tensor(name) for name in node.inputs]
        if node.output not in values and all(source.name in values or source.is_constant for source in sources):
            values[node.output] = moved(node, [values[s.name] if s.name in values else np.full(s.shape, -1) for s in sources])
    return values
