"""The variants that a layer may take, and the proof that it may. numerics.md §3.4-§3.8."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.convolution import PLANES, WINOGRAD_TILES
from arenite.graph.operators.int4 import factors

MOST_SHIFT = 8
"""Of the accumulator, where weights of a layout hold it: planes, planes_2 and tap_pairs."""
MOST_TAPS = 1 << 13
"""Of a window with tap_pairs."""
PAIR_LIMIT = 1 << 23
"""Bound on the accumulator of an output that shares halfwords with another."""

WINOGRAD_BOUNDS = {"winograd_2": (255, 2), "winograd_4": (1275, 8)}
"""Of the inputs that the weights at the ends are multiplied by; what of the accumulator the last sum is."""
LARGEST_WINOGRAD_SCRATCH = 12 * 1024


def candidates(graph: Graph, node: Node) -> tuple[str, ...]:
    """Variants that compute what the node's own does, that one first."""
    own = str(node.attributes.get("variant", ""))
    if own == "int4":
        return (own, "int4_lanes")
    if own != "int8" or node.op not in ("Conv", "DepthwiseConv", "FullyConnected"):
        return (own,)
    four_bits = ("int4", "int4_lanes") if node.op != "DepthwiseConv" and fits_four_bits(graph, node) else ()
    return (own, *_arranged(graph, node), *four_bits)


def fits_four_bits(graph: Graph, node: Node) -> bool:
    """Every group of taps has a factor with which its weights are of four bits: numerics.md §3.8."""
    weight = _constant(graph, node, 1)
    return factors(weight.reshape(len(weight), -1)) is not None


def _arranged(graph: Graph, node: Node) -> tuple[str, ...]:
    """Layouts of the same weights for faster kernels."""
    if node.attributes.get("shift", MOST_SHIFT + 1) > (MOST_SHIFT if node.op == "DepthwiseConv" else 0):
        return ()
    if node.op == "FullyConnected":
        rows = graph.tensor(node.output).elements // graph.tensor(node.output).shape[-1]
        return ("paired", *(("paired_row",) if rows == 1 else ())) if _fits_pairs(graph, node) else ()
    if node.op == "Conv":
        paired = ("paired",) if _fits_pairs(graph, node) else ()
        return (*paired, *(v for v in WINOGRAD_TILES if _fits_winograd(graph, node, v)))
    planes = tuple(v for v, stride in PLANES.items() if _fits_planes(graph, node, stride))
    return planes or (("tap_pairs",) if _fits_tap_pairs(graph, node) else ())


def _fits_pairs(graph: Graph, node: Node) -> bool:
    """Of every two outputs of a block the second one's accumulator stays below PAIR_LIMIT, whatever the input; and halfwords hold both."""
    weight, bias = (_constant(graph, node, index) for index in (1, 2))
    group = int(node.attributes.get("group", 1))
    rows = weight.reshape(len(weight), -1)
    most = 128 * np.abs(rows).sum(axis=1) + np.abs(bias)
    return all(
        bool(np.all(bound[1::2] < PAIR_LIMIT)) and _fits_halfwords(part)
        for bound, part in zip(np.split(most, group), np.split(rows, group), strict=True)
    )


def _fits_halfwords(rows: NDArray[np.int64]) -> bool:
    """256 w1 + w0 of every two rows is int16: the second is not -128 where the first is negative. Only imported weights are -128."""
    pairs = len(rows) // 2
    return not np.any((rows[1 : 2 * pairs : 2] == -128) & (rows[0 : 2 * pairs : 2] < 0))


def _fits_winograd(graph: Graph, node: Node, variant: str) -> bool:
    """3x3 without groups, strides or dilation, channels multiples of four, little scratch; and the proof of numerics.md §3.6."""
    shape = graph.tensor(node.inputs[1]).shape
    a, y = node.attributes, graph.tensor(node.output)
    if shape[1:3] != (3, 3) or a["group"] != 1 or tuple(a["strides"]) != (1, 1) or tuple(a["dilations"]) != (1, 1):
        return False
    operands = [graph.tensor(name) for name in node.inputs]
    scratch = OPERATORS["Conv"].scratch(node.with_attributes(variant=variant), operands, [y])
    if shape[0] % 4 or shape[3] % 4 or scratch > LARGEST_WINOGRAD_SCRATCH:
        return False
    weight = _constant(graph, node, 1)
    if not _fits_halfwords(weight.reshape(len(weight), -1)):
        return False
    weight = np.abs(weight)
    largest, scale = WINOGRAD_BOUNDS[variant]
    ends = weight[1::2, :, (0, 2), :].sum(axis=(1, 3))
    return bool(np.all(largest * ends < PAIR_LIMIT) and np.all(scale * 128 * weight.sum(axis=(1, 2, 3)) < 1 << 31))


def _fits_planes(graph: Graph, node: Node, stride: int) -> bool:
    """3x3 without dilation, this stride, one output a channel, four channels or more."""
    weight, x = graph.tensor(node.inputs[1]), graph.tensor(node.inputs[0])
    strides, dilations = tuple(node.attributes["strides"]), tuple(node.attributes["dilations"])
    return (
        weight.shape[:2] == (3, 3)
        and dilations == (1, 1)
        and strides == (stride, stride)
        and weight.shape[2] == x.shape[3]
        and x.shape[3] >= 4
    )


def _fits_tap_pairs(graph: Graph, node: Node) -> bool:
    """The bounds of check_depthwise_conv_tap_pairs, runtime_c/src/kernel_arranged.c."""
    x = graph.tensor(node.inputs[0]).shape
    steps = [stride * dilation for stride, dilation in zip(node.attributes["strides"], node.attributes["dilations"], strict=True)]
    return prod(graph.tensor(node.inputs[1]).shape[:2]) <= MOST_TAPS and max(steps) * x[2] * x[3] < 1 << 29


def _constant(graph: Graph, node: Node, index: int) -> NDArray[np.int64]:
    data = graph.tensor(node.inputs[index]).data
    if data is None:
        raise ValueError(f"{node.name}: operand {index} is not constant")
    return data.astype(np.int64)
