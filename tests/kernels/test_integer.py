"""Quantized arithmetic with scales of run time (numerics §17): NumPy and portable C against Python's numbers, element by element."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, run_c, run_numpy
from kernels.portable_library import PortableLibrary
from kernels.typed_cases import integers

F = np.float32
VARIANTS = {"plain_int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32}
BYTES = (np.int8, np.uint8)
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, 1e-40)


# Strategies


def reals(draw: DrawFn, shape: tuple[int, ...]) -> Array:
    """Around 0, many at a half of a step of 1/4, some special."""
    rng = generator(draw)
    values = rng.normal(0, draw(st.sampled_from([0.1, 3, 300, 1e5])), shape)
    values = np.where(rng.random(shape) < 0.4, rng.integers(-300, 300, shape) / 8, values)
    return np.where(rng.random(shape) < 0.1, rng.choice(SPECIAL, shape), values).astype(F)


def steps(draw: DrawFn, shape: tuple[int, ...]) -> Array:
    """Scales: mostly a power of two, so that halves are met; some that nobody would choose."""
    rng = generator(draw)
    scales = np.where(rng.random(shape) < 0.5, 0.25, rng.uniform(1e-3, 2, shape))
    return np.where(rng.random(shape) < draw(st.sampled_from([0, 0, 0.2])), rng.choice([*SPECIAL, -0.5], shape), scales).astype(F)


def axes(draw: DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], int, int]:
    """Shape of x, shape of the scales, axis, block."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    axis = draw(st.integers(0, len(shape) - 1))
    kind = draw(st.sampled_from(["tensor", "axis", "block"]))
    if kind == "tensor":
        return shape, draw(st.sampled_from([(), (1,)])), 0, 0
    if kind == "axis":
        return shape, (shape[axis],), axis, 0
    block = draw(st.integers(1, shape[axis]))
    return shape, tuple(-(-size // block) if d == axis else size for d, size in enumerate(shape)), axis, block


def optional(draw: DrawFn, value: Array) -> Array | None:
    return value if draw(st.booleans()) else None


@st.composite
def quantize_linear(draw: DrawFn, variant: str) -> NodeCall:
    shape, scales, axis, block = axes(draw)
    dtype = np.dtype(VARIANTS[variant])
    inputs = [reals(draw, shape), steps(draw, scales), optional(draw, integers(draw, dtype, *scales))]
    return NodeCall("QuantizeLinear", variant, inputs, {"axis": axis, "block": block, "to": dtype.name})


@st.composite
def dequantize_linear(draw: DrawFn, variant: str) -> NodeCall:
    shape, scales, axis, block = axes(draw)
    dtype = np.dtype(VARIANTS[variant])
    inputs = [integers(draw, dtype, *shape), steps(draw, scales), optional(draw, integers(draw, dtype, *scales))]
    return NodeCall("DequantizeLinear", variant, inputs, {"axis": axis, "block": block})


@st.composite
def dynamic_quantize_linear(draw: DrawFn) -> NodeCall:
    x = reals(draw, (draw(st.integers(1, 40)),))
    x = draw(st.sampled_from([x, np.abs(x), -np.abs(x), np.zeros_like(x), np.where(np.isfinite(x), x, F(1))]))
    return NodeCall("DynamicQuantizeLinear", "float32", [x])


@st.composite
def fake_quantize(draw: DrawFn) -> NodeCall:
    scale = float(draw(st.sampled_from([F(0.25), F(0.0137), F(1e-30), F(3e30)])))
    return NodeCall("FakeQuantize", "float32", [reals(draw, (40,))], {"scale": scale, "zero_point": draw(st.integers(-128, 127))})


@st.composite
def conv_integer(draw: DrawFn) -> NodeCall:
    group, depth, filters = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    kernel, strides, dilations = ((draw(st.integers(1, 3)), draw(st.integers(1, 3))) for _ in range(3))
    pads = tuple(draw(st.integers(0, 3)) for _ in range(4))
    size = [
        max(1, (kernel[i] - 1) * dilations[i] + 1 - pads[i] - pads[i + 2]) + draw(st.integers(0, 4))
        for i in range(2)
    ]  # fmt: skip
    x_type, w_type = (np.dtype(draw(st.sampled_from(BYTES))) for _ in range(2))
    out = group * filters
    inputs: list[Any] = [
        integers(draw, x_type, draw(st.integers(1, 2)), *size, group * depth),
        integers(draw, w_type, out, *kernel, depth),
        optional(draw, integers(draw, x_type, *draw(st.sampled_from([(), (1,)])))),
        optional(draw, integers(draw, w_type, *draw(st.sampled_from([(), (out,)])))),
    ]
    return NodeCall("ConvInteger", "bytes", inputs, {"strides": strides, "dilations": dilations, "pads": pads, "group": group})


@st.composite
def matmul_integer(draw: DrawFn) -> NodeCall:
    leading = draw(st.lists(st.integers(1, 3), max_size=3))

    def batch() -> tuple[int, ...]:
        return tuple(size if draw(st.booleans()) else 1 for size in leading)[draw(st.integers(0, len(leading))) :]

    m, k, n = (draw(st.integers(1, 5)) for _ in range(3))
    a_type, b_type = (np.dtype(draw(st.sampled_from(BYTES))) for _ in range(2))
    a, b = integers(draw, a_type, *batch(), m, k), integers(draw, b_type, *batch(), k, n)
    full = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])

    def zero(dtype: np.dtype[Any], along: tuple[int, int]) -> Array | None:
        chosen = tuple(size if draw(st.booleans()) else 1 for size in full)
        return optional(draw, integers(draw, dtype, *chosen, *draw(st.sampled_from([(1, 1), along]))))

    return NodeCall("MatMulInteger", "bytes", [a, b, zero(a_type, (m, 1)), zero(b_type, (1, n))])


