"""Operators that read or write at computed positions of an image or volume, channels first, float32: GridSample, RoiAlign, DeformConv,
Col2Im. Numerics §11.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import Tensor

INTERPOLATION = {"nearest": 0, "linear": 1, "cubic": 2}
PADDING = {"zeros": 0, "border": 1, "reflection": 2}


def volume(spatial: Sequence[int]) -> tuple[int, ...]:
    """Three spatial dimensions, those that are missing in front as 1. Raises ValueError for more."""
    if len(spatial) > 3:
        raise ValueError(f"{len(spatial)} spatial dimensions; at most three are supported")
    return (1,) * (3 - len(spatial)) + tuple(spatial)


def _grid_sample_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, grid = given(inputs, 0).shape, given(inputs, 1).shape
    if len(x) < 3 or len(grid) != len(x) or grid[-1] != len(x) - 2 or grid[0] != x[0]:
        raise ValueError(f"grid{grid} does not fit x{x}")
    volume(x[2:])
    return (*x[:2], *grid[1:-1])


def _grid_sample_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, grid, a = given(inputs, 0).shape, given(inputs, 1).shape, node.attributes
    return {
        "batch": x[0],
        "channels": x[1],
        "size": volume(x[2:]),
        "rank": len(x) - 2,
        "points": prod(grid[1:-1]),
        "mode": INTERPOLATION[a["mode"]],
        "padding": PADDING[a["padding_mode"]],
        "align_corners": int(a["align_corners"]),
    }


_GRID = (
    Operand("x", "[N, C, …], up to three spatial dimensions"),
    Operand("grid", "[N, …, rank]: positions from −1 to 1, last axis first"),
)

GRID_SAMPLE = Operator(
    name="GridSample",
    summary="Values of an image or volume at computed positions, interpolated",
    onnx=("GridSample",),
    inputs=_GRID,
    attributes=(
        Attribute("mode", "nearest, linear or cubic"),
        Attribute("padding_mode", "zeros, border or reflection"),
        Attribute("align_corners", "bool"),
    ),
    shape=_grid_sample_shape,
    code=163,
    variants=("float32",),
    stored=_GRID,
    params=(
        Param("batch", ""),
        Param("channels", ""),
        Param("size", "of x: depth, height, width", 3),
        Param("rank", "numbers of a position, 1…3"),
        Param("points", "positions of an image"),
        Param("mode", "0 nearest, 1 linear, 2 cubic"),
        Param("padding", "0 zeros, 1 border, 2 reflection"),
        Param("align_corners", "0 or 1"),
    ),
    record=_grid_sample_record,
)

MOST_SAMPLES = 1024
"""Of a RoiAlign bin along an axis."""


def _roi_align_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, rois, batch = given(inputs, 0).shape, given(inputs, 1).shape, given(inputs, 2).shape
    if len(x) != 4 or len(rois) != 2 or rois[1] != 4 or batch != rois[:1]:
        raise ValueError(f"rois{rois} and batch_indices{batch} do not fit x{x}")
    return (rois[0], x[1], attributes["output_height"], attributes["output_width"])


def _roi_align_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, y, a = given(inputs, 0).shape, outputs[0].shape, node.attributes
    if a["sampling_ratio"] > MOST_SAMPLES:
        raise ValueError(f"sampling_ratio {a['sampling_ratio']} is above {MOST_SAMPLES}")
    return {
        "batch": x[0],
        "channels": x[1],
        "in_h": x[2],
        "in_w": x[3],
        "regions": y[0],
        "out_h": y[2],
        "out_w": y[3],
        "sampling_ratio": a["sampling_ratio"],
        "half_pixel": int(a["half_pixel"]),
        "maximum": int(a["mode"] == "max"),
        "spatial_scale": a["spatial_scale"],
    }


_REGIONS = (
    Operand("x", "[N, C, H, W]"),
    Operand("rois", "[regions, 4]: left, top, right, bottom"),
    Operand("batch_indices", "int64[regions]"),
)

ROI_ALIGN = Operator(
    name="RoiAlign",
    summary="Regions of an image, pooled to one size by interpolated samples",
    onnx=("RoiAlign",),
    inputs=_REGIONS,
    attributes=(
        Attribute("output_height", ""),
        Attribute("output_width", ""),
        Attribute("sampling_ratio", "samples of a bin along each axis; 0: as many as it has pixels"),
        Attribute("half_pixel", "bool: regions are half a pixel further up and left"),
        Attribute("mode", "avg or max"),
        Attribute("spatial_scale", "float: from the regions' coordinates to those of x"),
    ),
    shape=_roi_align_shape,
    code=164,
    variants=("float32",),
    stored=_REGIONS,
    params=(
        Param("batch", ""),
        Param("channels", ""),
        Param("in_h", ""),
        Param("in_w", ""),
        Param("regions", ""),
        Param("out_h", ""),
        Param("out_w", ""),
        Param("sampling_ratio", f"0…{MOST_SAMPLES}; 0: adaptive, and no more than that"),
        Param("half_pixel", "0 or 1"),
        Param("maximum", "0 or 1: of the weighted corners, instead of the mean of the samples"),
        Param("spatial_scale", "", is_float=True),
    ),
    record=_roi_align_record,
)


def _deform_conv_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, weight, offset = given(inputs, 0).shape, given(inputs, 1).shape, given(inputs, 2).shape
    group, offset_group = attributes["group"], attributes["offset_group"]
    if len(x) != 4 or len(weight) != 4 or x[1] != weight[1] * group or weight[0] % group or x[1] % offset_group:
        raise ValueError(f"x{x} does not fit weight{weight} in {group} groups, {offset_group} groups of offsets")
    taps = weight[2] * weight[3]
    if len(offset) != 4 or offset[:2] != (x[0], offset_group * taps * 2):
        raise ValueError(f"offset{offset} does not fit weight{weight} in {offset_group} groups")
    mask = inputs[4] if len(inputs) > 4 else None
    if mask is not None and mask.shape != (x[0], offset_group * taps, *offset[2:]):
        raise ValueError(f"mask{mask.shape} does not fit offset{offset}")
    return (x[0], weight[0], *offset[2:])


def _deform_conv_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, weight, y, a = given(inputs, 0).shape, given(inputs, 1).shape, outputs[0].shape, node.attributes
    return {
        "batch": x[0],
        "in_c": x[1],
        "in_h": x[2],
        "in_w": x[3],
        "out_c": y[1],
        "out_h": y[2],
        "out_w": y[3],
        "kernel_h": weight[2],
        "kernel_w": weight[3],
        "stride_h": a["strides"][0],
        "stride_w": a["strides"][1],
        "dilation_h": a["dilations"][0],
        "dilation_w": a["dilations"][1],
        "pad_top": a["pads"][0],
        "pad_left": a["pads"][1],
        "group": a["group"],
        "offset_group": a["offset_group"],
    }


def _deform_conv_macs(inputs: Inputs, output: Shape) -> int:
    return prod(output) * prod(given(inputs, 1).shape[1:])


_DEFORMED = (
    Operand("x", "[N, C, H, W]"),
    Operand("weight", "[out, C / group, kernel_h, kernel_w]"),
    Operand("offset", "[N, offset_group · kernel_h · kernel_w · 2, out_h, out_w]: down, then to the right"),
    Operand("bias", "[out]", optional=True),
    Operand("mask", "[N, offset_group · kernel_h · kernel_w, out_h, out_w]: factors of the taps", optional=True),
)

DEFORM_CONV = Operator(
    name="DeformConv",
    summary="Convolution whose taps stand at computed positions, interpolated linearly",
    onnx=("DeformConv",),
    inputs=_DEFORMED,
    attributes=(
        Attribute("strides", "(h, w)"),
        Attribute("dilations", "(h, w)"),
        Attribute("pads", "(top, left, bottom, right)"),
        Attribute("group", "groups of channels"),
        Attribute("offset_group", "groups of channels with offsets of their own"),
    ),
    shape=_deform_conv_shape,
    macs=_deform_conv_macs,
    code=165,
    variants=("float32",),
    stored=_DEFORMED,
    params=tuple(
        Param(name, "")
        for name in (
            *("batch", "in_c", "in_h", "in_w", "out_c", "out_h", "out_w", "kernel_h", "kernel_w", "stride_h", "stride_w"),
            *("dilation_h", "dilation_w", "pad_top", "pad_left", "group", "offset_group"),
        )
    ),
    record=_deform_conv_record,
)


def _columns(attributes: Attributes) -> tuple[int, ...]:
    """Positions of the block along each axis of the image."""
    image, pads, rank = attributes["image_shape"], attributes["pads"], len(attributes["image_shape"])
    extents = [(block - 1) * dilation + 1 for block, dilation in zip(attributes["block_shape"], attributes["dilations"], strict=True)]
    room = [size + pads[i] + pads[rank + i] - extents[i] for i, size in enumerate(image)]
    return tuple(free // stride + 1 for free, stride in zip(room, attributes["strides"], strict=True))


def _col2im_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, image, block = given(inputs, 0).shape, attributes["image_shape"], attributes["block_shape"]
    volume(image)
    columns = _columns(attributes)
    if len(x) != 3 or x[1] % prod(block) or min(columns) < 1 or x[2] != prod(columns):
        raise ValueError(f"x{x} is not {prod(columns)} blocks {tuple(block)} of an image {tuple(image)}")
    return (x[0], x[1] // prod(block), *image)


def _front(values: Sequence[int], neutral: int) -> tuple[int, ...]:
    return (neutral,) * (3 - len(values)) + tuple(values)


def _col2im_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a, y = node.attributes, outputs[0].shape
    return {
        "planes": y[0] * y[1],
        "size": volume(y[2:]),
        "columns": volume(_columns(a)),
        "kernel": volume(a["block_shape"]),
        "stride": _front(a["strides"], 1),
        "dilation": _front(a["dilations"], 1),
        "pad": _front(a["pads"][: len(a["image_shape"])], 0),
    }


_COLUMNS = (Operand("x", "[N, C · elements of a block, blocks]"),)

COL2IM = Operator(
    name="Col2Im",
    summary="Blocks put side by side into an image, sums where they overlap",
    onnx=("Col2Im",),
    inputs=_COLUMNS,
    attributes=(
        Attribute("image_shape", "up to three dimensions"),
        Attribute("block_shape", ""),
        Attribute("strides", ""),
        Attribute("dilations", ""),
        Attribute("pads", "before each axis, then after each"),
    ),
    shape=_col2im_shape,
    code=166,
    variants=("float32",),
    stored=_COLUMNS,
    params=(
        Param("planes", "N · C"),
        Param("size", "of the image: depth, height, width", 3),
        Param("columns", "blocks along each axis", 3),
        Param("kernel", "of a block", 3),
        Param("stride", "", 3),
        Param("dilation", "", 3),
        Param("pad", "in front of the image", 3),
    ),
    record=_col2im_record,
)

SAMPLING = (GRID_SAMPLE, ROI_ALIGN, DEFORM_CONV, COL2IM)
