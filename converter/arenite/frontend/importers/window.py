"""The geometry of sliding windows: ONNX's kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, made explicit.

Specification: ONNX Conv, MaxPool and AveragePool, version 22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arenite.frontend.node_import import NodeImport


@dataclass(frozen=True)
class Window:
    """Per spatial axis, two of them: one-dimensional operators have a second axis of 1."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int, int, int]
    """top, left, bottom, right"""
    overhang: tuple[int, int]
    """Positions beyond the padding that only ceil_mode adds."""


def window(node: NodeImport, spatial: Sequence[int], kernel: Sequence[int]) -> Window:
    """Read the attributes of a node whose input has these spatial dimensions (one or two). Refuses what cannot be meant."""
    rank = len(spatial)
    strides, dilations = node.ints("strides", (1,) * rank), node.ints("dilations", (1,) * rank)
    pads = node.ints("pads", (0,) * 2 * rank)
    for name, values, length in (
        ("kernel_shape", kernel, rank),
        ("strides", strides, rank),
        ("dilations", dilations, rank),
        ("pads", pads, 2 * rank),
    ):
        if len(values) != length:
            node.malformed(f"{name} {list(values)} has {len(values)} entries instead of {length}")
        if any(value < (0 if name == "pads" else 1) for value in values):
            node.refuse(
                f"{name} is {list(values)}",
                f"{name} must be {'0' if name == 'pads' else '1'} or more; crop with Slice instead of negative pads",
            )
    auto_pad = node.attribute("auto_pad", "NOTSET") or "NOTSET"
    ceil = bool(node.attribute("ceil_mode", 0)) and auto_pad == "NOTSET"
    before, after, more = [], [], []
    for axis in range(rank):
        extent = (kernel[axis] - 1) * dilations[axis] + 1
        first, last = _padding(node, auto_pad, spatial[axis], extent, strides[axis], (pads[axis], pads[rank + axis]))
        before.append(first)
        after.append(last)
        more.append(_overhang(spatial[axis], extent, strides[axis], first, last) if ceil else 0)
    fill = 2 - rank
    return Window(
        _two(kernel, fill, 1),
        _two(strides, fill, 1),
        _two(dilations, fill, 1),
        (*_two(before, fill, 0), *_two(after, fill, 0)),
        _two(more, fill, 0),
    )


def _two(values: Sequence[int], fill: int, neutral: int) -> tuple[int, int]:
    first, second = (*values, *(neutral,) * fill)
    return int(first), int(second)


def _padding(node: NodeImport, auto_pad: str, size: int, extent: int, stride: int, explicit: tuple[int, int]) -> tuple[int, int]:
    if auto_pad == "NOTSET":
        return explicit
    if auto_pad == "VALID":
        return 0, 0
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        node.refuse(f"auto_pad is {auto_pad!r}", "use NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    total = max(0, (-(-size // stride) - 1) * stride + extent - size)
    less, rest = total // 2, total - total // 2
    return (less, rest) if auto_pad == "SAME_UPPER" else (rest, less)


def _overhang(size: int, extent: int, stride: int, before: int, after: int) -> int:
    """What ceil_mode adds: one more window where the last one leaves positions over, unless it would start in the padding behind."""
    span = size + before + after - extent
    if span < 0 or span % stride == 0:
        return 0
    start = (span // stride + 1) * stride
    return start + extent - (size + before + after) if start < size + before else 0


def image(node: NodeImport, x: str) -> str:
    """An NCHW or NCL tensor as NHWC, with W = 1 for the latter."""
    shape = node.graph.tensors[x].shape
    if len(shape) == 3:
        batch, channels, length = shape
        return node.reshape(node.transpose(x, (0, 2, 1)), (batch, length, 1, channels))
    return node.transpose(x, (0, 2, 3, 1))


def from_image(node: NodeImport, y: str, rank: int) -> str:
    """Back from NHWC to a tensor of this rank."""
    if rank == 3:
        batch, length, _, channels = node.graph.tensors[y].shape
        return node.transpose(node.reshape(y, (batch, length, channels)), (0, 2, 1))
    return node.transpose(y, (0, 3, 1, 2))


def spatial_rank(node: NodeImport, x: str) -> int:
    """Rank of the input of a one- or two-dimensional operator; refuses others."""
    shape = node.graph.tensors[x].shape
    if len(shape) not in (3, 4):
        if len(shape) < 3:
            node.malformed(f"the input {list(shape)} has no spatial dimensions")
        node.refuse(
            f"the input {list(shape)} has {len(shape) - 2} spatial dimensions", "only one- and two-dimensional operators are supported"
        )
    return len(shape)
