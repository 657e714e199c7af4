"""Quantized arithmetic with scales and zero points of run time as ONNX nodes. See onnx_export.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from onnx import TensorProto

from arenite.graph.node import Node
from arenite.graph.tensor import DType, Tensor


class Export(Protocol):
    """What onnx_export offers: every method returns the name of a value."""

    def emit(self, op: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str: ...
    def emit_all(self, op: str, inputs: list[str], count: int, **attributes: Any) -> list[str]: ...
    def operand(self, node: Node, index: int) -> Tensor: ...
    def constant(self, data: Any, dtype: Any = ...) -> str: ...


Exporter = Callable[[Any, Node], str | list[str]]

_ELEMENT_TYPES = {
    DType.INT8: TensorProto.INT8,
    DType.UINT8: TensorProto.UINT8,
    DType.INT16: TensorProto.INT16,
    DType.UINT16: TensorProto.UINT16,
}


def _names(node: Node) -> list[str]:
    """Of the operands; empty for an absent one in front of others."""
    names = [name or "" for name in node.inputs]
    while names and not names[-1]:
        names.pop()
    return names


def _scaled(export: Export, node: Node) -> list[str]:
    """The operands with one scale as a scalar, which ONNX does not look for an axis in."""
    x, *vectors = _names(node)
    if export.operand(node, 1).elements == 1:
        vectors = [export.emit("Reshape", [name, export.constant((), "int64")]) for name in vectors]
    return [x, *vectors]


def _axis(export: Export, node: Node) -> dict[str, Any]:
    """ONNX wants an axis that is there, whether it matters or not."""
    if export.operand(node, 1).elements == 1:
        return {}
    return {"axis": node.attributes["axis"], "block_size": node.attributes["block"]}


def _quantize(export: Export, node: Node) -> str:
    to = _ELEMENT_TYPES[DType(node.attributes["to"])]
    return export.emit("QuantizeLinear", _scaled(export, node), **_axis(export, node), output_dtype=to)


def _dequantize(export: Export, node: Node) -> str:
    return export.emit("DequantizeLinear", _scaled(export, node), **_axis(export, node))


def _dynamic(export: Export, node: Node) -> list[str]:
    return export.emit_all("DynamicQuantizeLinear", [node.input], 3)


def _conv_integer(export: Export, node: Node) -> str:
    """Zero points of single channels, which onnxruntime does not know, are taken off as z_w · Σ (x − z_x), a convolution with ones."""
    a, (x, weight, *zeros) = node.attributes, [*_names(node), "", ""]
    x, weight = (export.emit("Transpose", [name], perm=[0, 3, 1, 2]) for name in (x, weight))
    each = bool(zeros[1]) and export.operand(node, 3).elements > 1
    scalars = [
        export.emit("Reshape", [name, export.constant((), "int64")]) if name else "" for name in (zeros[0], "" if each else zeros[1])
    ]
    window: dict[str, Any] = {name: list(a[name]) for name in ("strides", "dilations", "pads")} | {"group": a["group"]}
    y = export.emit("ConvInteger", [x, weight, *scalars], **window)
    if each:
        stored = export.operand(node, 1)
        out, height, width, depth = stored.shape
        ones = export.constant([[[[1] * width] * height] * depth] * out, stored.dtype.value)
        sums = export.emit("ConvInteger", [x, ones, scalars[0]], **window)
        zero = export.emit("Cast", [export.emit("Reshape", [zeros[1], export.constant((1, -1, 1, 1), "int64")])], to=TensorProto.INT32)
        y = export.emit("Sub", [y, export.emit("Mul", [sums, zero])])
    return export.emit("Transpose", [y], perm=[0, 2, 3, 1])


def _matmul_integer(export: Export, node: Node) -> str:
    """As the difference of int32 and its product: onnxruntime does not know all forms of zero points."""
    a, b, *zero_points = ("" if not name else export.emit("Cast", [name], to=TensorProto.INT32) for name in _names(node))
    zero_points += [""] * (2 - len(zero_points))
    a, b = (name if not zero else export.emit("Sub", [name, zero]) for name, zero in zip((a, b), zero_points, strict=True))
    return export.emit("MatMul", [a, b])


EXPORTERS: dict[str, Exporter] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic,
    "ConvInteger": _conv_integer,
    "MatMulInteger": _matmul_integer,
}
"""By IR operator."""
