"""C names of the kernels: functions for the compiled form, resolver entries for the interpreted one."""

from __future__ import annotations

import re

from arenite.emit.program import Program
from arenite.graph import OPERATORS
from arenite.graph.operators import VARIANTS
from arenite.own_operators import OWN_OPERATORS, OwnOperator

SUFFIXES = {
    "bytes": "",
    "int8": "_s8",
    "wide": "_s8_wide",
    "int16_steps": "_s16",
    "int16_weights": "_s16_w16",
    "int4": "_s8_int4",
    "int4_lanes": "_s8_int4_lanes",
    "int32_steps": "_s32",
    "paired": "_s8_paired",
    "paired_row": "_s8_paired_row",
    "planes": "_s8_planes",
    "planes_2": "_s8_planes_2",
    "tap_pairs": "_s8_tap_pairs",
    "winograd_2": "_s8_winograd_2",
    "winograd_4": "_s8_winograd_4",
    "float32": "_f32",
    "int16": "_i16",
    "int32": "_i32",
    "int64": "_i64",
    "uint8": "_u8",
    "uint16": "_u16",
    "uint32": "_u32",
    "bool": "_bool",
    "plain_int8": "_i8",
}
"""Of the kernels' C names, by variant."""


def kernel_function(op: str, variant: str) -> str:
    """The function of arn_kernels.h. Arguments: record, stored operands, outputs, scratch where there is some."""
    if op in OWN_OPERATORS:
        return OWN_OPERATORS[op].c.functions[variant]
    conversions = {"Quantize": "arn_quantize_f32{}", "Dequantize": "arn_dequantize{}_f32", "Requantize": "arn_requantize{}_s8"}
    return conversions.get(op, f"arn_{snake(op)}{{}}").format(SUFFIXES[variant])


def snake(operator: str) -> str:
    """The operator's name in arenite_operators.h: DepthwiseConv, depthwise_conv."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operator).lower().replace("mat_mul", "matmul")


def params_type(op: str, variant: str) -> str:
    if op in OWN_OPERATORS:
        return OWN_OPERATORS[op].params_type
    typed = OPERATORS[op].typed
    return f"arn_{snake(op)}_typed_params" if typed is not None and variant in typed.variants else f"arn_{snake(op)}_params"


def resolver_entries(program: Program) -> list[str]:
    """Names of the arn_kernel objects that the program needs, in the order of the operators' codes."""
    used = {(call.op, call.variant) for call in program.calls}
    ordered = sorted(used, key=lambda kernel: (OPERATORS[kernel[0]].code or 0, VARIANTS[kernel[1]]))
    return [kernel_object(op, variant) for op, variant in ordered]


def kernel_object(op: str, variant: str) -> str:
    """The arn_kernel object of arenite_resolver.h, or of a user's own."""
    if op in OWN_OPERATORS:
        return OWN_OPERATORS[op].c.kernels[variant]
    return f"arn_kernel_{snake(op)}" + (f"_{variant}" if VARIANTS[variant] else "")


def variant_number(op: str, variant: str) -> int:
    """In the flat model."""
    return OWN_OPERATORS[op].kernels.variants[variant] if op in OWN_OPERATORS else VARIANTS[variant]


def own_operators(program: Program) -> list[OwnOperator]:
    """The users' own operators that the program needs, by name."""
    return [OWN_OPERATORS[op] for op in sorted({call.op for call in program.calls} & set(OWN_OPERATORS))]
