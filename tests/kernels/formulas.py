"""The formulas of docs/numerics.md, one output element at a time, in Python's integers of any size. Slow, and close to the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from kernels.cases import Array, Case

Values = list[Any]


def rhe(a: int, b: int) -> int:
    return round(Fraction(a, b))  # Python rounds halves to even


def clamp(p: dict[str, Any], v: int) -> int:
    return int(min(max(v, p["activation_min"]), p["activation_max"]))


def requantize(acc: int, m: int, shift: int) -> int:
    assert -(1 << 31) <= acc << shift < 1 << 31, "the case is not within the proof"
    return ((acc << shift) * m + (1 << 31)) // (1 << 32)


def linear(case: Case, acc: int, c: int) -> int:
    """§3: from the accumulator of output channel c to its value."""
    p, multiplier = case.record, case.inputs[3]
    if case.variant == "wide":
        assert abs(acc) < 1 << 40, "the case is not within the proof"
        m, r = (int(v) for v in multiplier[c])
        return clamp(p, p["output_zero_point"] + (acc * m + (1 << (r - 1))) // (1 << r))
    return clamp(p, p["output_zero_point"] + requantize(acc, int(multiplier[c]), p["shift"]))


def taps(p: dict[str, Any], y: int, x: int) -> Iterator[tuple[int, int, int, int, bool]]:
    """Of the window at output (y, x): kernel row and column, image row and column, whether that is inside."""
    for i, j in product(range(p["kernel_h"]), range(p["kernel_w"])):
        row = y * p["stride_h"] + i * p["dilation_h"] - p["pad_top"]
        column = x * p["stride_w"] + j * p["dilation_w"] - p["pad_left"]
        yield i, j, row, column, 0 <= row < p["in_h"] and 0 <= column < p["in_w"]


def pixels(p: dict[str, Any]) -> Iterator[tuple[int, int, int, int]]:
    return product(range(p["batch"]), range(p["out_h"]), range(p["out_w"]), range(p["out_c"]))


def conv(case: Case) -> Values:
    p, (x, weight, bias, _) = case.record, case.inputs
    depth, filters = p["in_c"] // p["group"], p["out_c"] // p["group"]
    result = []
    for n, oy, ox, c in pixels(p):
        acc = int(bias[c])
        for i, j, row, column, inside in taps(p, oy, ox):
            for k in range(depth):
                value = int(x[n, row, column, c // filters * depth + k]) if inside else p["input_zero_point"]
                acc += value * int(weight[c, i, j, k])
        result.append(linear(case, acc, c))
    return result


def depthwise_conv(case: Case) -> Values:
    p, (x, weight, bias, _) = case.record, case.inputs
    result = []
    for n, oy, ox, c in pixels(p):
        acc = int(bias[c])
        for i, j, row, column, inside in taps(p, oy, ox):
            value = int(x[n, row, column, c // (p["out_c"] // p["in_c"])]) if inside else p["input_zero_point"]
            acc += value * int(weight[i, j, c])
        result.append(linear(case, acc, c))
    return result


def fully_connected(case: Case) -> Values:
    p, (x, weight, bias, _) = case.record, case.inputs
    return [
        linear(case, int(bias[o]) + sum(int(x[r, i]) * int(weight[o, i]) for i in range(p["in_features"])), o)
        for r, o in product(range(p["rows"]), range(p["out_features"]))
    ]


def at(strides: tuple[int, ...], index: tuple[int, ...]) -> int:
    return sum(s * i for s, i in zip(strides, index, strict=True))


def matmul(case: Case) -> Values:
    p, (a, b) = case.record, case.inputs
    result = []
    for index in product(*(range(size) for size in p["batch"])):
        for i, j in product(range(p["m"]), range(p["n"])):
            acc = 0
            for k in range(p["k"]):
                left = int(a[at(p["a_stride"], index) + i * p["k"] + k]) - p["a_zero_point"]
                acc += left * (int(b[at(p["b_stride"], index) + k * p["n"] + j]) - p["b_zero_point"])
            result.append(clamp(p, p["output_zero_point"] + requantize(acc, p["multiplier"], p["shift"])))
    return result


def add(p: dict[str, Any], a: int, b: int) -> int:
    total = a * p["a_multiplier"] + b * p["b_multiplier"] + (1 << (p["shift"] - 1))
    assert abs(total) < 1 << 31
    return clamp(p, p["output_zero_point"] + total // (1 << p["shift"]))


def mul(p: dict[str, Any], a: int, b: int) -> int:
    return clamp(p, p["output_zero_point"] + requantize(a * b, p["multiplier"], p["shift"]))


def div(p: dict[str, Any], a: int, b: int) -> int:
    if b == 0:
        return int(p["activation_max"] if a > 0 else p["activation_min"] if a < 0 else clamp(p, p["output_zero_point"]))
    return clamp(p, p["output_zero_point"] + rhe(a * p["multiplier"] * (1 if b > 0 else -1), abs(b) << p["shift"]))


def binary(element: Callable[[dict[str, Any], int, int], int]) -> Callable[[Case], Values]:
    def evaluate(case: Case) -> Values:
        p, (a, b) = case.record, case.inputs
        return [
            element(p, int(a[at(p["a_stride"], i)]) - p["a_zero_point"], int(b[at(p["b_stride"], i)]) - p["b_zero_point"])
            for i in product(*(range(size) for size in p["dims"]))
        ]

    return evaluate


def prelu(case: Case) -> Values:
    p, (x, slope) = case.record, case.inputs
    result = []
    for i, q in enumerate(x.ravel()):
        value = int(q) - p["input_zero_point"]
        m = p["positive_multiplier"] if value >= 0 else int(slope[i % p["channels"]])
        result.append(clamp(p, p["output_zero_point"] + requantize(value, m, p["shift"])))
    return result


def softmax(case: Case) -> Values:
    p, (x, table) = case.record, case.inputs
    t = [int(v) for v in table.view(np.uint32)]
    numerator = (p["numerator_high"] << 32) + p["numerator_low"] % (1 << 32)
    result = []
    for row in x.astype(int).tolist():
        total = sum(t[max(row) - q] for q in row)
        assert 0 < total < 1 << 32, "the case is not within the proof"
        ratio = numerator // total
        result += [clamp(p, p["output_zero_point"] + (t[max(row) - q] * ratio + (1 << 31)) // (1 << 32)) for q in row]
    return result


def lookup(case: Case) -> Values:
    x, table = case.inputs
    return [table[int(q) + 128] for q in x]


def max_pool(case: Case) -> Values:
    p, x = case.record, case.inputs[0]
    result = []
    for n, oy, ox, c in pixels(p):
        values = [int(x[n, row, column, c]) for _, _, row, column, inside in taps(p, oy, ox) if inside]
        result.append(clamp(p, max(values)) if values else p["activation_min"])
    return result


def mean(p: dict[str, Any], values: list[int], count: int) -> int:
    acc = sum(value - p["input_zero_point"] for value in values)
    return clamp(p, p["output_zero_point"] + (rhe(acc * p["multiplier"], count << p["shift"]) if count else 0))


def average_pool(case: Case) -> Values:
    p, x = case.record, case.inputs[0]
    result = []
    for n, oy, ox, c in pixels(p):
        window = list(taps(p, oy, ox))
        values = [int(x[n, row, column, c]) for _, _, row, column, inside in window if inside]
        count = len(values)
        if p["count_include_pad"]:
            bottom, right = p["in_h"] + p["pad_bottom"], p["in_w"] + p["pad_right"]
            count = sum(-p["pad_top"] <= row < bottom and -p["pad_left"] <= column < right for _, _, row, column, _ in window)
        result.append(mean(p, values, count))
    return result


def reduce_mean(case: Case) -> Values:
    p, x = case.record, case.inputs[0]
    return [mean(p, [int(q) for q in x[o, :, i]], p["count"]) for o, i in product(range(p["outer"]), range(p["inner"]))]


def strided_copy(case: Case) -> Values:
    p, size = case.record, case.record["element_size"]
    x, y = case.inputs[0], case.y.copy()
    for index in product(*(range(length) for length in p["dims"])):
        source, target = p["input_offset"] + at(p["input_stride"], index), p["output_offset"] + at(p["output_stride"], index)
        y[target * size : (target + 1) * size] = x[source * size : (source + 1) * size]
    return list(y)


def fill(case: Case) -> Values:
    return [case.record["value"]] * case.record["count"]


def quantize(case: Case) -> Values:
    scale, zero_point = np.float32(case.record["scale"]), case.record["zero_point"]
    result = []
    with np.errstate(all="ignore"):
        for value in case.inputs[0]:
            ratio = float(np.float32(value) / scale)
            steps = 0 if ratio != ratio else round(min(max(ratio, -1000.0), 1000.0))
            result.append(min(max(steps + zero_point, -128), 127))
    return result


def dequantize(case: Case) -> Values:
    """The product of a float32 and nine bits is exact in float64: one rounding."""
    scale, zero_point = float(np.float32(case.record["scale"])), case.record["zero_point"]
    with np.errstate(all="ignore"):
        return [np.float32(scale * (int(q) - zero_point)) for q in case.inputs[0]]


def resample(case: Case) -> Values:
    p, (x, first, weight) = case.record, case.inputs
    result = []
    for o, j, i in product(range(p["outer"]), range(p["count"]), range(p["inner"])):
        acc = sum(int(weight[j, t]) * (int(x[o, first[j] + t, i]) - p["input_zero_point"]) for t in range(p["taps"]))
        result.append(clamp(p, p["output_zero_point"] + requantize(acc, p["multiplier"], p["shift"])))
    return result


FORMULAS: dict[str, Callable[[Case], Values]] = {
    "Conv": conv,
    "DepthwiseConv": depthwise_conv,
    "FullyConnected": fully_connected,
    "MatMul": matmul,
    "Add": binary(add),
    "Mul": binary(mul),
    "Div": binary(div),
    "PRelu": prelu,
    "Softmax": softmax,
    "Lookup": lookup,
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "ReduceMean": reduce_mean,
    "Resample": resample,
    "StridedCopy": strided_copy,
    "Fill": fill,
    "Quantize": quantize,
    "Dequantize": dequantize,
}


def evaluate(case: Case) -> Array:
    """The case's output by the formula of its operator."""
    values = FORMULAS[case.op](case)
    assert len(values) == prod(case.y.shape)
    return np.asarray(values, case.y.dtype)
