"""What an ONNX graph says of itself: types, shapes, attributes, and which nodes an output depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper

from arenite.graph import DType

Shape = tuple[int, ...]

FLOAT_TYPES = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE})
INT8_TYPES = {TensorProto.INT8: DType.INT8, TensorProto.UINT8: DType.UINT8}
PLAIN_TYPES = {
    **INT8_TYPES,
    TensorProto.BOOL: DType.BOOL,
    TensorProto.INT16: DType.INT16,
    TensorProto.INT32: DType.INT32,
    TensorProto.INT64: DType.INT64,
    TensorProto.UINT16: DType.UINT16,
    TensorProto.UINT32: DType.UINT32,
}
"""Integers and truth values that stand for themselves."""


def element_type(elem_type: int) -> DType | None:
    """The type that the IR has for a TensorProto.DataType."""
    return DType.FLOAT32 if elem_type in FLOAT_TYPES else PLAIN_TYPES.get(elem_type)


def normal_domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """As Python or numpy: text decoded, tensors as arrays."""
    value = helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [part.decode(errors="replace") if isinstance(part, bytes) else part for part in value]
    return value


def static_shape(info: onnx.ValueInfoProto) -> Shape | None:
    """The shape of a value where every dimension is a number."""
    tensor = info.type.tensor_type
    if not info.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    if not all(d.HasField("dim_value") for d in tensor.shape.dim):
        return None
    return tuple(d.dim_value for d in tensor.shape.dim)


def reads(node: onnx.NodeProto) -> set[str]:
    """Names that a node reads, those of its branches and bodies included."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs) if attribute.HasField("g") or attribute.graphs else ():
            inner = {name for child in graph.node for name in reads(child)} | {output.name for output in graph.output}
            names |= inner - {name for child in graph.node for name in child.output}
    return names


def live_nodes(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]) -> list[onnx.NodeProto]:
    """The nodes that `outputs` depend on, in order."""
    wanted, live = set(outputs), []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            live.append(node)
            wanted |= reads(node)
    return live[::-1]
