"""What a layer costs with a variant: cycles on a core and bytes of constants.

The cycles are those of the kernels' loops as counted by the cycle model of `arenite profile` on a Cortex-M4 (zero wait states), split into
what a column of taps costs to make, what a block of outputs costs, and what a multiply-accumulate costs. They rank variants; they are
no measurement. Where a core has no kernel of its own for a variant, the portable one runs.
"""

from __future__ import annotations

from math import prod

from arenite.graph import Graph, Node
from arenite.graph.operators.convolution import PLANES, WINOGRAD_TILES, fours, planes_strips
from arenite.graph.operators.int4 import band, groups, lanes_bytes, stream_bytes
from arenite.graph.operators.tap_pairs import TapAxis, along_rows

PORTABLE_MAC = {"Conv": 3.6, "FullyConnected": 4.0, "DepthwiseConv": 9.0}
"""Cycles of a multiply-accumulate of the portable kernels from plain constants."""
PORTABLE_OUTPUT = 40
"""Cycles of an output besides."""
VECTOR_MAC = {"Conv": 0.2, "FullyConnected": 0.2, "DepthwiseConv": 1.0}
"""Instructions of a multiply-accumulate of kernels/mve."""
PORTABLE_STREAM = 2.0
"""The same from a stream, as a factor."""
UNPACKING = 2.5
"""Cycles of a weight of four bits, once for every band of rows."""
PORTABLE_WINOGRAD = 6.0
"""The same from transformed weights, which are transformed back."""


