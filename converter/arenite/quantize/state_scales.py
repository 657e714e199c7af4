"""The scales of int16 tensors: a power of two for each state of a recurrent layer, or for the cell of each unit (unit_scales.py).

A state that is only moved from invocation to invocation keeps the scale of the layer that reads it, also where one tensor holds several:
that tensor has no scale of its own then. One scale for a whole tensor is needed where somebody else looks at it: at ports, and where layers
of other kinds read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node, Quantization
from arenite.graph.operators.recurrent import LSTM, cell_of
from arenite.quantize.evaluation import moved
from arenite.quantize.lower_movement import CARRYING
from arenite.quantize.lower_recurrent import initial_states, last_states
from arenite.quantize.ranges import Range
from arenite.quantize.scales import symmetric_int16, symmetric_int24
from arenite.quantize.state_tensors import StateTensors
from arenite.quantize.unit_scales import keeps_units, unit_quantization

HEADROOM = 1.25
"""Of cells, beyond the largest that calibration shows."""
MOST_BITS = 15

Array = NDArray[Any]


class _Groups:
    """States that must have one scale, joined step by step (union-find)."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._parent = {name: name for name in names}

    def root(self, name: str) -> str:
        while self._parent[name] != name:
            name = self._parent[name]
        return name

    def join(self, *names: str) -> None:
        for name in names[1:]:
            self._parent[self.root(name)] = self.root(names[0])

    def join_owners(self, owners: Array) -> None:
        self.join(*(self.names[i] for i in np.unique(owners[owners >= 0])))

    def root_of(self, owners: Array) -> str | None:
        """The one group that owns all elements that are owned; None where there are several, or none."""
        roots = {self.root(self.names[i]) for i in np.unique(owners[owners >= 0])}
        return roots.pop() if len(roots) == 1 else None


def state_quantization(
    found: StateTensors, nodes: list[Node], ranges: Mapping[str, Range], cells: Mapping[str, Array], fine: Set[str]
) -> dict[str, Quantization | None]:
    """Of each int16 tensor: a scale 2^−p for states, or one for each unit, None for a tensor that holds states of several scales, and the
    observed extremes for what a recurrent layer reads. `ranges` has those of found.observed(), `cells` max |c| of any step, of each unit,
    by the result that has the last, `fine` what is read in 24 bits (fine_inputs.py)."""
    graph = found.graph
    current = [next(node for node in graph.nodes if node.output == one.output) for one in nodes]
    starts = [name for node in current for name in initial_states(node) if name in found.names]
    groups = _Groups(list(dict.fromkeys([*starts, *(name for node in current for name in last_states(node))])))
    reach = dict.fromkeys(groups.names, 1.0)
    for node in current:
        _join_node(graph, node, groups, reach, ranges, cells)
    owners = _owners(found, groups, current)
    for name in found.names:
        if name in owners and _is_seen(found, name):
            groups.join_owners(owners[name])
    limits: dict[str, float] = {}
    for name in groups.names:
        limits[groups.root(name)] = max(limits.get(groups.root(name), 1.0), reach[name])
    by_unit = _by_unit(found, current, groups, owners, cells)
    chosen: dict[str, Quantization | None] = {}
    for name in found.names:
        if name in found.inputs:
            chosen[name] = symmetric_int24(ranges[name]) if name in fine else symmetric_int16(ranges[name])
            continue
        root = groups.root(name) if name in reach else groups.root_of(owners[name])
        if root in by_unit:
            chosen[name] = by_unit[root] if name in reach else None
        else:
            chosen[name] = None if root is None else Quantization.per_tensor(2.0 ** -_bits(limits[root]), 0)
    return chosen


def _by_unit(
    found: StateTensors, nodes: list[Node], groups: _Groups, owners: Mapping[str, Array], cells: Mapping[str, Array]
) -> dict[str, Quantization]:
    """Scales of the cells that have one a unit, by the root of their group."""
    graph, chosen = found.graph, {}
    movement = _movement(found)
    inputs = [name for name in graph.inputs if name in found.names]
    for node in nodes:
        if node.output not in found.wide or cell_of(node.op) is not LSTM:
            continue
        last, start = last_states(node)[1], node.inputs[6] if len(node.inputs) > 6 else None
        start = start if start in found.names else None
        members = {name for name in groups.names if groups.root(name) == groups.root(last)}
        numbers = [groups.names.index(name) for name in members]
        holders = [name for name in found.names if name in owners and np.isin(owners[name], numbers).any()]
        seen = not members <= {last, start} or any(_is_seen(found, name) for name in holders)
        if not seen and keeps_units(graph, movement, inputs, last, start):
            chosen[groups.root(last)] = unit_quantization(cells[last])
    return chosen


