"""Hypothesis strategies for the int8 kernels of numerics §14 and §15: normalization, reductions, cumulative sums."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import INT32, Case, clamp, elements, generator, multipliers, output, zero_point


@st.composite
def layer_normalization(draw: DrawFn, sound: bool = False, size: int = 70) -> Case:
    """Rows of any length, ε from nothing to far beyond the variance, gains of every magnitude."""
    period, blocks, block = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, size))
    rows, length = period * draw(st.integers(1, 2)), blocks * block
    bits = (length - 1).bit_length()
    precision = draw(st.integers(0, (45 - 2 * bits) // 2))
    epsilon = draw(st.one_of(st.sampled_from([0, 1, 1 << 61]), st.integers(0, 61).map(lambda n: (1 << n) - 1), st.integers(0, 1 << 61)))
    fraction = 28 - (bits + 1) // 2 if sound else draw(st.integers(0, 28 - (bits + 1) // 2))
    shift = draw(st.integers(1, 24))
    rng = generator(draw)
    gain = multipliers(draw, period, blocks, low=-INT32[1])
    edge = (1 << 30) - 1 if sound else INT32[1]
    offset = rng.integers(-edge, edge, (period, blocks), endpoint=True).astype(np.int32)
    low = np.int64(epsilon & 0xFFFFFFFF).astype(np.int32)
    record: dict[str, Any] = {"rows": rows, "length": length, "period": period, "blocks": blocks, "centred": draw(st.integers(0, 1))}
    record |= {"input_zero_point": zero_point(draw), "epsilon_low": int(low), "epsilon_high": epsilon >> 32, "precision": precision}
    record |= {"fraction": fraction, "shift": shift, **clamp(draw)}
    return Case("LayerNormalization", "int8", record, [elements(draw, rows, length), gain, offset], output(draw, rows * length))


def _requantization(draw: DrawFn) -> dict[str, int]:
    pair = {"multiplier": draw(st.integers(0, (1 << 22) - 1)), "shift": draw(st.integers(1, 62))}
    return {"input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **pair, **clamp(draw)}


def _dimensions(draw: DrawFn) -> tuple[dict[str, Any], tuple[int, ...], int]:
    """Kept and reduced dimensions, in turns; the shape; elements that are kept."""
    shape = tuple(draw(st.integers(1, 5)) for _ in range(4))
    strides = tuple(prod(shape[i + 1 :]) for i in range(4))
    record: dict[str, Any] = {}
    kept = [axis for axis in range(4) if draw(st.booleans())]
    for name, axes in (("kept", kept), ("reduced", [axis for axis in range(4) if axis not in kept])):
        record[name] = (1,) * (4 - len(axes)) + tuple(shape[axis] for axis in axes)
        record[f"{name}_stride"] = (0,) * (4 - len(axes)) + tuple(strides[axis] for axis in axes)
    return record, shape, prod(shape[axis] for axis in kept)


@st.composite
def reduction(draw: DrawFn, op: str) -> Case:
    record, shape, size = _dimensions(draw)
    return Case(op, "int8", {**record, **_requantization(draw)}, [elements(draw, *shape)], output(draw, size))


@st.composite
def reduce_log_sum_exp(draw: DrawFn, sound: bool = False) -> Case:
    record, shape, size = _dimensions(draw)
    count = prod(shape) // size
    exponent = min(23, 31 - (count - 1).bit_length())
    if sound:
        table = np.rint(2.0**exponent * np.exp(-(2.0 ** draw(st.floats(-8, 3))) * np.arange(256))).astype(np.uint32)
    else:
        table = generator(draw).integers(0, 1 << draw(st.integers(0, 32)), 256, endpoint=False).astype(np.uint32)
        exponent = draw(st.integers(0, 23))
    greatest, logarithm = draw(st.integers(0, 1 << 50)), draw(st.integers(0, 1 << 36))
    for name, value in (("greatest", greatest), ("logarithm", logarithm)):
        record |= {f"{name}_low": int(np.int64(value & 0xFFFFFFFF).astype(np.int32)), f"{name}_high": value >> 32}
    record |= {"exponent": exponent, "input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **clamp(draw)}
    return Case("ReduceLogSumExp", "int8", record, [elements(draw, *shape), table.view(np.int32)], output(draw, size))


@st.composite
def cum_sum(draw: DrawFn) -> Case:
    outer, count, inner = (draw(st.integers(1, most)) for most in (3, 12, 4))
    record = {"outer": outer, "count": count, "inner": inner, "exclusive": draw(st.integers(0, 1)), "reverse": draw(st.integers(0, 1))}
    x = elements(draw, outer, count, inner)
    return Case("CumSum", "int8", {**record, **_requantization(draw)}, [x], output(draw, x.size))


SUMS = ("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare")

INTEGER: dict[str, st.SearchStrategy[Case]] = {
    "layer_normalization": layer_normalization(),
    **{op: reduction(op) for op in SUMS},
    "reduce_log_sum_exp": reduce_log_sum_exp(),
    "cum_sum": cum_sum(),
}
"""Whatever constants."""

INTEGER_SOUND: dict[str, st.SearchStrategy[Case]] = {
    **INTEGER,
    "layer_normalization": layer_normalization(sound=True, size=9),
    "reduce_log_sum_exp": reduce_log_sum_exp(sound=True),
}
"""Within the proofs, and small."""
