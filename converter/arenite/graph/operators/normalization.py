"""Normalization by the statistics of the input itself, on float32."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import Tensor


def _shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, length = given(inputs, 0).shape, attributes["length"]
    tail = 1
    for size in reversed(x):
        if tail >= length:
            break
        tail *= size
    if tail != length:
        raise ValueError(f"{length} elements are no trailing dimensions of {x}")
    for tensor in inputs[1:]:
        if tensor is not None and tensor.elements != length:
            raise ValueError(f"{tensor.name} of shape {tensor.shape} has not the {length} elements of a row")
    return x


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    rows = prod(outputs[0].shape) // a["length"]
    return {"rows": rows, "length": a["length"], "centred": int(a["centred"]), "epsilon": float(a["epsilon"])}


_OPERANDS = (
    Operand("x", "[…, length]"),
    Operand("scale", "of `length` elements", optional=True),
    Operand("bias", "of `length` elements", optional=True),
)

LAYER_NORMALIZATION = Operator(
    name="LayerNormalization",
    summary="Rows less their mean (or not), over the root of their mean square, times scale plus bias",
    onnx=("LayerNormalization", "RMSNormalization", "InstanceNormalization", "GroupNormalization", "MeanVarianceNormalization"),
    inputs=_OPERANDS,
    attributes=(
        Attribute("length", "elements of a row: the product of trailing dimensions"),
        Attribute("centred", "bool: the mean is subtracted (not by RMSNormalization)"),
        Attribute("epsilon", "added to the mean square"),
    ),
    shape=_shape,
    code=180,
    variants=("float32",),
    stored=_OPERANDS,
    params=(
        Param("rows", ""),
        Param("length", "elements of a row"),
        Param("centred", "0 or 1: the mean is subtracted"),
        Param("epsilon", "added to the mean square", is_float=True),
    ),
    record=_record,
    in_place=(0,),
)

NORMALIZATION = (LAYER_NORMALIZATION,)
