"""The formulas of numerics §14 and §15, one output element at a time, in Python's integers of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
from kernels.cases import Array, Case
from kernels.formulas import clamp

Values = list[Any]


def _unsigned(p: dict[str, Any], name: str) -> int:
    return (p[f"{name}_high"] << 32) + (p[f"{name}_low"] & 0xFFFFFFFF)


def layer_normalization(case: Case) -> Values:
    p, (x, gain, offset) = case.record, case.inputs
    n, k, f = p["length"], p["precision"], p["fraction"]
    result = []
    for row in range(p["rows"]):
        values = [int(v) - p["input_zero_point"] for v in x[row]]
        total = sum(values) if p["centred"] else 0
        variance = n * sum(v * v for v in values) - total * total
        assert 0 <= variance < 1 << 48
        square, j = max(variance, 1) * 4**k + _unsigned(p, "epsilon"), 0
        while square * 4**j < 1 << 62:
            j += 1
        reciprocal = min((1 << 62) // isqrt(square * 4**j), (1 << 31) - 1)
        assert reciprocal >= 1 << 30
        t = 62 - j - k - f
        assert 3 <= t <= 62
        scale = 2 ** max(32 - t, 0)
        reciprocal //= 2 ** max(t - 32, 0)
        for i, v in enumerate(values):
            d = (n * v - total) * scale
            assert abs(d) < 1 << 31
            u = d * reciprocal // (1 << 32)
            assert abs(u) <= (1 << 28) + 1
            place = row % p["period"], i // (n // p["blocks"])
            value = u * int(gain[place]) // (1 << 32) + int(offset[place])
            assert abs(value) < 1 << 31
            result.append(clamp(p, value // 2 ** p["shift"]))
    return result


def reduced(case: Case) -> Iterator[list[int]]:
    """The elements of x that belong to each element of y, without the zero point."""
    p, x = case.record, case.inputs[0].reshape(-1)

    def offsets(kind: str) -> Iterator[int]:
        for index in product(*(range(size) for size in p[kind])):
            yield sum(i * stride for i, stride in zip(index, p[f"{kind}_stride"], strict=True))

    for start in offsets("kept"):
        yield [int(x[start + offset]) - p["input_zero_point"] for offset in offsets("reduced")]


def _requantized(p: dict[str, Any], acc: int) -> int:
    return clamp(p, p["output_zero_point"] + (acc * p["multiplier"] + 2 ** (p["shift"] - 1)) // 2 ** p["shift"])


SUMS: dict[str, Callable[[list[int]], int]] = {
    "ReduceSum": sum,
    "ReduceL1": lambda v: sum(map(abs, v)),
    "ReduceSumSquare": lambda v: sum(i * i for i in v),
    "ReduceL2": lambda v: isqrt(sum(i * i for i in v) << 32),
}


def reduction(case: Case) -> Values:
    return [_requantized(case.record, SUMS[case.op](values)) for values in reduced(case)]


def reduce_log_sum_exp(case: Case) -> Values:
    p, table = case.record, case.inputs[1].reshape(-1).view(np.uint32)
    result = []
    for values in reduced(case):
        total = max(sum(int(table[max(values) - v]) for v in values) & 0xFFFFFFFF, 1)
        exponent = total.bit_length() - 1
        v, log = total << (31 - exponent), exponent
        for _ in range(20):
            above = v * v >= 1 << 63
            v, log = v * v >> (32 if above else 31), 2 * log + above
        log -= p["exponent"] << 20
        exact = max(values) * _unsigned(p, "greatest") + log * _unsigned(p, "logarithm")
        result.append(clamp(p, p["output_zero_point"] + (exact + (1 << 39)) // (1 << 40)))
    return result


def cum_sum(case: Case) -> Values:
    p, x = case.record, case.inputs[0].astype(int) - case.record["input_zero_point"]
    y = np.zeros(x.shape, object)
    for o, j, i in product(*(range(size) for size in x.shape)):
        column = list(x[o, :, i])
        parts = column[j + p["exclusive"] :] if p["reverse"] else column[: j + 1 - p["exclusive"]]
        y[o, j, i] = _requantized(p, int(sum(parts)))
    return list(y.reshape(-1))


FORMULAS: dict[str, Callable[[Case], Values]] = {
    "LayerNormalization": layer_normalization,
    **dict.fromkeys(SUMS, reduction),
    "ReduceLogSumExp": reduce_log_sum_exp,
    "CumSum": cum_sum,
}


def evaluate(case: Case) -> Array:
    return np.asarray(FORMULAS[case.op](case), case.y.dtype).reshape(case.y.shape)
