"""Operators of two broadcast tensors of any element type: narrow integers are computed in int32, uint32 in int64, and wrap back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arenite.frontend.node_import import NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import OPERATORS, DType
from arenite.graph.operators import UNBOUNDED

_WIDER = {
    DType.INT8: DType.INT32,
    DType.UINT8: DType.INT32,
    DType.INT16: DType.INT32,
    DType.UINT16: DType.INT32,
    DType.UINT32: DType.INT64,
}
"""The type that holds every value of another and has kernels. (Not uint64: ONNX tensors of it are refused.)"""


def numeric(node: NodeImport, index: int) -> Value:
    """Operand `index`: a constant, or a tensor that is not quantized."""
    value = node.value(index)
    return node.typed(value) if isinstance(value, Constant) else node.tensor(index)


def operands(node: NodeImport) -> tuple[Value, Value]:
    """The two operands. Before opset 7, `axis` aligned the second one's first dimension with one of the first's."""
    a, b = numeric(node, 0), numeric(node, 1)
    if node.opset >= 7 or not node.attribute("broadcast", 0) or "axis" not in node.attributes:
        return a, b
    shape, rank = node.shape(b), len(node.shape(a))
    behind = rank - node.axis(node.attribute("axis"), rank) - len(shape)
    if behind < 0:
        node.malformed(f"{list(shape)} from axis {node.attribute('axis')} on leaves {list(node.shape(a))}")
    aligned = (*shape, *(1,) * behind)
    return a, b.reshaped(aligned) if isinstance(b, Constant) else node.reshape(b, aligned)


def cast(node: NodeImport, value: Value, to: DType) -> Value:
    """`value` with elements of another type. Constants are converted as the kernel would."""
    if node.dtype(value) is to:
        return value
    if isinstance(value, Constant):
        return Constant(f"{value.name}/{to.value}", cast_array(node.typed(value).array, to))
    return node.emit("Cast", [value], to=to.value)


def cast_array(array: np.ndarray[Any, np.dtype[Any]], to: DType) -> np.ndarray[Any, np.dtype[Any]]:
    """Integers wrap; floats are cut towards zero and saturate, NaN gives 0."""
    if array.dtype.kind != "f" or to in (DType.FLOAT32, DType.BOOL):
        return array.astype(to.numpy)
    limits = np.iinfo(to.value)
    values = np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=float(limits.max), neginf=float(limits.min))
    whole = [min(max(int(v), limits.min), limits.max) for v in values.reshape(-1)]
    return np.asarray(whole, to.numpy).reshape(array.shape)


def common_type(node: NodeImport, values: Sequence[Value]) -> DType:
    types = {node.dtype(value) for value in values}
    if len(types) != 1:
        node.malformed(f"its operands have different element types: {', '.join(sorted(t.value for t in types))}")
    return types.pop()


def broadcast(node: NodeImport, values: Sequence[Value]) -> list[str]:
    """The values as tensors of one rank."""
    shapes = [node.shape(value) for value in values]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        node.malformed(f"shapes {' and '.join(str(list(shape)) for shape in shapes)} do not broadcast")
    rank = max(map(len, shapes))
    return [node.to_rank(value, rank) for value in values]


def binary(node: NodeImport, op: str, a: Value, b: Value, **attributes: Any) -> str:
    """`op` of two values of one type; the result has that type too, or is bool where the operator compares."""
    dtype = common_type(node, (a, b))
    operator = OPERATORS[op]
    width = dtype if _variant(dtype) in operator.all_variants else _WIDER.get(dtype)
    if width is None or _variant(width) not in operator.all_variants:
        node.refuse(f"its elements are {dtype.value}", "cast them to int32 or float32 first")
    if any(attribute.name == "clip" for attribute in operator.attributes):
        attributes = {"clip": UNBOUNDED, **attributes}
    result = node.emit(op, broadcast(node, (cast(node, a, width), cast(node, b, width))), **attributes)
    return result if operator.results is not None else str(cast(node, result, dtype))


def _variant(dtype: DType) -> str:
    return "plain_int8" if dtype is DType.INT8 else dtype.value


def scalar(node: NodeImport, value: float, dtype: DType) -> Constant:
    """A constant of no dimensions."""
    return Constant(f"{node.name}/{value:g}", np.asarray(value, dtype.numpy))
