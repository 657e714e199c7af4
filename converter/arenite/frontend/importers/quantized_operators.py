"""Operators that compute on quantized tensors (QLinearConv, QGemm, QLinearAdd, …): what onnxruntime's quantizer writes as QOperator.

Each is DequantizeLinear, the float operator, QuantizeLinear, which is what INT8 arithmetic rounds once. Only the convolutions and matrix
products whose scales or weights are computed multiply integers at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from onnx import TensorProto

from arenite.frontend.arithmetic import binary
from arenite.frontend.importers.activation import softmax, unary
from arenite.frontend.importers.convolution import conv
from arenite.frontend.importers.elementwise import arithmetic
from arenite.frontend.importers.integer import product, qlinear_conv, qlinear_matmul, scaled_product
from arenite.frontend.importers.logic import where
from arenite.frontend.importers.matrix import gemm, matmul
from arenite.frontend.importers.movement import concat
from arenite.frontend.importers.pooling import average_pool, global_average_pool, reduce_mean
from arenite.frontend.importers.quantization import dequantize_linear, quantize_linear
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.rearrange import reshaped
from arenite.frontend.values import Constant, Operand, Value
from arenite.graph import Quantization

Convert = Callable[[NodeImport], Sequence[Value]]
Scaled = tuple[int, int, int]
"""Positions of a quantized operand, its scale and its zero point."""


@dataclass(frozen=True)
class Layout:
    """Where a quantized operator has its operands."""

    operands: tuple[Scaled, ...]
    result: tuple[int, int]
    """Positions of the result's scale and zero point."""


_ONE = Layout(((0, 1, 2),), (3, 4))
_TWO = Layout(((0, 1, 2), (3, 4, 5)), (6, 7))
LAYOUTS: Mapping[str, Layout] = {
    "QLinearConv": _TWO,
    "QLinearMatMul": _TWO,
    "com.microsoft.QGemm": Layout(((0, 1, 2), (3, 4, 5)), (7, 8)),
    "com.microsoft.QLinearAdd": _TWO,
    "com.microsoft.QLinearMul": _TWO,
    "com.microsoft.QLinearSigmoid": _ONE,
    "com.microsoft.QLinearLeakyRelu": _ONE,
    "com.microsoft.QLinearSoftmax": _ONE,
    "com.microsoft.QLinearAveragePool": _ONE,
    "com.microsoft.QLinearGlobalAveragePool": _ONE,
    "com.microsoft.QLinearReduceMean": _ONE,
    "com.microsoft.QLinearWhere": Layout(((1, 2, 3), (4, 5, 6)), (7, 8)),
}
"""By ONNX operator; QLinearConcat has any number of operands."""


def layout_of(operator: str, inputs: int) -> Layout | None:
    """None of an operator that is none of these."""
    if operator == "com.microsoft.QLinearConcat":
        return Layout(tuple((i, i + 1, i + 2) for i in range(2, inputs - 2, 3)), (0, 1))
    return LAYOUTS.get(operator)


def real(node: NodeImport, at: Scaled, axis: int = 0) -> Value:
    """The operand at these positions as float32; `axis` is the one that several scales are for."""
    return dequantize_linear(_part(node, at, {"axis": axis}))[0]


def rounded(node: NodeImport, y: Value, layout: Layout) -> Value:
    """y quantized as the result. Without a zero point it has the type of the first operand."""
    scale, zero_point = layout.result
    like = layout.operands[0]
    attributes = {}
    if not node.has(zero_point):
        signed = (node.has(like[2]) and node.dtype(node.value(like[2])).value == "int8") or node.input_types[like[0]] == TensorProto.INT8
        attributes["output_dtype"] = TensorProto.INT8 if signed else TensorProto.UINT8
    return quantize_linear(replace(_part(node, (scale, scale, zero_point), attributes), inputs=(y, *_inputs(node, scale, zero_point))))[0]


def _part(node: NodeImport, at: Scaled, attributes: Mapping[str, int]) -> NodeImport:
    """The node as one with these operands; scales of an axis came to DequantizeLinear later than to the operators here."""
    types = tuple(node.input_types[i] if i < len(node.input_types) else TensorProto.UNDEFINED for i in at)
    return replace(node, inputs=_inputs(node, *at), input_types=types, attributes=attributes, opset=max(node.opset, 13))


