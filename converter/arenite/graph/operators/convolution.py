"""Conv, DepthwiseConv: two-dimensional, NHWC; a one-dimensional one has W = 1. Numerics §3."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph.node import Node
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
from arenite.graph.operators.int4 import columns_bytes
from arenite.graph.operators.int4 import scratch_bytes as int4_scratch_bytes
from arenite.graph.operators.tap_pairs import scratch_bytes
from arenite.graph.operators.window_overlaps import conv_overlaps, depthwise_overlaps, is_by_strips
from arenite.graph.tensor import Tensor

WINDOW = (
    Attribute("strides", "(h, w)"),
    Attribute("dilations", "(h, w)"),
    Attribute("pads", "(top, left, bottom, right), not negative"),
)
IMAGE_PARAMS = (
    Param("batch", "images"),
    Param("in_h", ""),
    Param("in_w", ""),
    Param("in_c", ""),
    Param("out_h", ""),
    Param("out_w", ""),
    Param("out_c", ""),
    Param("kernel_h", ""),
    Param("kernel_w", ""),
    Param("stride_h", ""),
    Param("stride_w", ""),
    Param("dilation_h", ""),
    Param("dilation_w", ""),
    Param("pad_top", "rows of padding above the image"),
    Param("pad_left", "columns of padding left of it; what is needed below and right follows from out_h, out_w"),
)


def window_output(length: int, kernel: int, stride: int, dilation: int, before: int, after: int) -> int:
    """Positions of a window along one axis. Raises ValueError where not even one fits."""
    extent = (kernel - 1) * dilation + 1
    if length + before + after < extent:
        raise ValueError(f"a window of {extent} does not fit {length} + {before} + {after} padding")
    return (length + before + after - extent) // stride + 1


def window_shape(x: Shape, kernel: tuple[int, int], attributes: Attributes) -> tuple[int, int]:
    top, left, bottom, right = attributes["pads"]
    (stride_h, stride_w), (dilation_h, dilation_w) = attributes["strides"], attributes["dilations"]
    return (
        window_output(x[1], kernel[0], stride_h, dilation_h, top, bottom),
        window_output(x[2], kernel[1], stride_w, dilation_w, left, right),
    )


def image_record(node: Node, x: Tensor, y: Tensor, kernel: tuple[int, int]) -> Record:
    """The values of IMAGE_PARAMS."""
    a = node.attributes
    return {
        "batch": x.shape[0],
        "in_h": x.shape[1],
        "in_w": x.shape[2],
        "in_c": x.shape[3],
        "out_h": y.shape[1],
        "out_w": y.shape[2],
        "out_c": y.shape[3],
        "kernel_h": kernel[0],
        "kernel_w": kernel[1],
        "stride_h": a["strides"][0],
        "stride_w": a["strides"][1],
        "dilation_h": a["dilations"][0],
        "dilation_w": a["dilations"][1],
        "pad_top": a["pads"][0],
        "pad_left": a["pads"][1],
    }


def _conv_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, weight, group = given(inputs, 0).shape, given(inputs, 1).shape, attributes["group"]
    if len(x) != 4 or len(weight) != 4:
        raise ValueError(f"x{x} and weight{weight} must have four dimensions")
    if x[3] != weight[3] * group or weight[0] % group:
        raise ValueError(f"{x[3]} input channels do not fit weight{weight} in {group} groups")
    return (x[0], *window_shape(x, weight[1:3], attributes), weight[0])


def _conv_macs(inputs: Inputs, output: Shape) -> int:
    out, kernel_h, kernel_w, per_group = given(inputs, 1).shape
    return output[0] * output[1] * output[2] * out * kernel_h * kernel_w * per_group


def _conv_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    weight = given(inputs, 1)
    return {
        **image_record(node, given(inputs, 0), outputs[0], (weight.shape[1], weight.shape[2])),
        "group": node.attributes["group"],
        **_requantization(node),
    }


def _conv_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    weight = given(inputs, 1)
    kernel = (weight.shape[1], weight.shape[2])
    return {**image_record(node, given(inputs, 0), outputs[0], kernel), "group": node.attributes["group"], **clip_record(node)}


def _depthwise_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    weight = given(inputs, 1)
    return {**image_record(node, given(inputs, 0), outputs[0], (weight.shape[0], weight.shape[1])), **clip_record(node)}


def _requantization(node: Node) -> Record:
    names = ("input_zero_point", "output_zero_point", "shift")
    return {**{name: node.attributes[name] for name in names}, **clamp_record(node)}


def _depthwise_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, weight = given(inputs, 0).shape, given(inputs, 1).shape
    if len(x) != 4 or len(weight) != 3 or weight[2] % x[3]:
        raise ValueError(f"x{x} does not fit depthwise weight{weight}")
    return (x[0], *window_shape(x, (weight[0], weight[1]), attributes), weight[2])


def _depthwise_macs(inputs: Inputs, output: Shape) -> int:
    kernel_h, kernel_w, channels = given(inputs, 1).shape
    return output[0] * output[1] * output[2] * channels * kernel_h * kernel_w


def _depthwise_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    weight = given(inputs, 1)
    record = {**image_record(node, given(inputs, 0), outputs[0], (weight.shape[0], weight.shape[1])), **_requantization(node)}
    # Streams of pairs hold weights and biases times 2^shift: numerics.md §3.5, §3.7.
    return {**record, "shift": 0} if node.attributes.get("variant") in DEPTHWISE_CONV.streams else record


WINOGRAD_TILES = {"winograd_2": 2, "winograd_4": 4}
"""Outputs of a tile."""
PLANES = {"planes": 1, "planes_2": 2}
"""Strides."""
PLANES_BYTES = 896
"""Of scratch, unless one strip of two rows of outputs needs more."""


def _conv_scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    """arn_conv_paired_scratch of runtime_c/kernels/paired.h, arn_conv_winograd_scratch of winograd.h, arn_conv_int4_scratch of int4.h,
    arn_conv_int4_lanes_scratch of int4_lanes.h."""
    variant = str(node.attributes.get("variant"))
    if variant == "int4":
        return int4_scratch_bytes(given(inputs, 1).shape, node.attributes["group"])
    if variant in WINOGRAD_TILES:
        return _winograd_scratch(WINOGRAD_TILES[variant], given(inputs, 0).shape, outputs[0].shape, node.attributes["pads"][1])
    if variant not in ("paired", "int4_lanes"):
        return 0
    _, kernel_h, kernel_w, depth = given(inputs, 1).shape
    taps = kernel_h * kernel_w * depth
    columns = columns_bytes(taps) if variant == "int4_lanes" else 4 * fours(taps)
    if depth % 4 == 0:
        return columns
    width = (outputs[0].shape[2] - 1) * int(node.attributes["strides"][1]) + (kernel_w - 1) * int(node.attributes["dilations"][1]) + 1
    pitch = fours(width * given(inputs, 0).shape[3] + 3)
    return columns + kernel_h * pitch + (fours(taps) + 4 if variant == "int4_lanes" else kernel_h * 3 * kernel_w) + 4


def _winograd_scratch(tile: int, x: Shape, y: Shape, pad_left: int) -> int:
    (_, height, _, depth), pairs = x, -(-y[2] // (2 * tile))
    by_strips = is_by_strips(x, y, pad_left)
    kept = pad_left * height * depth if by_strips and pairs > 1 else 0
    pairs = 1 if by_strips else pairs
    return (2 * tile * pairs + 2) * depth + 4 * (tile + 2) * (pairs * 5 * depth + 8) + kept


def fours(taps: int) -> int:
    """As many taps as a stream stores for `taps`."""
    return (taps + 3) & ~3


def _depthwise_scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    """arn_depthwise_conv_planes_scratch of runtime_c/kernels/planes.h, arn_depthwise_conv_tap_pairs_scratch of tap_pairs.h."""
    if node.attributes.get("variant") == "tap_pairs":
        kernel_h, kernel_w, _ = given(inputs, 1).shape
        _, out_h, out_w, _ = outputs[0].shape
        return scratch_bytes((kernel_h, kernel_w), node.attributes["strides"], node.attributes["dilations"], (out_h, out_w))
    stride = PLANES.get(str(node.attributes.get("variant")), 0)
    if stride == 0:
        return 0
    _, out_h, out_w, _ = outputs[0].shape
    return (planes_strips(out_h, out_w, stride) * stride + 1) * _planes_pair_bytes(out_w, stride)


def planes_strips(out_h: int, out_w: int, stride: int) -> int:
    """Strips of two rows of outputs that `planes` computes together: arn_planes_strips of runtime_c/kernels/planes.h."""
    return max(1, min((out_h + 1) // 2, (PLANES_BYTES // _planes_pair_bytes(out_w, stride) - 1) // stride))


def _planes_pair_bytes(out_w: int, stride: int) -> int:
    return 16 * ((out_w - 1) * stride + 3)


_X = Operand("x", "[N, H, W, C]")
STORED_LINEAR = (
    Operand("bias", "int32[out], the input zero point folded in (`wide` and 16-bit activations: int64[out])", constant=True),
    Operand("multiplier", "int32[out] (`wide` and 16-bit activations: int32[out, 2], multiplier and right shift)", constant=True),
)
_REQUANTIZATION = (
    Param("input_zero_point", "what padding reads"),
    Param("output_zero_point", ""),
    Param("shift", "left shift of the accumulator, 0…30 (`wide`: 0)"),
    *CLAMP,
)

CONV = Operator(
    name="Conv",
    summary="Convolution, grouped or not, one- or two-dimensional",
    onnx=("Conv",),
    inputs=(
        _X,
        Operand("weight", "[out, kernel_h, kernel_w, C / group]"),
        Operand("bias", "[out]", optional=True),
    ),
    attributes=(*WINDOW, Attribute("group", "groups of channels"), CLIP),
    shape=_conv_shape,
    macs=_conv_macs,
    code=1,
    variants=("int8", "wide", "int16_steps", "int16_weights", "int4", "int4_lanes", "paired", "winograd_2", "winograd_4"),
    streams=("int4", "int4_lanes", "paired", "winograd_2", "winograd_4"),
    scratch=_conv_scratch,
    overlaps=conv_overlaps,
    stored=(_X, Operand("weight", "int8, OHWI", constant=True), *STORED_LINEAR),
    params=(*IMAGE_PARAMS, Param("group", "groups of channels"), *_REQUANTIZATION),
    record=_conv_record,
    typed=Form(
        ("float32",),
        (_X, Operand("weight", "OHWI"), Operand("bias", "[out]", optional=True)),
        (*IMAGE_PARAMS, Param("group", "groups of channels"), *REAL_CLIP),
        _conv_typed_record,
    ),
)

DEPTHWISE_CONV = Operator(
    name="DepthwiseConv",
    summary="Convolution with one input channel a group, and any number of outputs for it",
    onnx=("Conv",),
    inputs=(
        _X,
        Operand("weight", "[kernel_h, kernel_w, C · multiplier]; output c reads input c / multiplier"),
        Operand("bias", "[C · multiplier]", optional=True),
    ),
    attributes=(*WINDOW, CLIP),
    shape=_depthwise_shape,
    macs=_depthwise_macs,
    code=2,
    variants=("int8", "wide", "int16_steps", "int16_weights", "planes", "planes_2", "tap_pairs"),
    streams=("planes", "planes_2", "tap_pairs"),
    scratch=_depthwise_scratch,
    overlaps=depthwise_overlaps,
    stored=(_X, Operand("weight", "int8, HWC", constant=True), *STORED_LINEAR),
    params=(*IMAGE_PARAMS, *_REQUANTIZATION),
    record=_depthwise_record,
    typed=Form(
        ("float32",),
        (_X, Operand("weight", "HWC"), Operand("bias", "[C · multiplier]", optional=True)),
        (*IMAGE_PARAMS, *REAL_CLIP),
        _depthwise_typed_record,
    ),
)

CONVOLUTION = (CONV, DEPTHWISE_CONV)
