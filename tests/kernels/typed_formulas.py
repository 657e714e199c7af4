"""What docs/numerics.md §11 says of the typed forms, written down as plainly as possible: loops in float64 and in Python's integers.

Shares no code with the kernels. NaN and infinities follow from IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from kernels.cases import Array, Case

Params = dict[str, Any]


def clipped(p: Params, v: float) -> float:
    """min(max(v, low), high), NaN kept."""
    if math.isnan(v):
        return v
    return min(max(v, p["clip_min"]), p["clip_max"])


def taps(p: Params, oy: int, ox: int, bottom: int = 0, right: int = 0, padded: bool = False) -> Iterator[tuple[int, int, int, int]]:
    """(ky, kx, y, x) of a window's positions inside the image, or inside the padded one."""
    before = (p["pad_top"], p["pad_left"]) if padded else (0, 0)
    after = (bottom, right) if padded else (0, 0)
    for ky in range(p["kernel_h"]):
        for kx in range(p["kernel_w"]):
            y = oy * p["stride_h"] - p["pad_top"] + ky * p["dilation_h"]
            x = ox * p["stride_w"] - p["pad_left"] + kx * p["dilation_w"]
            if -before[0] <= y < p["in_h"] + after[0] and -before[1] <= x < p["in_w"] + after[1]:
                yield ky, kx, y, x


def spatial(p: Params, value: Callable[[int, int, int, int], float]) -> Array:
    """clip(value(n, oy, ox, c)) for every element of the output."""
    shape = (p["batch"], p["out_h"], p["out_w"], p["out_c"])
    return np.asarray([clipped(p, value(*index)) for index in np.ndindex(*shape)])


def conv(p: Params, x: Array, weight: Array, bias: Array | None) -> Array:
    depth, filters = p["in_c"] // p["group"], p["out_c"] // p["group"]

    def value(n: int, oy: int, ox: int, c: int) -> float:
        first = c // filters * depth
        parts = [x[n, iy, ix, first : first + depth] @ weight[c, ky, kx] for ky, kx, iy, ix in taps(p, oy, ox)]
        return math.fsum([*parts, 0.0 if bias is None else bias[c]])

    return spatial(p, value)


