"""Conversions between element types, comparisons, choice, bits and remainders: on elements that are not quantized. Numerics §11."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.declaration import VARIANTS, Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.operators.elementwise import BROADCAST, MAX_DIMS, broadcast_record, collapse_broadcast
from arenite.graph.operators.linear_overlaps import both_elementwise, first_elementwise
from arenite.graph.tensor import DType, Tensor

NUMBERS = ("float32", "int32", "int64")
"""The types in which comparisons and remainders are computed; narrower integers are widened."""
_ALL_TYPES = ("float32", "int32", "int64", "uint8", "bool", "int16", "uint16", "uint32", "plain_int8")
_OPERANDS = (Operand("a", "any shape"), Operand("b", "of the same rank and element type, broadcast"))


def _broadcast_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return tuple(np.broadcast_shapes(*(given(inputs, i).shape for i in range(len(inputs)))))


def _binary(
    name: str,
    summary: str,
    code: int,
    variants: tuple[str, ...],
    onnx: tuple[str, ...],
    params: tuple[Param, ...] = (),
    attributes: tuple[Attribute, ...] = (),
    results: Callable[[Inputs, Attributes], tuple[tuple[Shape, DType], ...]] | None = None,
) -> Operator:
    def record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
        return {**broadcast_record(node, inputs, outputs), **{param.name: int(node.attributes[param.name]) for param in params}}

    return Operator(
        name=name,
        summary=summary,
        onnx=onnx,
        inputs=_OPERANDS,
        attributes=attributes,
        shape=_broadcast_shape,
        code=code,
        variants=variants,
        stored=_OPERANDS,
        params=(*BROADCAST, *params),
        record=record,
        results=results,
        in_place=() if results is not None else (0, 1),
        overlaps=both_elementwise,
    )


def _truth(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    return ((_broadcast_shape(inputs, attributes), DType.BOOL),)


EQUAL = _binary("Equal", "Whether a equals b", 62, (*NUMBERS, "bool", "plain_int8"), ("Equal", "IsNaN", "IsInf"), results=_truth)
LESS = _binary("Less", "Whether a is less than b", 63, (*NUMBERS, "plain_int8"), ("Less", "Greater"), results=_truth)
LESS_OR_EQUAL = _binary(
    "LessOrEqual", "Whether a is less than or equal to b", 64, (*NUMBERS, "plain_int8"), ("LessOrEqual", "GreaterOrEqual"), results=_truth
)
_WORDS = ("bool", "int32", "int64")
BITWISE_AND = _binary("BitwiseAnd", "And of every bit, or of truths", 65, _WORDS, ("BitwiseAnd", "And"))
BITWISE_OR = _binary("BitwiseOr", "Or of every bit, or of truths", 66, _WORDS, ("BitwiseOr", "Or"))
BITWISE_XOR = _binary(
    "BitwiseXor", "Exclusive or of every bit, or of truths", 67, _WORDS, ("BitwiseXor", "Xor", "BitwiseNot", "Not", "IsNaN")
)
BIT_SHIFT = _binary(
    "BitShift",
    "a shifted by b bits; to the right with its sign; by less than 0 or beyond the width everything is shifted out",
    68,
    ("int32", "int64"),
    ("BitShift",),
    (Param("right", "0: to the left, 1: to the right"),),
    (Attribute("right", "whether to the right"),),
)
MOD = _binary(
    "Mod",
    "Remainder of a division; of integers by 0 it is 0",
    69,
    NUMBERS,
    ("Mod",),
    (Param("fmod", "sign of the result: 0: b's, 1: a's"),),
    (Attribute("fmod", "as in ONNX"),),
)


def _cast_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {"count": outputs[0].elements, "target": VARIANTS[variant_of(outputs[0].dtype)]}


def variant_of(dtype: DType) -> str:
    """The variant of elements of this type that are not quantized."""
    return "plain_int8" if dtype is DType.INT8 else dtype.value


CAST = Operator(
    name="Cast",
    summary="Another element type: integers wrap, floats are cut towards zero and saturate (NaN gives 0), bool is whether it is not 0",
    onnx=("Cast", "CastLike"),
    inputs=(Operand("x", "any shape and type"),),
    attributes=(Attribute("to", "a DType's value"),),
    shape=lambda inputs, attributes: given(inputs, 0).shape,
    results=lambda inputs, attributes: ((given(inputs, 0).shape, DType(attributes["to"])),),
    code=60,
    variants=_ALL_TYPES,
    stored=(Operand("x", "any shape and type"),),
    params=(Param("count", "elements"), Param("target", "arn_variant of the result's elements")),
    record=_cast_record,
    overlaps=first_elementwise,
    in_place=(0,),
)


def _where_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    dims, strides = collapse_broadcast(outputs[0].shape, [given(inputs, i).shape for i in range(3)])
    return {
        "element_size": outputs[0].dtype.itemsize,
        "dims": dims,
        "condition_stride": strides[0],
        "x_stride": strides[1],
        "y_stride": strides[2],
    }


def _where_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    return ((_broadcast_shape(inputs, attributes), given(inputs, 1).dtype),)


WHERE = Operator(
    name="Where",
    summary="x where the condition holds, y elsewhere",
    onnx=("Where",),
    inputs=(Operand("condition", "bool"), Operand("x", "of the same rank"), Operand("y", "of the same rank and x's type")),
    shape=_broadcast_shape,
    results=_where_results,
    typed_by=1,
    code=61,
    variants=("bytes",),
    stored=(Operand("condition", "bool"), Operand("x", "of the same rank"), Operand("y", "of the same rank and x's type")),
    params=(
        Param("element_size", "bytes: 1, 2, 4 or 8"),
        Param("dims", "dimensions of the output, collapsed", MAX_DIMS),
        Param("condition_stride", "elements from one index to the next; 0 where broadcast", MAX_DIMS),
        Param("x_stride", "", MAX_DIMS),
        Param("y_stride", "", MAX_DIMS),
    ),
    record=_where_record,
)

LOGIC = (CAST, WHERE, EQUAL, LESS, LESS_OR_EQUAL, BITWISE_AND, BITWISE_OR, BITWISE_XOR, BIT_SHIFT, MOD)
