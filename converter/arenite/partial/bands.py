"""Horizontal bands of layers: which rows of its operands a layer needs for some rows of its result, and the node that computes just those.

Images are NHWC with N = 1, so that a band of rows is one contiguous part of a tensor. A band of a layer is an ordinary node: the same
operator, attributes and constants, with padding above and below only where the band meets the image's edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from arenite.graph import Band, Graph, Node, Tensor
from arenite.graph.operators.function import FUNCTION

Rows = tuple[int, int]
"""First row, and the row behind the last."""

_WINDOWED = ("Conv", "DepthwiseConv", "MaxPool", "AveragePool")
_BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow")
_ELEMENTWISE = (*_BINARY, "PRelu", "Lookup", "Softmax", "Quantize", "Dequantize", *(operator.name for operator in FUNCTION))
_ALONG_ROWS = ("Concat", "Slice")
"""Cut where they leave rows whole: Concat of channels or columns, Slice of them."""
IN_BANDS = frozenset((*_WINDOWED, *_ELEMENTWISE, *_ALONG_ROWS))
"""Operators that can be computed in bands."""


@dataclass(frozen=True)
class RowWindow:
    """Output row i reads rows [i · stride − before, i · stride − before + extent) of the operand, as far as it has them."""

    extent: int = 1
    stride: int = 1
    before: int = 0

    def needed(self, rows: Rows, height: int) -> Rows:
        """Rows of an operand of `height` rows that `rows` of the result are computed from."""
        low, high = rows[0] * self.stride - self.before, (rows[1] - 1) * self.stride - self.before + self.extent
        return max(low, 0), min(high, height)

    def missing(self, rows: Rows, height: int) -> tuple[int, int]:
        """Rows of padding above and below that `rows` of the result see."""
        low, high = rows[0] * self.stride - self.before, (rows[1] - 1) * self.stride - self.before + self.extent
        return max(-low, 0), max(high - height, 0)


def height(tensor: Tensor) -> int:
    """Rows of an image [1, H, W, C]."""
    return tensor.shape[1]


def is_image(tensor: Tensor) -> bool:
    """It has rows that can be told apart, one after the other in memory."""
    return len(tensor.shape) == 4 and tensor.shape[0] == 1 and not tensor.is_constant


def row_windows(graph: Graph, node: Node) -> Mapping[int, RowWindow] | None:
    """By position, how `node` reads the rows of the operands that are cut with its result; all others it reads whole.

    None: the node cannot be computed in bands.
    """
    if len(node.outputs) != 1 or not is_image(graph.tensors[node.output]) or node.bodies:
        return None
    if node.op in _WINDOWED:
        return _of_window(graph, node)
    if node.op in _ELEMENTWISE:
        return _of_elements(graph, node)
    if node.op in _ALONG_ROWS:
        return _of_movement(graph, node)
    return None


def band(graph: Graph, node: Node, rows: Rows) -> Node:
    """`node` for `rows` of its result. Its operands are still the whole tensors: the caller puts bands in their place."""
    windows = row_windows(graph, node)
    if windows is None:
        raise ValueError(f"{node.name} ({node.op}) cannot be computed in bands")
    attributes = dict(node.attributes)
    if node.op in _WINDOWED:
        top, bottom = windows[0].missing(rows, height(graph.tensor(node.inputs[0])))
        pads = tuple(int(pad) for pad in attributes["pads"])
        attributes["pads"] = (top, pads[1], min(bottom, pads[2]), pads[3])
        if "overhang" in attributes:
            attributes["overhang"] = (max(bottom - pads[2], 0), attributes["overhang"][1])
    if node.op == "Slice":
        sizes = attributes["sizes"]
        attributes["sizes"] = (sizes[0], rows[1] - rows[0], *sizes[2:])
    return replace(node, attributes=attributes, band=Band(node.output, rows))


def rows_of(tensor: Tensor, rows: Rows, name: str) -> Tensor:
    """A tensor for `rows` of `tensor`."""
    return Tensor(name, (1, rows[1] - rows[0], *tensor.shape[2:]), tensor.dtype, None, tensor.quantization)


def slice_rows(source: Tensor, first: int, result: Tensor, name: str, band: Band) -> Node:
    """The node of the layer `name` that is `result`, rows of `source` from `first` on."""
    attributes = {"starts": (0, first, 0, 0), "steps": (1, 1, 1, 1), "sizes": result.shape}
    return Node("Slice", name, (source.name,), (result.name,), attributes, band=band)


def leading_rows(source: str, result: Tensor, name: str, band: Band) -> Node:
    """The node of the layer `name` that is `result`, the first rows of `source`."""
    return Node("Leading", name, (source,), (result.name,), {"shape": result.shape}, band=band)


def join_rows(parts: tuple[str, ...], result: Tensor, name: str, band: Band) -> Node:
    """The node of the layer `name` that is `result`, bands one below the other."""
    return Node("Concat", name, parts, (result.name,), {"axis": 1}, band=band)


def _of_window(graph: Graph, node: Node) -> Mapping[int, RowWindow] | None:
    x, y = graph.tensor(node.inputs[0]), graph.tensors[node.output]
    if not is_image(x):
        return None
    if node.op == "Conv":
        kernel = graph.tensor(node.inputs[1]).shape[1]
    elif node.op == "DepthwiseConv":
        kernel = graph.tensor(node.inputs[1]).shape[0]
    else:
        kernel = int(node.attributes["kernel"][0])
    stride, before = int(node.attributes["strides"][0]), int(node.attributes["pads"][0])
    window = RowWindow((kernel - 1) * int(node.attributes["dilations"][0]) + 1, stride, before)
    # Every row of the result must see a row of the image.
    if before >= window.extent or (height(y) - 1) * stride - before >= height(x):
        return None
    return {0: window}


def _of_elements(graph: Graph, node: Node) -> Mapping[int, RowWindow] | None:
    y = graph.tensors[node.output]
    windows: dict[int, RowWindow] = {}
    for position, name in enumerate(node.inputs):
        if name is None:
            continue
        x = graph.tensors[name]
        along = len(x.shape) >= 3 and x.shape[len(x.shape) - 3] > 1
        if not along and x.elements < y.elements:
            continue  # one row for all: a broadcast operand, a table, slopes
        if not is_image(x) or height(x) != height(y):
            return None
        windows[position] = RowWindow()
    if node.op == "PRelu" and prod(y.shape[2:]) % graph.tensor(node.inputs[1]).elements:
        return None  # the slopes do not repeat with every row
    return windows or None


def _of_movement(graph: Graph, node: Node) -> Mapping[int, RowWindow] | None:
    operands = [graph.tensor(name) for name in node.inputs]
    if not all(is_image(x) for x in operands):
        return None
    if node.op == "Concat":
        return dict.fromkeys(range(len(operands)), RowWindow()) if node.attributes["axis"] in (2, 3) else None
    starts, steps, sizes = (node.attributes[key] for key in ("starts", "steps", "sizes"))
    whole = (starts[1], steps[1], sizes[1]) == (0, 1, height(operands[0]))
    return {0: RowWindow()} if whole else None
