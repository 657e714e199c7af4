"""The determinant of square matrices, on float32."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import Tensor


def _shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x = given(inputs, 0).shape
    if len(x) < 2 or x[-1] != x[-2]:
        raise ValueError(f"x{x} has no square matrices")
    return x[:-2]


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x = given(inputs, 0).shape
    return {"matrices": prod(x[:-2]), "size": x[-1]}


_X = (Operand("x", "[…, size, size]"),)

DET = Operator(
    name="Det",
    summary="Determinants of square matrices",
    onnx=("Det",),
    inputs=_X,
    shape=_shape,
    code=232,
    variants=("float32",),
    stored=_X,
    params=(Param("matrices", ""), Param("size", "rows and columns of each")),
    record=_record,
    scratch=lambda node, inputs, outputs: 4 * given(inputs, 0).shape[-1] ** 2,
)

DETERMINANT = (DET,)