def depthwise_conv(p: Params, x: Array, weight: Array, bias: Array | None) -> Array:
    outputs = p["out_c"] // p["in_c"]

    def value(n: int, oy: int, ox: int, c: int) -> float:
        parts = [x[n, iy, ix, c // outputs] * weight[ky, kx, c] for ky, kx, iy, ix in taps(p, oy, ox)]
        return math.fsum([*parts, 0.0 if bias is None else bias[c]])

    return spatial(p, value)


def fully_connected(p: Params, x: Array, weight: Array, bias: Array | None) -> Array:
    total = x @ weight.T + (0.0 if bias is None else bias)
    return np.asarray([clipped(p, v) for v in total.ravel()])


def matmul(p: Params, a: Array, b: Array) -> Array:
    m, k, n = p["m"], p["k"], p["n"]
    result = []
    for index in np.ndindex(*p["batch"]):
        at_a = sum(i * s for i, s in zip(index, p["a_stride"], strict=True))
        at_b = sum(i * s for i, s in zip(index, p["b_stride"], strict=True))
        result.append(a[at_a : at_a + m * k].reshape(m, k) @ b[at_b : at_b + k * n].reshape(k, n))
    return np.asarray([clipped(p, v) for v in np.ravel(result)])


def max_pool(p: Params, x: Array) -> Array:
    def value(n: int, oy: int, ox: int, c: int) -> float:
        inside = [x[n, iy, ix, c] for _, _, iy, ix in taps(p, oy, ox)]
        return math.nan if any(math.isnan(v) for v in inside) else max(inside, default=-math.inf)

    return spatial(p, value)


def average_pool(p: Params, x: Array) -> Array:
    def value(n: int, oy: int, ox: int, c: int) -> float:
        inside = [x[n, iy, ix, c] for _, _, iy, ix in taps(p, oy, ox)]
        count = len(inside)
        if p["count_include_pad"]:
            count = len(list(taps(p, oy, ox, p["pad_bottom"], p["pad_right"], padded=True)))
        return float(np.sum(inside)) / count if count else 0.0

    return spatial(p, value)


def reduce_mean(p: Params, x: Array) -> Array:
    return np.asarray([clipped(p, v) for v in x.mean(axis=1).ravel()])


def softmax(p: Params, x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def prelu(p: Params, x: Array, slope: Array) -> Array:
    return np.where(x < 0, x * slope, x)


# Two operands


def views(p: Params, a: Array, b: Array) -> Iterator[tuple[Any, Any]]:
    """Pairs of elements, in the order of the output."""
    for index in np.ndindex(*p["dims"]):
        at_a, at_b = (sum(i * s for i, s in zip(index, p[name], strict=True)) for name in ("a_stride", "b_stride"))
        yield a[at_a], b[at_b]


def integer_quotient(u: int, v: int) -> int:
    if v == 0:
        return 0
    return abs(u) // abs(v) * (1 if (u < 0) == (v < 0) else -1)


INTEGER: dict[str, Callable[[int, int], int]] = {
    "Add": lambda u, v: u + v,
    "Sub": lambda u, v: u - v,
    "Mul": lambda u, v: u * v,
    "Div": integer_quotient,
    "Max": max,
    "Min": min,
}
REAL: dict[str, Callable[[np.float64, np.float64], Any]] = {
    "Add": lambda u, v: u + v,
    "Sub": lambda u, v: u - v,
    "Mul": lambda u, v: u * v,
    "Div": lambda u, v: u / v,
    "Max": lambda u, v: np.nan if np.isnan(u) or np.isnan(v) else max(u, v),
    "Min": lambda u, v: np.nan if np.isnan(u) or np.isnan(v) else min(u, v),
    "Pow": lambda u, v: u**v,
}


def wrapped(v: int, bits: int) -> int:
    return (v + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def binary(case: Case) -> Array:
    pairs = views(case.record, *case.inputs)
    if case.variant == "float32":
        return np.asarray([REAL[case.op](np.float64(u), np.float64(v)) for u, v in pairs])
    bits = 8 * case.y.itemsize
    return np.asarray([wrapped(INTEGER[case.op](int(u), int(v)), bits) for u, v in pairs], case.y.dtype)


# Functions


def logistic(v: float) -> float:
    return 1 / (1 + math.exp(-v)) if v > -700 else 0.0


def softplus(v: float) -> float:
    return v if v > 40 else math.log1p(math.exp(v))


def limit(v: float, low: float, high: float) -> float:
    return min(max(v, low), high)


def elu(v: float, alpha: float) -> float:
    return v if v > 0 else alpha * math.expm1(v)


FUNCTIONS: dict[str, Callable[[float, float, float], float]] = {
    "Abs": lambda v, a, b: abs(v),
    "Acos": lambda v, a, b: math.acos(v) if abs(v) <= 1 else math.nan,
    "Acosh": lambda v, a, b: math.acosh(v) if v >= 1 else math.nan,
    "Asin": lambda v, a, b: math.asin(v) if abs(v) <= 1 else math.nan,
    "Asinh": lambda v, a, b: math.asinh(v),
    "Atan": lambda v, a, b: math.atan(v),
    "Atanh": lambda v, a, b: math.atanh(v) if abs(v) < 1 else (math.copysign(math.inf, v) if abs(v) == 1 else math.nan),
    "Ceil": lambda v, a, b: math.ceil(v),
    "Celu": lambda v, a, b: max(0.0, v) + min(0.0, a * math.expm1(min(v / a, 700.0))),
    "Clip": limit,
    "Cos": lambda v, a, b: math.cos(v),
    "Cosh": lambda v, a, b: math.cosh(min(abs(v), 700.0)),
    "Elu": lambda v, a, b: elu(v, a),
    "Erf": lambda v, a, b: math.erf(v),
    "Exp": lambda v, a, b: math.exp(v),
    "Floor": lambda v, a, b: math.floor(v),
    "Gelu": lambda v, a, b: (
        0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) if a else 0.5 * v * math.erfc(-v / math.sqrt(2))
    ),
    "HardSigmoid": lambda v, a, b: limit(a * v + b, 0, 1),
    "HardSwish": lambda v, a, b: v * limit(v / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda v, a, b: a * v if v < 0 else v,
    "Log": lambda v, a, b: math.log(v) if v > 0 else (-math.inf if v == 0 else math.nan),
    "Mish": lambda v, a, b: v * math.tanh(softplus(v)),
    "Neg": lambda v, a, b: -v,
    "Reciprocal": lambda v, a, b: 1 / v if v else math.copysign(math.inf, v),
    "Round": lambda v, a, b: float(round(v)),
    "Selu": lambda v, a, b: b * elu(v, a),
    "Sigmoid": lambda v, a, b: logistic(v),
    "Sign": lambda v, a, b: float((v > 0) - (v < 0)),
    "Shrink": lambda v, a, b: v + b if v < -a else (v - b if v > a else 0.0),
    "Sin": lambda v, a, b: math.sin(v),
    "Sinh": lambda v, a, b: math.sinh(limit(v, -700.0, 700.0)),
    "Softplus": lambda v, a, b: softplus(v),
    "Softsign": lambda v, a, b: v / (1 + abs(v)),
    "Sqrt": lambda v, a, b: math.sqrt(v) if v >= 0 else math.nan,
    "Swish": lambda v, a, b: v * logistic(a * v),
    "Tan": lambda v, a, b: math.tan(v),
    "Tanh": lambda v, a, b: math.tanh(v),
    "ThresholdedRelu": lambda v, a, b: v if v > a else 0.0,
}
"""Of a finite number, alpha and beta. math.ceil and floor, exact on integers, are so on float32 too."""


def function(case: Case) -> Array:
    p = case.record
    alpha, beta = float(np.float32(p["alpha"])), float(np.float32(p["beta"]))
    return np.asarray([FUNCTIONS[case.op](float(v), alpha, beta) for v in case.inputs[0]], np.float64)


LAYERS: dict[str, Callable[..., Array]] = {
    "Conv": conv,
    "DepthwiseConv": depthwise_conv,
    "FullyConnected": fully_connected,
    "MatMul": matmul,
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "ReduceMean": reduce_mean,
    "Softmax": softmax,
    "PRelu": prelu,
}


def evaluate(case: Case) -> Array:
    """The output, flat: float64 for float32 kernels, else of the output's type. Functions: where the input is finite."""
    with np.errstate(all="ignore"):
        if case.op in LAYERS:
            inputs = [None if x is None else x.astype(np.float64) for x in case.inputs]
            return LAYERS[case.op](case.record, *inputs).ravel()
        return function(case) if case.op in FUNCTIONS else binary(case)
