"""Cross-layer equalization: channels of a tensor are brought to like ranges, so that one scale suits them all.

A positive factor of a channel can be moved through whatever is positively homogeneous: the rows of the layers that write it are divided
by it, the columns of those that read it multiplied (M. Nagel, M. van Baalen, T. Blankevoort, M. Welling: Data-Free Quantization through
Weight Equalization and Bias Correction, ICCV 2019). There ranges of weights are balanced, which have one scale a tensor; here every row has
its own, so that what is balanced is the range of activations against the columns that read them (G. Xiao et al.: SmoothQuant, ICML 2023).
Columns of depthwise layers have their own scales: activations before them become equal for nothing.

Factors are powers of two, so that the float graph computes the same to the last bit. (Where a Clip bounds activations from above, a channel
that stays away from that bound in calibration is bounded by what calibration showed, twice over.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Expression, Graph, Node, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.lower_linear import CHANNEL_AXIS
from arenite.quantize.output_error import run_all

Floats = NDArray[np.float64]

KEEPING = ("MaxPool", "AveragePool")
"""They work channel by channel, and homogeneously."""
LARGEST_FACTOR = 2.0**14
"""Between channels. One that hardly lives in calibration must be able to do more later."""
CLIP_MARGIN = 2.0
PROBES = np.concatenate([sign * 2.0 ** np.arange(-40, 41) for sign in (-1.0, 1.0)])


@dataclass
class _Space:
    """Tensors whose channels have one factor each, in common."""

    channels: int
    tensors: list[str] = field(default_factory=list)
    writers: list[Node] = field(default_factory=list)
    readers: list[Node] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    """Upper ends of the clips inside."""
    is_fixed: bool = False


def equalized(graph: Graph, data: Dataset, balance: float) -> Graph | None:
    """`graph` with channels equalized over `data`; None where nothing can be.

    `balance` in 0…1: 1 makes the ranges of activations equal, 0 the columns of the layers that read them.
    """
    spaces = _spaces(graph)
    if not spaces:
        return None
    names = [name for space in spaces for name in space.tensors]
    largest: dict[str, Floats] = {}
    for values in run_all(graph, names, data):
        for name, value in values.items():
            rows = np.abs(value.astype(np.float64)).reshape(-1, value.shape[-1]).max(axis=0)
            largest[name] = np.maximum(largest[name], rows) if name in largest else rows
    result = graph.copy()
    changed = False
    for space in spaces:
        factors = _factors(graph, space, largest, balance)
        if np.any(factors != 1):
            _apply(result, space, factors)
            changed = True
    return result if changed else None


def _factors(graph: Graph, space: _Space, largest: Mapping[str, Floats], balance: float) -> Floats:
    """What values of each channel are divided by."""
    ranges = np.max([largest[name].reshape(-1, space.channels).max(axis=0) for name in space.tensors], axis=0)
    if all(node.op == "DepthwiseConv" for node in space.readers):
        balance = 1.0
    columns = _columns(graph, space)
    alive = (ranges > 0) & (columns > 0)
    if not np.any(alive):
        return np.ones(space.channels)
    wished = np.ones(space.channels)
    wished[alive] = ranges[alive] ** balance / columns[alive] ** (1 - balance)
    wished /= wished[alive].max()
    # A channel that calibration never wakes is left as large as its columns allow without making rows coarser for the others.
    largest_column = float((wished * columns)[alive].max())
    wished[~alive] = np.minimum(1.0, largest_column / np.maximum(columns[~alive], np.finfo(np.float64).tiny))
    factors = np.exp2(np.round(np.log2(np.maximum(wished, 1 / LARGEST_FACTOR))))
    bound = min(space.bounds, default=np.inf)
    if np.isfinite(bound):
        factors = np.maximum(factors, np.exp2(np.ceil(np.log2(np.clip(CLIP_MARGIN * ranges / bound, 1 / LARGEST_FACTOR, 1.0)))))
    return np.asarray(factors, np.float64)


def _columns(graph: Graph, space: _Space) -> Floats:
    """How much of the range of the rows that read a channel its weights take, the largest of all; depthwise layers do not care."""
    readers = [node for node in space.readers if node.op != "DepthwiseConv"]
    found = np.zeros(space.channels) if readers else np.ones(space.channels)
    for node in readers:
        weights = np.abs(np.asarray(graph.tensor(node.inputs[1]).data, np.float64))
        rows = weights.reshape(len(weights), -1)
        shares = (rows / np.maximum(rows.max(axis=1, keepdims=True), np.finfo(np.float64).tiny)).reshape(weights.shape)
        groups = node.attributes.get("group", 1)
        columns = shares.reshape(groups, -1, weights.shape[-1]).max(axis=1).reshape(-1)
        found = np.maximum(found, columns.reshape(-1, space.channels).max(axis=0))
    return found


def _apply(graph: Graph, space: _Space, factors: Floats) -> None:
    """In place: writers' rows and biases are divided by the factors, readers' columns multiplied."""
    for node in space.writers:
        axis = CHANNEL_AXIS[node.op]
        _scale(graph, node, 1, axis, 1 / factors)
        if len(node.inputs) > 2 and node.inputs[2] is not None:
            _scale(graph, node, 2, 0, 1 / factors)
    for node in space.readers:
        weights = graph.tensor(node.inputs[1])
        if node.op == "DepthwiseConv":
            _scale(graph, node, 1, 2, np.repeat(factors, weights.shape[2] // space.channels))
        elif (groups := node.attributes.get("group", 1)) == 1:
            _scale(graph, node, 1, len(weights.shape) - 1, np.tile(factors, weights.shape[-1] // space.channels))
        else:
            own = np.repeat(factors.reshape(groups, -1), weights.shape[0] // groups, axis=0)
            _replace(graph, node, 1, np.asarray(weights.data) * own[:, None, None, :])


def _scale(graph: Graph, node: Node, operand: int, axis: int, factors: Floats) -> None:
    tensor = graph.tensor(_current(graph, node).inputs[operand])
    shape = [-1 if i == axis else 1 for i in range(len(tensor.shape))]
    _replace(graph, node, operand, np.asarray(tensor.data) * factors.reshape(shape))


def _current(graph: Graph, node: Node) -> Node:
    return next(one for one in graph.nodes if one.output == node.output)


def _replace(graph: Graph, node: Node, operand: int, data: NDArray[np.floating]) -> None:
    """Give a node another constant; whoever else reads the old one keeps it."""
    current = _current(graph, node)
    inputs = list(current.inputs)
    inputs[operand] = graph.add_constant(str(node.inputs[operand]), data.astype(np.float32)).name
    graph.nodes = [replace(one, inputs=tuple(inputs)) if one is current else one for one in graph.nodes]


def _spaces(graph: Graph) -> list[_Space]:
    """Where factors can be moved. A tensor that is an input, an output or annotated has none, and nor has one that other operators see."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    kept = {*graph.inputs, *graph.outputs}
    fixed: set[str] = set()
    for node in graph.nodes:
        operands = [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant]
        if _is_linear(graph, node):
            continue
        if _passes(graph, node):
            for name in operands:
                parent[root(name)] = root(node.output)
        else:
            fixed.update((*operands, *node.outputs))
    spaces: dict[str, _Space] = {}
    for node in graph.nodes:
        if _is_linear(graph, node):
            at = root(node.output)
            spaces.setdefault(at, _Space(graph.tensors[node.output].shape[-1])).writers.append(node)
    for node in graph.nodes:
        linear = _is_linear(graph, node)
        if linear and root(node.input) in spaces:
            spaces[root(node.input)].readers.append(node)
        if root(node.output) in spaces:
            space, (low, high) = spaces[root(node.output)], node.attributes.get("clip", UNBOUNDED)
            space.is_fixed |= low not in (0.0, -np.inf) or high < 0
            if np.isfinite(high):
                space.bounds.append(float(high))
    for name in (name for node in graph.nodes for name in (*node.inputs, *node.outputs) if name is not None):
        tensor = graph.tensors[name]
        if tensor.is_constant or root(name) not in spaces or name in spaces[root(name)].tensors:
            continue
        space = spaces[root(name)]
        space.tensors.append(name)
        whole = bool(tensor.shape) and tensor.shape[-1] % space.channels == 0
        space.is_fixed |= name in kept or name in fixed or tensor.quantization is not None or not whole
    return [space for space in spaces.values() if space.readers and not space.is_fixed and _fits(graph, space)]


