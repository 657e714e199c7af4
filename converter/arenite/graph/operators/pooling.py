"""MaxPool, AveragePool, ReduceMean. Numerics §7, §8."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.convolution import IMAGE_PARAMS, WINDOW, image_record, window_output
from arenite.graph.operators.declaration import (
    CLAMP,
    CLIP,
    REAL_CLIP,
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
    clip_record,
    given,
)
from arenite.graph.operators.linear_overlaps import reduce_mean_overlaps
from arenite.graph.operators.window_overlaps import average_pool_overlaps, max_pool_overlaps
from arenite.graph.tensor import Tensor


def _pool_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x = given(inputs, 0).shape
    if len(x) != 4:
        raise ValueError(f"x{x} must have four dimensions")
    top, left, bottom, right = attributes["pads"]
    more_h, more_w = attributes["overhang"]
    (kernel_h, kernel_w), (stride_h, stride_w) = attributes["kernel"], attributes["strides"]
    dilation_h, dilation_w = attributes["dilations"]
    return (
        x[0],
        window_output(x[1], kernel_h, stride_h, dilation_h, top, bottom + more_h),
        window_output(x[2], kernel_w, stride_w, dilation_w, left, right + more_w),
        x[3],
    )


def _max_pool_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**image_record(node, given(inputs, 0), outputs[0], node.attributes["kernel"]), **clamp_record(node)}


def _max_pool_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**image_record(node, given(inputs, 0), outputs[0], node.attributes["kernel"]), **clip_record(node)}


_MEAN = ("input_zero_point", "output_zero_point", "multiplier", "shift")
_MEAN_PARAMS = (
    Param("input_zero_point", ""),
    Param("output_zero_point", ""),
    Param("multiplier", "m < 2^22; 1 where the scales are equal"),
    Param("shift", "left shift of the count, 0…30; 0 where the scales are equal"),
    *CLAMP,
)


def _mean(node: Node) -> Record:
    return {**{name: node.attributes[name] for name in _MEAN}, **clamp_record(node)}


def _average_pool_window(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {
        **image_record(node, given(inputs, 0), outputs[0], a["kernel"]),
        "pad_bottom": a["pads"][2],
        "pad_right": a["pads"][3],
        "count_include_pad": int(a["count_include_pad"]),
    }


def _average_pool_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**_average_pool_window(node, inputs, outputs), **_mean(node)}


def _average_pool_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**_average_pool_window(node, inputs, outputs), **clip_record(node)}


def _reduce_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, axes = given(inputs, 0).shape, attributes["axes"]
    if attributes["keepdims"]:
        return tuple(1 if axis in axes else size for axis, size in enumerate(x))
    return tuple(size for axis, size in enumerate(x) if axis not in axes)


def _reduce_extents(node: Node, inputs: Inputs) -> Record:
    x, axes = given(inputs, 0).shape, node.attributes["axes"]
    wide = [axis for axis in axes if x[axis] > 1] or list(axes[:1])
    first, last = wide[0], wide[-1]
    if any(x[axis] > 1 and axis not in axes for axis in range(first, last + 1)):
        raise ValueError(f"axes {axes} of {x} are not neighbours")  # the passes put a Transpose in front
    return {"outer": prod(x[:first]), "count": prod(x[first : last + 1]), "inner": prod(x[last + 1 :])}


def _reduce_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**_reduce_extents(node, inputs), **_mean(node)}


def _reduce_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**_reduce_extents(node, inputs), **clip_record(node)}


_X = Operand("x", "[N, H, W, C]")
_AVERAGE_WINDOW = (
    *IMAGE_PARAMS,
    Param("pad_bottom", "rows of padding below, for count_include_pad"),
    Param("pad_right", ""),
    Param("count_include_pad", "0 or 1"),
)
_EXTENTS = (Param("outer", ""), Param("count", "elements of a mean"), Param("inner", ""))
_POOL = (
    Attribute("kernel", "(h, w)"),
    *WINDOW,
    Attribute("overhang", "(h, w): positions beyond the padding that only ceil_mode adds, below and right; never counted"),
)

MAX_POOL = Operator(
    name="MaxPool",
    summary="Maximum of a window; padding never wins",
    onnx=("MaxPool", "GlobalMaxPool"),
    inputs=(_X,),
    attributes=(*_POOL, CLIP),
    shape=_pool_shape,
    code=11,
    variants=("int8", "int16_steps"),
    stored=(_X,),
    params=(*IMAGE_PARAMS, *CLAMP),
    record=_max_pool_record,
    overlaps=max_pool_overlaps,
    typed=Form(("float32", "uint8", "plain_int8"), (_X,), (*IMAGE_PARAMS, *REAL_CLIP), _max_pool_typed_record),
)

AVERAGE_POOL = Operator(
    name="AveragePool",
    summary="Mean of a window",
    onnx=("AveragePool",),
    inputs=(_X,),
    attributes=(*_POOL, Attribute("count_include_pad", "bool: padding counts as zeros"), CLIP),
    shape=_pool_shape,
    code=12,
    variants=("int8", "int16_steps"),
    stored=(_X,),
    params=(*_AVERAGE_WINDOW, *_MEAN_PARAMS),
    record=_average_pool_record,
    overlaps=average_pool_overlaps,
    typed=Form(("float32",), (_X,), (*_AVERAGE_WINDOW, *REAL_CLIP), _average_pool_typed_record),
)

REDUCE_MEAN = Operator(
    name="ReduceMean",
    summary="Mean over axes, which are neighbours (dimensions of 1 aside) in the int8 form",
    onnx=("ReduceMean", "GlobalAveragePool"),
    inputs=(Operand("x", "any shape"),),
    attributes=(Attribute("axes", "ascending, not negative"), Attribute("keepdims", "bool"), CLIP),
    shape=_reduce_shape,
    code=13,
    variants=("int8", "int16_steps"),
    stored=(Operand("x", "[outer, count, inner]"),),
    params=(*_EXTENTS, *_MEAN_PARAMS),
    record=_reduce_record,
    overlaps=reduce_mean_overlaps,
    typed=Form(("float32",), (Operand("x", "[outer, count, inner]"),), (*_EXTENTS, *REAL_CLIP), _reduce_typed_record),
)

POOLING = (MAX_POOL, AVERAGE_POOL, REDUCE_MEAN)
