"""Constants in the order in which a kernel variant consumes them.

In the graph a layer has plain constants, whatever its variant, so that passes, planner and reports see one form. Here, on the way into the
program, the constants of a variant that wants them otherwise become one stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from arenite.emit.arrange_int4 import int4, int4_lanes
from arenite.emit.arrange_paired import conv_paired, fully_connected_paired, fully_connected_paired_row
from arenite.emit.arrange_planes import depthwise_conv_planes
from arenite.emit.arrange_tap_pairs import depthwise_conv_tap_pairs
from arenite.emit.arrange_winograd import conv_winograd_2, conv_winograd_4
from arenite.graph import Graph, Node, Tensor

Arrangement = Callable[[Node, Sequence[Tensor], Tensor], NDArray[np.generic]]
"""(node, its constants in order, its input) → the stream that takes their place."""

ARRANGEMENTS: dict[tuple[str, str], Arrangement] = {
    ("Conv", "int4"): int4,
    ("Conv", "int4_lanes"): int4_lanes,
    ("Conv", "paired"): conv_paired,
    ("Conv", "winograd_2"): conv_winograd_2,
    ("Conv", "winograd_4"): conv_winograd_4,
    ("FullyConnected", "int4"): int4,
    ("FullyConnected", "int4_lanes"): int4_lanes,
    ("FullyConnected", "paired"): fully_connected_paired,
    ("FullyConnected", "paired_row"): fully_connected_paired_row,
    ("DepthwiseConv", "planes"): depthwise_conv_planes,
    ("DepthwiseConv", "planes_2"): depthwise_conv_planes,
    ("DepthwiseConv", "tap_pairs"): depthwise_conv_tap_pairs,
}
"""By operator and variant. The first operand stays; all others, constants, become the second."""


def arranged(graph: Graph) -> Graph:
    """`graph` with the stream of every node that wants one as a further operand, its last."""
    result = graph.copy()
    of_bands: dict[str, Tensor] = {}  # by the whole tensor: bands of a layer have one stream
    for index, node in enumerate(result.nodes):
        arrange = ARRANGEMENTS.get(_kernel(node))
        if arrange is not None:
            stream = None if node.band is None else of_bands.get(node.band.tensor)
            if stream is None:
                x, *constants = (graph.tensor(name) for name in node.inputs)
                whole = node.output if node.band is None else node.band.tensor
                stream = result.add_constant(f"{whole}/stream", arrange(node, constants, x))
                of_bands[whole] = stream
            result.nodes[index] = replace(node, inputs=(*node.inputs, stream.name))
    return result


def stored_operands(node: Node) -> tuple[str | None, ...]:
    """What the program stores of the operands of a node of an arranged graph."""
    return (node.inputs[0], node.inputs[-1]) if _kernel(node) in ARRANGEMENTS else node.inputs


def _kernel(node: Node) -> tuple[str, str]:
    return node.op, str(node.attributes.get("variant", ""))
