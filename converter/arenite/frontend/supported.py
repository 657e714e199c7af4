"""What `arenite operators` prints: every ONNX operator that is supported, from which opset on, and how far."""

from __future__ import annotations

import re
from dataclasses import dataclass

import onnx.defs

from arenite.frontend.control_flow import CONTROL_FLOW
from arenite.frontend.importers import IMPORTERS
from arenite.frontend.importers.sequence import SEQUENCE
from arenite.frontend.model_file import NEWEST_OPSET, OLDEST_OPSET
from arenite.frontend.standard_functions import FUNCTIONS
from arenite.graph import OPERATORS
from arenite.graph.expression import UNARY
from arenite.own_operators import OWN_OPERATORS, OwnOperator


@dataclass(frozen=True)
class SupportedOperator:
    name: str
    first_opset: int
    last_opset: int
    becomes: tuple[str, ...]
    """Operators of the IR, or of its form that takes part in it."""
    notes: str

    @property
    def domain(self) -> str:
        """ai.onnx for ONNX's default one."""
        return self.name.rpartition(".")[0] or "ai.onnx"

    @property
    def is_composed(self) -> bool:
        """Whether it takes all of what it becomes. Else each is another way of saying it, as for those whose operands are quantized: what
        follows from constant scales, or from computed ones."""
        return self.name in _COMPOSED and not re.match(r"QLinear|QuantizeLinear|DequantizeLinear", self.op_type)

    @property
    def op_type(self) -> str:
        return self.name.rpartition(".")[2]


NEWEST_ML_OPSET = 5
"""Of the domain ai.onnx.ml."""

_EVALUATED = {
    **dict.fromkeys(("Shape", "Size"), "evaluated at conversion: shapes are fixed"),
    **dict.fromkeys(
        ("BlackmanWindow", "ConstantOfShape", "HammingWindow", "HannWindow", "MelWeightMatrix", "Range"),
        "evaluated at conversion: constant operands, or sizes that follow from shapes",
    ),
}
"""What is left of them is a constant. (Others with constant operands are evaluated too, which is not worth a row.)"""

_ELEMENTWISE = frozenset(UNARY) | {"Relu"}
_WITH_CONSTANTS = frozenset({"Pow", "Min", "Max"})
"""Elementwise where one operand is a number, else operators of their own."""
_COMPOSED = {
    "AffineGrid": ("Slice", "Mul", "Add"),
    "CenterCropPad": ("Slice", "Pad"),
    "ConvTranspose": ("Conv", "DepthwiseConv", "Transpose", "Slice"),
    "GlobalLpPool": ("Elementwise", "ReduceSum", "ReduceL1", "ReduceL2"),
    "LpPool": ("Elementwise", "DepthwiseConv"),
    "Mean": ("Add", "Mul"),
    "Resize": ("Slice", "Expand", "Concat", "Gather", "Resample", "Pad"),
    "Upsample": ("Slice", "Expand", "Concat", "Gather", "Resample"),
    "ai.onnx.ml.ArrayFeatureExtractor": ("Slice", "Gather"),
    "ai.onnx.ml.Binarizer": ("Less", "Cast"),
    "ai.onnx.ml.CategoryMapper": ("KeyIndex", "Gather"),
    "ai.onnx.ml.FeatureVectorizer": ("Slice", "Pad", "Concat"),
    "ai.onnx.ml.Imputer": ("Equal", "Where"),
    "ai.onnx.ml.LinearRegressor": ("FullyConnected",),
    "ai.onnx.ml.LinearClassifier": ("FullyConnected", "ArgMax", "Softmax", "SoftmaxZero", "Probit"),
    "ai.onnx.ml.Normalizer": ("ReduceMax", "ReduceL1", "ReduceL2", "Div"),
    "ai.onnx.ml.OneHotEncoder": ("Equal", "Cast"),
    "ai.onnx.ml.Scaler": ("Sub", "Mul"),
    "ai.onnx.ml.ZipMap": ("Reshape",),
    "Compress": ("Slice", "Gather"),
    "ConcatFromSequence": ("Concat", "Reshape"),
    "DepthToSpace": ("Reshape", "Transpose"),
    "Einsum": ("Reshape", "Transpose", "Slice", "ReduceSum", "Mul", "MatMul", "FullyConnected"),
    "EyeLike": (),
    "GroupNormalization": ("LayerNormalization", "Mul", "Add"),
    "Hardmax": ("ArgMax", "OneHot"),
    "InstanceNormalization": ("LayerNormalization", "Mul", "Add"),
    "LRN": ("Mul", "AveragePool", "Elementwise"),
    "LogSoftmax": ("ReduceLogSumExp", "Sub"),
    "LpNormalization": ("ReduceL1", "Elementwise", "Div", "LayerNormalization"),
    "NonZero": ("Equal", "CumSum", "Where", "ScatterElements", "Gather"),
    "ReduceLogSum": ("ReduceSum", "Elementwise"),
    "SpaceToDepth": ("Reshape", "Transpose"),
    "SplitToSequence": ("Slice", "Reshape"),
    "TfIdfVectorizer": ("Slice", "Equal", "BitwiseAnd", "ReduceSum", "Mul"),
    "ai.onnx.preview.training.Adagrad": ("Add", "Mul", "Div", "Elementwise"),
    "ai.onnx.preview.training.Adam": ("Add", "Mul", "Div", "Pow", "Where", "Elementwise"),
    "ai.onnx.preview.training.Momentum": ("Add", "Mul", "Where"),
    "QLinearConv": ("Conv", "DepthwiseConv", "ConvInteger", "DequantizeLinear", "QuantizeLinear"),
    "QLinearMatMul": ("FullyConnected", "MatMul", "MatMulInteger", "DequantizeLinear", "QuantizeLinear"),
    "com.microsoft.DequantizeLinear": ("Dequantize", "DequantizeLinear"),
    "com.microsoft.QGemm": ("FullyConnected", "MatMul"),
    "com.microsoft.QLinearAdd": ("Add",),
    "com.microsoft.QLinearAveragePool": ("AveragePool",),
    "com.microsoft.QLinearConcat": ("Concat",),
    "com.microsoft.QLinearGlobalAveragePool": ("ReduceMean",),
    "com.microsoft.QLinearLeakyRelu": ("Elementwise",),
    "com.microsoft.QLinearMul": ("Mul",),
    "com.microsoft.QLinearReduceMean": ("ReduceMean",),
    "com.microsoft.QLinearSigmoid": ("Elementwise",),
    "com.microsoft.QLinearSoftmax": ("Softmax",),
    "com.microsoft.QLinearWhere": ("Where",),
    "com.microsoft.QuantizeLinear": ("Quantize", "QuantizeLinear"),
    "com.microsoft.DynamicQuantizeMatMul": ("DynamicQuantizeLinear", "MatMulInteger"),
    "com.microsoft.MatMulIntegerToFloat": ("MatMulInteger",),
    "com.microsoft.MatMulNBits": ("FullyConnected",),
    "com.microsoft.BiasGelu": ("Add", "Elementwise"),
    "com.microsoft.FastGelu": ("Add", "Elementwise"),
    "com.microsoft.Gelu": ("Elementwise",),
    "com.microsoft.QuickGelu": ("Elementwise",),
}
"""Made of operators that stand for other ONNX operators as well."""
_NOTHING = frozenset({"Constant", "Identity", "Dropout", *SEQUENCE})


