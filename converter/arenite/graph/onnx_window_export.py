"""Operators with windows, convolutions and pools, as ONNX nodes: NHWC around ONNX's NCHW. See onnx_export.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arenite.graph.graph import Graph
from arenite.graph.node import Node
from arenite.graph.onnx_typed_export import Export, Exporter


class WindowExport(Export, Protocol):
    """What is needed besides: the graph, for the shapes of outputs."""

    graph: Graph


def _to_nchw(export: Export, name: str) -> str:
    return export.emit("Transpose", [name], perm=[0, 3, 1, 2])


def _to_nhwc(export: Export, name: str) -> str:
    return export.emit("Transpose", [name], perm=[0, 2, 3, 1])


def _convolution(export: WindowExport, node: Node, weight: str, group: int) -> str:
    a = node.attributes
    inputs = [_to_nchw(export, node.input), weight]
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        inputs.append(node.inputs[2])
    result = export.emit(
        "Conv", inputs, group=group, strides=list(a["strides"]), dilations=list(a["dilations"]), pads=list(a["pads"]), auto_pad="NOTSET"
    )
    return _to_nhwc(export, result)


def _conv(export: WindowExport, node: Node) -> str:
    return _convolution(export, node, _weights(export, node, (0, 3, 1, 2)), node.attributes["group"])


def _depthwise_conv(export: WindowExport, node: Node) -> str:
    weight = export.emit("Unsqueeze", [_weights(export, node, (2, 0, 1)), export.constant([1], np.int64)])
    return _convolution(export, node, weight, export.operand(node, 0).shape[3])


def _weights(export: WindowExport, node: Node, perm: tuple[int, ...]) -> str:
    """The weights in ONNX's order."""
    tensor = export.operand(node, 1)
    if tensor.data is None:
        return export.emit("Transpose", [tensor.name], perm=list(perm))
    return export.constant(np.ascontiguousarray(tensor.data.transpose(perm)))


def _padded(export: WindowExport, node: Node, fill: float) -> str:
    """The input as NCHW with padding and overhang filled in."""
    a = node.attributes
    (top, left, bottom, right), (more_h, more_w) = a["pads"], a["overhang"]
    x = _to_nchw(export, node.input)
    pads = [0, 0, top, left, 0, 0, bottom + more_h, right + more_w]
    if not any(pads):
        return x
    value = export.constant(fill, export.operand(node, 0).dtype.numpy)
    return export.emit("Pad", [x, export.constant(pads, np.int64), value])


def _pool_attributes(node: Node) -> dict[str, Any]:
    a = node.attributes
    return {"kernel_shape": list(a["kernel"]), "strides": list(a["strides"]), "dilations": list(a["dilations"])}


def _max_pool(export: WindowExport, node: Node) -> str:
    dtype = export.operand(node, 0).dtype.numpy
    least = -np.inf if dtype.kind == "f" else np.iinfo(dtype.name).min
    return _to_nhwc(export, export.emit("MaxPool", [_padded(export, node, least)], **_pool_attributes(node)))


def pool_counts(shape: Sequence[int], attributes: Mapping[str, Any], out: tuple[int, int]) -> NDArray[np.int64]:
    """How many positions of each window of an AveragePool count, of shape `out` = (out_h, out_w); the input has `shape` NHWC.

    Those inside the image, or inside the padded image with count_include_pad; never those that only ceil_mode adds.
    """
    pads, counts = attributes["pads"], []
    for axis in (0, 1):
        before, after = pads[axis], pads[axis + 2]
        starts = np.arange(out[axis]) * attributes["strides"][axis] - before
        positions = starts[:, None] + np.arange(attributes["kernel"][axis]) * attributes["dilations"][axis]
        low, high = (-before, shape[1 + axis] + after) if attributes["count_include_pad"] else (0, shape[1 + axis])
        counts.append(((positions >= low) & (positions < high)).sum(axis=1))
    return np.asarray(counts[0][:, None] * counts[1][None, :], np.int64)


def _average_pool(export: WindowExport, node: Node) -> str:
    a = node.attributes
    mean = _to_nhwc(export, export.emit("AveragePool", [_padded(export, node, 0.0)], **_pool_attributes(node)))
    x, y = export.operand(node, 0).shape, export.graph.tensors[node.output].shape
    counts = pool_counts(x, a, (y[1], y[2]))
    area = int(np.prod(a["kernel"]))
    if np.all(counts == area):
        return mean
    factor = np.where(counts > 0, area / np.maximum(counts, 1), 0.0)
    return export.emit("Mul", [mean, export.constant(factor[None, :, :, None])])


EXPORTERS: dict[str, Exporter] = {
    "Conv": _conv,
    "DepthwiseConv": _depthwise_conv,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
}