def _fits(graph: Graph, space: _Space) -> bool:
    """Whether channels stay where they are: writers have as many, and so have convolutions that read."""
    writers = all(graph.tensors[node.output].shape[-1] == space.channels for node in space.writers)
    return writers and all(graph.tensors[node.input].shape[-1] == space.channels for node in space.readers if node.op != "FullyConnected")


def _is_linear(graph: Graph, node: Node) -> bool:
    """A linear layer whose weights are its own business."""
    if node.op not in CHANNEL_AXIS:
        return False
    operands = [graph.tensor(name) for name in node.inputs[1:] if name is not None]
    return all(tensor.is_constant and tensor.quantization is None for tensor in operands)


def _passes(graph: Graph, node: Node) -> bool:
    """Whether a factor of a channel before the node is one behind it."""
    x, y = graph.tensor(node.input) if node.inputs and node.inputs[0] is not None else None, graph.tensors[node.output]
    if x is None or len(node.outputs) > 1:
        return False
    match node.op:
        case "Reshape":
            return True  # elements stay in order: the last axis is whole channels, or the space is left alone
        case "Elementwise":
            return is_homogeneous(node.attributes["expression"])
        case "Add" | "Sub":
            operands: list[Tensor] = [graph.tensor(name) for name in node.inputs]
            return all(tensor.shape == y.shape and not tensor.is_constant for tensor in operands)
        case "ReduceMean":
            return x.shape[-1] == y.shape[-1] and len(x.shape) - 1 not in [axis % len(x.shape) for axis in node.attributes["axes"]]
        case "Pad":
            pads = node.attributes["pads"]
            return len(node.inputs) == 1 and node.attributes["value"] == 0 and pads[len(x.shape) - 1] == pads[-1] == 0
    return node.op in KEEPING


def is_homogeneous(expression: Expression) -> bool:
    """Whether f(k·x) = k·f(x) for positive k, on probes from 2^−40 to 2^40."""
    with np.errstate(all="ignore"):
        values = expression(PROBES)
        return bool(np.all(np.isfinite(values))) and all(np.array_equal(expression(k * PROBES), k * values) for k in (0.25, 2.0))
