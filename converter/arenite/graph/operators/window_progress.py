"""In what order the kernels with sliding windows read their image and write their result: Conv, DepthwiseConv, pools. docs/memory.md.

Each function states one order, which is that of the kernels that its docstring names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.progress import NOTHING, Places, Progress
from arenite.graph.tensor import Tensor


@dataclass(frozen=True)
class Axis:
    """Windows along one axis of an image. Window i reads position i · stride − pad + k · dilation with its tap k."""

    size: int
    windows: int
    taps: int
    stride: int
    dilation: int
    pad: int

    def first(self) -> Places:
        """By window: the lowest position that it reads, NOTHING for one that is outside."""
        start = np.arange(self.windows, dtype=np.int64) * self.stride - self.pad
        tap = np.maximum(0, -(start // self.dilation))  # the first that is not in front of the image
        position = start + tap * self.dilation
        return np.where((tap < self.taps) & (position < self.size), position, NOTHING)


@dataclass(frozen=True)
class Windows:
    """The windows of a layer, NHWC."""

    batch: int
    rows: Axis
    columns: Axis
    in_c: int
    out_c: int
    item: int = 1
    """Bytes of an element."""

    @staticmethod
    def of(node: Node, x: Tensor, y: Tensor, kernel: tuple[int, int]) -> Windows:
        strides, dilations, pads = (node.attributes[name] for name in ("strides", "dilations", "pads"))
        rows, columns = (Axis(x.shape[1 + i], y.shape[1 + i], kernel[i], strides[i], dilations[i], pads[i]) for i in range(2))
        return Windows(x.shape[0], rows, columns, x.shape[3], y.shape[3], x.dtype.itemsize)

    @property
    def in_pixel(self) -> int:
        return self.in_c * self.item

    @property
    def out_pixel(self) -> int:
        return self.out_c * self.item

    def whole(self, progress: Progress) -> Progress:
        """Of the batch, from that of one image."""
        in_image = self.rows.size * self.columns.size * self.in_pixel
        return progress.of_batch(self.batch, in_image, self.rows.windows * self.columns.windows * self.out_pixel)

    def first(self) -> Places:
        """By window, in order: the lowest pixel that it reads."""
        rows, columns = self.rows.first()[:, None], self.columns.first()[None, :]
        return np.where((rows == NOTHING) | (columns == NOTHING), NOTHING, rows * self.columns.size + columns).reshape(-1)

    def bytes_of(self, pixels: Places) -> Places:
        return np.where(pixels == NOTHING, NOTHING, pixels * self.in_pixel)


def in_pairs(w: Windows, rows_apart: bool = False, step: int = 1) -> Progress:
    """Two windows are copied, then their outputs are written: dsp/conv_paired.c. `rows_apart`: pairs end at the end of a row."""
    first = w.bytes_of(w.first()).reshape(w.rows.windows if rows_apart else 1, -1)
    count = first.shape[1]
    padded = np.pad(first, ((0, 0), (0, count % 2)), constant_values=NOTHING)
    written = np.minimum(np.arange(2, count + 2, 2), count)[None, :] + np.arange(len(first))[:, None] * count
    return w.whole(Progress.of(np.minimum(padded[:, 0::2], padded[:, 1::2]), written * w.out_pixel, step))


def by_pixel(w: Windows, step: int = 1) -> Progress:
    """A window is copied, then its outputs are written: portable/conv_paired.c."""
    first = w.bytes_of(w.first())
    return w.whole(Progress.of(first, np.arange(1, len(first) + 1) * w.out_pixel, step))


def by_block(w: Windows, *turns: tuple[int, int]) -> Progress:
    """Outputs of a pixel are written a block of channels at a time, and the window is read again for each: portable/conv_f32.c and others.

    `turns`, of some blocks: channels of the pixel that have been written when it begins to read, the first channel that it reads.
    """
    first = w.bytes_of(w.first())
    done, nothing = np.arange(len(first), dtype=np.int64) * w.out_pixel, np.full_like(first, NOTHING)
    steps = [(first, done)]
    for written, unread in turns:
        steps += [(nothing, done + written * w.item), (np.where(first == NOTHING, NOTHING, first + unread * w.item), done)]
    return w.whole(Progress.through(*steps, (nothing, done + w.out_pixel)))


def by_row(w: Windows, step: int = 1) -> Progress:
    """The rows that the windows of a row of outputs read are copied, then the outputs are written: dsp/conv_paired.c for few channels.

    Of one channel after the other, where `step` is a pixel: portable/depthwise_lines.c.
    """
    rows = w.rows.first()
    read = np.where(rows == NOTHING, NOTHING, rows * (w.columns.size * w.in_pixel))
    return w.whole(Progress.of(read, np.arange(1, len(rows) + 1) * (w.columns.windows * w.out_pixel), step))


def by_band(w: Windows, rows: int, *turns: tuple[int, int]) -> Progress:
    """`rows` rows of outputs are made a few channels at a time, each of all their windows, then the next rows: portable/conv_int4.c.

    `turns`, of some groups of channels: channels of a pixel that are not written when the group reads last, the first one that it reads.
    """
    bands = -(-w.rows.windows // rows)
    first = w.bytes_of(w.first()).reshape(w.rows.windows, -1)
    lowest = np.pad(first, ((0, bands * rows - len(first)), (0, 0)), constant_values=NOTHING).reshape(bands, -1).min(axis=1)
    done = np.minimum(np.arange(1, bands + 1, dtype=np.int64) * rows, w.rows.windows) * (w.columns.windows * w.out_pixel)
    nothing, steps = np.full_like(lowest, NOTHING), list[tuple[Places, Places]]()
    for unwritten, unread in turns:
        written = done - unwritten * w.item
        steps += [(nothing, written), (np.where(lowest == NOTHING, NOTHING, lowest + unread * w.item), written)]
    return w.whole(Progress.through(*steps, (nothing, done)))


def by_ring(w: Windows, step: int = 1) -> Progress:
    """Every row of the image is copied once, at the latest when a row of outputs needs it: conv_winograd.c.

    There, where rows of image and result are of one size, it is the rows of a strip of columns: a step is such a row.
    """
    line, rows = w.columns.size * w.in_pixel, w.rows
    needed = np.minimum(np.arange(rows.windows) * rows.stride - rows.pad + (rows.taps - 1) * rows.dilation + 1, rows.size)
    before = np.maximum.accumulate(np.concatenate([[0], np.maximum(needed, 0)]))[:-1]
    read = np.where(before < needed, before * line, NOTHING)
    return w.whole(Progress.of(read, np.arange(1, rows.windows + 1) * (w.columns.windows * w.out_pixel), step))


def by_channel(w: Windows) -> Progress:
    """Channel by channel, each with a ring of rows: depthwise_conv_planes.c. Needs as many channels in the result as in the image."""
    return by_ring(w, step=w.in_pixel)


def in_chunks(w: Windows, along_rows: bool, chunk: int, phases: tuple[int, int]) -> Progress | None:
    """depthwise_conv_tap_pairs.c: four channels at a time, `chunk` windows along one axis, whose pixels are copied line by line.

    `phases`: along the axis and across it, windows that lie so far apart are computed together.
    """
    passes = -(-w.in_c // 4)
    if passes > 1 and w.in_c != w.out_c:
        return None
    along, across = (w.rows, w.columns) if along_rows else (w.columns, w.rows)
    in_steps, out_steps = (w.columns.size, 1), (w.columns.windows, 1)
    (in_along, in_across), (out_along, out_across) = (s if along_rows else s[::-1] for s in (in_steps, out_steps))
    reads, writes = [], []
    for phase in range(phases[0]):
        for begin in range(phase, along.windows, chunk * phases[0]):
            last = min(begin + (chunk - 1) * phases[0], along.windows - 1)
            last = begin + (last - begin) // phases[0] * phases[0]
            left = max(0, begin * along.stride - along.pad)
            for across_phase in range(phases[1]):
                index = np.arange(across_phase, across.windows, phases[1], dtype=np.int64)
                ends = index * across.stride - across.pad + (across.taps - 1) * across.dilation  # the last line that a window reads
                starts = np.concatenate([[across_phase * across.stride - across.pad], ends[:-1] + across.dilation])
                starts = np.maximum(starts, index * across.stride - across.pad)  # the first line that is not stored yet
                line = starts + np.maximum(0, -(starts // across.dilation)) * across.dilation
                inside = (line <= ends) & (line < across.size) & (left < along.size)
                reads.append(np.where(inside, line * in_across + left * in_along, NOTHING))
                writes.append(index * out_across + last * out_along + 1)
    read, written = np.concatenate(reads), np.concatenate(writes)
    step = w.in_pixel if passes > 1 else 1
    return w.whole(Progress.of(w.bytes_of(read), written * w.out_pixel, step))
