"""AffineGrid, GridSample, RoiAlign, DeformConv, Col2Im, CenterCropPad.

Specifications: ONNX GridSample, RoiAlign and DeformConv, version 22; AffineGrid, version 20; Col2Im and CenterCropPad, version 18.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.importers.window import window
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.rearrange import stored, weights
from arenite.frontend.values import Constant, Value
from arenite.graph import DType
from arenite.graph.operators import UNBOUNDED
from arenite.graph.operators.sampling import INTERPOLATION, MOST_SAMPLES, PADDING


def affine_grid(node: NodeImport) -> Sequence[Value]:
    """Positions along each axis times their column of theta, and the last column: a sum of small broadcast products."""
    theta = node.activation(0)
    size = node.integers(1, "size") or ()
    shape = node.graph.tensors[theta].shape
    rank = len(size) - 2
    if rank not in (2, 3) or shape != (size[0], rank, rank + 1):
        node.malformed(f"theta {list(shape)} does not fit size {list(size)}")
    batch, spatial = size[0], size[2:]

    def column(index: int) -> str:
        part = node.emit("Slice", [theta], starts=(0, 0, index), steps=(1, 1, 1), sizes=(batch, rank, 1))
        return node.reshape(part, (batch, *(1,) * rank, rank))

    grid = column(rank)
    for axis, count in enumerate(spatial):
        if node.attribute("align_corners", 0):
            at = np.linspace(-1, 1, count) if count > 1 else np.asarray([-1.0])
        else:
            at = (2 * np.arange(count) + 1) / count - 1
        place = at.astype(np.float32).reshape(1, *(count if d == axis else 1 for d in range(rank)), 1)
        positions = node.add_constant(Constant(f"{node.name}/positions_{axis}", place))
        term = node.emit("Mul", [positions, column(rank - 1 - axis)], clip=UNBOUNDED)
        grid = node.emit("Add", [term, grid], clip=UNBOUNDED)
    return [grid]


def grid_sample(node: NodeImport) -> Sequence[Value]:
    x, grid = node.activation(0), node.activation(1)
    if len(node.graph.tensors[x].shape) > 5:
        node.refuse(f"the input {list(node.graph.tensors[x].shape)} has more than three spatial dimensions", "sample a volume at most")
    mode = node.attribute("mode", "linear")
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)  # names of version 16
    padding = node.attribute("padding_mode", "zeros")
    for name, value, known in (("mode", mode, INTERPOLATION), ("padding_mode", padding, PADDING)):
        if value not in known:
            node.refuse(f"{name} is {value!r}", f"use one of {', '.join(known)}")
    align = bool(node.attribute("align_corners", 0))
    return [node.emit("GridSample", [x, grid], mode=mode, padding_mode=padding, align_corners=align)]


def roi_align(node: NodeImport) -> Sequence[Value]:
    x, rois, batch = node.activation(0), node.activation(1), node.tensor(2)
    if node.graph.tensors[batch].dtype is not DType.INT64:
        node.malformed(f"batch_indices are {node.graph.tensors[batch].dtype.value} instead of int64")
    usual = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    coordinates, mode = node.attribute("coordinate_transformation_mode", usual), node.attribute("mode", "avg")
    ratio = int(node.attribute("sampling_ratio", 0))
    if coordinates not in ("half_pixel", "output_half_pixel") or mode not in ("avg", "max"):
        node.refuse(f"mode is {mode!r}, coordinate_transformation_mode {coordinates!r}", "use avg or max, half_pixel or output_half_pixel")
    if not 0 <= ratio <= MOST_SAMPLES:
        node.refuse(f"sampling_ratio is {ratio}", f"use 0 to {MOST_SAMPLES}")
    attributes = {
        "output_height": int(node.attribute("output_height", 1)),
        "output_width": int(node.attribute("output_width", 1)),
        "sampling_ratio": ratio,
        "half_pixel": coordinates == "half_pixel",
        "mode": mode,
        "spatial_scale": float(node.attribute("spatial_scale", 1.0)),
    }
    return [node.emit("RoiAlign", [x, rois, batch], **attributes)]


def deform_conv(node: NodeImport) -> Sequence[Value]:
    x, weight, offset = node.activation(0), stored(node, weights(node, 1, "the weight")), node.activation(2)
    shape, filters = node.graph.tensors[x].shape, node.graph.tensors[weight].shape
    if len(shape) != 4 or len(filters) != 4:
        node.refuse(f"the input {list(shape)} has {len(shape) - 2} spatial dimensions", "only two-dimensional DeformConv is supported")
    bias = stored(node, weights(node, 3, "the bias")) if node.has(3) else None
    mask = node.activation(4) if node.has(4) else None
    if bias is not None and node.graph.tensors[bias].shape != filters[:1]:
        node.malformed(f"the bias {list(node.graph.tensors[bias].shape)} does not fit {filters[0]} output channels")
    axes = window(node, shape[2:], filters[2:])
    y = node.emit(
        "DeformConv",
        [x, weight, offset, bias, mask],
        strides=tuple(axis.stride for axis in axes),
        dilations=tuple(axis.dilation for axis in axes),
        pads=(*(axis.before for axis in axes), *(axis.after for axis in axes)),
        group=int(node.attribute("group", 1)),
        offset_group=int(node.attribute("offset_group", 1)),
    )
    wanted = tuple(axis.positions(size) for axis, size in zip(axes, shape[2:], strict=True))
    if node.graph.tensors[y].shape[2:] != wanted:
        node.malformed(f"offset {list(node.graph.tensors[offset].shape)} does not fit {list(wanted)} positions of the window")
    return [y]


def col2im(node: NodeImport) -> Sequence[Value]:
    x = node.activation(0)
    image, block = node.integers(1, "image_shape") or (), node.integers(2, "block_shape") or ()
    rank = len(image)
    if not 1 <= rank <= 3 or len(block) != rank or min((*image, *block)) < 1:
        node.refuse(f"image_shape {list(image)} and block_shape {list(block)}", "use one to three positive dimensions")
    strides, dilations, pads = node.ints("strides", (1,) * rank), node.ints("dilations", (1,) * rank), node.ints("pads", (0,) * 2 * rank)
    if len(strides) != rank or len(dilations) != rank or len(pads) != 2 * rank or min((*strides, *dilations)) < 1 or min(pads) < 0:
        node.malformed(f"strides {list(strides)}, dilations {list(dilations)} and pads {list(pads)} do not fit {rank} dimensions")
    return [node.emit("Col2Im", [x], image_shape=image, block_shape=block, strides=strides, dilations=dilations, pads=pads)]


def center_crop_pad(node: NodeImport) -> Sequence[Value]:
    """The odd element is cut off behind, and added behind."""
    x = node.tensor(0)
    shape = node.graph.tensors[x].shape
    rank = len(shape)
    wanted = node.integers(1, "shape") or ()
    axes = [node.axis(axis, rank) for axis in node.ints("axes", range(rank))]
    if len(wanted) != len(axes) or min(wanted, default=1) < 1:
        node.malformed(f"shape {list(wanted)} does not fit axes {axes}")
    target = list(shape)
    for axis, size in zip(axes, wanted, strict=True):
        target[axis] = size
    starts = tuple(max(0, (n - size) // 2) for n, size in zip(shape, target, strict=True))
    kept = tuple(min(n, size) for n, size in zip(shape, target, strict=True))
    if kept != shape:
        x = node.emit("Slice", [x], starts=starts, steps=(1,) * rank, sizes=kept)
    before = tuple((size - n) // 2 for n, size in zip(kept, target, strict=True))
    after = tuple(size - n - first for n, size, first in zip(kept, target, before, strict=True))
    return [node.emit("Pad", [x], pads=(*before, *after), value=0.0) if any((*before, *after)) else x]


SAMPLING = {
    "AffineGrid": Importer(affine_grid, "2-D and 3-D; constant size"),
    "GridSample": Importer(grid_sample, "up to 3-D; nearest, linear, cubic; zeros, border, reflection; align_corners"),
    "RoiAlign": Importer(roi_align, "avg, max; both coordinate transformations; at most 1,024 samples of a bin along an axis"),
    "DeformConv": Importer(deform_conv, "2-D; groups, groups of offsets, mask"),
    "Col2Im": Importer(col2im, "up to 3-D; constant shapes"),
    "CenterCropPad": Importer(center_crop_pad, "constant shape; axes; any type"),
}
