"""What linear layers read: samples of the vectors that their rows are multiplied with, in float and in the quantized network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node
from arenite.quantize.calibration_data import Dataset
from arenite.quantize.draft import Draft
from arenite.quantize.fidelity import simulated
from arenite.quantize.lower_linear import CHANNEL_AXIS
from arenite.quantize.lowering import Lowering
from arenite.quantize.output_error import run_all

Floats = NDArray[np.float64]

POSITIONS = 64
"""Of a layer's output that are looked at, a sample."""
LONGEST_ROW = 2304
"""Longer rows need more samples than calibration has, and a matrix of too many products."""
CHUNK_BYTES = 1 << 26
"""Of the matrices that are collected at once."""
TOGETHER = 1024
"""Vectors."""


@dataclass(frozen=True)
class LayerInputs:
    """Of one layer, over all samples. Groups: those of a convolution; a depthwise one has as many as input channels."""

    products: Floats
    """[groups, n, n]: E[x̂·x̂ᵀ] of what the quantized layer reads."""
    crossed: Floats
    """[groups, n, n]: E[x·x̂ᵀ], x being what the float network's layer reads."""
    mean: Floats
    """[groups, n]: E[x̂]."""
    float_mean: Floats
    """[groups, n]: E[x]."""
    count: int
    """Vectors that were looked at."""

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Rows of a layer, [channels, …], by the group that reads them: [groups, rows, …]."""
        return values.reshape(len(self.mean), -1, *values.shape[1:])


def linear_rows(graph: Graph, node: Node) -> Floats:
    """A layer's weights as [channels, weights of one]."""
    data, axis = np.asarray(graph.tensor(node.inputs[1]).data, np.float64), CHANNEL_AXIS[node.op]
    return np.moveaxis(data, axis, 0).reshape(data.shape[axis], -1)


def linear_bias(graph: Graph, node: Node, channels: int) -> Floats:
    """A layer's bias, 0 where it has none."""
    if len(node.inputs) < 3 or node.inputs[2] is None:
        return np.zeros(channels)
    return np.asarray(graph.tensor(node.inputs[2]).data, np.float64).reshape(-1)


def free_layers(draft: Draft) -> list[Node]:
    """The int8 linear layers whose weights are not quantized by the model itself."""
    graph = draft.graph

    def is_free(node: Node) -> bool:
        if node.op not in CHANNEL_AXIS or node.output in draft.typed or graph.tensor(node.input).is_constant:
            return False
        weight = graph.tensor(node.inputs[1])
        return weight.is_constant and weight.quantization is None

    return [node for node in graph.nodes if is_free(node)]


