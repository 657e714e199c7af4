"""Functions of one float32 tensor, element by element, under their ONNX names. The int8 form of all of them is Lookup."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph.expression import SELU_ALPHA, SELU_GAMMA, UNARY
from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.operators.linear_overlaps import first_elementwise
from arenite.graph.tensor import Tensor

CODES = {
    "Abs": 32,
    "Ceil": 33,
    "Celu": 34,
    "Clip": 35,
    "Cos": 36,
    "Elu": 37,
    "Erf": 38,
    "Exp": 39,
    "Floor": 40,
    "Gelu": 41,
    "HardSigmoid": 42,
    "HardSwish": 43,
    "LeakyRelu": 44,
    "Log": 45,
    "Mish": 46,
    "Neg": 47,
    "Reciprocal": 48,
    "Round": 49,
    "Selu": 50,
    "Sigmoid": 51,
    "Sign": 52,
    "Sin": 53,
    "Softplus": 54,
    "Softsign": 55,
    "Sqrt": 56,
    "Swish": 57,
    "Tanh": 58,
    "ThresholdedRelu": 59,
    "Acos": 100,
    "Acosh": 101,
    "Asin": 102,
    "Asinh": 103,
    "Atan": 104,
    "Atanh": 105,
    "Cosh": 106,
    "Shrink": 107,
    "Sinh": 108,
    "Tan": 109,
}
"""In the flat model, fixed for ever."""

PARAMETERS: dict[str, tuple[tuple[str, float], ...]] = {
    "Celu": (("alpha", 1.0),),
    "Clip": (("min", float("-inf")), ("max", float("inf"))),
    "Elu": (("alpha", 1.0),),
    "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
    "LeakyRelu": (("alpha", 0.01),),
    "Shrink": (("lambd", 0.5), ("bias", 0.0)),
    "Selu": (("alpha", SELU_ALPHA), ("gamma", SELU_GAMMA)),
    "Swish": (("alpha", 1.0),),
    "ThresholdedRelu": (("alpha", 1.0),),
}
"""Numbers of a function, as ONNX names them, with their defaults: the record's alpha and beta, in this order."""


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    numbers = [float(node.attributes.get(name, default)) for name, default in PARAMETERS.get(node.op, ())]
    if node.op == "Gelu":
        numbers = [float(node.attributes.get("approximate", "none") == "tanh")]
    numbers += [0.0] * (2 - len(numbers))
    return {"count": outputs[0].elements, "alpha": numbers[0], "beta": numbers[1]}


def _function(name: str, code: int) -> Operator:
    return Operator(
        name=name,
        summary="Of every element",
        inputs=(Operand("x", "any shape"),),
        attributes=tuple(Attribute(parameter, f"default {default}") for parameter, default in PARAMETERS.get(name, ())),
        shape=_same_shape,
        code=code,
        variants=("float32",),
        stored=(Operand("x", "any shape"),),
        params=(
            Param("count", "elements"),
            Param("alpha", "first parameter of the function, 0 where it has none (Gelu: 1 for the tanh approximation)", is_float=True),
            Param("beta", "second parameter", is_float=True),
        ),
        record=_record,
        in_place=(0,),
        overlaps=first_elementwise,
    )


if set(CODES) != set(UNARY):
    raise AssertionError(f"functions without a code or the other way round: {set(CODES) ^ set(UNARY)}")

FUNCTION = tuple(_function(name, code) for name, code in CODES.items())
