"""Resampling, pooling with indices and its inverse. Numerics §8, §11, §13.

Unlike Conv and the pools they work on ONNX's own layout, channels first, or along any one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.convolution import window_output
from arenite.graph.operators.declaration import (
    CLAMP,
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
from arenite.graph.operators.elementwise import MAX_DIMS
from arenite.graph.operators.sampling import volume
from arenite.graph.tensor import DType, Tensor


def _resample_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, first, weight, axis = given(inputs, 0).shape, given(inputs, 1).shape, given(inputs, 2).shape, attributes["axis"]
    if len(first) != 1 or len(weight) != 2 or weight[0] != first[0] or weight[1] > x[axis]:
        raise ValueError(f"first{first} and weight{weight} do not fit {x[axis]} elements along axis {axis} of {x}")
    return (*x[:axis], first[0], *x[axis + 1 :])


def _resample_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, weight, axis = given(inputs, 0).shape, given(inputs, 2).shape, node.attributes["axis"]
    return {"outer": prod(x[:axis]), "size": x[axis], "count": weight[0], "taps": weight[1], "inner": prod(x[axis + 1 :])}


def _resample_macs(inputs: Inputs, output: Shape) -> int:
    return prod(output) * given(inputs, 2).shape[1]


def _resample_quantized_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    quantized = {name: node.attributes[name] for name in ("input_zero_point", "output_zero_point", "multiplier", "shift")}
    return {**_resample_record(node, inputs, outputs), **quantized, **clamp_record(node)}


_FIRST = Operand("first", "int32[count]: where the taps of each result begin; first + taps ≤ size", constant=True)
_RESAMPLED = (Operand("x", "any shape"), _FIRST, Operand("weight", "[count, taps]", constant=True))
_RESAMPLING = (
    Param("outer", "product of the dimensions in front of the axis"),
    Param("size", "of x along the axis"),
    Param("count", "of y along the axis"),
    Param("taps", "weights of a result"),
    Param("inner", "product of the dimensions behind the axis"),
)

RESAMPLE = Operator(
    name="Resample",
    summary="Every result along an axis is a weighted sum of neighbours: interpolation, with or without antialiasing",
    onnx=("Resize", "Upsample"),
    inputs=_RESAMPLED,
    attributes=(Attribute("axis", "not negative"),),
    shape=_resample_shape,
    macs=_resample_macs,
    code=160,
    stored=(Operand("x", "any shape"), _FIRST, Operand("weight", "int16[count, taps]", constant=True)),
    params=(
        *_RESAMPLING,
        Param("input_zero_point", ""),
        Param("output_zero_point", ""),
        Param("multiplier", ""),
        Param("shift", "left shift of the accumulator, 0…30"),
        *CLAMP,
    ),
    record=_resample_quantized_record,
    typed=Form(("float32",), _RESAMPLED, _RESAMPLING, _resample_record),
)

_VOLUME_WINDOW = (
    Param("in_size", "of x: depth, height, width", 3),
    Param("out_size", "", 3),
    Param("kernel", "", 3),
    Param("stride", "", 3),
    Param("dilation", "", 3),
    Param("pad", "in front of x", 3),
)
_VOLUME = (
    Attribute("kernel", "(d, h, w)"),
    Attribute("strides", "(d, h, w)"),
    Attribute("dilations", "(d, h, w)"),
    Attribute("pads", "(d, h, w) in front, then behind, overhang included"),
)


def _max_pool_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    x = given(inputs, 0)
    a, rank = attributes, len(x.shape) - 2
    sizes = tuple(
        window_output(size, a["kernel"][i], a["strides"][i], a["dilations"][i], a["pads"][i], a["pads"][3 + i])
        for i, size in enumerate(volume(x.shape[2:]))
    )
    shape = (*x.shape[:2], *sizes[3 - rank :])
    return ((shape, x.dtype), (shape, DType.INT64))


def _max_pool_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, a = given(inputs, 0).shape, node.attributes
    return {
        "planes": x[0] * x[1],
        "in_size": volume(x[2:]),
        "out_size": volume(outputs[0].shape[2:]),
        "kernel": a["kernel"],
        "stride": a["strides"],
        "dilation": a["dilations"],
        "pad": a["pads"][:3],
        "column_major": int(a["column_major"]),
    }


MAX_POOL_WITH_INDICES = Operator(
    name="MaxPoolWithIndices",
    summary="Maximum of a window, and where in x it stands (int64); of equals the first; padding never wins",
    onnx=("MaxPool",),
    inputs=(Operand("x", "[N, C, …], up to three spatial dimensions"),),
    attributes=(*_VOLUME, Attribute("column_major", "bool: indices count along the first spatial axis first")),
    shape=lambda inputs, attributes: _max_pool_results(inputs, attributes)[0][0],
    results=_max_pool_results,
    code=161,
    variants=("int8", "float32"),
    stored=(Operand("x", "[planes, depth, height, width]"),),
    params=(Param("planes", "N · C"), *_VOLUME_WINDOW, Param("column_major", "0 or 1")),
    record=_max_pool_record,
)


def _max_unpool_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, inferred, shape = given(inputs, 0).shape, attributes["inferred"], attributes["shape"]
    if len(inferred) != len(x) or len(shape) != len(x) or any(a < b for a, b in zip(shape, inferred, strict=True)):
        raise ValueError(f"a result of {shape} does not hold one of {inferred}, which x{x} has")
    return tuple(shape)


def _max_unpool_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    inferred, shape = node.attributes["inferred"], node.attributes["shape"]
    missing = MAX_DIMS - len(shape)
    if missing < 0:
        raise ValueError(f"{len(shape)} dimensions, more than {MAX_DIMS}")
    strides = tuple(prod(shape[i + 1 :]) for i in range(len(shape)))
    return {
        "count": given(inputs, 0).elements,
        "dims": (1,) * missing + tuple(inferred),
        "stride": (0,) * missing + strides,
        "size": prod(shape),
        "element_size": given(inputs, 0).dtype.itemsize,
        "fill": node.attributes.get("fill", 0),
    }


_UNPOOLED = (Operand("x", "any shape"), Operand("indices", "int64, of the shape of x: places in the inferred result"))

MAX_UNPOOL = Operator(
    name="MaxUnpool",
    summary="Elements put where MaxPool found them, zeros elsewhere; an index outside is left out",
    onnx=("MaxUnpool",),
    inputs=_UNPOOLED,
    attributes=(
        Attribute("inferred", "shape that the indices count in: what MaxPool had as its input"),
        Attribute("shape", "of the result, in whose corner the inferred one lies"),
    ),
    shape=_max_unpool_shape,
    code=162,
    variants=("bytes",),
    stored=_UNPOOLED,
    params=(
        Param("count", "elements of x"),
        Param("dims", "that the indices count in", MAX_DIMS),
        Param("stride", "elements of the result from one index to the next", MAX_DIMS),
        Param("size", "elements of the result"),
        Param("element_size", "bytes: 1, 2, 4 or 8"),
        Param("fill", "of every byte where nothing is put: 0, or the zero point"),
    ),
    record=_max_unpool_record,
)

SPATIAL = (RESAMPLE, MAX_POOL_WITH_INDICES, MAX_UNPOOL)
