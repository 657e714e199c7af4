"""Add, Sub, Mul, Div, MatMul, PRelu, Softmax, Elementwise: numerics §4–6."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite.errors import QuantizationError
from arenite.graph import Expression, Node, Quantization
from arenite.quantize.lowering import Lowering
from arenite.quantize.multipliers import (
    lookup_table,
    requantization,
    scale_of,
    short_multiplier,
    softmax_numerator,
    softmax_table,
    sum_multipliers,
    zero_point_of,
)

LARGEST_DEPTH = 33025
"""Of a MatMul: K·255² < 2^31."""
LARGEST_PRODUCT_SCALE = 2.0**13
PRELU_SHIFT, PRODUCT_SHIFT, DIVISOR_SHIFT = 22, 14, 40


def lower_sum(lowering: Lowering, node: Node) -> None:
    """Add; Sub is an Add with a negative multiplier of b."""
    (a, a_q), (b, b_q) = (lowering.operand(name) for name in node.inputs)
    y = lowering.quantization[node.output]
    sign = -1.0 if node.op == "Sub" else 1.0
    a_multiplier, b_multiplier, shift = sum_multipliers(scale_of(a_q) / scale_of(y), sign * scale_of(b_q) / scale_of(y))
    lowering.emit(
        node,
        "Add",
        (a, b),
        a_multiplier=a_multiplier,
        b_multiplier=b_multiplier,
        shift=shift,
        **_zero_points(a_q, b_q, y),
        **lowering.clamp(node),
    )


def lower_product(lowering: Lowering, node: Node) -> None:
    (a, a_q), (b, b_q) = (lowering.operand(name) for name in node.inputs)
    y = lowering.quantization[node.output]
    effective = scale_of(a_q) * scale_of(b_q) / scale_of(y)
    if effective >= LARGEST_PRODUCT_SCALE:
        lowering.note(node, "the output scale is so small that nearly every product saturates")
    multiplier, shift = requantization(effective, PRODUCT_SHIFT)  # clamps M to 2^13, §4
    lowering.emit(node, "Mul", (a, b), multiplier=int(multiplier), shift=shift, **_zero_points(a_q, b_q, y), **lowering.clamp(node))


def lower_quotient(lowering: Lowering, node: Node) -> None:
    (a, a_q), (b, b_q) = (lowering.operand(name) for name in node.inputs)
    y = lowering.quantization[node.output]
    multiplier, shift = short_multiplier(scale_of(a_q) / (scale_of(b_q) * scale_of(y)), DIVISOR_SHIFT)
    lowering.emit(node, "Div", (a, b), multiplier=multiplier, shift=shift, **_zero_points(a_q, b_q, y), **lowering.clamp(node))


def _zero_points(a: Quantization, b: Quantization, y: Quantization) -> dict[str, Any]:
    return {"a_zero_point": zero_point_of(a), "b_zero_point": zero_point_of(b), "output_zero_point": zero_point_of(y)}


def lower_matmul(lowering: Lowering, node: Node) -> None:
    (a, a_q), (b, b_q) = (lowering.operand(name) for name in node.inputs)
    y, depth = lowering.quantization[node.output], lowering.target.tensors[a].shape[-1]
    if depth > LARGEST_DEPTH:
        raise QuantizationError(
            f"{lowering.source.name}: {node.name} (MatMul) sums {depth} products; its 32-bit accumulator is proven for {LARGEST_DEPTH}. "
            "Split the matrices along that axis and add the parts."
        )
    result, scale = y, scale_of(y)
    multiplier, shift = requantization(scale_of(a_q) * scale_of(b_q) / scale)
    while (depth * 255**2) << shift >= 1 << 31 or multiplier >= (1 << 31) - 1:
        # §4: the product is computed with a larger scale, of which a table then makes the wanted one.
        scale *= 2
        result = Quantization.per_tensor(scale, zero_point_of(y))
        multiplier, shift = requantization(scale_of(a_q) * scale_of(b_q) / scale)
    output = node.output
    if result is not y:
        output = lowering.temporary(node.output, lowering.target.tensors[node.output].shape, result)
        lowering.note(node, "the output scale is too small for the accumulator; computed with a larger one and requantized by a table")
    clamp: dict[str, Any] = lowering.clamp(node) if result is y else {"activation_min": -128, "activation_max": 127}
    lowering.emit(node, "MatMul", (a, b), output, multiplier=int(multiplier), shift=shift, **_zero_points(a_q, b_q, result), **clamp)
    if result is not y:
        bounds = lowering.clamp(node)
        table = np.clip(lookup_table(None, result, y), bounds["activation_min"], bounds["activation_max"]).astype(np.int8)
        lowering.lookup(node, output, node.output, table, "requantize")


def lower_prelu(lowering: Lowering, node: Node) -> None:
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    slope = lowering.values(node, 1).astype(np.float64)
    ratio = scale_of(x) / scale_of(y)
    shape = lowering.source.tensors[node.input].shape
    if slope.ndim > 1 and slope.size > 1:  # a whole tensor of slopes, or trailing axes of it: the period of the multipliers
        trailing = next((n for n in range(len(shape) + 1) if int(np.prod(shape[n:])) == slope.size), None)
        if trailing is None or slope.shape[slope.ndim - (len(shape) - trailing) :] != shape[trailing:]:
            slope = np.broadcast_to(slope, shape)
    elif slope.size > 1 and slope.size != shape[-1]:
        slope = np.broadcast_to(slope, shape)
    multipliers, shift = requantization(np.append(slope.ravel() * ratio, ratio), PRELU_SHIFT)
    lowering.emit(
        node,
        "PRelu",
        (node.input, lowering.constant(f"{node.output}/multiplier", multipliers[:-1].astype(np.int32))),
        input_zero_point=zero_point_of(x),
        output_zero_point=zero_point_of(y),
        positive_multiplier=int(multipliers[-1]),
        shift=shift,
        **lowering.clamp(node),
    )


def lower_softmax(lowering: Lowering, node: Node) -> None:
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    length = lowering.source.tensors[node.input].shape[-1]
    lowering.emit(
        node,
        "Softmax",
        (node.input, lowering.constant(f"{node.output}/table", softmax_table(scale_of(x), length))),
        output_zero_point=zero_point_of(y),
        numerator=softmax_numerator(scale_of(y)),
        **lowering.clamp(node),
    )


def lower_function(lowering: Lowering, node: Node) -> None:
    expression: Expression = node.attributes["expression"]
    x, y = lowering.quantization[node.input], lowering.quantization[node.output]
    lowering.lookup(node, node.input, node.output, lookup_table(expression, x, y), str(expression))
