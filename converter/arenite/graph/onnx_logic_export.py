"""Casts, comparisons, choice, bits and remainders of the typed form as ONNX nodes. See onnx_export.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from arenite.graph.node import Node
from arenite.graph.onnx_typed_export import Export, Exporter
from arenite.graph.tensor import DType

_CHOSEN = frozenset({DType.FLOAT32, DType.INT32, DType.INT64, DType.UINT8})
"""Element types of onnxruntime's Where."""


def _element_type(dtype: DType) -> int:
    return int(helper.np_dtype_to_tensor_dtype(dtype.numpy))


def _cast(export: Export, node: Node) -> str:
    """Of floats, saturating and NaN as 0."""
    to, x = DType(node.attributes["to"]), export.operand(node, 0)
    name = node.input
    if x.dtype is DType.FLOAT32 and to not in (DType.FLOAT32, DType.BOOL):
        limits = np.iinfo(to.value)
        nothing = export.constant(0.0)
        name = export.emit("Where", [export.emit("IsNaN", [name]), nothing, name])
        # In float64 every limit but those of int64 is exact; the greatest float64 below 2^63 loses nothing of a float32.
        double = export.emit("Cast", [name], to=_DOUBLE)
        high = np.nextafter(2.0**63, 0.0) if to is DType.INT64 else float(limits.max)
        name = export.emit("Clip", [double, export.constant(float(limits.min), np.float64), export.constant(high, np.float64)])
    return export.emit("Cast", [name], to=_element_type(to))


_DOUBLE = helper.np_dtype_to_tensor_dtype(np.dtype(np.float64))


def _where(export: Export, node: Node) -> str:
    dtype = export.operand(node, 1).dtype
    condition, *values = (str(name) for name in node.inputs)
    if dtype in _CHOSEN:
        return export.emit("Where", [condition, *values])
    wide = [export.emit("Cast", [name], to=_element_type(DType.INT64)) for name in values]
    return export.emit("Cast", [export.emit("Where", [condition, *wide])], to=_element_type(dtype))


def _binary(op: str, of_truths: str | None = None) -> Callable[[Any, Node], str]:
    """`of_truths`: the operator of bool."""

    def exporter(export: Export, node: Node) -> str:
        truths = of_truths is not None and export.operand(node, 0).dtype is DType.BOOL
        return export.emit(str(of_truths) if truths else op, [str(name) for name in node.inputs])

    return exporter


def _bit_shift(export: Export, node: Node) -> str:
    """As a product with a power of two, or the floor of a quotient: onnxruntime shifts unsigned elements only."""
    x, distance = (export.emit("Cast", [str(name)], to=_DOUBLE) for name in node.inputs)
    factor = export.emit("Pow", [export.constant(2.0, np.float64), distance])
    if node.attributes["right"]:
        moved = export.emit("Floor", [export.emit("Div", [x, factor])])
        return export.emit("Cast", [moved], to=_element_type(export.operand(node, 0).dtype))
    whole = _element_type(export.operand(node, 0).dtype)
    return export.emit("Mul", [node.input, export.emit("Cast", [factor], to=whole)])


def _mod(export: Export, node: Node) -> str:
    a, b = (str(name) for name in node.inputs)
    if node.attributes["fmod"] or export.operand(node, 0).dtype is not DType.FLOAT32:
        return export.emit("Mod", [a, b], fmod=int(node.attributes["fmod"]))
    return export.emit("Sub", [a, export.emit("Mul", [export.emit("Floor", [export.emit("Div", [a, b])]), b])])


EXPORTERS: dict[str, Exporter] = {
    "Cast": _cast,
    "Where": _where,
    "Equal": _binary("Equal"),
    "Less": _binary("Less"),
    "LessOrEqual": _binary("LessOrEqual"),
    "BitwiseAnd": _binary("BitwiseAnd", "And"),
    "BitwiseOr": _binary("BitwiseOr", "Or"),
    "BitwiseXor": _binary("BitwiseXor", "Xor"),
    "BitShift": _bit_shift,
    "Mod": _mod,
    "Max": _binary("Max"),
    "Min": _binary("Min"),
    "Pow": _binary("Pow"),
}
"""By IR operator."""
