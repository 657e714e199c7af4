"""Two-operand elementwise operators with broadcasting, PRelu, Softmax, and single-input functions (tables). Numerics §4–6."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.declaration import (
    CLAMP,
    CLIP,
    Attribute,
    Attributes,
    Form,
    Inputs,
    Operand,
    Operator,
    Param,
    Record,
    Shape,
    clamp_record,
    given,
)
from arenite.graph.operators.linear_overlaps import both_elementwise, first_elementwise
from arenite.graph.tensor import Tensor

MAX_DIMS = 6
"""Dimensions of a broadcast or strided copy after collapsing (ARN_MAX_DIMS)."""


def collapse_broadcast(output: Shape, operands: Sequence[Shape], rank: int = MAX_DIMS) -> tuple[Shape, tuple[Shape, ...]]:
    """Merge neighbouring dimensions that every operand walks alike.

    Returns dims, and the element strides of each operand (0 where broadcast), all of length `rank`, filled up in front with
    dimensions of 1. Raises ValueError where more than `rank` remain.
    """
    width = len(output)
    shapes = [(1,) * (width - len(shape)) + tuple(shape) for shape in operands]
    groups: list[tuple[int, tuple[bool, ...]]] = []  # size, which operands walk
    for axis, size in enumerate(output):
        if size == 1:
            continue
        walks = tuple(shape[axis] == size for shape in shapes)
        if groups and groups[-1][1] == walks:
            groups[-1] = (groups[-1][0] * size, walks)
        else:
            groups.append((size, walks))
    if len(groups) > rank:
        raise ValueError(f"broadcasting {' with '.join(map(str, shapes))} needs {len(groups)} dimensions, more than {rank}")
    groups = [(1, (False,) * len(shapes))] * (rank - len(groups)) + groups
    strides = []
    for operand in range(len(shapes)):
        step = 1
        stride: list[int] = []
        for size, walks in reversed(groups):
            stride.insert(0, step if walks[operand] else 0)
            step *= size if walks[operand] else 1
        strides.append(tuple(stride))
    return tuple(size for size, _ in groups), tuple(strides)


def _broadcast_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return tuple(np.broadcast_shapes(given(inputs, 0).shape, given(inputs, 1).shape))


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def broadcast_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    """The values of BROADCAST."""
    dims, (a_stride, b_stride) = collapse_broadcast(outputs[0].shape, [given(inputs, 0).shape, given(inputs, 1).shape])
    return {"dims": dims, "a_stride": a_stride, "b_stride": b_stride}


def _binary_record(*names: str) -> Callable[[Node, Inputs, Sequence[Tensor]], Record]:
    def record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
        return {
            **broadcast_record(node, inputs, outputs),
            **{name: node.attributes[name] for name in ("a_zero_point", "b_zero_point", "output_zero_point", *names)},
            **clamp_record(node),
        }

    return record


_OPERANDS = (Operand("a", "any shape"), Operand("b", "of the same rank, broadcast (a constant or an activation)"))
BROADCAST = (
    Param("dims", "dimensions of the output, collapsed", MAX_DIMS),
    Param("a_stride", "elements of a from one index to the next; 0 where broadcast", MAX_DIMS),
    Param("b_stride", "", MAX_DIMS),
)
_ZERO_POINTS = (
    Param("a_zero_point", ""),
    Param("b_zero_point", ""),
    Param("output_zero_point", ""),
)


ARITHMETIC = ("float32", "int32", "int64")


def _binary(name: str, summary: str, code: int, *params: Param, onnx: tuple[str, ...] = ()) -> Operator:
    return Operator(
        name=name,
        summary=summary,
        onnx=onnx or (name,),
        inputs=_OPERANDS,
        attributes=(CLIP,),
        shape=_broadcast_shape,
        code=code,
        variants=("int8",) if name == "Div" else ("int8", "int16_steps"),
        stored=_OPERANDS,
        params=(*BROADCAST, *_ZERO_POINTS, *params, *CLAMP),
        record=_binary_record(*(p.name for p in params)),
        typed=Form(ARITHMETIC, _OPERANDS, BROADCAST, broadcast_record),
        in_place=(0, 1),
        overlaps=both_elementwise,
    )


def typed_binary(name: str, summary: str, code: int, variants: tuple[str, ...] = ARITHMETIC) -> Operator:
    """Of two operands that are not quantized; there is no int8 form."""
    return Operator(
        name=name,
        summary=summary,
        onnx=(name,),
        inputs=_OPERANDS,
        attributes=(CLIP,) if name == "Sub" else (),
        shape=_broadcast_shape,
        code=code,
        variants=variants,
        stored=_OPERANDS,
        params=BROADCAST,
        record=broadcast_record,
        in_place=(0, 1),
        overlaps=both_elementwise,
    )


ADD = _binary(
    "Add",
    "Sum, or with a negative multiplier of b the difference",
    5,
    Param("a_multiplier", "|m| < 2^22"),
    Param("b_multiplier", ""),
    Param("shift", "right shift, 1…24"),
    onnx=("Add", "Sub", "Sum"),
)
SUB = typed_binary("Sub", "Difference; in the int8 form an Add", 18)
MAX = typed_binary("Max", "The greater", 19, (*ARITHMETIC, "plain_int8"))
MIN = typed_binary("Min", "The lesser", 20, (*ARITHMETIC, "plain_int8"))
POW = typed_binary("Pow", "Power; of integers modulo 2^width", 21)
MUL = _binary("Mul", "Product", 6, Param("multiplier", ""), Param("shift", "left shift, 0…14; int16: right shift, 1…62"))
DIV = _binary("Div", "Quotient", 7, Param("multiplier", "m < 2^22"), Param("shift", "left shift of the divisor, 0…40"))


def _prelu_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    names = ("input_zero_point", "output_zero_point", "positive_multiplier", "shift")
    return {
        "count": outputs[0].elements,
        "channels": given(inputs, 1).elements,
        **{name: node.attributes[name] for name in names},
        **clamp_record(node),
    }


def _prelu_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {"count": outputs[0].elements, "channels": given(inputs, 1).elements}


PRELU = Operator(
    name="PRelu",
    summary="x where positive, slope · x elsewhere; the slope is a constant",
    onnx=("PRelu",),
    inputs=(Operand("x", "[…, C]"), Operand("slope", "[C], or of the shape of x", constant=True)),
    shape=_same_shape,
    code=8,
    stored=(Operand("x", ""), Operand("multiplier", "int32[channels]: the slope's, signed", constant=True)),
    params=(
        Param("count", "elements"),
        Param("channels", "period of the multipliers; divides count"),
        Param("input_zero_point", ""),
        Param("output_zero_point", ""),
        Param("positive_multiplier", ""),
        Param("shift", "left shift, 0…22"),
        *CLAMP,
    ),
    record=_prelu_record,
    overlaps=first_elementwise,
    typed=Form(
        ("float32",),
        (Operand("x", ""), Operand("slope", "[channels]")),
        (Param("count", "elements"), Param("channels", "period of the slopes; divides count")),
        _prelu_typed_record,
    ),
    in_place=(0,),
)


def _softmax_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    length = outputs[0].shape[-1]
    numerator = int(node.attributes["numerator"])
    low = numerator & 0xFFFFFFFF
    return {
        "rows": outputs[0].elements // length,
        "length": length,
        "output_zero_point": node.attributes["output_zero_point"],
        "numerator_low": low - (1 << 32) if low >= 1 << 31 else low,
        "numerator_high": numerator >> 32,
        **clamp_record(node),
    }


def _softmax_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    length = outputs[0].shape[-1]
    return {"rows": outputs[0].elements // length, "length": length}


SOFTMAX = Operator(
    name="Softmax",
    summary="Along the last axis",
    onnx=("Softmax",),
    inputs=(Operand("x", "[…, n]"),),
    shape=_same_shape,
    code=9,
    stored=(Operand("x", ""), Operand("table", "uint32[256] stored as int32: 2^k · exp(−s_x·d)", constant=True)),
    params=(
        Param("rows", ""),
        Param("length", "n"),
        Param("output_zero_point", ""),
        Param("numerator_low", "low 32 bits of N"),
        Param("numerator_high", "high 32 bits of N, 0…2^30"),
        *CLAMP,
    ),
    record=_softmax_record,
    overlaps=first_elementwise,
    typed=Form(("float32",), (Operand("x", ""),), (Param("rows", ""), Param("length", "n")), _softmax_typed_record),
    in_place=(0,),
)


def _lookup_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {"count": outputs[0].elements}


ELEMENTWISE_FUNCTION = Operator(
    name="Elementwise",
    summary="A single-input elementwise expression, one node or many; becomes Lookup",
    inputs=(Operand("x", "any shape"),),
    attributes=(Attribute("expression", "a graph.expression.Expression"),),
    shape=_same_shape,
    in_place=(0,),
)

LOOKUP = Operator(
    name="Lookup",
    summary="A single-input elementwise function as a table: of 256 bytes, or of 513 int16 and lines between them",
    inputs=(Operand("x", "any shape"),),
    shape=_same_shape,
    code=10,
    variants=("int8", "int16_steps"),
    stored=(Operand("x", ""), Operand("table", "int8[256], entry q + 128; int16[513], entry (q + 32768) / 128", constant=True)),
    params=(Param("count", "elements"),),
    record=_lookup_record,
    in_place=(0,),
    overlaps=first_elementwise,
)

ELEMENTWISE = (ADD, SUB, MUL, DIV, MAX, MIN, POW, PRELU, SOFTMAX, ELEMENTWISE_FUNCTION, LOOKUP)
