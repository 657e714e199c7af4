"""What is inferred for tensors that a quantized graph leaves without annotation, and what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from arenite.graph import Quantization
from arenite.quantize import quantize
from arenite.quantize.missing_pairs import comes_quantized, completed

RNG = np.random.default_rng(3)


@pytest.fixture
def quantized_conv(net):
    """(net, the annotated result of a convolution of an annotated input)."""
    made = net(x=(1, 6, 6, 3))
    made.annotate("x", 0.02, -5)
    weight = Quantization.per_channel(np.full(4, 0.01, np.float32), 0)
    y = made.conv("x", RNG.integers(-100, 100, (4, 3, 3, 3)).astype(np.float32) * np.float32(0.01))
    (node,) = made.graph.nodes
    name = node.inputs[1]
    made.graph.tensors[name] = replace(made.graph.tensors[name], quantization=weight)
    return made, made.annotate(y, 0.05, -9)


def found(made, *outputs, measured=False):
    made.graph.outputs = list(outputs)
    return completed(made.graph, measured=measured)


@pytest.mark.parametrize(("op", "attributes"), [("Clip", {"min": 0.0, "max": np.inf}), ("Clip", {"min": -0.1, "max": 2.0}), ("Neg", {})])
def test_functions_onto_the_same_steps(op, attributes, quantized_conv):
    """ReLU and Clip; Neg has −128 + 18 … 127 + 18 and leaves the range."""
    made, y = quantized_conv
    z = made.function(y, op, **attributes)
    for measured in (False, True):
        result = found(made, z, measured=measured)
        chosen = result.graph.tensors[z].quantization
        if op == "Neg":
            assert (chosen is None) == measured
        else:
            assert chosen.same_as(made.graph.tensors[y].quantization) and "among those of" in result.sources[z]


@pytest.mark.parametrize(
    ("op", "scale", "zero_point"),
    [("Sigmoid", 1 / 256, -128), ("Tanh", 1 / 128, 0), ("Softsign", 1 / 128, 0), ("HardSigmoid", 1 / 256, -128)],
)
@pytest.mark.parametrize("measured", [False, True])
def test_bounded_functions(op, scale, zero_point, measured, quantized_conv):
    made, y = quantized_conv
    attributes = {"alpha": 0.2, "beta": 0.5} if op == "HardSigmoid" else {}
    z = made.function(y, op, **attributes)
    result = found(made, z, measured=measured)
    chosen = result.graph.tensors[z].quantization
    assert (float(chosen.scale), int(chosen.zero_point)) == (scale, zero_point)
    assert result.sources[z].startswith(f"the bounds of {op}")


def test_values_at_the_steps(quantized_conv):
    """Without data: exactly the range that 256 values have; with data that decides."""
    made, y = quantized_conv
    z = made.function(y, "Exp")
    q = made.graph.tensors[y].quantization
    values = np.exp((np.arange(-128, 128) - int(q.zero_point)) * float(q.scale))
    chosen = found(made, z).graph.tensors[z].quantization
    np.testing.assert_allclose(float(chosen.scale), values.max() / 255, rtol=1e-6)
    assert found(made, z, measured=True).graph.tensors[z].quantization is None


def test_sums_are_not_guessed(quantized_conv, engine):
    """They stay float32 without data, and come out as the float sum of what was rounded."""
    made, y = quantized_conv
    z = made.function(y, "Clip", min=0.0, max=np.inf)
    total = made.node("Add", y, z, clip=(-np.inf, np.inf))
    made.graph.outputs = [total]
    model = quantize(made.graph)
    assert model.precision == "mixed" and model.calibrated
    sources = {pair.tensor: pair for pair in model.missing}
    assert sources[total].scale is None and "float32" in sources[total].source
    assert sources[z].scale == pytest.approx(0.05)
    (output,) = model.graph.outputs
    assert model.graph.tensors[output].dtype.value == "float32"
    x = RNG.integers(-128, 128, (1, 6, 6, 3)).astype(np.int8)
    (got,) = engine(model.graph).run([x])
    steps = np.rint(got / np.float32(0.05))
    np.testing.assert_allclose(got, steps * np.float32(0.05), atol=1e-5)  # both operands are on the grid, and so is the sum
    assert np.ptp(steps) > 50


def test_a_float_model_with_an_input_of_bytes_is_not_quantized(net):
    """It is calibrated as ever."""
    made = net(x=(1, 6, 6, 3))
    made.annotate("x", 1.0, -128)
    y = made.conv("x", RNG.normal(0, 1, (4, 3, 3, 3)))
    made.graph.outputs = [y]
    assert not comes_quantized(made.graph)
    model = quantize(made.graph)
    assert model.precision == "int8" and not model.calibrated and not model.missing
