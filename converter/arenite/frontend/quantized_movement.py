"""Nodes that move or limit int8 elements between QuantizeLinear and DequantizeLinear do so with floats here.

onnxruntime's quantizer leaves movement there, Brevitas a Clip, which makes four bits of eight.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from arenite.frontend.importers.movement import MOVES_INT8
from arenite.frontend.node_import import NodeImport
from arenite.frontend.values import Constant, Operand
from arenite.graph import DType, Quantization, Tensor


def is_quantized(tensor: Tensor) -> bool:
    """Whether its int8 elements stand for scale · (q − zero_point)."""
    return tensor.dtype is DType.INT8 and tensor.quantization is not None


def move_floats(call: NodeImport) -> Quantization | None:
    """Of a node that moves int8 elements: make it move floats instead, and return the quantization of its result; None for other nodes.

    The values are the same, and every int8 tensor then stands between a Quantize and a Dequantize. (Only Resize with interpolation
    computes; its result is rounded to nearest, which ONNX leaves open.)
    """
    if call.operator in _LIMITS:
        return _limit_floats(call)
    if call.operator not in MOVES_INT8 or not _commutes(call):
        return None
    positions = MOVES_INT8[call.operator] or tuple(range(len(call.inputs)))
    if call.operator == "Pad" and call.attribute("mode", "constant") == "constant":
        _give_value(call)
    values = [i for i in positions if i < len(call.inputs) and call.inputs[i] is not None]
    tensors = {i: call.graph.tensors[v] for i in values if isinstance(v := call.inputs[i], str)}
    quantized = [tensor for tensor in tensors.values() if is_quantized(tensor)]
    if not quantized:
        return None
    quantization = quantized[0].quantization
    constants = [i for i in values if isinstance(call.inputs[i], Constant)]
    alone = call.operator == "Concat" and bool(constants)
    if quantization is None or alone or not all(quantization.same_as(tensor.quantization) for tensor in tensors.values()):
        call.refuse(
            f"it moves int8 elements of {', '.join(tensor.name for tensor in tensors.values())}, whose scales are unknown or differ",
            "put DequantizeLinear in front of the node and QuantizeLinear behind it",
        )
    inputs: list[Operand | None] = list(call.inputs)
    for i, tensor in tensors.items():
        inputs[i] = call.emit("Dequantize", [tensor.name])
    for i in constants:
        constant = inputs[i]
        assert isinstance(constant, Constant)
        inputs[i] = _real(constant, quantization)
    call.inputs = tuple(inputs)
    return quantization


_LIMITS = ("Clip", "Relu")
"""Comparisons of elements with constants: monotone, as rounding is."""


def _limit_floats(call: NodeImport) -> Quantization | None:
    """Bytes are limited to bytes: in real numbers to what those stand for. None where they are computed."""
    value = call.inputs[0] if call.inputs else None
    if not isinstance(value, str) or not is_quantized(call.graph.tensors[value]):
        return None
    quantization = call.graph.tensors[value].quantization
    assert quantization is not None
    bounds = [_real(bound, quantization) if isinstance(bound, Constant) else None for bound in call.inputs[1:]]
    if any(real is None and given is not None for real, given in zip(bounds, call.inputs[1:], strict=True)):
        return None
    if call.operator == "Relu" and int(quantization.zero_point) != (-128 if call.input_types[:1] == (TensorProto.UINT8,) else 0):
        return None  # it makes bytes of at least 0, which is not the number 0
    call.inputs = (call.emit("Dequantize", [value]), *bounds)
    return quantization


def _commutes(call: NodeImport) -> bool:
    """Whether the node leaves zero and arithmetic out: a 0 that it adds of its own is not the zero point."""
    if call.operator == "Resize":
        return bool(call.attribute("coordinate_transformation_mode") != "tf_crop_and_resize")
    return bool(call.attribute("reduction", "none") == "none")


def _give_value(call: NodeImport) -> None:
    """Pad without a value writes the byte 0, which is a real number like any other."""
    if call.opset < 11 or call.has(2) or call.input_types[:1] not in ((TensorProto.INT8,), (TensorProto.UINT8,)):
        return
    dtype = np.int8 if call.input_types[0] == TensorProto.INT8 else np.uint8
    inputs = (*call.inputs[:2], Constant(f"{call.name}/value", np.zeros((), dtype)), *call.inputs[3:])
    call.inputs = inputs


def _real(constant: Constant, quantization: Quantization) -> Constant:
    """int8 or uint8 elements in the quantization of what they stand beside, whose zero point is that of int8."""
    steps = constant.array.astype(np.int32) - (128 if constant.array.dtype == np.uint8 else 0) - int(quantization.zero_point)
    return Constant(constant.name, np.asarray(np.float32(quantization.scale) * steps.astype(np.float32), np.float32))
