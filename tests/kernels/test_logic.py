"""Cast, Where, comparisons, bits, remainders, integer powers: NumPy and portable C against Python's own numbers, element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import OPERATORS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, run_c, run_numpy
from kernels.portable_library import PortableLibrary
from kernels.typed_cases import integers, reals

DTYPES = {
    name: np.dtype(np.int8 if name == "plain_int8" else name)
    for name in ("float32", "int32", "int64", "uint8", "bool", "int16", "uint16", "uint32", "plain_int8")
}
COMPARED = {"Equal": operator.eq, "Less": operator.lt, "LessOrEqual": operator.le}
BITS = {"BitwiseAnd": operator.and_, "BitwiseOr": operator.or_, "BitwiseXor": operator.xor}


def elements(draw: DrawFn, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    if dtype.kind == "f":
        values = reals(draw, *shape, special=True)
        return values * np.float32(draw(st.sampled_from([1, 300, 4e9, 2.0**63])))
    if dtype.kind == "b":
        return generator(draw).random(shape) < 0.5
    return integers(draw, dtype, *shape)


def shapes(draw: DrawFn, count: int) -> list[tuple[int, ...]]:
    """Of operands that broadcast, of one rank."""
    full = draw(st.lists(st.integers(1, 4), min_size=0, max_size=5))
    return [tuple(size if draw(st.booleans()) else 1 for size in full) for _ in range(count)]


@st.composite
def binary(draw: DrawFn, op: str, variant: str) -> NodeCall:
    inputs = [elements(draw, DTYPES[variant], shape) for shape in shapes(draw, 2)]
    if op in ("BitShift", "Pow") and variant != "float32" and draw(st.booleans()):
        inputs[1] = generator(draw).integers(-2, 70, inputs[1].shape).astype(inputs[1].dtype)
    attributes = {"BitShift": {"right": draw(st.booleans())}, "Mod": {"fmod": draw(st.booleans())}}.get(op, {})
    return NodeCall(op, variant, inputs, attributes)


@st.composite
def cast(draw: DrawFn, variant: str) -> NodeCall:
    x = elements(draw, DTYPES[variant], tuple(draw(st.lists(st.integers(1, 5), max_size=3))))
    return NodeCall("Cast", variant, [x], {"to": draw(st.sampled_from(list(DTYPES.values()))).name})


@st.composite
def where(draw: DrawFn) -> NodeCall:
    condition, x, y = shapes(draw, 3)
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    return NodeCall("Where", "bytes", [elements(draw, np.dtype(bool), condition), elements(draw, dtype, x), elements(draw, dtype, y)])


def wrapped(value: int, dtype: np.dtype[Any]) -> int:
    """Modulo 2^width, in the range of the type."""
    bits, signed = 8 * dtype.itemsize, dtype.kind == "i"
    value %= 1 << bits
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def casted(value: Any, to: np.dtype[Any]) -> Any:
    if to.kind == "b":
        return value != 0
    if to.kind == "f":
        return np.float32(value)
    if not isinstance(value, float):
        return wrapped(int(value), to)
    limits = np.iinfo(to)
    if math.isnan(value):
        return 0
    return limits.max if value >= limits.max else limits.min if value <= limits.min else int(value)


def modulo(a: Any, b: Any, fmod: bool) -> Any:
    if isinstance(a, int):
        if b == 0:
            return 0
        return a - b * int(math.copysign(1, a) * math.copysign(1, b)) * (abs(a) // abs(b)) if fmod else a % b
    with np.errstate(all="ignore"):
        remainder = np.fmod(np.float32(a), np.float32(b))
        return remainder if fmod or remainder == 0 or (remainder < 0) == (b < 0) else remainder + np.float32(b)


def shifted(a: int, b: int, right: bool, bits: int) -> int:
    if not 0 <= b < bits:
        return -1 if right and a < 0 else 0
    return a >> b if right else a << b


def powered(a: int, b: int, bits: int) -> int:
    if b >= 0:
        return pow(a, b, 1 << bits)
    return 1 if a == 1 or (a == -1 and b % 2 == 0) else -1 if a == -1 else 0


def expected(call: NodeCall) -> Array:
    """By Python's integers, and floats where the elements are."""
    result, attributes = call.results[0], call.attributes
    dtype, bits = result.dtype.numpy, 8 * result.dtype.itemsize
    functions: dict[str, Callable[..., Any]] = {
        **COMPARED,
        **BITS,
        "Cast": lambda x: casted(x, dtype),
        "Where": lambda condition, x, y: x if condition else y,
        "Mod": lambda a, b: modulo(a, b, attributes["fmod"]),
        "BitShift": lambda a, b: wrapped(shifted(a, b, attributes["right"], bits), dtype),
        "Pow": lambda a, b: wrapped(powered(a, b, bits), dtype),
    }
    spread = np.broadcast_arrays(*call.inputs)
    values = [functions[call.op](*row) for row in zip(*(array.reshape(-1).tolist() for array in spread), strict=True)]
    return np.asarray(values, dtype).reshape(result.shape)


CALLS = {
    **{(op, v): binary(op, v) for op in (*COMPARED, *BITS, "BitShift", "Mod") for v in OPERATORS[op].variants},
    **{("Pow", v): binary("Pow", v) for v in ("int32", "int64")},
    **{("Cast", v): cast(v) for v in OPERATORS["Cast"].variants},
    ("Where", "bytes"): where(),
}


@pytest.mark.parametrize(("op", "variant"), CALLS)
def test_kernels(portable: PortableLibrary, op: str, variant: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(CALLS[op, variant])
    def check(call: NodeCall) -> None:
        want = expected(call)
        np.testing.assert_array_equal(run_numpy(call)[0], want, err_msg=f"NumPy, {call}")
        np.testing.assert_array_equal(run_c(portable, call)[0], want, err_msg=f"C, {call}")

    check()
    assert portable.reports() == ""


@pytest.mark.parametrize(("op", "variant"), [key for key in CALLS if OPERATORS[key[0]].in_place])
def test_in_place(portable: PortableLibrary, op: str, variant: str) -> None:
    """The output may take the first operand's bytes where that is not broadcast."""

    @settings(deadline=None, derandomize=True, max_examples=20)
    @given(CALLS[op, variant])
    def check(call: NodeCall) -> None:
        call.inputs[0] = np.ascontiguousarray(np.broadcast_to(call.inputs[0], call.results[0].shape))
        if op == "Cast":  # between elements of one size
            call.attributes["to"] = {"float32": "int32", "int32": "float32"}.get(variant, f"int{8 * call.inputs[0].itemsize}")
        np.testing.assert_array_equal(run_c(portable, call, in_place=True)[0], run_c(portable, call)[0])

    check()
