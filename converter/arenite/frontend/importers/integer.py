"""ConvInteger, MatMulInteger, DynamicQuantizeLinear: integers that stand for themselves, with zero points that may be computed.

QLinearConv and QLinearMatMul whose scales are computed are made of the same products.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from arenite.frontend.arithmetic import binary, cast
from arenite.frontend.importers.quantization import plain
from arenite.frontend.importers.window import channels_first, channels_last, image, plane, window
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.rearrange import reshaped, stored, transposed
from arenite.frontend.values import Constant, Value
from arenite.graph import DType
from arenite.graph.operators import UNBOUNDED

_BYTES = (DType.INT8, DType.UINT8)


def dynamic_quantize_linear(node: NodeImport) -> Sequence[Value]:
    return node.results("DynamicQuantizeLinear", [node.activation(0)])


def conv_integer(node: NodeImport) -> Sequence[Value]:
    return [convolution(node, 0, 1, 2, 3)]


def matmul_integer(node: NodeImport) -> Sequence[Value]:
    return [product(node, 0, 1, 2, 3)]


def convolution(node: NodeImport, x: int, weight: int, x_zero_point: int, weight_zero_point: int) -> str:
    """The convolution of operand `x` [N, C, …] with operand `weight`, less their zero points: int32, [N, out, …]."""
    source, zero = _operand(node, x, x_zero_point)
    filters, filter_zero = _operand(node, weight, weight_zero_point)
    shape, kernel = node.shape(source), node.shape(filters)[2:]
    axes = window(node, shape[2:], kernel)
    if len(axes) > 2:
        node.refuse(f"it convolves {len(axes)} spatial dimensions of integers", "quantize it in QDQ format, or leave it in float32")
    if node.ints("kernel_shape", kernel) != kernel:
        node.malformed(f"kernel_shape {list(node.ints('kernel_shape', ()))} is not that of the weight, {list(kernel)}")
    out, depth = node.shape(filters)[:2]
    height, width = (*kernel, 1)[:2]
    ordered = stored(node, transposed(node, reshaped(node, filters, (out, depth, height, width)), (0, 2, 3, 1)))
    pixels = image(node, channels_last(node, stored(node, source)), len(axes))
    zeros = [None if value is None else stored(node, _flat(node, value)) for value in (zero, filter_zero)]
    y = node.emit("ConvInteger", [pixels, ordered, *zeros], **plane(axes), group=int(node.attribute("group", 1)))
    batch, *spatial, _ = node.graph.tensors[y].shape
    return channels_first(node, node.reshape(y, (batch, *spatial[: len(axes)], out)))


def product(node: NodeImport, a: int, b: int, a_zero_point: int, b_zero_point: int) -> str:
    """The matrix product of operands `a` and `b`, less their zero points: int32. A vector is one row of A or one column of B."""
    (left, a_zero), (right, b_zero) = _operand(node, a, a_zero_point), _operand(node, b, b_zero_point)
    if not node.shape(left) or not node.shape(right):
        node.malformed("an input is a scalar")
    a_vector, b_vector = len(node.shape(left)) == 1, len(node.shape(right)) == 1
    left = reshaped(node, left, (1, *node.shape(left))) if a_vector else left
    right = reshaped(node, right, (*node.shape(right), 1)) if b_vector else right
    zeros = [_along(node, a_zero, -2), _along(node, b_zero, -1)]
    y = node.emit("MatMulInteger", [stored(node, left), stored(node, right), *zeros])
    shape = list(node.graph.tensors[y].shape)
    if b_vector:
        del shape[-1]
    if a_vector:
        del shape[-1 if b_vector else -2]
    return node.reshape(y, shape)


def _operand(node: NodeImport, index: int, zero_point: int) -> tuple[Value, Value | None]:
    """Elements and zero points, None where those are absent or 0."""
    zero = node.value(zero_point) if node.has(zero_point) else None
    value = node.value(index)
    if isinstance(value, str):
        given = zero if zero is not None else value
        unsigned = node.dtype(given) is DType.UINT8 if zero is not None else node.input_types[index] == TensorProto.UINT8
        value = plain(node, value, unsigned=unsigned)
    dtype = node.dtype(value)
    if dtype not in _BYTES:
        node.malformed(f"input {index} is {dtype.value}, not int8 or uint8")
    if zero is not None and node.dtype(zero) is not dtype:
        node.malformed(f"input {zero_point}, a zero point, is {node.dtype(zero).value}, its elements are {dtype.value}")
    if isinstance(zero, Constant) and not np.any(zero.array):
        zero = None
    return value, zero


def _flat(node: NodeImport, value: Value) -> Value:
    return reshaped(node, value, (int(np.prod(node.shape(value))),))


def _along(node: NodeImport, zero_point: Value | None, axis: int) -> str | None:
    """Zero points (or scales) of rows (axis −2) or columns (−1), of one each or of matrices, as they broadcast against the matrices."""
    if zero_point is None:
        return None
    shape = node.shape(zero_point)
    if len(shape) < 2:
        count = int(np.prod(shape))
        shape = (count, 1) if axis == -2 else (1, count)
    return stored(node, reshaped(node, zero_point, shape))


# With scales


def qlinear_conv(node: NodeImport) -> str:
    """QLinearConv as float32 numbers of output steps, scales being computed: acc · (s_x · s_w / s_y)."""
    acc = convolution(node, 0, 3, 2, 5)
    rank, channels = len(node.shape(acc)), node.shape(acc)[1]
    if node.has(8):
        bias = reshaped(node, node.value(8), (1, channels, *(1,) * (rank - 2)))
        acc = binary(node, "Add", acc, bias)
    scale = _ratio(node, _flat(node, node.value(1)), _flat(node, node.value(4)), _flat(node, node.value(6)))
    return node.emit("DequantizeLinear", [acc, scale, None], axis=1, block=0)


def qlinear_matmul(node: NodeImport) -> str:
    """QLinearMatMul alike."""
    return scaled_product(node, product(node, 0, 3, 2, 5), node.value(1), node.value(4), _flat(node, node.value(6)))


def scaled_product(node: NodeImport, acc: str, a_scale: Value, b_scale: Value, y_scale: Value | None) -> str:
    """acc · (s_a · s_b / s_y): scales are one each, of rows and columns, or of matrices."""
    if all(int(np.prod(node.shape(scale))) == 1 for scale in (a_scale, b_scale)):
        scale = _ratio(node, _flat(node, a_scale), _flat(node, b_scale), y_scale)
        return node.emit("DequantizeLinear", [acc, scale, None], axis=0, block=0)
    rows, columns = _along(node, a_scale, -2), _along(node, b_scale, -1)
    assert rows is not None and columns is not None
    scale = _ratio(node, rows, columns, y_scale)
    real = cast(node, acc, DType.FLOAT32)
    return node.emit("Mul", [str(real), node.to_rank(scale, len(node.shape(real)))], clip=UNBOUNDED)


def _ratio(node: NodeImport, a: Value, b: Value, y: Value | None) -> str:
    """s_a · s_b / s_y in float32."""
    scale = binary(node, "Mul", a, b)
    return scale if y is None else binary(node, "Div", scale, y)


_TYPES = "int8 and uint8, zero points constant or computed"

INTEGER = {
    "ConvInteger": Importer(conv_integer, f"one or two spatial dimensions, groups, dilations, pads; {_TYPES}"),
    "MatMulInteger": Importer(matmul_integer, f"any ranks; {_TYPES}, of rows and columns too"),
    "DynamicQuantizeLinear": Importer(dynamic_quantize_linear, "in INT8 layers behind it are calibrated and keep their weights' scales"),
}
