"""Normalization by the statistics of the input itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import (
    CLAMP,
    Attribute,
    Attributes,
    Form,
    Inputs,
    Operand,
    Operator,
    Param,
    Record,
    Shape,
    clamp_record,
    given,
)
from arenite.graph.tensor import Tensor

LARGEST_ROW = 1 << 16
"""Elements of a row in the int8 form, numerics §14."""


def _shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, length, period = given(inputs, 0).shape, attributes["length"], attributes.get("period", 1)
    tail = 1
    for size in reversed(x):
        if tail >= length:
            break
        tail *= size
    if tail != length:
        raise ValueError(f"{length} elements are no trailing dimensions of {x}")
    for tensor in inputs[1:]:
        if tensor is not None and (tensor.elements % period or length % (tensor.elements // period)):
            raise ValueError(f"{tensor.name} of shape {tensor.shape} does not fit {period} rows of {length} elements")
    return x


def _typed_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    rows = prod(outputs[0].shape) // a["length"]
    return {"rows": rows, "length": a["length"], "centred": int(a["centred"]), "epsilon": float(a["epsilon"])}


_FIXED_POINT = ("input_zero_point", "epsilon_low", "epsilon_high", "precision", "fraction", "shift")


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {
        "rows": prod(outputs[0].shape) // a["length"],
        "length": a["length"],
        "period": a["period"],
        "blocks": given(inputs, 1).elements // a["period"],
        "centred": int(a["centred"]),
        **{name: a[name] for name in _FIXED_POINT},
        **clamp_record(node),
    }


_OPERANDS = (
    Operand("x", "[…, length]"),
    Operand("scale", "one an element of a row, or of a part of it, of `period` rows", optional=True),
    Operand("bias", "as the scale", optional=True),
)
_EXTENTS = (Param("rows", ""), Param("length", "elements of a row"))
_CENTRED = Param("centred", "0 or 1: the mean is subtracted")

LAYER_NORMALIZATION = Operator(
    name="LayerNormalization",
    summary="Rows less their mean (or not), over the root of their mean square, times scale plus bias",
    onnx=(
        "LayerNormalization",
        "RMSNormalization",
        "InstanceNormalization",
        "GroupNormalization",
        "MeanVarianceNormalization",
        "LpNormalization",
    ),
    inputs=_OPERANDS,
    attributes=(
        Attribute("length", "elements of a row: the product of trailing dimensions"),
        Attribute("centred", "bool: the mean is subtracted (not by RMSNormalization)"),
        Attribute("epsilon", "added to the mean square"),
    ),
    shape=_shape,
    code=180,
    stored=(
        Operand("x", "[rows, length]"),
        Operand("gain", "int32[period, blocks]: m of numerics §14", constant=True),
        Operand("offset", "int32[period, blocks]: b", constant=True),
    ),
    params=(
        *_EXTENTS,
        Param("period", "rows after which gains and offsets repeat"),
        Param("blocks", "gains of a row; divides its length"),
        _CENTRED,
        Param("input_zero_point", ""),
        Param("epsilon_low", "low 32 bits of E"),
        Param("epsilon_high", "high 32 bits of E, 0…2^29"),
        Param("precision", "k"),
        Param("fraction", "f"),
        Param("shift", "h, 1…24"),
        *CLAMP,
    ),
    record=_record,
    typed=Form(("float32",), _OPERANDS, (*_EXTENTS, _CENTRED, Param("epsilon", "added to the mean square", is_float=True)), _typed_record),
    in_place=(0,),
)
"""`period` (1 where it is absent) is an attribute too: the rows after which scale and bias repeat. The typed form has one of them only."""

NORMALIZATION = (LAYER_NORMALIZATION,)
