"""AffineGrid, GridSample, RoiAlign, Col2Im, CenterCropPad. (The kernels are compared in tests/kernels/test_spatial.py, where DeformConv is,
which onnxruntime does not have. They follow the reference implementation of GridSample where onnxruntime 1.32 does not: cubic with padding
border moves the position to the border, not each of the 16 elements; ONNX's text has "border values for out-of-bound grid locations".)"""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (1, 1, 3, 4, 5)])
def test_affine_grid(align, size, agree, values):
    rank = len(size) - 2
    node = helper.make_node("AffineGrid", ["t", "s"], ["y"], align_corners=align)
    oracles = ("onnxruntime", "reference")
    agree(node, {"t": values(size[0], rank, rank + 1)}, {"s": np.array(size)}, opset=20, oracles=oracles)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode, padding, agree, values):
    x, grid = values(2, 3, 5, 6), values(2, 4, 3, 2) * np.float32(1.3)
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding)
    agree(node, {"x": x, "g": grid}, opset=20, oracles=("onnxruntime",))
    old = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    agree(
        helper.make_node("GridSample", ["x", "g"], ["y"], mode=old, padding_mode=padding),
        {"x": x, "g": grid},
        opset=16,
        oracles=("onnxruntime",),
    )


@pytest.mark.parametrize(
    "how", [{}, {"mode": "max"}, {"sampling_ratio": 2}, {"coordinate_transformation_mode": "output_half_pixel"}], ids=str
)
def test_roi_align(how, agree, values):
    rois = np.array([[0, 0, 5, 4], [1.5, 2, 7, 6.5], [-1, 2, 3, 9]], np.float32)
    inputs = {"x": values(2, 3, 8, 9), "r": rois, "b": np.array([0, 1, 1])}
    node = helper.make_node("RoiAlign", ["x", "r", "b"], ["y"], output_height=2, output_width=3, spatial_scale=0.75, **how)
    agree(node, inputs, opset=16, oracles=("onnxruntime", "reference"))


def test_roi_align_of_opset_10(agree, values):
    """Its regions are not moved by half a pixel."""
    inputs = {"x": values(1, 2, 8, 8), "r": np.array([[0, 0, 5, 4]], np.float32), "b": np.array([0])}
    agree(helper.make_node("RoiAlign", ["x", "r", "b"], ["y"], output_height=2, output_width=2), inputs, opset=10, oracles=("onnxruntime",))


@pytest.mark.parametrize("how", [{}, {"strides": [2, 1]}, {"dilations": [1, 2]}, {"pads": [1, 0, 1, 2]}], ids=str)
def test_col2im(how, agree, values):
    image, block = (6, 7), (2, 3)
    pads, strides, dilations = how.get("pads", [0] * 4), how.get("strides", [1, 1]), how.get("dilations", [1, 1])
    columns = [(image[i] + pads[i] + pads[2 + i] - (block[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in (0, 1)]
    x = values(2, 3 * 6, columns[0] * columns[1])
    node = helper.make_node("Col2Im", ["x", "i", "b"], ["y"], **how)
    agree(node, {"x": x}, {"i": np.array(image), "b": np.array(block)}, opset=18, oracles=("onnxruntime", "reference"))


@pytest.mark.parametrize("shape", [(3, 4), (7, 9), (2, 10), (5, 6)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_center_crop_pad(shape, dtype, agree):
    x = np.arange(30).reshape(5, 6).astype(dtype)
    agree(helper.make_node("CenterCropPad", ["x", "s"], ["y"]), {"x": x}, {"s": np.array(shape)}, opset=18, oracles=("reference",))


def test_center_crop_pad_of_some_axes(agree, values):
    node = helper.make_node("CenterCropPad", ["x", "s"], ["y"], axes=[-1, 1])
    agree(node, {"x": values(2, 5, 6)}, {"s": np.array([8, 2])}, opset=18, oracles=("reference",))


def test_refusals(attempt, values):
    inputs = {"x": values(1, 1, 4, 4), "g": values(1, 2, 2, 2)}
    with pytest.raises(UnsupportedModelError, match="mode is 'area'"):
        attempt(helper.make_node("GridSample", ["x", "g"], ["y"], mode="area"), inputs, opset=20)
    with pytest.raises(ModelFileError, match="theta"):
        attempt(helper.make_node("AffineGrid", ["t", "s"], ["y"]), {"t": values(1, 2, 3)}, {"s": np.array([1, 1, 2, 3, 4])}, opset=20)
    offset = {"x": values(1, 1, 4, 4), "o": values(1, 8, 2, 3)}
    with pytest.raises(ModelFileError, match="does not fit"):
        attempt(helper.make_node("DeformConv", ["x", "w", "o"], ["y"]), offset, {"w": values(1, 1, 2, 2)}, opset=19)