# Formulas


def rounded(value: Any) -> int | None:
    """To the nearest integer, ties to even; None of NaN, and far outside of 16 bits for infinities."""
    if math.isnan(value):
        return None
    return int(math.copysign(10**6, value)) if math.isinf(value) else round(Fraction(float(value)))


def quantized(x: Any, scale: Any, zero: int, least: int, most: int) -> int:
    with np.errstate(all="ignore"):
        step = rounded(F(x) / F(scale))
    return min(max((step or 0) + zero, least), most)


def each(call: NodeCall, index: int) -> Array:
    """The scale, or zero point, of every element; 0 where there is none."""
    x, per_scale = call.inputs[0], call.inputs[index]
    if per_scale is None:
        return np.zeros(x.shape, np.int64)
    if per_scale.size == 1:
        return np.broadcast_to(per_scale.reshape(()), x.shape)
    axis, block = call.attributes["axis"], call.attributes["block"]
    result = np.empty(x.shape, per_scale.dtype)
    for at in np.ndindex(x.shape):
        result[at] = per_scale[(*at[:axis], at[axis] // block, *at[axis + 1 :])] if block else per_scale[at[axis]]
    return result


def rows(*arrays: Array) -> Any:
    return zip(*(array.reshape(-1).tolist() for array in arrays), strict=True)


def expected(call: NodeCall) -> list[Array]:
    return {
        "QuantizeLinear": expected_quantize,
        "DequantizeLinear": expected_dequantize,
        "DynamicQuantizeLinear": expected_dynamic,
        "FakeQuantize": expected_fake,
        "ConvInteger": expected_conv,
        "MatMulInteger": expected_matmul,
    }[call.op](call)


def expected_quantize(call: NodeCall) -> list[Array]:
    dtype = np.dtype(VARIANTS[call.variant])
    limits = np.iinfo(dtype)
    values = [quantized(x, s, int(z), limits.min, limits.max) for x, s, z in rows(call.inputs[0], each(call, 1), each(call, 2))]
    return [np.asarray(values, dtype).reshape(call.inputs[0].shape)]


def expected_dequantize(call: NodeCall) -> list[Array]:
    with np.errstate(all="ignore"):
        values = [F(x - z) * F(s) for x, s, z in rows(call.inputs[0], each(call, 1), each(call, 2))]
    return [np.asarray(values, F).reshape(call.inputs[0].shape)]


def expected_dynamic(call: NodeCall) -> list[Array]:
    (x,) = call.inputs
    numbers = [v for v in x.tolist() if not math.isnan(v)]
    low, high = F(min(0.0, *numbers, 0.0)), F(max(0.0, *numbers, 0.0))
    with np.errstate(all="ignore"):
        scale = (high - low) / F(255) if high > low else F(1)
        zero = min(max(rounded(F(0) - low / scale) or 0, 0), 255)
    return [np.asarray([quantized(v, scale, zero, 0, 255) for v in x.tolist()], np.uint8), np.asarray(scale, F), np.asarray(zero, np.uint8)]


def expected_fake(call: NodeCall) -> list[Array]:
    scale, zero = F(call.attributes["scale"]), call.attributes["zero_point"]
    return [np.asarray([F(quantized(x, scale, zero, -128, 127) - zero) * scale for x in call.inputs[0].tolist()], F)]


def wrapped(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def expected_conv(call: NodeCall) -> list[Array]:
    x, w, x_zero, w_zero = (None if v is None else v.astype(object) for v in call.inputs)
    x = x if x_zero is None else x - x_zero.reshape(-1)[0]
    w = w if w_zero is None else w - w_zero.reshape(-1, 1, 1, 1)
    a, y = call.attributes, np.empty(call.results[0].shape, np.int32)
    per = w.shape[0] // a["group"]
    for n, oy, ox, o in np.ndindex(y.shape):
        total = 0
        for ky, kx, c in np.ndindex(w.shape[1:]):
            row, column = (
                o_ * s - p + k * d for o_, s, p, k, d in zip((oy, ox), a["strides"], a["pads"][:2], (ky, kx), a["dilations"], strict=True)
            )
            if 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
                total += int(x[n, row, column, o // per * w.shape[3] + c]) * int(w[o, ky, kx, c])
        y[n, oy, ox, o] = wrapped(total)
    return [y]


def expected_matmul(call: NodeCall) -> list[Array]:
    a, b, a_zero, b_zero = (None if v is None else v.astype(object) for v in call.inputs)
    product = np.matmul(a if a_zero is None else a - a_zero, b if b_zero is None else b - b_zero)
    return [np.asarray([wrapped(int(v)) for v in product.reshape(-1)], np.int32).reshape(call.results[0].shape)]


CALLS = {
    **{("QuantizeLinear", v): quantize_linear(v) for v in VARIANTS if v != "int32"},
    **{("DequantizeLinear", v): dequantize_linear(v) for v in VARIANTS},
    ("DynamicQuantizeLinear", "float32"): dynamic_quantize_linear(),
    ("FakeQuantize", "float32"): fake_quantize(),
    ("ConvInteger", "bytes"): conv_integer(),
    ("MatMulInteger", "bytes"): matmul_integer(),
}


def check_kernels(portable: PortableLibrary, call: NodeCall) -> None:
    want = expected(call)
    for name, got in (("NumPy", run_numpy(call)), ("C", run_c(portable, call))):
        for mine, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(mine, theirs, err_msg=f"{name}, {call}")


@pytest.mark.parametrize(("op", "variant"), CALLS)
def test_kernels(portable: PortableLibrary, op: str, variant: str) -> None:
    settings(deadline=None, derandomize=True, max_examples=40)(given(CALLS[op, variant])(lambda call: check_kernels(portable, call)))()
    assert portable.reports() == ""


@pytest.mark.long
@pytest.mark.parametrize(("op", "variant"), CALLS)
def test_kernels_many(portable: PortableLibrary, op: str, variant: str) -> None:
    settings(deadline=None, derandomize=True, max_examples=2000)(given(CALLS[op, variant])(lambda call: check_kernels(portable, call)))()
    assert portable.reports() == ""


def test_sums_wrap(portable: PortableLibrary) -> None:
    """Beyond int32: 40,000 products of 255²."""
    a, b = np.full((1, 40000), 255, np.uint8), np.full((40000, 1), 255, np.uint8)
    check_kernels(portable, NodeCall("MatMulInteger", "bytes", [a, b, None, None]))
    x, w = np.full((1, 1, 1, 40000), 255, np.uint8), np.full((1, 1, 1, 40000), -128, np.int8)
    window = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1}
    check_kernels(portable, NodeCall("ConvInteger", "bytes", [x, w, None, np.asarray([127], np.int8)], window))


def test_fake_quantize_in_place(portable: PortableLibrary) -> None:
    call = NodeCall("FakeQuantize", "float32", [np.linspace(-9, 9, 33, dtype=F)], {"scale": 0.05, "zero_point": 7})
    np.testing.assert_array_equal(run_c(portable, call, in_place=True)[0], run_numpy(call)[0])
