"""Nodes of random models between images of different sizes (Resize, ConvTranspose, MaxUnpool, LpPool), and products of two values."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from differential.builder import MAX_ELEMENTS, Builder, Grow
from hypothesis import strategies as st
from onnx import helper


def resize(b: Builder, x: str) -> bool:
    """Where onnxruntime follows the specification."""
    shape = b.shapes[x]
    if len(shape) not in (3, 4):
        return False
    mode = b.draw(st.sampled_from(["nearest", "linear", "cubic"] if len(shape) == 4 else ["nearest", "linear"]))
    if mode == "nearest":
        scales = [1.0, 1.0, *(float(b.integer(1, 3)) for _ in shape[2:])]
        attributes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    else:
        scales = [1.0, 1.0, *(b.draw(st.sampled_from([0.5, 1.0, 1.5, 2.0])) for _ in shape[2:])]
        attributes = {"coordinate_transformation_mode": b.draw(st.sampled_from(["half_pixel", "asymmetric", "align_corners"]))}
    output = tuple(int(n * scale) for n, scale in zip(shape, scales, strict=True))
    if min(output) < 1 or prod(output) > MAX_ELEMENTS:
        return False
    if attributes["coordinate_transformation_mode"] == "align_corners" and any(n * s % 1 for n, s in zip(shape, scales, strict=True)):
        return False  # ONNX's tests and onnxruntime differ about the width
    b.emit("Resize", [x, "", b.constant(np.asarray(scales, np.float32))], output, mode=mode, **attributes)
    return True


def conv_transpose(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) not in (3, 4):
        return False
    channels, spatial = shape[1], shape[2:]
    group = b.draw(st.sampled_from([g for g in range(1, channels + 1) if channels % g == 0]))
    each = b.integer(1, 3)
    kernel, strides, dilations = ([b.integer(1, most) for _ in spatial] for most in (4, 3, 2))
    extents = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    extra = [b.integer(0, s - 1) for s in strides]  # onnxruntime takes no more
    pads = [b.integer(0, min(2, e - 1)) for e in extents * 2]
    rank = len(spatial)
    output = tuple(strides[i] * (spatial[i] - 1) + extra[i] + extents[i] - pads[i] - pads[rank + i] for i in range(rank))
    if min(output) < 1 or group * each * prod(output) > MAX_ELEMENTS:
        return False
    inputs = [x, b.weights(channels, each, *kernel, spread=False)]
    if b.draw(st.booleans()):
        inputs.append(b.weights(group * each))
    window: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "output_padding": extra}
    b.emit("ConvTranspose", inputs, (shape[0], group * each, *output), group=group, **window)
    return True


def unpool(b: Builder, x: str) -> bool:
    """MaxPool with indices, and MaxUnpool. Of odd sizes the indices would count in another image than MaxUnpool infers."""
    shape = b.shapes[x]
    if len(shape) != 4 or any(n % 2 for n in shape[2:]):
        return False
    window: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    pooled = (*shape[:2], *(n // 2 for n in shape[2:]))
    values, indices = f"v{len(b.nodes)}", f"v{len(b.nodes)}_i"
    b.nodes.append(helper.make_node("MaxPool", [x], [values, indices], name=f"maxpool_{len(b.nodes)}", **window))
    b.shapes[values] = pooled
    whole = b.constant(np.asarray(shape, np.int64))
    b.emit("MaxUnpool", [values, indices, whole], shape, **window)
    return True


def lp_pool(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) != 4 or min(shape[2:]) < 2:
        return False
    b.emit("LpPool", [x], (*shape[:2], *(n - 1 for n in shape[2:])), kernel_shape=[2, 2], p=2)
    return True


def matmul_of_two(b: Builder, x: str) -> bool:
    """With a transpose of itself: leading dimensions are broadcast."""
    shape = b.shapes[x]
    if len(shape) < 3 or shape[-2] ** 2 * prod(shape[:-2]) > MAX_ELEMENTS:
        return False
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    turned = b.emit("Transpose", [x], tuple(shape[i] for i in order), perm=order)
    if len(shape) == 4 and b.draw(st.booleans()):  # the first of the matrices for all of them
        starts, ends, axes = (b.constant(np.asarray([v], np.int64)) for v in (0, 1, 1))
        turned = b.emit("Slice", [turned, starts, ends, axes], (shape[0], 1, shape[3], shape[2]))
    b.emit("MatMul", [x, turned], (*shape[:-1], shape[-2]))
    return True


def gemm_of_three(b: Builder, x: str) -> bool:
    """A, B and C are all computed."""
    shape = b.shapes[x]
    if len(shape) != 2 or shape[1] > 45:
        return False
    column = b.emit("Transpose", [x], shape[::-1], perm=[1, 0])
    b.emit("Gemm", [column, x, x], (shape[1], shape[1]), alpha=0.5, beta=b.draw(st.sampled_from([1.0, 0.25])))
    return True


def einsum(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) != 3 or shape[0] * shape[1] ** 2 > MAX_ELEMENTS:
        return False
    b.emit("Einsum", [x, x], (shape[0], shape[1], shape[1]), equation="bik,bjk->bij")
    return True


SPATIAL: tuple[Grow, ...] = (resize, resize, conv_transpose, conv_transpose, unpool, lp_pool, matmul_of_two, gemm_of_three, einsum)
