"""The variants that a layer may take, and the proof that it may. numerics.md §3.4, §3.5."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Graph, Node

PAIR_LIMIT = 1 << 23
"""Bound on the accumulator of an output that shares halfwords with another."""


def candidates(graph: Graph, node: Node) -> tuple[str, ...]:
    """Variants that compute what the node's own does, that one first."""
    own = str(node.attributes.get("variant", ""))
    if own != "int8" or node.attributes.get("shift") != 0:
        return (own,)
    if node.op in ("Conv", "FullyConnected"):
        return (own, "paired") if _fits_pairs(graph, node) else (own,)
    if node.op == "DepthwiseConv":
        return (own, "planes") if _fits_planes(graph, node) else (own,)
    return (own,)


def _fits_pairs(graph: Graph, node: Node) -> bool:
    """Of every two outputs of a block the second one's accumulator stays below PAIR_LIMIT, whatever the input."""
    weight, bias = (_constant(graph, node, index) for index in (1, 2))
    group = int(node.attributes.get("group", 1))
    most = 128 * np.abs(weight).reshape(len(weight), -1).sum(axis=1) + np.abs(bias)
    return all(bool(np.all(part[1::2] < PAIR_LIMIT)) for part in np.split(most, group))


def _fits_planes(graph: Graph, node: Node) -> bool:
    """3x3 without dilation, stride 1 or 2, one output a channel, channels a multiple of four."""
    weight, x = graph.tensor(node.inputs[1]), graph.tensor(node.inputs[0])
    strides, dilations = tuple(node.attributes["strides"]), tuple(node.attributes["dilations"])
    return (
        weight.shape[:2] == (3, 3)
        and dilations == (1, 1)
        and strides in ((1, 1), (2, 2))
        and weight.shape[2] == x.shape[3]
        and x.shape[3] % 4 == 0
    )


def _constant(graph: Graph, node: Node, index: int) -> NDArray[np.int64]:
    data = graph.tensor(node.inputs[index]).data
    if data is None:
        raise ValueError(f"{node.name}: operand {index} is not constant")
    return data.astype(np.int64)