def stored_rows(lowering: Lowering, layers: Sequence[Node]) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Steps [channels, weights of one] and scales [channels] of the layers that are stored in int8, by first output."""
    target, found = lowering.target, {}
    producers = target.producers()
    for node in layers:
        weight = target.tensor(producers[node.output].inputs[1]) if node.output in producers else None
        if weight is None or weight.data is None or weight.quantization is None:
            continue
        steps = np.moveaxis(weight.data, CHANNEL_AXIS[node.op], 0)
        found[node.output] = (steps.reshape(len(steps), -1).astype(np.int64), weight.quantization.scale)
    return found


def layer_inputs(
    draft: Draft, lowering: Lowering, layers: Sequence[Node], data: Dataset, *, products: bool = True
) -> Iterator[tuple[Node, LayerInputs]]:
    """Of each of `layers` whose rows are not too long, a few at a time, for the sake of memory. `lowering` is the draft's; matrices are
    zero without `products`."""
    rounded = simulated(draft.graph, lowering.quantization, lowering)
    chunk: list[Node] = []
    held = 0
    for node in layers:
        channels, length = linear_rows(draft.graph, node).shape
        if length > LONGEST_ROW:
            continue
        size = 16 * length * length * (channels if node.op == "DepthwiseConv" else node.attributes.get("group", 1))
        if chunk and held + size > CHUNK_BYTES:
            yield from _collect(draft.graph, rounded, chunk, data, products)
            chunk, held = [], 0
        chunk.append(node)
        held += size
    yield from _collect(draft.graph, rounded, chunk, data, products)


def _collect(graph: Graph, rounded: Graph, layers: Sequence[Node], data: Dataset, products: bool) -> Iterator[tuple[Node, LayerInputs]]:
    if not layers:
        return
    names = list(dict.fromkeys(node.input for node in layers))
    sums = {node.output: _Sums(products) for node in layers}
    both = zip(run_all(graph, names, data), run_all(rounded, names, data, fake_quantize=True), strict=True)
    for index, (exact, seen) in enumerate(both):
        for node in layers:
            sums[node.output].add(*(_vectors(graph, node, values, index) for values in (exact, seen)))
    for node in layers:
        yield node, sums.pop(node.output).means()


class _Sums:
    """Of one layer; vectors wait until there are enough of them for products of matrices to be worth it."""

    def __init__(self, products: bool) -> None:
        self._products = products
        self._waiting: list[tuple[Floats, Floats]] = []
        self._sums: list[Any] = []

    def add(self, exact: Floats, seen: Floats) -> None:
        self._waiting.append((exact, seen))
        if sum(vectors.shape[1] for vectors, _ in self._waiting) >= TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        x, y = (np.concatenate(parts, axis=1) for parts in zip(*self._waiting, strict=True))
        self._waiting = []
        moved = y.transpose(0, 2, 1)
        matrices = [moved @ y, x.transpose(0, 2, 1) @ y] if self._products else [np.zeros((len(y), 1, 1))] * 2
        new = [*matrices, y.sum(axis=1), x.sum(axis=1), y.shape[1]]
        self._sums = [a + b for a, b in zip(self._sums, new, strict=True)] if self._sums else new

    def means(self) -> LayerInputs:
        self._flush()
        products, crossed, mean, float_mean, count = self._sums
        return LayerInputs(products / count, crossed / count, mean / count, float_mean / count, int(count))


def _vectors(graph: Graph, node: Node, values: Mapping[str, NDArray[Any]], sample: int) -> Floats:
    """[groups, positions, n]: what rows are multiplied with, in the order of their weights."""
    x = values[node.input].astype(np.float64)
    if node.op == "FullyConnected":
        vectors = x.reshape(-1, x.shape[-1])
        return vectors[_positions(len(vectors), sample)][None]
    weight = graph.tensor(node.inputs[1])
    kernel = weight.shape[:2] if node.op == "DepthwiseConv" else weight.shape[1:3]
    patches = _patches(node, x, graph.tensors[node.output].shape, (kernel[0], kernel[1]), sample)  # [positions, taps, channels]
    if node.op == "DepthwiseConv":
        return patches.transpose(2, 0, 1)
    groups = node.attributes.get("group", 1)
    split = patches.reshape(*patches.shape[:2], groups, -1).transpose(2, 0, 1, 3)
    return split.reshape(groups, len(patches), -1)


def _positions(count: int, sample: int) -> NDArray[np.int64]:
    """At most POSITIONS of 0…count − 1, others in each sample, the same every time."""
    if count <= POSITIONS:
        return np.arange(count)
    return np.sort(np.random.default_rng(sample).choice(count, POSITIONS, replace=False))


def _patches(node: Node, x: Floats, shape: tuple[int, ...], kernel: tuple[int, int], sample: int) -> Floats:
    """[positions, taps, channels]: windows of x [images, h, w, channels] at some positions of the output, `shape`."""
    (stride_h, stride_w), (dilation_h, dilation_w) = node.attributes["strides"], node.attributes["dilations"]
    top, left, bottom, right = node.attributes["pads"]
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    images, out_h, out_w = shape[:3]
    image, row, column = np.unravel_index(_positions(images * out_h * out_w, sample), (images, out_h, out_w))
    taps = [
        padded[image, row * stride_h + i * dilation_h, column * stride_w + j * dilation_w]
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    return np.stack(taps, axis=1)