def constant_bytes(graph: Graph, node: Node, variant: str) -> int:
    """Of weights, biases and multipliers as the variant stores them."""
    plain = sum(tensor.bytes for name in node.inputs if (tensor := graph.tensor(name)).is_constant)
    if variant == "int4":
        return stream_bytes(*_filters(graph, node))
    if variant == "int4_lanes":
        return lanes_bytes(*_filters(graph, node))
    if variant == "tap_pairs":
        return _tap_pairs_words(graph, node) * 4 * graph.tensor(node.inputs[1]).shape[2]
    if variant in PLANES:
        return 32 * graph.tensor(node.inputs[1]).shape[2]
    if variant in ("paired", "paired_row"):
        filters, taps, groups = _filters(graph, node)
        block = 8 if variant == "paired_row" else 4
        return groups * -(-filters // block) * block * (fours(taps) + 8)
    if variant in WINOGRAD_TILES:
        filters, depth = (graph.tensor(node.inputs[1]).shape[axis] for axis in (0, 3))
        return filters * (8 + (4 + 4 * WINOGRAD_TILES[variant]) * 3 * depth // 2)
    return plain


def cycles(graph: Graph, node: Node, variant: str, features: frozenset[str]) -> float:
    """Of one inference on a core with `features`."""
    if variant == "int4":
        return _four_bits(graph, node)
    if variant == "int4_lanes":
        return _lanes(graph, node) if "dsp" in features else PORTABLE_STREAM * _four_bits(graph, node)
    if "mve" in features:
        return _vector(graph, node, variant)
    if "dsp" in features and variant in ("paired", "paired_row"):
        return _paired(graph, node, variant)
    if "dsp" in features and variant in WINOGRAD_TILES:
        return _winograd(graph, node, WINOGRAD_TILES[variant])
    if "dsp" in features and variant == "tap_pairs":
        return _tap_pairs(graph, node)
    if "dsp" in features and variant in PLANES:
        return _planes(graph, node)
    macs = prod(graph.tensor(node.output).shape) * (prod(graph.tensor(node.inputs[1]).shape) / _outputs(graph, node))
    factor = PORTABLE_WINOGRAD if variant in WINOGRAD_TILES else PORTABLE_STREAM
    plain = macs * PORTABLE_MAC[node.op] + prod(graph.tensor(node.output).shape) * PORTABLE_OUTPUT
    return plain * (1.0 if variant == str(node.attributes["variant"]) else factor)


def _four_bits(graph: Graph, node: Node) -> float:
    """portable/conv_int4.c, fully_connected_int4.c: on every core what plain constants take, and the unpacking."""
    weights = prod(graph.tensor(node.inputs[1]).shape)
    macs = prod(graph.tensor(node.output).shape) * (weights / _outputs(graph, node))
    times = 1
    if node.op == "Conv":
        batch, height, width = graph.tensor(node.output).shape[:3]
        times = batch * -(-height // band(width))
    return macs * PORTABLE_MAC[node.op] + prod(graph.tensor(node.output).shape) * PORTABLE_OUTPUT + times * weights * UNPACKING


def _lanes(graph: Graph, node: Node) -> float:
    """dsp/int4_lanes_core.S: 17 cycles a step of 16 multiply-accumulates, 60 a group of 16 steps, 95 a block around them (a column that is
    alone: 12, 45 and 85); a column costs 13 cycles for four taps, and 80 for each run of copied rows."""
    (filters, taps, conv_groups), weight = _filters(graph, node), graph.tensor(node.inputs[1]).shape
    positions, steps, column = _positions(graph, node), fours(taps) / 2, 6.5 * fours(taps) / 2 + 75
    if node.op == "FullyConnected" and positions == 1:
        return -(-filters // 4) * (12 * steps + 45 * groups(taps) + 85) + column
    if node.op == "Conv" and weight[3] % 4:
        column += 80 * weight[1] * (1 if conv_groups == 1 and node.attributes["dilations"][1] == 1 else weight[2])
    block = 17 * steps + 60 * groups(taps) + 95
    return conv_groups * -(-positions // 2) * (-(-filters // 4) * block + 2 * column)


def _vector(graph: Graph, node: Node, variant: str) -> float:
    """kernels/mve computes from plain constants; a stream is for the kernels of the DSP extension, which such a core has too."""
    macs = prod(graph.tensor(node.output).shape) * (prod(graph.tensor(node.inputs[1]).shape) / _outputs(graph, node))
    plain = macs * VECTOR_MAC[node.op] + prod(graph.tensor(node.output).shape) * 4
    return plain if variant == str(node.attributes["variant"]) else plain + macs


def _paired(graph: Graph, node: Node, variant: str) -> float:
    """dsp/paired_core.S: 15 cycles a step of 16 multiply-accumulates, 75 a block around them; a column costs 8 cycles for four taps."""
    filters, taps, groups = _filters(graph, node)
    positions = _positions(graph, node)
    steps = fours(taps) / 2
    if variant == "paired_row":
        return -(-filters // 8) * (19.5 * steps + 85)
    blocks = -(-filters // 4)
    return groups * -(-positions // 2) * (blocks * (15.5 * steps + 75) + 2 * (4 * steps + 60))


def _winograd(graph: Graph, node: Node, tile: int) -> float:
    """dsp/winograd_core.S, for a block of outputs and a pair of tiles: 15 cycles a step of two positions, 16 of the others, 50 a position
    around them; 16 cycles an output made of the sums. A row of inputs is padded and copied; four channels of a tile of it are transformed
    in 62 or 95 cycles; two rows of three are written once more, position by position."""
    _, height, width, filters = graph.tensor(node.output).shape
    depth = graph.tensor(node.input).shape[3]
    pairs, steps = -(-width // (2 * tile)), 1.5 * depth
    block = 2 * 15 * steps + tile * 16 * steps + (tile + 2) * 50 + 8 * tile * 17
    row = 40 + 2 * depth / 4 * (62 if tile == 2 else 95) + (tile + 2) * (2.7 * depth + 45) + 1.6 * 2 * tile * depth
    return float(pairs * (height * -(-filters // 4) * block + (height + 2) * row))


def _tap_axis(graph: Graph, node: Node) -> tuple[int, TapAxis]:
    """(the axis along which the window slides, 0 or 1, and its taps)."""
    kernel = graph.tensor(node.inputs[1]).shape
    at = 0 if along_rows(kernel[:2]) else 1
    return at, TapAxis.of(kernel[at], node.attributes["strides"][at], node.attributes["dilations"][at])


def _tap_pairs_words(graph: Graph, node: Node) -> int:
    """Of an output channel."""
    at, axis = _tap_axis(graph, node)
    return 2 + graph.tensor(node.inputs[1]).shape[1 - at] * axis.residues * axis.pairs


def _tap_pairs(graph: Graph, node: Node) -> float:
    """dsp/tap_pairs_core.S: 8 cycles a pair of taps and 14 a part for four outputs, 40 around them; where two or three pairs are all, 30
    and 6 a pair; 75 a channel and row of outputs; 4.2 a pair of pixels of a channel to make a sequence, 50 around it."""
    at, axis = _tap_axis(graph, node)
    shape, kernel = graph.tensor(node.output).shape, graph.tensor(node.inputs[1]).shape
    along, across, sequences = shape[1 + at], shape[2 - at], kernel[1 - at] * axis.residues
    blocks = axis.phases * (((along - 1) // axis.phases + 4) // 4)
    short = sequences * axis.parts == 1 and axis.part_pairs in (2, 3)
    block = 30 + 6 * axis.part_pairs if short else 40 + sequences * axis.parts * (14 + 8 * axis.part_pairs)
    rows = min(across * int(node.attributes["strides"][1 - at]), graph.tensor(node.inputs[0]).shape[2 - at]) * axis.residues
    made = graph.tensor(node.inputs[0]).shape[3] * rows * (4.2 * axis.sequence_words(along) + 50)
    return shape[0] * (across * shape[3] * (blocks * block + 75) + made)


def _planes(graph: Graph, node: Node) -> float:
    """dsp/depthwise_core.S: 60 cycles for four outputs (stride 2: 68), 24 around a strip of two rows, 60 a channel and run of strips; 17 a
    column of four channels and two rows, of which a call lays out one pair before its first strip, and 30 a channel besides; 15 a column
    of all lanes that are filled with padding at first."""
    _, height, width, channels = graph.tensor(node.output).shape
    stride = int(node.attributes["strides"][0])
    columns, strips = (width - 1) * stride + 3, -(-height // 2)
    run = planes_strips(height, width, stride)
    strip = (15 if stride == 1 else 17) * 2 * width + 24 + 60 / run + stride * columns * 17 / 4
    return channels * (strips * strip + columns * 17 / 4 + 30) + 15 * (run * stride + 1) * columns


def _outputs(graph: Graph, node: Node) -> int:
    return graph.tensor(node.output).shape[-1]


def _positions(graph: Graph, node: Node) -> int:
    return prod(graph.tensor(node.output).shape[:-1])


def _filters(graph: Graph, node: Node) -> tuple[int, int, int]:
    """(filters of a group, taps of a filter, groups)."""
    weight, groups = graph.tensor(node.inputs[1]).shape, int(node.attributes.get("group", 1))
    return weight[0] // groups, prod(weight[1:]), groups
