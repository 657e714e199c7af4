"""Which orders (window_progress.py) the kernels of every variant have: Operator.overlaps of Conv, DepthwiseConv, pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arenite.graph.node import Node
from arenite.graph.operators import window_progress as order
from arenite.graph.operators.declaration import Inputs, Overlap, Shape, given
from arenite.graph.operators.int4 import band
from arenite.graph.operators.progress import Progress, of_operand
from arenite.graph.operators.tap_pairs import CHUNK, TapAxis, along_rows
from arenite.graph.operators.window_progress import Windows
from arenite.graph.tensor import Tensor

BLOCKS = {"wide": 1, "int16_steps": 4, "int16_weights": 4, "float32": 4}
"""By variant that reads a window again for every block of filters: those of a block (ARN_DOT_S16_FILTERS, ARN_DOT_F32_FILTERS)."""
BESIDE, TAPS = 256, 2048
"""Of runtime_c/kernels/portable/conv.c."""
LINE = 32
"""Outputs that runtime_c/kernels/portable/depthwise_lines.c makes at a time."""
VECTOR = 16
"""Channels that runtime_c/kernels/mve/depthwise_conv.c makes at a time."""


def conv_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    weight = given(inputs, 1).shape
    windows = Windows.of(node, given(inputs, 0), outputs[0], (weight[1], weight[2]))
    variant, group = str(node.attributes.get("variant")), int(node.attributes["group"])
    if variant == "paired" and (group == 1 or windows.in_c == windows.out_c):
        return of_operand(_paired(windows, weight[3], windows.in_pixel if group > 1 else 1), outputs[0].bytes)
    if variant == "int4_lanes" and group == 1:
        copied = order.in_pairs(windows) if weight[3] % 4 == 0 else order.by_row(windows)
        return of_operand([order.by_pixel(windows), copied], outputs[0].bytes)
    if variant in ("int8", "int4"):
        filters = windows.out_c // group
        last = 0 if _reads_beside(windows.columns) else _last_of_places(filters, variant)
        turns = [((group - 1 - g) * filters + last, g * weight[3]) for g in (0, group - 1)]
        rows = band(windows.columns.windows) if variant == "int4" else _plain_band(windows, weight[3])
        return of_operand([order.by_band(windows, rows, *turns)], outputs[0].bytes)
    if variant in ("winograd_2", "winograd_4"):
        pitch = windows.columns.size * windows.in_pixel
        by_strips = is_by_strips(given(inputs, 0).shape, outputs[0].shape, windows.columns.pad)
        return of_operand([order.by_ring(windows, pitch if by_strips else 1)], outputs[0].bytes)
    if variant in BLOCKS:
        filters = windows.out_c // group
        turns = [(g * filters + _last(filters, BLOCKS[variant]), g * weight[3]) for g in (0, group - 1)]
        return of_operand([order.by_block(windows, *turns)], outputs[0].bytes)
    return {}


def _plain_band(w: Windows, depth: int) -> int:
    """Rows of outputs that portable/conv.c makes at a time; that of MVE makes each of them alone."""
    beside, width = _reads_beside(w.columns), w.columns.windows
    places = BESIDE if beside else -(-TAPS // (w.rows.taps * w.columns.taps * depth))
    rows = -(-places // width)
    return rows + (rows & width & 1)


def _last_of_places(filters: int, variant: str) -> int:
    """The filters that conv_places.h leaves for the end, at least: it makes four at a time, or three at two places, or two."""
    if variant == "int4":  # blocks of four
        return (2, 1, 2, 3)[filters % 4]
    return min((4, 1, 2, 3)[filters % 4], 1 if filters == 1 else 3 if filters % 3 == 0 else 2)


def _reads_beside(columns: order.Axis) -> bool:
    """Windows reach over the left or the right edge of the image: conv_places.h makes these for several rows at once."""
    return columns.pad > 0 or (columns.windows - 1) * columns.stride + (columns.taps - 1) * columns.dilation >= columns.size


def is_by_strips(x: Shape, y: Shape, pad_left: int) -> bool:
    """The Winograd kernels make narrow strips of columns: arn_winograd_strip of runtime_c/kernels/winograd.h."""
    return x[2:] == y[2:] and pad_left <= 2


def _paired(windows: Windows, depth: int, step: int) -> list[Progress]:
    """Groups follow one another: of several, each goes through the pixels and touches its own channels only."""
    rows, columns = windows.rows, windows.columns
    pointwise = (rows.taps, columns.taps, rows.pad, columns.pad) == (1, 1, 0, 0) and all(
        (axis.windows - 1) * axis.stride < axis.size for axis in (rows, columns)
    )
    if pointwise:
        whole = rows.stride == columns.stride == 1 and columns.windows == columns.size
        return [order.by_pixel(windows, step), order.in_pairs(windows, rows_apart=not whole, step=step)]
    return [order.by_pixel(windows, step), order.in_pairs(windows, step=step) if depth % 4 == 0 else order.by_row(windows, step)]


def depthwise_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    weight = given(inputs, 1).shape
    windows = Windows.of(node, given(inputs, 0), outputs[0], (weight[0], weight[1]))
    variant = str(node.attributes.get("variant"))
    last = (windows.out_c - 1) * windows.in_c // windows.out_c  # the channel that the last output reads
    if variant in ("planes", "planes_2"):
        return of_operand([order.by_channel(windows)], outputs[0].bytes)
    if variant in BLOCKS:
        return of_operand([order.by_block(windows, (windows.out_c - 1, last))], outputs[0].bytes)
    if variant == "int8":
        return of_operand(_plain_depthwise(windows), outputs[0].bytes)
    if variant == "tap_pairs":
        strides, dilations = node.attributes["strides"], node.attributes["dilations"]
        phases = [TapAxis.of(weight[i], strides[i], dilations[i]).phases for i in range(2)]
        upright = along_rows(weight[:2])
        chunks = order.in_chunks(windows, upright, CHUNK, (phases[0], phases[1]) if upright else (phases[1], phases[0]))
        return of_operand([chunks], outputs[0].bytes)
    return {}


def _plain_depthwise(w: Windows) -> list[Progress | None]:
    """Pixel by pixel; 3x3 in portable/depthwise_lines.c channel by channel, along the longer side of the result."""
    turns = [(w.out_c - 1, (w.out_c - 1) * w.in_c // w.out_c)]
    if w.out_c == w.in_c > VECTOR and w.out_c % VECTOR > 0:  # the last vector begins with channels that are written already
        turns.insert(0, (w.out_c - w.out_c % VECTOR, w.out_c - VECTOR))
    pixels = order.by_block(w, *turns)
    three = all(axis.taps == 3 and axis.dilation == 1 and axis.pad < 3 and _meets(axis) for axis in (w.rows, w.columns))
    if not three or w.out_c != w.in_c:
        return [pixels]
    if w.rows.windows > w.columns.windows or w.columns.windows > LINE:  # columns of outputs, or lines that are cut in pieces
        return [pixels, None]
    return [pixels, order.by_row(w, w.in_pixel)]


def _meets(axis: order.Axis) -> bool:
    """No window is outside the image."""
    return (axis.windows - 1) * axis.stride - axis.pad < axis.size


def _last(channels: int, block: int) -> int:
    """Where the last block of `channels` begins."""
    return (channels - 1) // block * block


def max_pool_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    """The portable kernels write every output of a window before they read it; that of int16 goes channel by channel."""
    windows = Windows.of(node, given(inputs, 0), outputs[0], node.attributes["kernel"])
    turn = (windows.out_c - 1, windows.in_c - 1) if node.attributes.get("variant") == "int16_steps" else (windows.out_c, 0)
    return of_operand([order.by_block(windows, turn)], outputs[0].bytes)


def average_pool_overlaps(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Mapping[int, Overlap]:
    windows = Windows.of(node, given(inputs, 0), outputs[0], node.attributes["kernel"])
    return of_operand([order.by_block(windows, (windows.out_c - 1, windows.in_c - 1))], outputs[0].bytes)
