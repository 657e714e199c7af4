"""What a layer costs with a variant: cycles on a core, and bytes of constants.

The cycles are those of the kernels' loops as counted by the cycle model of `arenite profile` on a Cortex-M4 (zero wait states), split into
what a column of taps costs to make, what a block of outputs costs, and what a multiply-accumulate costs. They rank variants; they are
no measurement. Where a core has no kernel of its own for a variant, the portable one runs.
"""

from __future__ import annotations

from math import prod

from arenite.graph import Graph, Node
from arenite.graph.operators.convolution import fours

PORTABLE_MAC = {"Conv": 4.5, "FullyConnected": 4.0, "DepthwiseConv": 9.0}
"""Cycles of a multiply-accumulate of the portable kernels from plain constants."""
PORTABLE_STREAM = 1.15
"""The same from a stream, as a factor."""


def constant_bytes(graph: Graph, node: Node, variant: str) -> int:
    """Of weights, biases and multipliers as the variant stores them."""
    plain = sum(tensor.bytes for name in node.inputs if (tensor := graph.tensor(name)).is_constant)
    if variant == "planes":
        return 32 * graph.tensor(node.inputs[1]).shape[2]
    if variant == "paired":
        filters, taps, groups = _filters(graph, node)
        block = 8 if node.op == "FullyConnected" and _positions(graph, node) == 1 else 4
        return groups * -(-filters // block) * block * (fours(taps) + 8)
    return plain


def cycles(graph: Graph, node: Node, variant: str, features: frozenset[str]) -> float:
    """Of one inference on a core with `features`."""
    if "dsp" in features and variant == "paired":
        return _paired(graph, node)
    if "dsp" in features and variant == "planes":
        return _planes(graph, node)
    macs = prod(graph.tensor(node.output).shape) * (prod(graph.tensor(node.inputs[1]).shape) / _outputs(graph, node))
    return macs * PORTABLE_MAC[node.op] * (1.0 if variant == str(node.attributes["variant"]) else PORTABLE_STREAM)


def _paired(graph: Graph, node: Node) -> float:
    """dsp/paired_core.S: 15 cycles a step of 16 multiply-accumulates, 75 a block around them; a column costs 8 cycles for four taps."""
    filters, taps, groups = _filters(graph, node)
    positions = _positions(graph, node)
    steps = fours(taps) / 2
    if node.op == "FullyConnected" and positions == 1:
        return -(-filters // 8) * (18.5 * steps + 85) + 3 * steps
    blocks = -(-filters // 4)
    return groups * -(-positions // 2) * (blocks * (15.5 * steps + 75) + 2 * (4 * steps + 60))


def _planes(graph: Graph, node: Node) -> float:
    """dsp/depthwise_core.S: 66 cycles for four outputs (stride 2: 48 for two); 15 a column of four channels and two rows; 60 a strip."""
    _, height, width, channels = graph.tensor(node.output).shape
    if node.attributes["strides"][0] == 1:
        strips = -(-height // 2)
        return channels * strips * (33 * width + 60) + channels / 4 * strips * (width + 2) * 15
    return channels * height * (24 * width + 60) + channels / 4 * height * (2 * width + 1) * 15


def _outputs(graph: Graph, node: Node) -> int:
    return graph.tensor(node.output).shape[-1]


def _positions(graph: Graph, node: Node) -> int:
    return prod(graph.tensor(node.output).shape[:-1])


def _filters(graph: Graph, node: Node) -> tuple[int, int, int]:
    """(filters of a group, taps of a filter, groups)."""
    weight, groups = graph.tensor(node.inputs[1]).shape, int(node.attributes.get("group", 1))
    return weight[0] // groups, prod(weight[1:]), groups
