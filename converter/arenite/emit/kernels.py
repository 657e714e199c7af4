"""C names of the kernels: functions for the compiled form, resolver entries for the interpreted one."""

from __future__ import annotations

import re

from arenite.emit.program import Call, Program
from arenite.graph import OPERATORS

KERNEL_FUNCTIONS: dict[tuple[str, str], str] = {
    ("Conv", "int8"): "arn_conv_s8",
    ("Conv", "wide"): "arn_conv_s8_wide",
    ("DepthwiseConv", "int8"): "arn_depthwise_conv_s8",
    ("DepthwiseConv", "wide"): "arn_depthwise_conv_s8_wide",
    ("FullyConnected", "int8"): "arn_fully_connected_s8",
    ("FullyConnected", "wide"): "arn_fully_connected_s8_wide",
    ("MatMul", "int8"): "arn_matmul_s8",
    ("Add", "int8"): "arn_add_s8",
    ("Mul", "int8"): "arn_mul_s8",
    ("Div", "int8"): "arn_div_s8",
    ("PRelu", "int8"): "arn_prelu_s8",
    ("Softmax", "int8"): "arn_softmax_s8",
    ("Lookup", "int8"): "arn_lookup_s8",
    ("MaxPool", "int8"): "arn_max_pool_s8",
    ("AveragePool", "int8"): "arn_average_pool_s8",
    ("ReduceMean", "int8"): "arn_reduce_mean_s8",
    ("StridedCopy", "bytes"): "arn_strided_copy",
    ("Fill", "bytes"): "arn_fill",
    ("Quantize", "int8"): "arn_quantize_f32_s8",
    ("Dequantize", "int8"): "arn_dequantize_s8_f32",
}
"""By operator and variant: the function of arn_kernels.h. Arguments: record, stored operands, output, scratch where there is some."""


def snake(operator: str) -> str:
    """The operator's name in arenite_operators.h: DepthwiseConv, depthwise_conv."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operator).lower().replace("mat_mul", "matmul")


def params_type(call: Call) -> str:
    return f"arn_{snake(call.op)}_params"


def resolver_entries(program: Program) -> list[str]:
    """Names of the arn_kernel objects that the program needs, in the order of the operators' codes."""
    used = {(call.op, OPERATORS[call.op].variants.index(call.variant)) for call in program.calls}
    ordered = sorted(used, key=lambda kernel: (OPERATORS[kernel[0]].code or 0, kernel[1]))
    return [f"arn_kernel_{snake(op)}" + (f"_{OPERATORS[op].variants[variant]}" if variant else "") for op, variant in ordered]
