"""Random layers of the operators that go from element to element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from arenite.graph import OPERATORS, DType
from arenite.graph.operators.function import CODES
from kernels.cases import Array
from overlaps.layer import Layer, Rng, clamp, int8, layer, pixels

Draw = Callable[[Rng, str], Layer]
SCALES = {
    "Add": {"a_multiplier": 1 << 19, "b_multiplier": 1 << 19, "shift": 20},
    "Mul": {"multiplier": 1 << 26, "shift": 0},
    "Div": {"multiplier": 1 << 26, "shift": 0},
}
"""Of operators of two operands that have an int8 form."""
BINARY = ("Sub", "Max", "Min", "Pow", "Equal", "Less", "LessOrEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Mod")
SETTINGS = {"Mod": {"fmod": True}, "BitShift": {"right": True}}


def _elements(rng: Rng, variant: str, *shape: int) -> Array:
    """Of the type that the variant says, small ones where it is not quantized."""
    if variant in ("int8", "int16_steps", "float32"):
        return pixels(rng, variant, *shape)
    dtype = np.dtype(np.int8 if variant == "plain_int8" else variant)
    return rng.integers(0, 2 if dtype == np.bool_ else 9, shape).astype(dtype)


def _binary(op: str) -> Draw:
    def draw(rng: Rng, variant: str) -> Layer:
        shape = tuple(int(rng.integers(1, 8)) for _ in range(3))
        shapes = [shape, shape]
        if rng.random() < 0.4:
            shapes[int(rng.integers(0, 2))] = tuple(1 if rng.random() < 0.5 else size for size in shape)
        arrays = [_elements(rng, variant, *each) for each in shapes]
        attributes = SETTINGS.get(op, {})
        if variant in ("int8", "int16_steps"):
            attributes = {"a_zero_point": 3, "b_zero_point": -2, "output_zero_point": 1, **SCALES[op], **clamp(variant)}
        if (op, variant) == ("Mul", "int16_steps"):
            attributes |= {"multiplier": 1 << 14, "shift": 29}
        return layer(op, arrays, variant=variant, **attributes)

    return draw


def _function(op: str) -> Draw:
    return lambda rng, variant: layer(op, [_elements(rng, variant, int(rng.integers(1, 200)))], variant=variant)


def _prelu(rng: Rng, variant: str) -> Layer:
    rows, channels = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    x = _elements(rng, variant, rows, channels)
    if variant == "float32":
        return layer("PRelu", [x, _elements(rng, variant, channels)], variant=variant)
    attributes = {"input_zero_point": 3, "output_zero_point": -2, "positive_multiplier": 1 << 30, "shift": 2, **clamp(variant)}
    return layer("PRelu", [x, rng.integers(-(1 << 30), 1 << 30, channels).astype(np.int32)], variant=variant, **attributes)


def _softmax(rng: Rng, variant: str) -> Layer:
    x = pixels(rng, variant, int(rng.integers(1, 5)), int(rng.integers(1, 20)))
    if variant == "float32":
        return layer("Softmax", [x], variant=variant)
    table = (2.0**24 * np.exp(-0.02 * np.arange(256))).astype(np.int32)
    attributes = {"numerator": 1 << 56, "output_zero_point": -128, **clamp(variant)}
    return layer("Softmax", [x, table], variant=variant, **attributes)


def _lookup(rng: Rng, variant: str) -> Layer:
    table = int8(rng, 256) if variant == "int8" else rng.integers(-(1 << 15), 1 << 15, 513).astype(np.int16)
    return layer("Lookup", [_elements(rng, variant, int(rng.integers(1, 200))), table], variant=variant)


def _cast(rng: Rng, variant: str) -> Layer:
    target = DType.of(np.zeros(0, rng.choice([np.float32, np.int16, np.int8, np.uint8])))
    return layer("Cast", [_elements(rng, variant, int(rng.integers(1, 200)))], variant=variant, to=target.value)


def _quantize(rng: Rng, variant: str) -> Layer:
    result = {"int8": DType.INT8, "int16_steps": DType.INT16, "int32_steps": DType.INT32}[variant]
    return layer("Quantize", [_elements(rng, "float32", int(rng.integers(1, 200)))], variant=variant, result=result)


def _dequantize(rng: Rng, variant: str) -> Layer:
    return layer("Dequantize", [_elements(rng, variant, int(rng.integers(1, 200)))], variant=variant, result=DType.FLOAT32)


def _requantize(rng: Rng, variant: str) -> Layer:
    x = _elements(rng, variant, int(rng.integers(1, 200)))
    return layer("Requantize", [x], variant=variant, multiplier=1 << 14, shift=22, zero_point=3)


def _all(op: str, draw: Draw) -> dict[tuple[str, str], Draw]:
    operator = OPERATORS[op]
    typed = () if operator.typed is None else operator.typed.variants
    return {(op, variant): draw for variant in (*operator.variants, *typed)}


ELEMENTWISE: dict[tuple[str, str], Draw] = {
    kernel: draw
    for kernels in (
        *(_all(op, _binary(op)) for op in (*SCALES, *BINARY)),
        *(_all(op, _function(op)) for op in CODES),
        _all("PRelu", _prelu),
        _all("Softmax", _softmax),
        _all("Lookup", _lookup),
        _all("Cast", _cast),
        _all("Quantize", _quantize),
        _all("Dequantize", _dequantize),
        _all("Requantize", _requantize),
    )
    for kernel, draw in kernels.items()
}
"""By operator and variant."""
