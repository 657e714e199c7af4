"""Spatial operators of the typed form as ONNX nodes. See onnx_export.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite.graph.node import Node
from arenite.graph.onnx_typed_export import Export, Exporter


def _resample(export: Export, node: Node) -> str:
    """A product with the dense matrix of weights."""
    x, axis = export.operand(node, 0).shape, node.attributes["axis"]
    first, weight = (np.asarray(export.operand(node, i).data) for i in (1, 2))
    matrix = np.zeros((len(first), x[axis]), np.float32)
    np.put_along_axis(matrix, first.astype(np.int64)[:, None] + np.arange(weight.shape[1])[None, :], weight, axis=1)
    order = [*(d for d in range(len(x)) if d != axis), axis]
    moved = export.emit("Transpose", [node.input], perm=order)
    product = export.emit("MatMul", [moved, export.constant(np.ascontiguousarray(matrix.T))])
    return export.emit("Transpose", [product], perm=[order.index(d) for d in range(len(x))])


def _max_pool_with_indices(export: Export, node: Node) -> list[str]:
    a, rank = node.attributes, len(export.operand(node, 0).shape) - 2
    return export.emit_all(
        "MaxPool",
        [node.input],
        2,
        kernel_shape=list(a["kernel"][3 - rank :]),
        strides=list(a["strides"][3 - rank :]),
        dilations=list(a["dilations"][3 - rank :]),
        pads=[*a["pads"][3 - rank : 3], *a["pads"][6 - rank :]],
        storage_order=int(a["column_major"]),
    )


def _max_unpool(export: Export, node: Node) -> str:
    """Written out: what indices count in is flat."""
    a = node.attributes
    inferred = int(np.prod(a["inferred"]))
    flat = export.constant([-1], np.int64)
    x, indices = (export.emit("Reshape", [str(name), flat]) for name in node.inputs)
    zeros = export.constant(np.zeros(inferred, np.float32))
    placed = export.emit("Reshape", [export.emit("ScatterElements", [zeros, indices, x]), export.constant(a["inferred"], np.int64)])
    behind = [size - own for size, own in zip(a["shape"], a["inferred"], strict=True)]
    return export.emit("Pad", [placed, export.constant([0] * len(behind) + behind, np.int64)])


def _grid_sample(export: Export, node: Node) -> str:
    a = node.attributes
    names = [str(name) for name in node.inputs]
    return export.emit("GridSample", names, mode=a["mode"], padding_mode=a["padding_mode"], align_corners=int(a["align_corners"]))


def _roi_align(export: Export, node: Node) -> str:
    a = node.attributes
    return export.emit(
        "RoiAlign",
        [str(name) for name in node.inputs],
        output_height=a["output_height"],
        output_width=a["output_width"],
        sampling_ratio=a["sampling_ratio"],
        spatial_scale=a["spatial_scale"],
        mode=a["mode"],
        coordinate_transformation_mode="half_pixel" if a["half_pixel"] else "output_half_pixel",
    )


def _deform_conv(export: Export, node: Node) -> str:
    a = node.attributes
    windows: dict[str, Any] = {name: list(a[name]) for name in ("strides", "dilations", "pads")}
    return export.emit("DeformConv", [name or "" for name in node.inputs], **windows, group=a["group"], offset_group=a["offset_group"])


def _col2im(export: Export, node: Node) -> str:
    a = node.attributes
    shapes = [export.constant(a[name], np.int64) for name in ("image_shape", "block_shape")]
    windows: dict[str, Any] = {name: list(a[name]) for name in ("strides", "dilations", "pads")}
    return export.emit("Col2Im", [node.input, *shapes], **windows)


EXPORTERS: dict[str, Exporter] = {
    "Resample": _resample,
    "MaxPoolWithIndices": _max_pool_with_indices,
    "MaxUnpool": _max_unpool,
    "GridSample": _grid_sample,
    "RoiAlign": _roi_align,
    "DeformConv": _deform_conv,
    "Col2Im": _col2im,
}
"""By operator of the IR."""
