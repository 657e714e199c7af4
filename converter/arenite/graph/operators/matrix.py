"""FullyConnected (constant weights) and MatMul (two activations). Numerics §3, §4."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from arenite.graph.node import Node
from arenite.graph.operators.convolution import STORED_LINEAR, fours
from arenite.graph.operators.declaration import (
    CLAMP,
    CLIP,
    REAL_CLIP,
    Attributes,
    Form,
    Inputs,
    Operand,
    Operator,
    Param,
    Record,
    Shape,
    clamp_record,
    clip_record,
    given,
)
from arenite.graph.operators.int4 import columns_bytes
from arenite.graph.operators.int4 import scratch_bytes as int4_scratch_bytes
from arenite.graph.operators.linear_overlaps import fully_connected_overlaps
from arenite.graph.tensor import Tensor


def _fully_connected_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, weight = given(inputs, 0).shape, given(inputs, 1).shape
    if not x or len(weight) != 2 or x[-1] != weight[1]:
        raise ValueError(f"x{x} does not fit weight{weight}")
    return (*x[:-1], weight[0])


def _fully_connected_macs(inputs: Inputs, output: Shape) -> int:
    return prod(output) * given(inputs, 1).shape[1]


def _fully_connected_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    out_features, in_features = given(inputs, 1).shape
    return {
        "rows": outputs[0].elements // out_features,
        "in_features": in_features,
        "out_features": out_features,
        "output_zero_point": node.attributes["output_zero_point"],
        "shift": node.attributes["shift"],
        **clamp_record(node),
    }


def _fully_connected_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    out_features, in_features = given(inputs, 1).shape
    rows = outputs[0].elements // out_features
    return {"rows": rows, "in_features": in_features, "out_features": out_features, **clip_record(node)}


def _matmul_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    a, b = given(inputs, 0).shape, given(inputs, 1).shape
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ValueError(f"a{a} and b{b} cannot be multiplied")
    return (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1])


def _matmul_macs(inputs: Inputs, output: Shape) -> int:
    return prod(output) * given(inputs, 0).shape[-1]


def _matmul_sizes(inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    from arenite.graph.operators.elementwise import collapse_broadcast

    a, b, y = given(inputs, 0).shape, given(inputs, 1).shape, outputs[0].shape
    dims, (a_stride, b_stride) = collapse_broadcast(y[:-2], [a[:-2], b[:-2]], rank=3)
    return {
        "batch": dims,
        "a_stride": tuple(s * a[-2] * a[-1] for s in a_stride),
        "b_stride": tuple(s * b[-2] * b[-1] for s in b_stride),
        "m": a[-2],
        "k": a[-1],
        "n": b[-1],
    }


def _matmul_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    q = node.attributes
    return {
        **_matmul_sizes(inputs, outputs),
        **{name: q[name] for name in ("a_zero_point", "b_zero_point", "output_zero_point", "multiplier", "shift")},
        **clamp_record(node),
    }


def _matmul_typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**_matmul_sizes(inputs, outputs), **clip_record(node)}


def _fully_connected_scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    """arn_fully_connected_paired_scratch of runtime_c/kernels/paired.h, arn_fully_connected_int4_scratch of int4.h,
    arn_int4_lanes_columns of int4_lanes.h."""
    if node.attributes.get("variant") == "int4_lanes":
        return columns_bytes(given(inputs, 1).shape[1])
    if node.attributes.get("variant") == "int4":
        weight = given(inputs, 1).shape
        return int4_scratch_bytes(weight, rows=outputs[0].elements // weight[0])
    return 4 * fours(given(inputs, 1).shape[1]) if node.attributes.get("variant") == "paired" else 0


_X = Operand("x", "[…, in]")
_LAYER = (
    Param("rows", "product of the leading dimensions of x"),
    Param("in_features", ""),
    Param("out_features", ""),
)

FULLY_CONNECTED = Operator(
    name="FullyConnected",
    summary="Product with a constant matrix",
    onnx=("Gemm", "MatMul"),
    inputs=(_X, Operand("weight", "[out, in]", constant=True), Operand("bias", "[out]", constant=True, optional=True)),
    attributes=(CLIP,),
    shape=_fully_connected_shape,
    macs=_fully_connected_macs,
    code=3,
    variants=("int8", "wide", "int16_steps", "int16_weights", "int4", "int4_lanes", "paired", "paired_row"),
    streams=("int4", "int4_lanes", "paired", "paired_row"),
    scratch=_fully_connected_scratch,
    overlaps=fully_connected_overlaps,
    stored=(_X, Operand("weight", "int8, [out, in]", constant=True), *STORED_LINEAR),
    params=(
        *_LAYER,
        Param("output_zero_point", ""),
        Param("shift", "left shift of the accumulator, 0…30 (`wide`: 0)"),
        *CLAMP,
    ),
    record=_fully_connected_record,
    typed=Form(
        ("float32",),
        (_X, Operand("weight", "[out, in]"), Operand("bias", "[out]", optional=True)),
        (*_LAYER, *REAL_CLIP),
        _fully_connected_typed_record,
    ),
)

_A = Operand("a", "[…, M, K]")
_B = Operand("b", "[…, K, N]")
_PRODUCT = (
    Param("batch", "leading dimensions, collapsed", 3),
    Param("a_stride", "elements from matrix to matrix of a along each; 0 where broadcast", 3),
    Param("b_stride", "", 3),
    Param("m", ""),
    Param("k", ""),
    Param("n", ""),
)

MATMUL = Operator(
    name="MatMul",
    summary="Product of two activations, leading dimensions broadcast",
    onnx=("MatMul", "Gemm"),
    inputs=(_A, _B),
    attributes=(CLIP,),
    shape=_matmul_shape,
    macs=_matmul_macs,
    code=4,
    stored=(_A, _B),
    params=(
        *_PRODUCT,
        Param("a_zero_point", ""),
        Param("b_zero_point", ""),
        Param("output_zero_point", ""),
        Param("multiplier", ""),
        Param("shift", ""),
        *CLAMP,
    ),
    record=_matmul_record,
    typed=Form(("float32",), (_A, _B), (*_PRODUCT, *REAL_CLIP), _matmul_typed_record),
)

MATRIX = (FULLY_CONNECTED, MATMUL)
