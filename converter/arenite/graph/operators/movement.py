"""Operators that move elements. In the flat model all of them are StridedCopy and Fill. Numerics §9."""

from __future__ import annotations

from math import prod

from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Shape, given
from arenite.graph.operators.elementwise import MAX_DIMS
from arenite.graph.operators.movement_overlaps import slice_overlaps, transpose_overlaps
from arenite.graph.tensor import DType

_X = Operand("x", "any shape")


def _pad_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, pads = given(inputs, 0).shape, attributes["pads"]
    return tuple(pads[i] + size + pads[len(x) + i] for i, size in enumerate(x))


def _concat_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    axis, shapes = attributes["axis"], [given(inputs, i).shape for i in range(len(inputs))]
    rest = {shape[:axis] + shape[axis + 1 :] for shape in shapes}
    if len(rest) != 1:
        raise ValueError(f"{shapes} differ elsewhere than along axis {axis}")
    return (*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])


def _slice_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return tuple(attributes["sizes"])


def _transpose_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, perm = given(inputs, 0).shape, attributes["perm"]
    if sorted(perm) != list(range(len(x))):
        raise ValueError(f"perm {perm} does not fit {x}")
    return tuple(x[axis] for axis in perm)


def _reshape_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, shape = given(inputs, 0).shape, tuple(attributes["shape"])
    if prod(x) != prod(shape):
        raise ValueError(f"{x} has not as many elements as {shape}")
    return shape


def _bit_cast_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    x, to = given(inputs, 0), attributes["to"]
    if x.dtype.itemsize != to.itemsize:
        raise ValueError(f"{x.dtype.value} and {to.value} have not as many bytes")
    return ((x.shape, to),)


def _leading_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, shape = given(inputs, 0).shape, tuple(attributes["shape"])
    axis = next((i for i, size in enumerate(x) if size > 1), 0)
    if len(x) != len(shape) or x[:axis] != shape[:axis] or x[axis + 1 :] != shape[axis + 1 :] or shape[axis] > x[axis]:
        raise ValueError(f"{shape} is not the beginning of {x}")
    return shape


def _expand_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, shape = given(inputs, 0).shape, tuple(attributes["shape"])
    if len(x) != len(shape) or any(n not in (1, m) for n, m in zip(x, shape, strict=True)):
        raise ValueError(f"{x} does not broadcast to {shape}")
    return shape


PAD = Operator(
    name="Pad",
    summary="Padding with a constant",
    onnx=("Pad",),
    inputs=(_X, Operand("value", "of one element: instead of the attribute", optional=True)),
    attributes=(Attribute("pads", "before each axis, then after each, not negative"), Attribute("value", "float")),
    shape=_pad_shape,
)
CONCAT = Operator(
    name="Concat",
    summary="Concatenation",
    onnx=("Concat",),
    inputs=(Operand("x…", "one or more, alike but along the axis"),),
    attributes=(Attribute("axis", "not negative"),),
    shape=_concat_shape,
)
SLICE = Operator(
    name="Slice",
    summary="Part of a tensor, with steps; also each output of Split",
    onnx=("Slice", "Split", "Gather"),
    inputs=(_X,),
    attributes=(
        Attribute("starts", "first index along every axis"),
        Attribute("steps", "along every axis, not zero"),
        Attribute("sizes", "shape of the output"),
    ),
    shape=_slice_shape,
    overlaps=slice_overlaps,
)
TRANSPOSE = Operator(
    name="Transpose",
    summary="Permutation of axes",
    onnx=("Transpose",),
    inputs=(_X,),
    attributes=(Attribute("perm", "output axis i is input axis perm[i]"),),
    shape=_transpose_shape,
    overlaps=transpose_overlaps,
)
RESHAPE = Operator(
    name="Reshape",
    summary="Another shape for the same elements; costs nothing",
    onnx=("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Expand"),
    inputs=(_X,),
    attributes=(Attribute("shape", ""),),
    shape=_reshape_shape,
    in_place=(0,),
)
BIT_CAST = Operator(
    name="BitCast",
    summary="The same bytes as elements of another type; costs nothing",
    onnx=("BitCast",),
    inputs=(_X,),
    attributes=(Attribute("to", "the type, a DType of as many bytes"),),
    shape=lambda inputs, attributes: given(inputs, 0).shape,
    results=_bit_cast_results,
    in_place=(0,),
)
LEADING = Operator(
    name="Leading",
    summary="The first rows of a tensor; costs nothing. Made by partial execution",
    inputs=(_X,),
    attributes=(Attribute("shape", "as that of x, but for the first dimension above 1"),),
    shape=_leading_shape,
)
VIEWS = ("Reshape", "BitCast", "Leading")
"""Their outputs are their inputs' bytes, or the first of these."""

EXPAND = Operator(
    name="Expand",
    summary="Elements repeated along dimensions of 1",
    onnx=("Expand", "Tile"),
    inputs=(_X,),
    attributes=(Attribute("shape", "of the output, of the rank of x"),),
    shape=_expand_shape,
)

STRIDED_COPY = Operator(
    name="StridedCopy",
    summary="Copies elements from one strided view to another",
    inputs=(_X,),
    shape=lambda inputs, attributes: given(inputs, 0).shape,
    code=14,
    variants=("bytes",),
    stored=(_X,),
    params=(
        Param("element_size", "bytes: 1, 2, 4 or 8"),
        Param("dims", "of the view", MAX_DIMS),
        Param("input_stride", "elements, may be negative or 0", MAX_DIMS),
        Param("output_stride", "elements, positive where the dimension is above 1", MAX_DIMS),
        Param("input_offset", "elements from the start of the input to index 0"),
        Param("output_offset", ""),
    ),
)
FILL = Operator(
    name="Fill",
    summary="Sets every byte of a tensor",
    inputs=(),
    shape=lambda inputs, attributes: (),
    code=15,
    variants=("bytes",),
    params=(Param("count", "bytes"), Param("value", "−128…127")),
)

MOVEMENT = (PAD, CONCAT, SLICE, TRANSPOSE, RESHAPE, BIT_CAST, LEADING, EXPAND, STRIDED_COPY, FILL)
