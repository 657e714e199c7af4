"""Hypothesis strategies for calls of the typed kernels: float32 and integers that are not quantized. As cases.py, which has the int8 ones.

Elements are of ordinary size unless a case is said to take `special` ones: NaN, infinities, signed zeros, numbers near the ends of the
type. Geometry is drawn by the strategies of cases.py.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from arenite_runtime.kernels import function
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import MAX_DIMS, Array, Case, generator, operands, window

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 2.5, -0.5)


def reals(draw: DrawFn, *shape: int, special: bool = False) -> Array:
    """float32 around 0, of one magnitude or many."""
    rng = generator(draw)
    values = rng.standard_normal(shape)
    if draw(st.booleans()):
        values = values * 2.0 ** rng.integers(-8, 5, shape)
    if special and draw(st.booleans()):
        values = np.where(rng.random(shape) < 0.4, rng.choice(SPECIAL, shape), values)
    return np.asarray(values, np.float32)


def integers(draw: DrawFn, dtype: np.dtype[Any], *shape: int) -> Array:
    """All of the type, or small ones, or its ends with what is around 0."""
    rng, limits = generator(draw), np.iinfo(dtype)
    kind = draw(st.sampled_from(["any", "small", "ends"]))
    if kind == "ends":
        return rng.choice(np.asarray([limits.min, limits.max, 0, 1, 2, *([-1, -2] if limits.min else [])], dtype), shape)
    low, high = (limits.min, limits.max) if kind == "any" else (max(limits.min, -9), 9)
    return rng.integers(low, high, shape, dtype, endpoint=True)


def empty(*shape: int, dtype: type = np.float32) -> Array:
    """An output that is full of something that no kernel computes."""
    return np.full(prod(shape), -77 if dtype is not np.float32 else -7.7e-7, dtype)


def bounds(draw: DrawFn) -> dict[str, float]:
    """Of a fused activation: none, Relu, Relu6, or any."""
    inf = float("inf")
    low, high = draw(st.sampled_from([(-inf, inf), (0.0, inf), (0.0, 6.0), (-0.5, 0.25), (-inf, 0.125)]))
    return {"clip_min": low, "clip_max": high}


def optional(draw: DrawFn, bias: Array) -> Array | None:
    return bias if draw(st.booleans()) else None


# Layers with weights


def image(draw: DrawFn, record: dict[str, Any], special: bool = False) -> Array:
    return reals(draw, record["batch"], record["in_h"], record["in_w"], record["in_c"], special=special)


def image_output(record: dict[str, Any]) -> Array:
    return empty(record["batch"], record["out_h"], record["out_w"], record["out_c"])


@st.composite
def conv(draw: DrawFn, size: int = 7) -> Case:
    record: dict[str, Any] = window(draw, size, most=3)
    group, filters, depth = draw(st.integers(1, 3)), draw(st.integers(1, 6)), record["in_c"]
    record |= {"in_c": depth * group, "out_c": filters * group, "group": group, **bounds(draw)}
    weight = reals(draw, filters * group, record["kernel_h"], record["kernel_w"], depth)
    bias = optional(draw, reals(draw, filters * group))
    return Case("Conv", "float32", record, [image(draw, record), weight, bias], image_output(record))


@st.composite
def depthwise_conv(draw: DrawFn, size: int = 7) -> Case:
    record: dict[str, Any] = window(draw, size, most=6)
    record |= {"out_c": record["in_c"] * draw(st.sampled_from([1, 1, 2, 3])), **bounds(draw)}
    weight = reals(draw, record["kernel_h"], record["kernel_w"], record["out_c"])
    bias = optional(draw, reals(draw, record["out_c"]))
    return Case("DepthwiseConv", "float32", record, [image(draw, record), weight, bias], image_output(record))


@st.composite
def fully_connected(draw: DrawFn) -> Case:
    rows, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 11))
    features = draw(st.one_of(st.integers(1, 40), st.sampled_from([127, 128, 129, 300, 3000])))
    record = {"rows": rows, "in_features": features, "out_features": outputs, **bounds(draw)}
    inputs = [reals(draw, rows, features), reals(draw, outputs, features), optional(draw, reals(draw, outputs))]
    return Case("FullyConnected", "float32", record, inputs, empty(rows, outputs))


@st.composite
def matmul(draw: DrawFn) -> Case:
    batch, strides, sizes = operands(draw, 3, 3)
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    k = draw(st.one_of(st.integers(1, 9), st.sampled_from([128, 129, 300])))
    record: dict[str, Any] = {"batch": batch, "m": m, "k": k, "n": n, **bounds(draw)}
    record |= {"a_stride": tuple(s * m * k for s in strides[0]), "b_stride": tuple(s * k * n for s in strides[1])}
    return Case("MatMul", "float32", record, [reals(draw, sizes[0] * m * k), reals(draw, sizes[1] * k * n)], empty(prod(batch), m, n))


# Elementwise


@st.composite
def binary(draw: DrawFn, op: str, variant: str, size: int = 5) -> Case:
    dims, strides, sizes = operands(draw, MAX_DIMS, size)
    record: dict[str, Any] = {"dims": dims, "a_stride": strides[0], "b_stride": strides[1]}
    if variant == "float32":
        inputs = [reals(draw, n, special=True) for n in sizes]
        return Case(op, variant, record, inputs, empty(prod(dims)))
    dtype = np.dtype(variant)
    return Case(op, variant, record, [integers(draw, dtype, n) for n in sizes], empty(prod(dims), dtype=dtype.type))


@st.composite
def prelu(draw: DrawFn) -> Case:
    rows, channels = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    inputs = [reals(draw, rows, channels, special=True), reals(draw, channels)]
    return Case("PRelu", "float32", {"count": rows * channels, "channels": channels}, inputs, empty(rows, channels))


@st.composite
def softmax(draw: DrawFn) -> Case:
    rows, length = draw(st.integers(1, 4)), draw(st.integers(1, 40))
    x = reals(draw, rows, length, special=True) * np.float32(draw(st.sampled_from([0.1, 1, 30, 1000])))
    return Case("Softmax", "float32", {"rows": rows, "length": length}, [x], empty(rows, length))


NUMBERS: dict[str, st.SearchStrategy[tuple[float, float]]] = {
    "Celu": st.tuples(st.sampled_from([1.0, 0.25, 3.0, -2.0]), st.just(0.0)),
    "Clip": st.sampled_from([(-1.0, 1.0), (0.0, 6.0), (float("-inf"), 0.5), (0.25, float("inf")), (2.0, 1.0)]),
    "Elu": st.tuples(st.sampled_from([1.0, 0.25, 3.0]), st.just(0.0)),
    "Gelu": st.sampled_from([(0.0, 0.0), (1.0, 0.0)]),
    "HardSigmoid": st.sampled_from([(0.2, 0.5), (0.5, 0.6), (-1.0, 0.25)]),
    "LeakyRelu": st.tuples(st.sampled_from([0.01, 0.3, 2.0]), st.just(0.0)),
    "Selu": st.sampled_from([(1.6732632, 1.050701), (2.0, 3.0)]),
    "Swish": st.tuples(st.sampled_from([1.0, 1.702, -0.5]), st.just(0.0)),
    "ThresholdedRelu": st.tuples(st.sampled_from([1.0, 0.0, -0.5]), st.just(0.0)),
}
"""alpha and beta, of the functions that have them."""


@st.composite
def unary(draw: DrawFn, op: str) -> Case:
    alpha, beta = draw(NUMBERS.get(op, st.just((0.0, 0.0))))
    halves = st.integers(-9, 9).map(lambda steps: steps / 2)  # ties
    any_size = st.one_of(st.floats(-100, 100, width=32), st.floats(-4, 4, width=32), halves, st.sampled_from(SPECIAL))
    values = draw(st.lists(any_size, min_size=1))
    record = {"count": len(values), "alpha": alpha, "beta": beta}
    return Case(op, "float32", record, [np.asarray(values, np.float32)], empty(len(values)))


# Pooling


@st.composite
def max_pool(draw: DrawFn, size: int = 7) -> Case:
    record: dict[str, Any] = window(draw, size, most=5)
    record |= {"out_c": record["in_c"], **bounds(draw)}
    return Case("MaxPool", "float32", record, [image(draw, record, special=True)], image_output(record))


@st.composite
def average_pool(draw: DrawFn, size: int = 7) -> Case:
    record: dict[str, Any] = window(draw, size, most=5)
    pads = {"pad_bottom": draw(st.integers(0, 3)), "pad_right": draw(st.integers(0, 3)), "count_include_pad": draw(st.integers(0, 1))}
    record |= {"out_c": record["in_c"], **pads, **bounds(draw)}
    return Case("AveragePool", "float32", record, [image(draw, record, special=True)], image_output(record))


@st.composite
def reduce_mean(draw: DrawFn) -> Case:
    outer, inner = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    count = draw(st.one_of(st.integers(1, 40), st.sampled_from([63, 64, 65, 129, 5000])))
    x = reals(draw, outer, count, inner, special=True) + np.float32(draw(st.sampled_from([0, 100])))  # 100: a sum that grows
    return Case("ReduceMean", "float32", {"outer": outer, "count": count, "inner": inner, **bounds(draw)}, [x], empty(outer, inner))


ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "Min")

TYPED: dict[tuple[str, str], st.SearchStrategy[Case]] = {
    ("Conv", "float32"): conv(),
    ("DepthwiseConv", "float32"): depthwise_conv(),
    ("FullyConnected", "float32"): fully_connected(),
    ("MatMul", "float32"): matmul(),
    ("PRelu", "float32"): prelu(),
    ("Softmax", "float32"): softmax(),
    ("MaxPool", "float32"): max_pool(),
    ("AveragePool", "float32"): average_pool(),
    ("ReduceMean", "float32"): reduce_mean(),
    ("Pow", "float32"): binary("Pow", "float32"),
    **{(op, variant): binary(op, variant) for op in ARITHMETIC for variant in ("float32", "int32", "int64")},
    **{(op, "float32"): unary(op) for op in function.KERNELS},
}
"""By operator and variant."""
