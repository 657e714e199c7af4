"""ONNX's quantized arithmetic whose scales and zero points are computed at run time: on elements that stand for themselves. Numerics §17.

Where scales are constant the importers use Quantize and Dequantize (quantization.py) instead, which passes absorb.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.convolution import IMAGE_PARAMS, WINDOW, image_record, window_shape
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.operators.elementwise import collapse_broadcast
from arenite.graph.tensor import DType, Tensor

QUANTIZED_TYPES = (DType.INT8, DType.UINT8, DType.INT16, DType.UINT16)
"""What QuantizeLinear gives."""
BYTES = (DType.INT8, DType.UINT8)
"""What ConvInteger and MatMulInteger multiply."""
_VARIANTS = ("plain_int8", "uint8", "int16", "uint16")
BEYOND_OPERANDS = 3
"""As typed_by: the result's type names the variant."""


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def _optional(inputs: Inputs, index: int) -> Tensor | None:
    return inputs[index] if index < len(inputs) else None


def _scale_shape(x: Shape, scale: Shape, axis: int, block: int) -> bool:
    """Whether scales of this shape serve x: one for all, one an entry of `axis`, or one a block along it."""
    if block:
        return scale == tuple(-(-size // block) if d == axis else size for d, size in enumerate(x))
    return prod(scale) == 1 or (axis < len(x) and scale == (x[axis],))


def _scaled_results(inputs: Inputs, attributes: Attributes, dtype: DType) -> tuple[tuple[Shape, DType], ...]:
    x, scale, zero_point = given(inputs, 0), given(inputs, 1), _optional(inputs, 2)
    if not _scale_shape(x.shape, scale.shape, attributes["axis"], attributes["block"]):
        raise ValueError(f"scales{scale.shape} do not fit axis {attributes['axis']} of x{x.shape} in blocks of {attributes['block']}")
    if zero_point is not None and zero_point.elements != scale.elements:
        raise ValueError(f"zero points{zero_point.shape} do not fit scales{scale.shape}")
    return ((x.shape, dtype),)


def _scaled_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, scale, axis, block = given(inputs, 0).shape, given(inputs, 1), node.attributes["axis"], node.attributes["block"]
    if scale.elements == 1:
        return {"outer": 1, "axis": 1, "inner": prod(x), "block": 1, "scale_stride": (0, 0, 0)}
    sizes = {"outer": prod(x[:axis]), "axis": x[axis], "inner": prod(x[axis + 1 :]), "block": block or 1}
    inner = sizes["inner"]
    return {**sizes, "scale_stride": (scale.shape[axis] * inner, inner, 1) if block else (0, 1, 0)}


_SCALED = (
    Param("outer", "product of the dimensions in front of the axis"),
    Param("axis", "entries along the axis"),
    Param("inner", "product of the dimensions behind it"),
    Param("block", "neighbouring entries of the axis with one scale"),
    Param("scale_stride", "scales (and zero points) from one outer index, block and inner index to the next", 3),
)
_AXIS = (Attribute("axis", "not negative"), Attribute("block", "entries of the axis with one scale; 0: a scale for each, or one for all"))
_SCALE = Operand("scale", "float32: one, [axis], or of the shape of x but for the axis, which counts blocks")

QUANTIZE_LINEAR = Operator(
    name="QuantizeLinear",
    summary="float32 to integers with scales and zero points that may be computed",
    onnx=("QuantizeLinear",),
    inputs=(Operand("x", "float32"), _SCALE, Operand("zero_point", "of the result's type, one a scale", optional=True)),
    attributes=(*_AXIS, Attribute("to", "a DType's value")),
    shape=_same_shape,
    results=lambda inputs, attributes: _scaled_results(inputs, attributes, DType(attributes["to"])),
    typed_by=BEYOND_OPERANDS,
    code=250,
    variants=_VARIANTS,
    stored=(Operand("x", "float32"), _SCALE, Operand("zero_point", "of the result's type, one a scale", optional=True)),
    params=_SCALED,
    record=_scaled_record,
)
DEQUANTIZE_LINEAR = Operator(
    name="DequantizeLinear",
    summary="Integers to float32 with scales and zero points that may be computed",
    onnx=("DequantizeLinear",),
    inputs=(Operand("x", "integers"), _SCALE, Operand("zero_point", "of x's type, one a scale", optional=True)),
    attributes=_AXIS,
    shape=_same_shape,
    results=lambda inputs, attributes: _scaled_results(inputs, attributes, DType.FLOAT32),
    code=251,
    variants=(*_VARIANTS, "int32"),
    stored=(Operand("x", "integers"), _SCALE, Operand("zero_point", "of x's type, one a scale", optional=True)),
    params=_SCALED,
    record=_scaled_record,
)


def _dynamic_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    return ((given(inputs, 0).shape, DType.UINT8), ((), DType.FLOAT32), ((), DType.UINT8))


DYNAMIC_QUANTIZE_LINEAR = Operator(
    name="DynamicQuantizeLinear",
    summary="float32 to uint8, with the scale and zero point of its own range; gives them too",
    onnx=("DynamicQuantizeLinear",),
    inputs=(Operand("x", "float32"),),
    shape=_same_shape,
    results=_dynamic_results,
    code=252,
    variants=("float32",),
    stored=(Operand("x", "float32"),),
    params=(Param("count", "elements"),),
    record=lambda node, inputs, outputs: {"count": outputs[0].elements},
)


def _signed(tensor: Tensor) -> int:
    if tensor.dtype not in BYTES:
        raise ValueError(f"{tensor.name} is {tensor.dtype.value}, not int8 or uint8")
    return int(tensor.dtype is DType.INT8)


def _check_zero_point(tensor: Tensor, zero_point: Tensor | None, shapes: Sequence[Shape]) -> None:
    if zero_point is not None and (zero_point.dtype is not tensor.dtype or zero_point.shape not in shapes):
        raise ValueError(f"zero point {zero_point.dtype.value}{zero_point.shape} does not fit {tensor.dtype.value}{tensor.shape}")


def _conv_integer_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, weight, group = given(inputs, 0), given(inputs, 1), attributes["group"]
    if len(x.shape) != 4 or len(weight.shape) != 4:
        raise ValueError(f"x{x.shape} and weight{weight.shape} must have four dimensions")
    if x.shape[3] != weight.shape[3] * group or weight.shape[0] % group:
        raise ValueError(f"{x.shape[3]} input channels do not fit weight{weight.shape} in {group} groups")
    _check_zero_point(x, _optional(inputs, 2), [(), (1,)])
    _check_zero_point(weight, _optional(inputs, 3), [(), (1,), (weight.shape[0],)])
    return (x.shape[0], *window_shape(x.shape, weight.shape[1:3], attributes), weight.shape[0])


def _conv_integer_macs(inputs: Inputs, output: Shape) -> int:
    return prod(output) * prod(given(inputs, 1).shape[1:])


def _conv_integer_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, weight, zero_point = given(inputs, 0), given(inputs, 1), _optional(inputs, 3)
    return {
        **image_record(node, x, outputs[0], (weight.shape[1], weight.shape[2])),
        "group": node.attributes["group"],
        "x_signed": _signed(x),
        "weight_signed": _signed(weight),
        "weight_zero_stride": int(zero_point is not None and zero_point.elements > 1),
    }


_CONV_OPERANDS = (
    Operand("x", "int8 or uint8, [N, H, W, C]"),
    Operand("weight", "int8 or uint8, OHWI"),
    Operand("x_zero_point", "of x's type, one", optional=True),
    Operand("weight_zero_point", "of the weight's type, one or [out]", optional=True),
)

CONV_INTEGER = Operator(
    name="ConvInteger",
    summary="Convolution of integers less their zero points; int32, which wraps",
    onnx=("ConvInteger", "QLinearConv"),
    inputs=_CONV_OPERANDS,
    attributes=(*WINDOW, Attribute("group", "groups of channels")),
    shape=_conv_integer_shape,
    results=lambda inputs, attributes: ((_conv_integer_shape(inputs, attributes), DType.INT32),),
    macs=_conv_integer_macs,
    code=253,
    variants=("bytes",),
    stored=_CONV_OPERANDS,
    params=(
        *IMAGE_PARAMS,
        Param("group", "groups of channels"),
        Param("x_signed", "1: x is int8, 0: uint8"),
        Param("weight_signed", ""),
        Param("weight_zero_stride", "1: a zero point for every output channel, 0: one for all, or none"),
    ),
    record=_conv_integer_record,
)


def _matmul_integer_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    a, b = given(inputs, 0), given(inputs, 1)
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a{a.shape} and b{b.shape} cannot be multiplied")
    y = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    for tensor, zero_point, along in ((a, _optional(inputs, 2), (y[-2], 1)), (b, _optional(inputs, 3), (1, y[-1]))):
        if zero_point is None:
            continue
        *leading, rows, columns = zero_point.shape if len(zero_point.shape) >= 2 else (0, 0)
        fits = len(leading) <= len(y) - 2 and np.broadcast_shapes(y[:-2], tuple(leading)) == y[:-2]
        if zero_point.dtype is not tensor.dtype or not fits or (rows, columns) not in ((1, 1), along):
            raise ValueError(f"zero point {zero_point.dtype.value}{zero_point.shape} does not fit {tensor.dtype.value}{tensor.shape}")
    return y


def _matmul_integer_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    operands = [given(inputs, 0), given(inputs, 1), _optional(inputs, 2), _optional(inputs, 3)]
    shapes = [(1, 1) if operand is None else operand.shape for operand in operands]
    dims, strides = collapse_broadcast(outputs[0].shape[:-2], [shape[:-2] for shape in shapes], rank=3)
    a, b, a_zero, b_zero = ([s * shape[-2] * shape[-1] for s in stride] for stride, shape in zip(strides, shapes, strict=True))
    return {
        "batch": dims,
        "a_stride": tuple(a),
        "b_stride": tuple(b),
        "m": shapes[0][-2],
        "k": shapes[0][-1],
        "n": shapes[1][-1],
        "a_signed": _signed(given(inputs, 0)),
        "b_signed": _signed(given(inputs, 1)),
        "a_zero_stride": (*a_zero, int(shapes[2][-2] > 1)),
        "b_zero_stride": (*b_zero, int(shapes[3][-1] > 1)),
    }


_MATMUL_OPERANDS = (
    Operand("a", "int8 or uint8, […, M, K]"),
    Operand("b", "int8 or uint8, […, K, N]"),
    Operand("a_zero_point", "of a's type, […, M or 1, 1]", optional=True),
    Operand("b_zero_point", "of b's type, […, 1, N or 1]", optional=True),
)

MATMUL_INTEGER = Operator(
    name="MatMulInteger",
    summary="Product of integers less their zero points, leading dimensions broadcast; int32, which wraps",
    onnx=("MatMulInteger", "QLinearMatMul"),
    inputs=_MATMUL_OPERANDS,
    shape=_matmul_integer_shape,
    results=lambda inputs, attributes: ((_matmul_integer_shape(inputs, attributes), DType.INT32),),
    macs=lambda inputs, output: prod(output) * given(inputs, 0).shape[-1],
    code=254,
    variants=("bytes",),
    stored=_MATMUL_OPERANDS,
    params=(
        Param("batch", "leading dimensions, collapsed", 3),
        Param("a_stride", "elements from matrix to matrix of a along each; 0 where broadcast", 3),
        Param("b_stride", "", 3),
        Param("m", ""),
        Param("k", ""),
        Param("n", ""),
        Param("a_signed", "1: a is int8, 0: uint8"),
        Param("b_signed", ""),
        Param("a_zero_stride", "zero points of a along each leading dimension, and from row to row; 0 where there is one", 4),
        Param("b_zero_stride", "zero points of b along each leading dimension, and from column to column", 4),
    ),
    record=_matmul_integer_record,
)

FAKE_QUANTIZE = Operator(
    name="FakeQuantize",
    summary="float32 rounded to the steps of a quantization: what the Q/DQ pairs of a model do to its activations without quantized layers",
    onnx=("QuantizeLinear", "DequantizeLinear"),
    inputs=(Operand("x", "any shape"),),
    attributes=(Attribute("scale", "float"), Attribute("zero_point", "of int8")),
    shape=_same_shape,
    code=255,
    variants=("float32",),
    stored=(Operand("x", "any shape"),),
    params=(Param("count", "elements"), Param("scale", "", is_float=True), Param("zero_point", "of int8")),
    record=lambda node, inputs, outputs: {
        "count": outputs[0].elements,
        "scale": float(node.attributes["scale"]),
        "zero_point": int(node.attributes["zero_point"]),
    },
    in_place=(0,),
)

INTEGER = (QUANTIZE_LINEAR, DEQUANTIZE_LINEAR, DYNAMIC_QUANTIZE_LINEAR, CONV_INTEGER, MATMUL_INTEGER, FAKE_QUANTIZE)
