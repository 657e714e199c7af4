"""Quantize, Dequantize (ONNX QuantizeLinear, DequantizeLinear), Requantize and BatchNormalization, which passes fold or rewrite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.operators.linear_overlaps import first_elementwise
from arenite.graph.tensor import DType, Tensor


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def _conversion_record(quantized: Tensor) -> Record:
    quantization = quantized.quantization
    if quantization is None or not quantization.is_per_tensor:
        raise ValueError(f"{quantized.name} has no per-tensor quantization")
    return {
        "count": quantized.elements,
        "scale": float(np.float32(quantization.scale)),
        "zero_point": int(quantization.zero_point),
    }


def _quantize_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return _conversion_record(outputs[0])


def _dequantize_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return _conversion_record(given(inputs, 0))


def _requantize_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {"count": outputs[0].elements, "multiplier": a["multiplier"], "shift": a["shift"], "zero_point": a["zero_point"]}


def _narrowed(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    return ((given(inputs, 0).shape, DType.INT8),)


_CONVERSION = (Param("count", "elements"), Param("scale", "", is_float=True), Param("zero_point", ""))

QUANTIZE = Operator(
    name="Quantize",
    summary="float32 to int8, int16, or 24 bits in int32; scale and zero point are the output tensor's quantization",
    onnx=("QuantizeLinear",),
    inputs=(Operand("x", "float32"),),
    shape=_same_shape,
    code=16,
    variants=("int8", "int16_steps", "int32_steps"),
    stored=(Operand("x", "float32"),),
    params=_CONVERSION,
    record=_quantize_record,
    overlaps=first_elementwise,
    in_place=(0,),
)
DEQUANTIZE = Operator(
    name="Dequantize",
    summary="int8 or int16 to float32; scale and zero point are the input tensor's quantization",
    onnx=("DequantizeLinear",),
    inputs=(Operand("x", "int8"),),
    shape=_same_shape,
    code=17,
    variants=("int8", "int16_steps"),
    stored=(Operand("x", "int8"),),
    params=_CONVERSION,
    record=_dequantize_record,
    overlaps=first_elementwise,
)
REQUANTIZE = Operator(
    name="Requantize",
    summary="int16 to int8, numerics §12; made by quantization where int8 layers read a state",
    inputs=(Operand("x", "int16"),),
    shape=_same_shape,
    results=_narrowed,
    code=240,
    variants=("int16_steps",),
    stored=(Operand("x", "int16"),),
    params=(
        Param("count", "elements"),
        Param("multiplier", "below 2^15"),
        Param("shift", "1 … 30"),
        Param("zero_point", "of the output"),
    ),
    record=_requantize_record,
    overlaps=first_elementwise,
    in_place=(0,),
)
BATCH_NORMALIZATION = Operator(
    name="BatchNormalization",
    summary="Normalization by constant statistics over the last axis; folded into a neighbour or rewritten as DepthwiseConv",
    onnx=("BatchNormalization",),
    inputs=(
        Operand("x", "[…, C]"),
        Operand("scale", "[C]", constant=True),
        Operand("bias", "[C]", constant=True),
        Operand("mean", "[C]", constant=True),
        Operand("variance", "[C]", constant=True),
    ),
    attributes=(Attribute("epsilon", ""),),
    shape=_same_shape,
)

QUANTIZATION = (QUANTIZE, DEQUANTIZE, REQUANTIZE, BATCH_NORMALIZATION)