def _inputs(node: NodeImport, *at: int) -> tuple[Operand | None, ...]:
    return tuple(node.inputs[i] if i < len(node.inputs) else None for i in at)


def _are_constant(node: NodeImport, *at: int) -> bool:
    return all(isinstance(node.inputs[i], Constant) for i in at if node.has(i))


def _quantized(convert: Convert, operator: str | None = None, opset: int | None = None) -> Convert:
    """The float operator `convert` between DequantizeLinear and QuantizeLinear; `operator` and `opset` are those it is to see."""

    def run(node: NodeImport) -> Sequence[Value]:
        layout = layout_of(node.operator, len(node.inputs))
        assert layout is not None
        values = tuple(real(node, at) for at in layout.operands)
        first = min(at[0] for at in layout.operands)
        leading = node.inputs[:1] if first == 1 else ()  # the condition of QLinearWhere
        inner = replace(node, inputs=(*leading, *values), operator=operator or node.operator, opset=opset or node.opset)
        return [rounded(node, convert(inner)[0], layout)]

    return run


def q_linear_conv(node: NodeImport) -> Sequence[Value]:
    layout = LAYOUTS["QLinearConv"]
    if not _are_constant(node, 1, 2, 3, 4, 5, 6, 7, 8):
        return [_from_steps(node, qlinear_conv(node), 7, 2)]
    bias = (_real_bias(node, 8, 1, 4),) if node.has(8) else ()
    inner = replace(node, inputs=(real(node, (0, 1, 2)), real(node, (3, 4, 5)), *bias))
    return [rounded(node, conv(inner)[0], layout)]


def q_linear_matmul(node: NodeImport) -> Sequence[Value]:
    if not _are_constant(node, 1, 2, 4, 5, 6, 7) or node.shape(node.value(1)) not in ((), (1,)) or len(node.shape(node.value(4))) > 1:
        return [_from_steps(node, qlinear_matmul(node), 7, 2)]
    columns = max(len(node.shape(node.value(3))) - 1, 0)
    inner = replace(node, inputs=(real(node, (0, 1, 2)), real(node, (3, 4, 5), axis=columns)))
    return [rounded(node, matmul(inner)[0], LAYOUTS["QLinearMatMul"])]


def q_gemm(node: NodeImport) -> Sequence[Value]:
    """Without the result's scale it is float32."""
    if node.has(6) and not _are_constant(node, 1, 4, 6):
        node.refuse("its scales or its bias are computed", "make them constants and export again")
    alpha = float(node.attribute("alpha", 1.0))
    weight = real(node, (3, 4, 5), axis=0 if node.attribute("transB", 0) else 1)
    bias = (_real_bias(node, 6, 1, 4, alpha),) if node.has(6) else ()
    y = gemm(replace(node, inputs=(real(node, (0, 1, 2)), weight, *bias)))[0]
    return [rounded(node, y, LAYOUTS["com.microsoft.QGemm"]) if node.has(7) else y]


def _real_bias(node: NodeImport, bias: int, x_scale: int, weight_scale: int, factor: float = 1.0) -> Constant:
    """An int32 bias, of steps of s_x · s_w, formed in float64 and rounded once."""
    value, x, weight = (node.constant(i, "a scale or the bias") for i in (bias, x_scale, weight_scale))
    assert value is not None and x is not None and weight is not None
    scale = np.asarray(x.array, np.float64).reshape(-1) * np.asarray(weight.array, np.float64).reshape(-1) * factor
    steps = np.asarray(value.array, np.float64).reshape(-1)
    if scale.size not in (1, steps.size):
        node.malformed(f"{scale.size} scales do not fit a bias of {steps.size}")
    kept = np.asarray(scale, np.float32)
    zero = np.zeros(scale.shape, np.int32)
    quantization = Quantization.per_tensor(kept[0], 0) if scale.size == 1 else Quantization(kept, zero, 0)
    return Constant(value.name, (steps * scale).astype(np.float32), quantization)


