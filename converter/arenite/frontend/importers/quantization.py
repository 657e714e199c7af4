"""QuantizeLinear, DequantizeLinear: how a QDQ graph says which scales it wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Quantization

_REEXPORT = "quantize to int8 or uint8 with one scale a tensor or an output channel"


def quantize_linear(node: NodeImport) -> Sequence[Value]:
    scale = node.weights(1, "the scale")
    unsigned = _check(node, node.attribute("output_dtype", 0) or TensorProto.UINT8, scale)
    value = node.value(0)
    if isinstance(value, Constant):
        return [_quantized_constant(node, value, scale, unsigned)]
    if scale.array.size != 1:
        node.refuse(
            f"the scale has {scale.array.size} values, one a channel, for an activation", "quantize activations with one scale a tensor"
        )
    x = node.activation(0)
    return [node.emit("Quantize", [x], dtype=DType.INT8, quantization=_per_tensor(node, scale, unsigned))]


def dequantize_linear(node: NodeImport) -> Sequence[Value]:
    scale = node.weights(1, "the scale")
    value = node.value(0)
    if isinstance(value, Constant):
        _check(node, None, scale)
        return [_dequantized_constant(node, value, scale)]
    unsigned = _check(node, None, scale)
    if scale.array.size != 1:
        node.refuse(
            f"the scale has {scale.array.size} values, one a channel, for an activation", "quantize activations with one scale a tensor"
        )
    return [dequantize(node, value, _per_tensor(node, scale, unsigned))]


def dequantize(node: NodeImport, x: str, quantization: Quantization) -> str:
    """A Dequantize node behind an int8 tensor; an input of the graph learns its scale here."""
    tensor = node.graph.tensors[x]
    if tensor.dtype is not DType.INT8:
        node.malformed(f"its input {x} is {tensor.dtype.value}")
    if tensor.quantization is None:
        node.graph.tensors[x] = replace(tensor, quantization=quantization)
    elif not tensor.quantization.same_as(quantization):
        node.refuse(
            f"{x} was quantized with {_describe(tensor.quantization)}, but is dequantized with {_describe(quantization)}",
            "give QuantizeLinear and DequantizeLinear of a tensor the same scale and zero point",
        )
    return node.emit("Dequantize", [x])


def _describe(q: Quantization) -> str:
    return f"scale {float(q.scale):.6g}, zero point {int(q.zero_point)} (as int8)"


IDENTITY_CAST = {DType.INT8: Quantization.per_tensor(1.0, 0), DType.UINT8: Quantization.per_tensor(1.0, -128)}
"""What Cast of an int8 or uint8 input to float amounts to."""


def _check(node: NodeImport, default: int | None, scale: Constant) -> bool:
    """Refuse what no kernel does. True where the quantized type is uint8."""
    if "axis" in node.attributes and node.opset < 13:
        node.problem(
            f"the attribute axis={node.attribute('axis')} does not exist in opset {node.opset} (it came with opset 13)",
            "convert the float model with onnx.version_converter.convert_version(model, 13) and quantize that",
        )
    elif node.opset < 13 and scale.array.size != 1:
        node.problem(
            f"the scale has {scale.array.size} values, but opset {node.opset} knows one a tensor only", "export with opset 13 or later"
        )
    if node.attribute("block_size", 0):
        node.problem(f"block_size={node.attribute('block_size')}: scales of blocks", _REEXPORT)
    if node.attribute("precision", 0) not in (0, TensorProto.FLOAT):
        node.problem(f"precision={node.attribute('precision')}: another type than float32 for the division", "leave precision out")
    if scale.array.ndim > 1 and scale.array.size > 1:
        node.problem(f"the scale has the shape {list(scale.array.shape)}", _REEXPORT)
    if not (np.asarray(scale.array, np.float32) > 0).all():
        node.malformed(f"the scale {scale.name} is not positive ({float(scale.array.min())})")
    zero_point = node.constant(2, "the zero point")
    dtype = zero_point.array.dtype if zero_point is not None else None
    if dtype is None and default is not None:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(default))
    value = node.value(0)
    if default is None and isinstance(value, Constant):
        dtype = value.array.dtype
    elif dtype is None and node.input_types[0] == TensorProto.UINT8:
        dtype = np.dtype(np.uint8)
    if (
        dtype is not None
        and dtype not in (np.int8, np.uint8)
        and not (dtype == np.int32 and default is None and isinstance(value, Constant))
    ):
        node.problem(f"its quantized type is {dtype}", _REEXPORT)
    if node.problems:
        node.refuse(*_last(node))
    return dtype == np.uint8


def _last(node: NodeImport) -> tuple[str, str]:
    problem = node.problems.pop()
    return problem.problem, problem.remedy


def _zero_points(node: NodeImport, scale: Constant) -> NDArray[np.int64]:
    zero_point = node.constant(2, "the zero point")
    if zero_point is None:
        return np.zeros(scale.array.shape, np.int64)
    if zero_point.array.size != scale.array.size:
        node.malformed(f"{zero_point.array.size} zero points do not fit {scale.array.size} scales")
    return np.asarray(zero_point.array, np.int64).reshape(scale.array.shape)


def _per_tensor(node: NodeImport, scale: Constant, unsigned: bool) -> Quantization:
    zero_point = int(_zero_points(node, scale).reshape(())) - (128 if unsigned else 0)
    return Quantization.per_tensor(np.asarray(scale.array, np.float32).reshape(-1)[0], zero_point)


def _spread(node: NodeImport, value: Constant, per_channel: NDArray[np.generic]) -> tuple[NDArray[np.generic], int | None]:
    """Scales or zero points as they broadcast against the values, and their axis; None where there is one for all."""
    if per_channel.size == 1:
        return per_channel.reshape(()), None
    axis = node.axis(int(node.attribute("axis", 1)), value.array.ndim)
    if value.array.shape[axis] != per_channel.size:
        node.malformed(f"{per_channel.size} scales do not fit axis {axis} of {list(value.array.shape)}")
    return per_channel.reshape([per_channel.size if d == axis else 1 for d in range(value.array.ndim)]), axis


def _quantized_constant(node: NodeImport, value: Constant, scale: Constant, unsigned: bool) -> Constant:
    data = node.finite(value).array.astype(np.float32)
    scales, _ = _spread(node, value, scale.array)
    zero_points, _ = _spread(node, value, _zero_points(node, scale))
    low, high = (0, 255) if unsigned else (-128, 127)
    q = np.clip(np.rint(data / scales.astype(np.float32)).astype(np.float64) + zero_points.astype(np.float64), low, high)
    return Constant(value.name, q.astype(np.uint8 if unsigned else np.int8))


def _dequantized_constant(node: NodeImport, value: Constant, scale: Constant) -> Constant:
    """float32 values scale · (q − zero_point), annotated. The product is formed in float64: one rounding, for int32 biases too."""
    scales, axis = _spread(node, value, scale.array)
    zero_points, _ = _spread(node, value, _zero_points(node, scale))
    data = (np.asarray(value.array, np.float64) - zero_points.astype(np.float64)) * scales.astype(np.float64)
    flat = np.asarray(_zero_points(node, scale), np.int32) - np.int32(128 if value.array.dtype == np.uint8 else 0)
    if axis is None:
        quantization = Quantization.per_tensor(np.asarray(scale.array, np.float32).reshape(-1)[0], int(flat.reshape(-1)[0]))
    else:
        quantization = Quantization(np.asarray(scale.array, np.float32).reshape(-1), flat.reshape(-1), axis)
    return Constant(value.name, data.astype(np.float32), quantization)


QUANTIZATION = {
    "QuantizeLinear": Importer(quantize_linear, "int8 and uint8; one scale a tensor, constants also one a channel (opset 13 and later)"),
    "DequantizeLinear": Importer(
        dequantize_linear, "int8 and uint8, int32 for constants; constants also one scale a channel (opset 13 and later)"
    ),
}
