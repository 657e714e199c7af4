"""What to do about an operator that is not supported."""

from __future__ import annotations

import onnx.defs

_QUANTIZED = "quantize in QDQ format (onnxruntime.quantization.QuantFormat.QDQ), or convert the float model with --calibration"
_RECURRENT = "recurrent layers are not supported yet: use convolutions over time (1-D Conv, dilated)"
_NORMALIZE = "use BatchNormalization, which folds into the layers around it"
_CUT = "end the model at the input of this node and compute it in the application"
_REDUCE = "use ReduceMean (a sum is the mean times the number of elements), or AveragePool and MaxPool"

_BY_OPERATOR = {
    "ArgMax": _CUT,
    "ArgMin": _CUT,
    "TopK": _CUT,
    "NonMaxSuppression": _CUT,
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "RNN": _RECURRENT,
    "LogSoftmax": "use Softmax, or end the model before it: the order of the classes is the same",
    "LayerNormalization": _NORMALIZE + ", or export with the operator decomposed (opset 16 or earlier)",
    "InstanceNormalization": _NORMALIZE,
    "GroupNormalization": _NORMALIZE,
    "ConvTranspose": "transposed convolutions are not supported yet",
    "Resize": "resampling is not supported yet",
    "Upsample": "resampling is not supported yet",
    "ReduceSum": _REDUCE,
    "ReduceMax": _REDUCE,
    "ReduceMin": _REDUCE,
    "ReduceL2": _REDUCE,
    "QLinearConv": _QUANTIZED,
    "QLinearMatMul": _QUANTIZED,
    "ConvInteger": _QUANTIZED,
    "MatMulInteger": _QUANTIZED,
    "DynamicQuantizeLinear": "dynamic quantization needs float arithmetic at run time: " + _QUANTIZED,
    "If": "make its condition a constant, so that one branch remains",
    "Loop": "unroll the loop before the export",
    "Scan": "unroll the scan before the export",
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
        return "express it by ONNX's own operators, as a model-local function in the file or before the export"
    if operator in _BY_OPERATOR:
        return _BY_OPERATOR[operator]
    if onnx.defs.has(operator):
        return "express it by supported operators"
    return "export again with a tool that writes ONNX's own operators"