def _from_steps(node: NodeImport, steps: str, zero_point: int, like: int) -> Value:
    """QuantizeLinear of numbers of output steps. Without a zero point the result has the type of the first operand's."""
    one = Constant(f"{node.name}/one", np.asarray(1, np.float32))
    to = node.dtype(node.value(zero_point if node.has(zero_point) else like)).value
    zero = node.value(zero_point) if node.has(zero_point) else None
    operands = [steps, node.add_constant(one), None if zero is None else _one_value(node, zero)]
    return node.emit("QuantizeLinear", operands, axis=0, block=0, to=to)


def _one_value(node: NodeImport, zero_point: Value) -> str:
    scalar = reshaped(node, zero_point, ())
    return node.add_constant(scalar) if isinstance(scalar, Constant) else scalar


# Pools of images whose channels are last


def _channels_last(convert: Convert) -> Convert:
    """What `convert` does to [N, C, …], done to [N, …, C] where the node says so."""

    def run(node: NodeImport) -> Sequence[Value]:
        if not node.attribute("channels_last", 0):
            return convert(node)
        x = node.activation(0)
        rank = len(node.shape(x))
        first = replace(node, inputs=(node.transpose(x, (0, rank - 1, *range(1, rank - 1))),))
        y = convert(first)[0]
        assert isinstance(y, str)
        return [node.transpose(y, (0, *range(2, rank), 1))]

    return run


def q_linear_softmax(node: NodeImport) -> Sequence[Value]:
    return _quantized(softmax, opset=int(node.attribute("opset", 13)))(node)


# Dynamic quantization, as onnxruntime fuses it


def matmul_integer_to_float(node: NodeImport) -> Sequence[Value]:
    """A, B, their scales, their zero points, bias."""
    y: Value = scaled_product(node, product(node, 0, 1, 4, 5), node.value(2), node.value(3), None)
    return [binary(node, "Add", y, node.value(6)) if node.has(6) else y]


def dynamic_quantize_matmul(node: NodeImport) -> Sequence[Value]:
    """A (float32), B, B's scale, B's zero point, bias."""
    x, scale, zero_point = node.results("DynamicQuantizeLinear", [node.activation(0)])
    bias = node.inputs[4] if node.has(4) else None
    operands = (x, node.inputs[1], scale, node.inputs[2], zero_point, node.inputs[3] if node.has(3) else None, bias)
    types = (TensorProto.UINT8, node.input_types[1], *(TensorProto.UNDEFINED,) * 5)
    return matmul_integer_to_float(replace(node, inputs=operands, input_types=types))


_SCALES = "scales constant or computed; int8 and uint8"
_MS = "com.microsoft"

QUANTIZED_OPERATORS = {
    "QLinearConv": Importer(q_linear_conv, f"{_SCALES}; as Conv, computed scales in up to two spatial dimensions"),
    "QLinearMatMul": Importer(q_linear_matmul, f"{_SCALES}, of rows and columns too; any ranks"),
    f"{_MS}.QGemm": Importer(q_gemm, "constant scales; float32 result too"),
    f"{_MS}.QLinearAdd": Importer(_quantized(arithmetic, "Add"), _SCALES),
    f"{_MS}.QLinearMul": Importer(_quantized(arithmetic, "Mul"), _SCALES),
    f"{_MS}.QLinearSigmoid": Importer(_quantized(unary, "Sigmoid"), _SCALES),
    f"{_MS}.QLinearLeakyRelu": Importer(_quantized(unary, "LeakyRelu"), _SCALES),
    f"{_MS}.QLinearSoftmax": Importer(q_linear_softmax, _SCALES),
    f"{_MS}.QLinearConcat": Importer(_quantized(concat), _SCALES),
    f"{_MS}.QLinearWhere": Importer(_quantized(where), _SCALES),
    f"{_MS}.QLinearReduceMean": Importer(_quantized(reduce_mean, opset=13), _SCALES),
    f"{_MS}.QLinearAveragePool": Importer(_quantized(_channels_last(average_pool)), _SCALES),
    f"{_MS}.QLinearGlobalAveragePool": Importer(_quantized(_channels_last(global_average_pool)), _SCALES),
    f"{_MS}.MatMulIntegerToFloat": Importer(matmul_integer_to_float, "as MatMulInteger"),
    f"{_MS}.DynamicQuantizeMatMul": Importer(dynamic_quantize_matmul, "as DynamicQuantizeLinear and MatMulInteger"),
}
