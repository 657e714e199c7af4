"""The text form of a graph."""

from __future__ import annotations

import numpy as np
from arenite.graph import Expression, Quantization, Step
from arenite.graph.printer import format_expression, format_quantization, format_value

EXPECTED = """\
graph small: 4 nodes, 417 parameters

inputs
  x  float32[1, 6, 5, 2]

nodes
  conv1  c  float32[1, 6, 5, 3]  s=0.05 z=-128  = Conv(x, w[3, 3, 3, 2], b[3])        strides=(1, 1)  pads=(1, 1, 1, 1)  clip=(0, 6)
  act    e  float32[1, 6, 5, 3]                 = Elementwise(c)                      expression=Mul(Sigmoid(x), 2)
  flat   f  float32[1, 90]                      = Reshape(e)                          shape=(1, 90)
  head   y  float32[1, 4]                       = FullyConnected(f, dense[4, 90], –)

outputs
  y  float32[1, 4]

constants
"""


def test_graph(small):
    text = str(small)
    assert text[: len(EXPECTED)] == EXPECTED
    rows = [line.split() for line in text.removeprefix(EXPECTED).splitlines()]
    assert [row[0] for row in rows] == ["w", "b", "dense"]
    assert rows[0][1:5] == ["float32[3,", "3,", "3,", "2]"]


def test_origins_are_listed(small):
    small.nodes[0] = small.nodes[0].absorbing(small.nodes[1])
    assert "  conv1 + act  c " in str(small)


def test_quantization():
    assert format_quantization(None) == ""
    assert format_quantization(Quantization.per_tensor(0.125, -5)) == "s=0.125 z=-5"
    assert format_quantization(Quantization.per_channel(np.float32([0.5, 0.25]), 2)) == "s=0.25…0.5 axis 2"
    assert format_quantization(Quantization(np.float32([1, 2]), np.int32([3, 4]), 0)) == "s=1…2 z=3…4 axis 0"


def test_values():
    assert format_value((1, 2.5, True, np.float32(0.1))) == "(1, 2.5, True, 0.1)"
    assert format_value(np.zeros((2, 3), np.int8)) == "int8[2, 3]"
    assert format_value("same") == "same"


def test_expression():
    swish = Expression((Step("Sigmoid", (0,)), Step("Mul", (0, 1)), Step("Clip", (2,), {"min": 0.0, "max": 6.0})))
    assert format_expression(swish) == "Clip(Mul(x, Sigmoid(x)), min=0, max=6)"
