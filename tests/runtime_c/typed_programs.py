"""Programs of elements that are not quantized: float32 layers, two operands of every type, functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from arenite.emit import Program
from arenite.graph import DType

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder

CLIP = {"clip_min": -0.5, "clip_max": 6.0}


def spatial(b: ProgramBuilder) -> Program:
    """Layers with and without bias, pools, mean, softmax, a product."""

    def real(*shape: int) -> int:
        return b.activation(*shape, dtype=DType.FLOAT32)

    def numbers(*shape: int) -> int:
        return b.constant(b.random.standard_normal(shape).astype(np.float32))

    def image(x: int, y: int, kernel: tuple[int, int], **window: object) -> dict[str, object]:
        record = {**b.image(x, y, kernel), **window, **CLIP}
        return {name: value for name, value in record.items() if not name.startswith("activation")}

    padded = {"pad_top": 1, "pad_left": 1}
    x, c, g, d, s = real(2, 6, 5, 3), real(2, 3, 3, 6), real(2, 3, 2, 8), real(2, 3, 2, 16), real(2, 3, 2, 16)
    record = image(x, c, (3, 3), stride_h=2, stride_w=2, **padded, group=1)
    b.call("Conv", (x, numbers(6, 3, 3, 3), numbers(6)), c, "float32", **record)
    b.call("Conv", (c, numbers(8, 3, 2, 3), -1), g, "float32", **image(c, g, (3, 2), dilation_w=2, **padded, group=2))
    b.call("DepthwiseConv", (g, numbers(3, 3, 16), numbers(16)), d, "float32", **image(g, d, (3, 3), **padded))
    b.call("DepthwiseConv", (d, numbers(3, 3, 16), -1), s, "float32", **image(d, s, (3, 3), **padded))
    m, a = real(2, 2, 2, 16), real(2, 2, 2, 16)
    b.call("MaxPool", (s,), m, "float32", **image(s, m, (2, 2), **padded, dilation_h=2))
    record = image(m, a, (3, 3), **padded, pad_bottom=1, pad_right=1, count_include_pad=1)
    b.call("AveragePool", (m,), a, "float32", **record)
    r, f, y, product, z = real(2, 16), real(2, 9), real(2, 9), real(2, 9, 9), real(2, 9, 9)
    b.call("ReduceMean", (a,), r, "float32", outer=2, count=4, inner=16, **CLIP)
    dense = {"rows": 2, "in_features": 16, "out_features": 9, **CLIP}
    b.call("FullyConnected", (r, numbers(9, 16), numbers(9)), f, "float32", **dense)
    b.call("Softmax", (f,), y, "float32", rows=2, length=9)
    batch = {"batch": (1, 1, 2), "a_stride": (0, 0, 9), "b_stride": (0, 0, 9), "m": 9, "k": 1, "n": 9}
    b.call("MatMul", (f, y), product, "float32", **batch, **CLIP)
    b.call("PRelu", (product, numbers(9)), z, "float32", count=162, channels=9)
    return b.program([x], [z, r])


def elementwise(b: ProgramBuilder) -> Program:
    """Operators of two operands, one on the other's result, in every type; functions."""
    views = {"dims": (1, 1, 1, 1, 6, 4), "a_stride": (0, 0, 0, 0, 4, 1), "b_stride": (0, 0, 0, 0, 0, 1)}
    inputs, outputs = [], []
    for dtype in (DType.FLOAT32, DType.INT32, DType.INT64):
        x = b.activation(6, 4, dtype=dtype)
        inputs.append(x)
        row = b.constant(np.asarray([0, -1, 3, 1 << 20]).astype(dtype.numpy))
        for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", *(["Pow"] if dtype is DType.FLOAT32 else [])):
            x = b.call(op, (x, row), b.activation(6, 4, dtype=dtype), dtype.value, **views)
        outputs.append(x)
    x = outputs[0]
    for op, alpha, beta in (("Gelu", 1.0, 0.0), ("Clip", -3.0, 3.0), ("Mish", 0.0, 0.0), ("Selu", 1.7, 1.1), ("Sin", 0.0, 0.0)):
        x = b.call(op, (x,), b.activation(6, 4, dtype=DType.FLOAT32), "float32", count=24, alpha=alpha, beta=beta)
    return b.program(inputs, [x, *outputs[1:]])
