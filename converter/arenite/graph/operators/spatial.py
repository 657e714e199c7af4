"""Resampling, pooling with indices and its inverse, and sampling at computed positions: on elements that are not quantized. Numerics §11.

Unlike Conv and the pools they work on ONNX's own layout, channels first, or along any one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import Tensor


def _resample_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, first, weight, axis = given(inputs, 0).shape, given(inputs, 1).shape, given(inputs, 2).shape, attributes["axis"]
    if len(first) != 1 or len(weight) != 2 or weight[0] != first[0] or weight[1] > x[axis]:
        raise ValueError(f"first{first} and weight{weight} do not fit {x[axis]} elements along axis {axis} of {x}")
    return (*x[:axis], first[0], *x[axis + 1 :])


def _resample_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, weight, axis = given(inputs, 0).shape, given(inputs, 2).shape, node.attributes["axis"]
    return {"outer": prod(x[:axis]), "size": x[axis], "count": weight[0], "taps": weight[1], "inner": prod(x[axis + 1 :])}


def _resample_macs(inputs: Inputs, output: Shape) -> int:
    return prod(output) * given(inputs, 2).shape[1]


_RESAMPLED = (
    Operand("x", "any shape"),
    Operand("first", "int32[count]: where the taps of each result begin; first + taps ≤ size", constant=True),
    Operand("weight", "[count, taps]", constant=True),
)

RESAMPLE = Operator(
    name="Resample",
    summary="Every result along an axis is a weighted sum of neighbours: interpolation, with or without antialiasing",
    onnx=("Resize", "Upsample"),
    inputs=_RESAMPLED,
    attributes=(Attribute("axis", "not negative"),),
    shape=_resample_shape,
    macs=_resample_macs,
    code=160,
    variants=("float32",),
    stored=_RESAMPLED,
    params=(
        Param("outer", "product of the dimensions in front of the axis"),
        Param("size", "of x along the axis"),
        Param("count", "of y along the axis"),
        Param("taps", "weights of a result"),
        Param("inner", "product of the dimensions behind the axis"),
    ),
    record=_resample_record,
)

SPATIAL = (RESAMPLE,)
