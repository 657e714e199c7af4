"""QuantizeLinear, DequantizeLinear: how a QDQ graph says which scales it wants.

int8 and uint8 with one constant scale become Quantize and Dequantize, which passes absorb; int4 and uint4 are those in a narrower range.
Everything else (scales that are computed, of an axis or of blocks, 16 bits, integers that something else made) runs as it stands, on
integers that are not quantized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from arenite.frontend.arithmetic import cast, numeric
from arenite.frontend.blocks import rounding_db, whole_multiples
from arenite.frontend.narrow_types import NARROW, bits_of, held_by, widened
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.rearrange import stored
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Expression, Quantization
from arenite.graph.operators.integer import QUANTIZED_TYPES

Array = NDArray[Any]
Axis = tuple[int, int]
"""The axis that scales are for, and the block size along it, 0 where there are no blocks."""

_OFFSETS = {"uint8": 128, "uint16": 32768}
"""Of the zero point, where the elements become signed."""
_REEXPORT = "quantize to int8, uint8, int16 or uint16, weights to int4 or uint4, too"
IDENTITY_CAST = {DType.INT8: Quantization.per_tensor(1.0, 0), DType.UINT8: Quantization.per_tensor(1.0, -128)}
"""What Cast of an int8 or uint8 input to float amounts to."""


def quantize_linear(node: NodeImport) -> Sequence[Value]:
    _check_attributes(node)
    name = _quantized_type(node)
    to = DType(held_by(name))
    value, scale, zero_point = node.value(0), _scale(node), _zero_point(node, to)
    axis = _axis(node, scale, zero_point)
    if isinstance(value, Constant) and isinstance(scale, Constant) and isinstance(zero_point, Constant | None):
        return [_quantized_constant(node, value, scale, zero_point, axis, name)]
    quantization = _per_tensor(scale, zero_point, to)
    if quantization is not None:
        x = node.activation(0) if name not in NARROW else _limited(node, node.activation(0), quantization, name)
        return [node.emit("Quantize", [x], dtype=DType.INT8, quantization=quantization)]
    if name in NARROW:
        node.refuse(f"its quantized type is {name}, with scales that are computed or of an axis", _REEXPORT)
    x = stored(node, cast(node, numeric(node, 0), DType.FLOAT32))
    operands = [x, stored(node, scale), None if zero_point is None else stored(node, zero_point)]
    return [node.emit("QuantizeLinear", operands, axis=axis[0], block=axis[1], to=to.value)]


def dequantize_linear(node: NodeImport) -> Sequence[Value]:
    _check_attributes(node)
    value, scale = node.value(0), _scale(node)
    given = node.value(2) if node.has(2) else None
    dtype = _stored_type(node, value, given)
    zero_point = _zero_point(node, dtype)
    axis = _axis(node, scale, zero_point)
    if isinstance(value, Constant) and isinstance(scale, Constant) and isinstance(zero_point, Constant | None):
        return [dequantized_constant(node, value, scale, zero_point, axis)]
    quantization = _per_tensor(scale, zero_point, dtype)
    if quantization is not None and isinstance(value, str) and (known := _learn(node, value, quantization)) is not None:
        return [node.emit("Dequantize", [known])]
    x = plain(node, value, unsigned=dtype is DType.UINT8)
    operands = [x, stored(node, scale), None if zero_point is None else stored(node, zero_point)]
    return [node.emit("DequantizeLinear", operands, axis=axis[0], block=axis[1])]


def plain(node: NodeImport, value: Value, *, unsigned: bool) -> str:
    """As integers that stand for themselves. What is quantized with a constant scale is quantized to it once more, which is exact:
    s·(q − z) is far nearer to step q than to any other. `unsigned`: the ONNX tensor is uint8."""
    if isinstance(value, Constant):
        return stored(node, value)
    tensor = node.graph.tensors[value]
    q = tensor.quantization
    if tensor.dtype is not DType.INT8 or q is None:
        return value
    to, zero = (np.uint8, int(q.zero_point) + 128) if unsigned else (np.int8, int(q.zero_point))
    scale = node.add_constant(Constant(f"{value}/scale", np.asarray(q.scale, np.float32)))
    zero_point = node.add_constant(Constant(f"{value}/zero_point", np.asarray(zero, to)))
    real = node.emit("Dequantize", [value])
    return node.emit("QuantizeLinear", [real, scale, zero_point], axis=0, block=0, to=np.dtype(to).name)


def _limited(node: NodeImport, x: str, quantization: Quantization, name: str) -> str:
    """x within what a type of fewer than eight bits holds."""
    narrow, scale = NARROW[name], float(quantization.scale)
    zero = int(quantization.zero_point) + (128 if narrow.held_by == "uint8" else 0)
    return node.elementwise(x, Expression.single("Clip", min=scale * (narrow.lowest - zero), max=scale * (narrow.highest - zero)))


def _learn(node: NodeImport, x: str, quantization: Quantization) -> str | None:
    """x where it is quantized like this; an int8 input of the graph learns its scale here. None where it is something else."""
    tensor = node.graph.tensors[x]
    if tensor.dtype is not DType.INT8:
        return None
    if tensor.quantization is None and x in node.graph.inputs and not any(x in other.inputs for other in node.graph.nodes):
        node.graph.tensors[x] = replace(tensor, quantization=quantization)
        return x
    return x if tensor.quantization is not None and tensor.quantization.same_as(quantization) else None


def _check_attributes(node: NodeImport) -> None:
    if "axis" in node.attributes and node.opset < 13:
        node.refuse(
            f"the attribute axis={node.attribute('axis')} does not exist in opset {node.opset} (it came with opset 13)",
            "convert the float model with onnx.version_converter.convert_version(model, 13) and quantize that",
        )
    if node.attribute("precision", 0) not in (0, TensorProto.FLOAT):
        node.refuse(f"precision={node.attribute('precision')}: another type than float32 for the division", "leave precision out")


def _scale(node: NodeImport) -> Value:
    scale = node.value(1)
    if not isinstance(scale, Constant):
        return node.activation(1)
    scale = node.finite(scale)
    if not (np.asarray(scale.array) > 0).all():
        node.malformed(f"the scale {scale.name} is not positive ({float(scale.array.min())})")
    return scale


def _quantized_type(node: NodeImport) -> str:
    """What QuantizeLinear gives, by numpy's name: the zero point's type, output_dtype, or uint8."""
    if node.has(2):
        dtype = _type_of(node, node.value(2))
    else:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(node.attribute("output_dtype", 0) or TensorProto.UINT8))
    if dtype.name not in {*(known.value for known in QUANTIZED_TYPES), *NARROW}:
        node.refuse(f"its quantized type is {dtype}", _REEXPORT)
    return str(dtype.name)


def _stored_type(node: NodeImport, value: Value, zero_point: Value | None) -> DType:
    """What DequantizeLinear takes. The int8 tensor of the graph may be uint8 in the file."""
    if isinstance(value, Constant) or zero_point is not None:
        dtype = _type_of(node, value if zero_point is None or isinstance(value, Constant) else zero_point)
    elif node.graph.tensors[value].quantization is not None and node.input_types[0] == TensorProto.UINT8:
        dtype = np.dtype(np.uint8)
    else:
        dtype = _type_of(node, value)
    if dtype.name not in {*(known.value for known in (*QUANTIZED_TYPES, DType.INT32)), *NARROW}:
        node.refuse(f"its quantized type is {dtype}", _REEXPORT)
    return DType(held_by(dtype.name))


def _type_of(node: NodeImport, value: Value) -> np.dtype[Any]:
    return value.array.dtype if isinstance(value, Constant) else np.dtype(node.graph.tensors[value].dtype.numpy)


def _zero_point(node: NodeImport, dtype: DType) -> Value | None:
    """None where there is none, which is 0."""
    if not node.has(2):
        return None
    value = node.value(2)
    if held_by(_type_of(node, value).name) != dtype.value:
        node.malformed(f"its zero point is {_type_of(node, value)}, its elements {dtype.value}")
    return widened(value) if isinstance(value, Constant) else value


def _axis(node: NodeImport, scale: Value, zero_point: Value | None) -> Axis:
    """Where the scales are along. What does not fit the tensor is an error in the file."""
    x, scales, block = node.shape(node.value(0)), node.shape(scale), int(node.attribute("block_size", 0))
    count = int(np.prod(scales))
    if zero_point is not None and int(np.prod(node.shape(zero_point))) != count:
        node.malformed(f"{int(np.prod(node.shape(zero_point)))} zero points do not fit {count} scales")
    if count == 1 and not block:
        return 0, 0
    if node.opset < 13:
        node.refuse(f"the scale has {count} values, but opset {node.opset} knows one a tensor only", "export with opset 13 or later")
    axis = node.axis(int(node.attribute("axis", 1)), len(x))
    if block:
        wanted = tuple(-(-size // block) if d == axis else size for d, size in enumerate(x))
        if scales != wanted:
            node.malformed(f"scales {list(scales)} do not fit blocks of {block} along axis {axis} of {list(x)}")
    elif len(scales) != 1:
        node.refuse(f"the scale has the shape {list(scales)}", "use one scale a tensor, one an entry of an axis, or block_size")
    elif x[axis] != count:
        node.malformed(f"{count} scales do not fit axis {axis} of {list(x)}")
    return axis, block


def _per_tensor(scale: Value, zero_point: Value | None, dtype: DType) -> Quantization | None:
    """As the quantization of an int8 tensor; None where it is none that is known at conversion."""
    if not isinstance(scale, Constant) or not isinstance(zero_point, Constant | None) or scale.array.size != 1:
        return None
    if dtype not in (DType.INT8, DType.UINT8):
        return None
    zero = 0 if zero_point is None else int(zero_point.array.reshape(()))
    return Quantization.per_tensor(np.asarray(scale.array, np.float32).reshape(-1)[0], zero - (128 if dtype is DType.UINT8 else 0))


def _spread(per_scale: Array, shape: Sequence[int], axis: Axis) -> Array:
    """Scales or zero points as they broadcast against a tensor of this shape."""
    along, block = axis
    if block:
        return np.repeat(per_scale, block, along).take(range(shape[along]), along)
    if per_scale.size == 1:
        return per_scale.reshape(())
    return per_scale.reshape([-1 if d == along else 1 for d in range(len(shape))])


def _zeros(zero_point: Constant | None, scale: Constant) -> NDArray[np.int64]:
    if zero_point is None:
        return np.zeros(scale.array.shape, np.int64)
    return np.asarray(zero_point.array, np.int64).reshape(scale.array.shape)


def _quantized_constant(node: NodeImport, value: Constant, scale: Constant, zero_point: Constant | None, axis: Axis, to: str) -> Constant:
    data = np.asarray(node.finite(value).array, np.float32)
    low, high = (NARROW[to].lowest, NARROW[to].highest) if to in NARROW else (np.iinfo(to).min, np.iinfo(to).max)
    scales, zeros = _spread(scale.array, data.shape, axis), _spread(_zeros(zero_point, scale), data.shape, axis)
    q = np.clip(np.rint(data / scales.astype(np.float32)).astype(np.float64) + zeros, low, high)
    return Constant(value.name, q.astype(np.int32).astype(to))


def dequantized_constant(node: NodeImport, value: Constant, scale: Constant, zero_point: Constant | None, axis: Axis) -> Constant:
    """float32 values scale · (q − zero_point), annotated where int8 layers can use it. The product is formed in float64: one rounding,
    for int32 biases too."""
    bits, q = bits_of(value.array), widened(value).array
    shape, dtype = q.shape, q.dtype
    scales, zeros = _spread(scale.array, shape, axis), _spread(_zeros(zero_point, scale), shape, axis)
    steps = np.asarray(q, np.int64) - zeros
    data = (steps * scales.astype(np.float64)).astype(np.float32)
    if dtype in (np.int16, np.uint16):
        bits = 16
    if axis[1] and bits == 16:
        return Constant(value.name, data)
    if axis[1]:
        annotation = whole_multiples(steps, np.asarray(scale.array, np.float32), *axis, bits)
        if annotation is None:
            node.remark(
                f"{value.name}: the scales of its blocks of {axis[1]} are no whole multiples of one scale a channel: int8 layers round it "
                f"anew ({rounding_db(data, axis[0]):.0f} dB of signal to noise)"
            )
        return Constant(value.name, data, annotation)
    flat = np.asarray(_zeros(zero_point, scale), np.int32).reshape(-1) - np.int32(_OFFSETS.get(dtype.name, 0))
    scale_values = np.asarray(scale.array, np.float32).reshape(-1)
    if scale_values.size == 1:
        return Constant(value.name, data, replace(Quantization.per_tensor(scale_values[0], int(flat[0])), bits=bits))
    return Constant(value.name, data, Quantization(scale_values, flat, axis[0], bits))


_SCALES = "scales and zero points constant or computed, of a tensor, an axis (opset 13 and later) or of blocks"

QUANTIZATION = {
    "QuantizeLinear": Importer(quantize_linear, f"int4, uint4, int8, uint8, int16, uint16; {_SCALES}"),
    "DequantizeLinear": Importer(dequantize_linear, f"int4, uint4, int8, uint8, int16, uint16, int32; {_SCALES}"),
    "com.microsoft.QuantizeLinear": Importer(quantize_linear, f"int4, uint4, int8, uint8, int16, uint16; {_SCALES}"),
    "com.microsoft.DequantizeLinear": Importer(dequantize_linear, f"int4, uint4, int8, uint8, int16, uint16, int32; {_SCALES}"),
}
