"""The geometry of sliding windows: ONNX's kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, made explicit.

Specification: ONNX Conv, MaxPool and AveragePool, version 22.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from arenite.frontend.node_import import NodeImport


@dataclass(frozen=True)
class WindowAxis:
    """A window along one spatial axis."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0
    overhang: int = 0
    """Positions beyond the padding that only ceil_mode adds."""

    @property
    def extent(self) -> int:
        """Positions from the first that a window reads to behind the last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def is_idle(self) -> bool:
        """It reads every element once and nothing else."""
        return (self.kernel, self.stride, self.before, self.after, self.overhang) == (1, 1, 0, 0, 0)

    def positions(self, size: int) -> int:
        """Windows along an axis of `size` elements."""
        return (size + self.before + self.after + self.overhang - self.extent) // self.stride + 1


def window(node: NodeImport, spatial: Sequence[int], kernel: Sequence[int]) -> tuple[WindowAxis, ...]:
    """Read the attributes of a node whose input has these spatial dimensions. Refuses what cannot be meant."""
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
    axes = []
    for axis in range(rank):
        extent = (kernel[axis] - 1) * dilations[axis] + 1
        before, after = _padding(node, auto_pad, spatial[axis], extent, strides[axis], (pads[axis], pads[rank + axis]))
        more = _overhang(spatial[axis], extent, strides[axis], before, after) if ceil else 0
        if extent > spatial[axis] + before + after + more:
            node.malformed(f"a window of {extent} does not fit spatial dimension {axis} of {spatial[axis]} + {before} + {after}")
        axes.append(WindowAxis(int(kernel[axis]), strides[axis], dilations[axis], before, after, more))
    return tuple(axes)


def plane(axes: Sequence[WindowAxis]) -> dict[str, Any]:
    """Attributes of the IR's two-dimensional operators for one axis, or two; the second is then one of 1."""
    h, w = (*axes, WindowAxis(1)) if len(axes) == 1 else axes
    return {
        "strides": (h.stride, w.stride),
        "dilations": (h.dilation, w.dilation),
        "pads": (h.before, w.before, h.after, w.after),
    }


def pool_plane(axes: Sequence[WindowAxis]) -> dict[str, Any]:
    """The same of the pools, which have the kernel and the overhang as attributes."""
    h, w = (*axes, WindowAxis(1)) if len(axes) == 1 else axes
    return {**plane(axes), "kernel": (h.kernel, w.kernel), "overhang": (h.overhang, w.overhang)}


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


def channels_last(node: NodeImport, x: str) -> str:
    """[N, C, …] as [N, …, C]. Refuses an input without spatial dimensions."""
    rank = len(node.graph.tensors[x].shape)
    if rank < 3:
        node.malformed(f"the input {list(node.graph.tensors[x].shape)} has no spatial dimensions")
    return node.transpose(x, (0, *range(2, rank), 1))


def channels_first(node: NodeImport, y: str) -> str:
    """[N, …, C] as [N, C, …]."""
    rank = len(node.graph.tensors[y].shape)
    return node.transpose(y, (0, rank - 1, *range(1, rank - 1)))


def image(node: NodeImport, x: str, axes: int = 2) -> str:
    """[N, …, C] with its last one or two spatial axes as an image [N', H, W, C]; those in front join the batch."""
    shape = node.graph.tensors[x].shape
    spatial = shape[-1 - axes : -1]
    return node.reshape(x, (prod(shape[: -1 - axes]), *spatial, *(1,) * (2 - axes), shape[-1]))
