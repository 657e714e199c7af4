"""Cast, BitCast, Where, comparisons, logic and bits, Mod, IsNaN, IsInf: on elements that are not quantized."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from arenite.frontend.arithmetic import binary, broadcast, cast, common_type, numeric, operands, scalar
from arenite.frontend.importers.quantization import IDENTITY_CAST, plain
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType

_TARGETS = {
    **dict.fromkeys((TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16), DType.FLOAT32),
    TensorProto.INT8: DType.INT8,
    TensorProto.INT16: DType.INT16,
    TensorProto.INT32: DType.INT32,
    TensorProto.INT64: DType.INT64,
    TensorProto.UINT8: DType.UINT8,
    TensorProto.UINT16: DType.UINT16,
    TensorProto.UINT32: DType.UINT32,
    TensorProto.BOOL: DType.BOOL,
}
"""Floats of every width are float32 in the IR."""
_OTHER_WIDTHS = (TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
"""Their bits are not those of the IR."""


def cast_to(node: NodeImport) -> Sequence[Value]:
    to = int(node.attribute("to", 0))
    if to not in _TARGETS:
        names = {v: k for k, v in TensorProto.DataType.items()}
        node.refuse(f"it casts to {names.get(to, to)}", "cast to float32, bool or an integer type of at most 32 bits or int64")
    return [_cast(node, _TARGETS[to])]


def cast_like(node: NodeImport) -> Sequence[Value]:
    return [_cast(node, node.dtype(node.value(1)))]


def _cast(node: NodeImport, to: DType) -> Value:
    value = node.value(0)
    if isinstance(value, str):
        tensor = node.graph.tensors[value]
        if tensor.dtype is DType.INT8 and tensor.quantization is not None:
            if to is DType.FLOAT32 and value in node.graph.inputs and _is_identity(node, value):
                return node.emit("Dequantize", [value])
            return cast(node, plain(node, value, unsigned=node.input_types[0] == TensorProto.UINT8), to)
    return cast(node, value, to)


def _is_identity(node: NodeImport, name: str) -> bool:
    """Whether an input's real values are the integers that the file declares."""
    wanted = IDENTITY_CAST[node.graph.io_dtypes[name]]
    return wanted.same_as(node.graph.tensors[name].quantization)


def bit_cast(node: NodeImport) -> Sequence[Value]:
    """The same bytes. As truth values those that are not zero are true: ONNX leaves other bytes than 0 and 1 open."""
    x, to = node.tensor(0), int(node.attribute("to", 0))
    source, target = node.graph.tensors[x].dtype, _TARGETS.get(to)
    if target is None or to in _OTHER_WIDTHS:
        names = {v: k for k, v in TensorProto.DataType.items()}
        node.refuse(f"it casts to {names.get(to, to)}", "cast to float32, bool or an integer type of at most 32 bits or int64")
    if source.itemsize != target.itemsize:
        node.malformed(f"{source.value} and {target.value} have not as many bits")
    if target is DType.BOOL:
        return [cast(node, x, target)]
    return [x if source is target else node.emit("BitCast", [x], to=target)]


def where(node: NodeImport) -> Sequence[Value]:
    values = [numeric(node, i) for i in range(3)]
    if node.dtype(values[0]) is not DType.BOOL:
        node.malformed(f"the condition is {node.dtype(values[0]).value} instead of bool")
    common_type(node, values[1:])
    return [node.emit("Where", broadcast(node, values))]


def comparison(op: str, *, swapped: bool = False) -> Callable[[NodeImport], Sequence[Value]]:
    """a op b, or b op a."""

    def convert(node: NodeImport) -> Sequence[Value]:
        a, b = operands(node)
        return [binary(node, op, b, a) if swapped else binary(node, op, a, b)]

    return convert


def bits(op: str) -> Callable[[NodeImport], Sequence[Value]]:
    return lambda node: [binary(node, op, *operands(node))]


def negation(node: NodeImport) -> Sequence[Value]:
    """Not of a truth, or of every bit of an integer."""
    x = numeric(node, 0)
    return [inverted(node, x)]


def inverted(node: NodeImport, x: Value) -> str:
    dtype = node.dtype(x)
    if dtype is DType.FLOAT32:
        node.malformed("its operand is float32")
    ones = Constant(f"{node.name}/ones", np.ones((), np.bool_) if dtype is DType.BOOL else ~np.zeros((), dtype.numpy))
    return binary(node, "BitwiseXor", x, ones)


def bit_shift(node: NodeImport) -> Sequence[Value]:
    direction = node.attribute("direction")
    if direction not in ("LEFT", "RIGHT"):
        node.malformed(f"direction is {direction!r}")
    return [binary(node, "BitShift", numeric(node, 0), numeric(node, 1), right=direction == "RIGHT")]


def mod(node: NodeImport) -> Sequence[Value]:
    return [binary(node, "Mod", numeric(node, 0), numeric(node, 1), fmod=bool(node.attribute("fmod", 0)))]


def is_nan(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    return [inverted(node, binary(node, "Equal", x, x))]


def is_inf(node: NodeImport) -> Sequence[Value]:
    x = node.tensor(0)
    signs = [sign for name, sign in (("detect_positive", 1), ("detect_negative", -1)) if node.attribute(name, 1)]
    infinities = [binary(node, "Equal", x, scalar(node, sign * np.inf, DType.FLOAT32)) for sign in signs]
    if not infinities:
        return [binary(node, "BitwiseXor", *(binary(node, "Equal", x, x),) * 2)]
    return [infinities[0] if len(infinities) == 1 else binary(node, "BitwiseOr", *infinities)]


_TYPES = "float32, bool, int8 to int64, uint8 to uint32; broadcasting"

LOGIC = {
    "Cast": Importer(cast_to, "between float32, bool, int8 to int64, uint8 to uint32; floats saturate"),
    "CastLike": Importer(cast_like, "as Cast"),
    "BitCast": Importer(bit_cast, "between types of as many bits, up to float32 and int64: costs nothing"),
    "Where": Importer(where, _TYPES),
    "Equal": Importer(comparison("Equal"), _TYPES),
    "Less": Importer(comparison("Less"), _TYPES),
    "LessOrEqual": Importer(comparison("LessOrEqual"), _TYPES),
    "Greater": Importer(comparison("Less", swapped=True), _TYPES),
    "GreaterOrEqual": Importer(comparison("LessOrEqual", swapped=True), _TYPES),
    "And": Importer(bits("BitwiseAnd"), "broadcasting"),
    "Or": Importer(bits("BitwiseOr"), "broadcasting"),
    "Xor": Importer(bits("BitwiseXor"), "broadcasting"),
    "Not": Importer(negation),
    "BitwiseAnd": Importer(bits("BitwiseAnd"), "broadcasting"),
    "BitwiseOr": Importer(bits("BitwiseOr"), "broadcasting"),
    "BitwiseXor": Importer(bits("BitwiseXor"), "broadcasting"),
    "BitwiseNot": Importer(negation),
    "BitShift": Importer(bit_shift, "integers; broadcasting"),
    "Mod": Importer(mod, "both fmod; float32 and integers; broadcasting"),
    "IsNaN": Importer(is_nan),
    "IsInf": Importer(is_inf, "detect_positive, detect_negative"),
}