def _join_node(
    graph: Graph, node: Node, groups: _Groups, reach: dict[str, float], ranges: Mapping[str, Range], cells: Mapping[str, Array]
) -> None:
    """What a layer starts from and where it ends, h and c each."""
    for index, (position, last) in enumerate(zip((5, 6), last_states(node), strict=False)):
        start = node.inputs[position] if position < len(node.inputs) else None
        largest = float(cells[last].max()) * HEADROOM if index == 1 else 0.0
        if start is not None:
            data = graph.tensors[start].data
            largest = max(largest, _largest(ranges[start]) if data is None else float(np.abs(data).max(initial=0.0)))
            if data is None:
                groups.join(start, last)
        reach[last] = max(reach[last], largest)


def _largest(values: Range) -> float:
    return max(abs(values.low), abs(values.high))


def _owners(found: StateTensors, groups: _Groups, nodes: list[Node]) -> dict[str, Array]:
    """For each element of each int16 tensor the number of the state that it is or becomes, −1 where it is of none. States are joined where
    an element is of both."""
    graph, numbers = found.graph, {name: i for i, name in enumerate(groups.names)}
    movement = _movement(found)
    inputs = [name for name in graph.inputs if name in found.names]
    owners = {name: np.full(graph.tensors[name].shape, -1) for name in inputs}
    for name in inputs:
        places = {name: np.arange(graph.tensors[name].elements).reshape(graph.tensors[name].shape)}
        _move(graph, movement, places)
        for reader in (one for one in places if one in numbers):
            before = owners[name].reshape(-1)[places[reader]]
            groups.join(reader, *(groups.names[i] for i in np.unique(before[before >= 0])))
            owners[name].reshape(-1)[places[reader]] = numbers[reader]
    for name in groups.names:
        owners.setdefault(name, np.full(graph.tensors[name].shape, numbers[name]))
    for node in nodes:
        if node.output in found.wide and node.output not in last_states(node):
            owners[node.output] = np.full(graph.tensors[node.output].shape, numbers[last_states(node)[0]])
    _move(graph, movement, owners)
    for state in graph.states:
        if state.input in owners and state.output in owners:
            pairs = np.unique(np.stack([owners[state.input].ravel(), owners[state.output].ravel()]), axis=1).T
            for a, b in pairs[(pairs >= 0).all(axis=1)]:
                groups.join(groups.names[a], groups.names[b])
            if (pairs < 0).any():  # kept for a later invocation: nobody knows here by whom it will be read
                groups.join_owners(np.concatenate([owners[state.input].ravel(), owners[state.output].ravel()]))
    return owners


def _movement(found: StateTensors) -> list[Node]:
    """Of int16 tensors, which their conversion is not."""

    def is_movement(node: Node) -> bool:
        return all(name in found.names or found.graph.tensor(name).is_constant for name in node.inputs)

    return [node for node in found.graph.nodes if node.op in CARRYING and node.output in found.names and is_movement(node)]


def _move(graph: Graph, movement: list[Node], values: dict[str, Array]) -> None:
    """Move what there is to move, in order; elements of constants are −1."""
    for node in movement:
        sources = [graph.tensor(name) for name in node.inputs]
        if node.output not in values and all(source.name in values or source.is_constant for source in sources):
            operands = [values[s.name] if s.name in values else np.full(s.shape, -1) for s in sources]
            values[node.output] = moved(node, operands)


def _is_seen(found: StateTensors, name: str) -> bool:
    """Whether others than recurrent layers and movement look at the values: a caller, or layers that read them converted."""
    graph = found.graph
    ports = {*graph.input_ports, *graph.output_ports}
    with_constants = any(
        node.output == name and any(graph.tensor(n).is_constant for n in node.inputs) for node in graph.nodes if node.op in CARRYING
    )
    readers = [node for node in graph.nodes if name in node.inputs]
    others = any(node.output not in found.names and name not in node.inputs[5:7] for node in readers)
    multiplied = any(cell_of(node.op) is not None and name == node.input for node in readers)
    return name in ports or with_constants or others or multiplied


def _bits(limit: float) -> int:
    """The greatest p for which `limit` is at most 2^(15 − p), to half a step."""
    bits = MOST_BITS
    while bits > 0 and limit > 2.0 ** (MOST_BITS - bits) * (1 + 2.0**-16):
        bits -= 1
    return bits
