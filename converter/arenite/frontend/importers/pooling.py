"""MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool, ReduceMean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import prod
from typing import Any

from arenite.frontend.importers.window import Window, from_image, image, spatial_rank, window
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Value
from arenite.graph.operators import UNBOUNDED


def _pool_window(node: NodeImport, x: str) -> Window:
    spatial = node.graph.tensors[x].shape[2:]
    if "kernel_shape" not in node.attributes:
        node.malformed("kernel_shape is missing")
    form = window(node, spatial, node.ints("kernel_shape", ()))
    for axis in range(2):
        extent = (form.kernel[axis] - 1) * form.dilations[axis] + 1
        pads = (form.pads[axis], form.pads[axis + 2])
        if max(pads) >= extent:
            node.refuse(f"pads {pads} along spatial dimension {axis} are not below the window of {extent}", "pad less, or with a Pad node")
        size = spatial[axis] if axis < len(spatial) else 1
        if extent > size + sum(pads) + form.overhang[axis]:
            node.malformed(f"a window of {extent} does not fit spatial dimension {axis} of {size} + {pads[0]} + {pads[1]}")
    return form


def max_pool(node: NodeImport) -> Sequence[Value]:
    if len(node.outputs) > 1 and node.outputs[1] in node.used:
        node.problem(
            f"the output Indices, {node.outputs[1]}, is used (storage_order={node.attribute('storage_order', 0)})",
            "export without return_indices; MaxUnpool is not supported",
        )
    x = node.activation(0)
    rank = spatial_rank(node, x)
    form = _pool_window(node, x)
    y = node.emit(
        "MaxPool",
        [image(node, x)],
        **asdict(form),
        clip=UNBOUNDED,
    )
    return [from_image(node, y, rank)]


def average_pool(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    rank = spatial_rank(node, x)
    form = _pool_window(node, x)
    y = node.emit(
        "AveragePool",
        [image(node, x)],
        **asdict(form),
        count_include_pad=bool(node.attribute("count_include_pad", 0)),
        clip=UNBOUNDED,
    )
    return [from_image(node, y, rank)]


def global_max_pool(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) not in (3, 4):
        x = node.reshape(x, (*shape[:2], prod(shape[2:])))
    flat = node.graph.tensors[x].shape
    source = image(node, x)
    kernel = node.graph.tensors[source].shape[1:3]
    still: dict[str, Any] = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "overhang": (0, 0)}
    y = from_image(node, node.emit("MaxPool", [source], kernel=kernel, **still, clip=UNBOUNDED), len(flat))
    return [node.reshape(y, (*shape[:2], *(1,) * (len(shape) - 2)))]


def global_average_pool(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    rank = len(node.graph.tensors[x].shape)
    if rank < 3:
        node.malformed(f"the input {list(node.graph.tensors[x].shape)} has no spatial dimensions")
    last = node.transpose(x, (0, *range(2, rank), 1))
    mean = node.emit("ReduceMean", [last], axes=tuple(range(1, rank - 1)), keepdims=True, clip=UNBOUNDED)
    return [node.transpose(mean, (0, rank - 1, *range(1, rank - 1)))]


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


POOLING = {
    "MaxPool": Importer(max_pool, "1-D and 2-D; dilations, pads, auto_pad, ceil_mode; without the output Indices"),
    "AveragePool": Importer(average_pool, "1-D and 2-D; dilations, pads, auto_pad, ceil_mode, count_include_pad"),
    "GlobalMaxPool": Importer(global_max_pool),
    "GlobalAveragePool": Importer(global_average_pool),
    "ReduceMean": Importer(reduce_mean, "any axes, as attribute or constant input; keepdims, noop_with_empty_axes"),
}