def supported_operators() -> list[SupportedOperator]:
    """One row for each importer, for control flow, and for each operator that is taken by the standard's own definition or has constant
    operands by its nature, sorted by name; then users' own."""
    names = sorted({*IMPORTERS, *FUNCTIONS, *CONTROL_FLOW, *_EVALUATED})
    return [*(_row(name) for name in names), *(_own_row(own) for _, own in sorted(OWN_OPERATORS.items()))]


def _own_row(own: OwnOperator) -> SupportedOperator:
    first, last = own.opsets
    return SupportedOperator(own.onnx, first, min(last, NEWEST_OPSET), (own.name,), own.summary)


def _row(name: str) -> SupportedOperator:
    domain, _, plain = name.rpartition(".")
    known = onnx.defs.get_all_schemas_with_history()
    versions = [schema.since_version for schema in known if schema.name == plain and schema.domain == domain]
    if name in FUNCTIONS:
        return SupportedOperator(
            name, min(versions), max(versions) if domain else NEWEST_OPSET, (), "written out as the standard defines it"
        )
    if name in CONTROL_FLOW:
        control = CONTROL_FLOW[name]
        return SupportedOperator(name, max(min(versions), OLDEST_OPSET), NEWEST_OPSET, control.becomes, control.notes)
    if name in _EVALUATED:
        return SupportedOperator(name, max(min(versions), OLDEST_OPSET), NEWEST_OPSET, (), _EVALUATED[name])
    if domain == "ai.onnx.ml":
        return SupportedOperator(name, min(versions), NEWEST_ML_OPSET, _becomes(name), IMPORTERS[name].notes)
    if domain:  # not ONNX's, which has no schema of it
        return SupportedOperator(name, 1, 1, _becomes(name), IMPORTERS[name].notes)
    return SupportedOperator(name, max(min(versions), OLDEST_OPSET), NEWEST_OPSET, _becomes(name), IMPORTERS[name].notes)


def _becomes(name: str) -> tuple[str, ...]:
    if name in _ELEMENTWISE:
        return ("Elementwise",)
    if name in _WITH_CONSTANTS:
        return ("Elementwise", name)
    if name in _NOTHING:
        return ()
    if name in _COMPOSED:
        return _COMPOSED[name]
    declared = tuple(operator.name for operator in OPERATORS.values() if name in operator.onnx)
    if declared:
        return declared
    float_form = re.sub(r"^QLinear|^Q(?=Gemm)", "", name.rpartition(".")[2])
    return _becomes(float_form) if float_form != name and float_form in IMPORTERS else ()
