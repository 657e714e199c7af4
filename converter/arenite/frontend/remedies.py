"""What to do about an operator that is not supported."""

from __future__ import annotations

import onnx.defs

_QUANTIZED = "quantize in QDQ format (onnxruntime.quantization.QuantFormat.QDQ), or convert the float model with --calibration"
_CUT = "end the model at the input of this node and compute it in the application"

_BY_OPERATOR = {
    "Unique": _CUT,
    "Bernoulli": "a random number is drawn at run time: remove the node for inference, or draw it in the application",
    "Erfc": "Erfc(x) is 1 − Erf(x); Keras: use activation='gelu' with approximate=True, or export with tf2onnx 1.17 or later",
    "RequantShift": "it belongs to another tool's quantized format: export the float model, or QuantizeLinear/DequantizeLinear pairs",
}


def remedy(operator: str, domain: str) -> str:
    if domain == "ai.onnx.ml":
        return "maps of texts do not exist on the target: feed the model a tensor of numbers"
    if domain == "com.microsoft" and operator.startswith(("Q", "DynamicQuantize", "MatMulInteger")):
        return _QUANTIZED
    if domain == "com.microsoft":
        return "the file was optimized for onnxruntime: convert the model as it was before onnxruntime's graph optimizations"
    if domain:
        return (
            f"declare {domain}::{operator} as an operator of your own (docs/own-operators.md) and name its file with --operators, or "
            "install its package; or express it by ONNX's operators, as a model-local function in the file or before the export"
        )
    if operator in _BY_OPERATOR:
        return _BY_OPERATOR[operator]
    if onnx.defs.has(operator):
        return "express it by supported operators"
    return "export again with a tool that writes ONNX's own operators"
