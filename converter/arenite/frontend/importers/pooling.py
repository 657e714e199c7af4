"""MaxPool, AveragePool, LpPool and their global forms, MaxUnpool, ReduceMean.

The IR pools images. In more dimensions the last two are pooled first, then one axis after the other: maxima, sums, and means whose
counts are products of counts along the axes, are separable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from arenite.frontend.importers.window import WindowAxis, channels_first, channels_last, image, plane, pool_plane, window
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Expression
from arenite.graph.operators import UNBOUNDED

Pool = Callable[[str, Sequence[WindowAxis]], str]
"""Pools an image [N, H, W, C] along its last one or two axes."""


def _pool_window(node: NodeImport, x: str) -> tuple[WindowAxis, ...]:
    if "kernel_shape" not in node.attributes:
        node.malformed("kernel_shape is missing")
    axes = window(node, node.graph.tensors[x].shape[2:], node.ints("kernel_shape", ()))
    for i, axis in enumerate(axes):
        if max(axis.before, axis.after) >= axis.extent:
            pads = (axis.before, axis.after)
            node.refuse(
                f"pads {pads} along spatial dimension {i} are not below the window of {axis.extent}", "pad less, or with a Pad node"
            )
    return axes


def _pooled(node: NodeImport, x: str, axes: Sequence[WindowAxis], pool: Pool) -> str:
    """x [N, C, …] pooled: the last two axes, then those in front of them."""
    y = channels_last(node, x)
    near = axes[-2:]
    *front, channels = node.graph.tensors[y].shape
    pooled = pool(image(node, y, len(near)), near)
    spatial = node.graph.tensors[pooled].shape[1 : 1 + len(near)]
    y = node.reshape(pooled, (*front[: -len(near)], *spatial, channels))
    for at in reversed(range(1, len(axes) - 1)):
        axis = axes[at - 1]
        shape = node.graph.tensors[y].shape
        if not axis.is_idle:
            flat = node.reshape(y, (prod(shape[:at]), shape[at], prod(shape[at + 1 : -1]), channels))
            pooled = pool(flat, (axis, WindowAxis(1)))
            y = node.reshape(pooled, (*shape[:at], node.graph.tensors[pooled].shape[1], *shape[at + 1 :]))
    return channels_first(node, y)


def _max(node: NodeImport) -> Pool:
    return lambda x, axes: node.emit("MaxPool", [x], **pool_plane(axes), clip=UNBOUNDED)


def _pool_operand(node: NodeImport) -> str:
    """float32, or int8 and uint8 that stand for themselves."""
    value = node.value(0)
    if isinstance(value, str) and node.graph.tensors[value].dtype in (DType.INT8, DType.UINT8):
        return node.tensor(0)
    return node.activation(0)


def max_pool(node: NodeImport) -> Sequence[Value]:
    x = _pool_operand(node)
    axes = _pool_window(node, x)
    if len(node.outputs) < 2 or node.outputs[1] not in node.used:
        return [_pooled(node, x, axes, _max(node))]
    if len(axes) > 3 or node.graph.tensors[x].dtype is not DType.FLOAT32:
        node.refuse(
            f"the output Indices of {len(axes)} spatial dimensions of {node.graph.tensors[x].dtype.value}",
            "indices are supported of float32 in up to three dimensions",
        )
    return node.results("MaxPoolWithIndices", [x], **_volume(axes), column_major=bool(node.attribute("storage_order", 0)))


def _volume(axes: Sequence[WindowAxis]) -> dict[str, tuple[int, ...]]:
    """Attributes of a window over [D, H, W], where missing axes are 1."""
    whole = (WindowAxis(1),) * (3 - len(axes)) + tuple(axes)
    return {
        "kernel": tuple(axis.kernel for axis in whole),
        "strides": tuple(axis.stride for axis in whole),
        "dilations": tuple(axis.dilation for axis in whole),
        "pads": (*(axis.before for axis in whole), *(axis.after + axis.overhang for axis in whole)),
    }


def max_unpool(node: NodeImport) -> Sequence[Value]:
    """Without output_shape the result has the size that a MaxPool with these attributes had as its input."""
    x, indices = node.activation(0), node.tensor(1)
    shape = node.graph.tensors[x].shape
    rank = len(shape) - 2
    kernel, strides, pads = node.ints("kernel_shape", ()), node.ints("strides", (1,) * rank), node.ints("pads", (0,) * 2 * rank)
    if rank < 1 or len(kernel) != rank or len(strides) != rank or len(pads) != 2 * rank:
        node.malformed(f"kernel_shape {list(kernel)}, strides {list(strides)} and pads {list(pads)} do not fit the input {list(shape)}")
    if node.graph.tensors[indices].dtype is not DType.INT64 or node.graph.tensors[indices].shape != shape:
        node.malformed("the indices are not int64 of the shape of the input")
    inferred = tuple((shape[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[rank + i] for i in range(rank))
    wanted = node.integers(2, "output_shape")
    return [node.emit("MaxUnpool", [x, indices], inferred=(*shape[:2], *inferred), shape=wanted or (*shape[:2], *inferred))]


def average_pool(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    included = bool(node.attribute("count_include_pad", 0))

    def pool(y: str, axes: Sequence[WindowAxis]) -> str:
        sizes = node.graph.tensors[y].shape[1 : 1 + len(axes)]
        if all(axis.kernel == size and not axis.before + axis.after for axis, size in zip(axes, sizes, strict=True)):
            return node.emit("ReduceMean", [y], axes=(1, 2), keepdims=True, clip=UNBOUNDED)  # one window: the kernel is smaller
        return node.emit("AveragePool", [y], **pool_plane(axes), count_include_pad=included, clip=UNBOUNDED)

    return [_pooled(node, x, _pool_window(node, x), pool)]


def lp_pool(node: NodeImport) -> Sequence[Value]:
    """(Σ |x|^p)^(1/p): the sum is a depthwise convolution with ones."""
    x = node.activation(0)
    axes = _pool_window(node, x)
    p = int(node.attribute("p", 2))
    channels = node.graph.tensors[x].shape[1]

    def total(y: str, axes: Sequence[WindowAxis]) -> str:
        window = [WindowAxis(a.kernel, a.stride, a.dilation, a.before, a.after + a.overhang) for a in axes]
        height, width = (*(axis.kernel for axis in window), 1)[:2]
        ones = node.add_constant(Constant(f"{node.name}/ones", np.ones((height, width, channels), np.float32)))
        return node.emit("DepthwiseConv", [y, ones], **plane(window), clip=UNBOUNDED)

    return [_root(node, _pooled(node, _power(node, x, p), axes, total), p)]


def _power(node: NodeImport, x: str, p: int) -> str:
    """|x|^p."""
    magnitude = node.elementwise(x, Expression.single("Abs"))
    return magnitude if p == 1 else node.elementwise(magnitude, Expression.binary("Pow", float(p)))


def _root(node: NodeImport, x: str, p: int) -> str:
    if p == 1:
        return x
    return node.elementwise(x, Expression.single("Sqrt") if p == 2 else Expression.binary("Pow", 1 / p))


def global_max_pool(node: NodeImport) -> Sequence[Value]:
    x = _pool_operand(node)
    shape = node.graph.tensors[x].shape
    if len(shape) not in (3, 4):
        x = node.reshape(x, (*shape[:2], prod(shape[2:])))
    y = _pooled(node, x, [WindowAxis(size) for size in node.graph.tensors[x].shape[2:]], _max(node))
    return [node.reshape(y, (*shape[:2], *(1,) * (len(shape) - 2)))]


def global_average_pool(node: NodeImport) -> Sequence[Value]:
    last = channels_last(node, node.activation(0))
    axes = tuple(range(1, len(node.graph.tensors[last].shape) - 1))
    return [channels_first(node, node.emit("ReduceMean", [last], axes=axes, keepdims=True, clip=UNBOUNDED))]


def global_lp_pool(node: NodeImport) -> Sequence[Value]:
    p = int(node.attribute("p", 2))
    last = channels_last(node, node.activation(0))
    axes = tuple(range(1, len(node.graph.tensors[last].shape) - 1))
    if p in (1, 2):
        norm = node.results(f"ReduceL{p}", [last], axes=axes, keepdims=True)[0]
        return [channels_first(node, norm)]
    total = node.results("ReduceSum", [_power(node, last, p)], axes=axes, keepdims=True)[0]
    return [channels_first(node, _root(node, total, p))]


def reduce_mean(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    rank = len(node.graph.tensors[x].shape)
    axes = node.integers(1, "axes") if node.opset >= 18 else node.attributes.get("axes")
    if not axes:
        if node.attribute("noop_with_empty_axes", 0):
            return [x]
        axes = range(rank)
    keepdims = bool(node.attribute("keepdims", 1))
    return [node.emit("ReduceMean", [x], axes=tuple(sorted({node.axis(a, rank) for a in axes})), keepdims=keepdims, clip=UNBOUNDED)]


_WINDOW = "any rank; dilations, pads, auto_pad, ceil_mode"

POOLING = {
    "MaxPool": Importer(max_pool, f"{_WINDOW}; int8 and uint8 too; the output Indices in up to 3-D, storage_order"),
    "AveragePool": Importer(average_pool, f"{_WINDOW}, count_include_pad"),
    "LpPool": Importer(lp_pool, f"{_WINDOW}, any p"),
    "MaxUnpool": Importer(max_unpool, "any rank; constant output_shape"),
    "GlobalMaxPool": Importer(global_max_pool, "any rank"),
    "GlobalAveragePool": Importer(global_average_pool, "any rank"),
    "GlobalLpPool": Importer(global_lp_pool, "any rank and p"),
    "ReduceMean": Importer(reduce_mean, "any axes, as attribute or constant input; keepdims, noop_with_empty_axes"),
}
