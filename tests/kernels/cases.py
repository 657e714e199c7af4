"""Hypothesis strategies for kernel calls: a record, inputs and an output that fit each other, for every operator.

Geometry and parameters are drawn one by one, so that examples shrink; elements come from a seed. By default constants are whatever their
type holds, as in a damaged model, for which kernels are defined too; `sound` cases obey the proofs of docs/numerics.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

Array = NDArray[Any]
MAX_DIMS = 6
INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)


@dataclass
class Case:
    op: str
    variant: str
    record: dict[str, Any]
    inputs: list[Any] = field(repr=False)
    """Arrays; None where an optional one is absent."""
    y: Array = field(repr=False)
    """What the output buffer holds before the call; flat."""
    scratch: int = 0
    """Bytes."""
    overlap: tuple[int, int] | None = None
    """Input that overlaps the output, and its distance behind it in bytes."""


def generator(draw: DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


def elements(draw: DrawFn, *shape: int) -> Array:
    """int8: all of it, or only its ends, or one value."""
    rng = generator(draw)
    kind = draw(st.sampled_from(["any", "any", "ends", "lowest", "highest"]))
    values = {"any": np.arange(-128, 128), "ends": [-128, 127], "lowest": [-128], "highest": [127]}[kind]
    return rng.choice(np.asarray(values, np.int8), shape)


def output(draw: DrawFn, size: int) -> Array:
    return np.full(size, 0x33, np.int8)


def zero_point(draw: DrawFn) -> int:
    return draw(st.one_of(st.sampled_from([-128, 0, 127]), st.integers(-128, 127)))


def clamp(draw: DrawFn) -> dict[str, int]:
    low, high = sorted((draw(st.integers(-128, 127)), draw(st.integers(-128, 127))))
    full = draw(st.booleans())
    return {"activation_min": -128 if full else low, "activation_max": 127 if full else high}


def multipliers(draw: DrawFn, *shape: int, low: int = 0, high: int = INT32[1]) -> Array:
    """int32, of every magnitude."""
    rng = generator(draw)
    values = (2 ** rng.uniform(0, 31, shape)).astype(np.int64) * rng.choice([-1, 1], shape)
    ends = rng.random(shape) < 0.1
    return np.clip(np.where(ends, rng.choice([low, high], shape), values), low, high).astype(np.int32)


# Layers with weights


def bias_and_multiplier(draw: DrawFn, wide: bool, weight: Array, sound: bool) -> tuple[Array, Array, int]:
    """bias, multiplier, shift for `weight` [out, …]."""
    rng, out = generator(draw), weight.shape[0]
    worst = np.abs(weight.reshape(out, -1).astype(np.int64)).sum(axis=1) * 128
    if wide:
        edge = (1 << 39) - int(worst.max(initial=0)) if sound else INT64[1]
        bias = rng.integers(-edge, edge, out, endpoint=True)
        pairs = np.stack([multipliers(draw, out, high=(1 << 22) - 1), rng.integers(1, 62, out, endpoint=True)], axis=1)
        return np.asarray(bias, np.int64), pairs.astype(np.int32), 0
    shift = draw(st.integers(0, 30))
    if sound:
        edge = int(rng.integers(0, 1 << draw(st.integers(0, 20)), endpoint=True))
        bias = rng.integers(-edge, edge, out, endpoint=True)
        proof = int((worst + np.abs(bias)).max(initial=1))
        shift = min(shift, 31 - max(1, proof).bit_length())
        return np.asarray(bias, np.int32), multipliers(draw, out), max(0, shift)
    return np.asarray(rng.integers(*INT32, out, endpoint=True), np.int32), multipliers(draw, out, low=INT32[0]), shift


def window(draw: DrawFn, size: int, most: int) -> dict[str, int]:
    """An image and a window on it. Sizes up to `size`; the window may be larger than the image, or wholly in the padding."""
    record = {"batch": draw(st.integers(1, 2)), "in_c": draw(st.integers(1, most))}
    for axis, before in (("h", "pad_top"), ("w", "pad_left")):
        length, kernel = draw(st.integers(1, size)), draw(st.integers(1, min(5, size)))
        stride, dilation = draw(st.integers(1, 4)), draw(st.integers(1, 3))
        pads = st.integers(0, draw(st.sampled_from([0, 2, size + 2])))
        first, after = draw(pads), draw(pads)
        extent = (kernel - 1) * dilation + 1
        out = max(1, (length + first + after - extent) // stride + 1)
        record |= {f"in_{axis}": length, f"out_{axis}": out, f"kernel_{axis}": kernel, before: first}
        record |= {f"stride_{axis}": stride, f"dilation_{axis}": dilation}
    return record


@st.composite
def conv(draw: DrawFn, variant: str = "int8", sound: bool = False, size: int = 9) -> Case:
    record = window(draw, size, most=3)
    group, filters = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    depth = record["in_c"]
    record |= {"in_c": depth * group, "out_c": filters * group, "group": group}
    record |= {"input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **clamp(draw)}
    weight = elements(draw, filters * group, record["kernel_h"], record["kernel_w"], depth)
    bias, multiplier, record["shift"] = bias_and_multiplier(draw, variant == "wide", weight, sound)
    return Case("Conv", variant, record, [image(draw, record), weight, bias, multiplier], image_output(draw, record))


@st.composite
def depthwise_conv(draw: DrawFn, variant: str = "int8", sound: bool = False, size: int = 9) -> Case:
    record = window(draw, size, most=9)
    record["out_c"] = record["in_c"] * draw(st.sampled_from([1, 1, 2, 3]))
    record |= {"input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **clamp(draw)}
    weight = elements(draw, record["kernel_h"], record["kernel_w"], record["out_c"])
    bias, multiplier, record["shift"] = bias_and_multiplier(draw, variant == "wide", weight.transpose(2, 0, 1), sound)
    return Case("DepthwiseConv", variant, record, [image(draw, record), weight, bias, multiplier], image_output(draw, record))


def image(draw: DrawFn, record: dict[str, int]) -> Array:
    return elements(draw, record["batch"], record["in_h"], record["in_w"], record["in_c"])


def image_output(draw: DrawFn, record: dict[str, int]) -> Array:
    return output(draw, record["batch"] * record["out_h"] * record["out_w"] * record["out_c"])


@st.composite
def fully_connected(draw: DrawFn, variant: str = "int8", sound: bool = False, size: int = 40) -> Case:
    features = draw(st.one_of(st.integers(1, size), st.just(100 * size)))  # few, or more than float32 could sum exactly
    rows, outputs = draw(st.integers(1, 4)), draw(st.integers(1, 11))
    weight = elements(draw, outputs, features)
    bias, multiplier, shift = bias_and_multiplier(draw, variant == "wide", weight, sound)
    record = {"rows": rows, "in_features": features, "out_features": outputs, "shift": shift}
    record |= {"output_zero_point": zero_point(draw), **clamp(draw)}
    return Case("FullyConnected", variant, record, [elements(draw, rows, features), weight, bias, multiplier], output(draw, rows * outputs))


def scaling(draw: DrawFn, most: int) -> dict[str, int]:
    return {"multiplier": int(multipliers(draw, 1)[0]), "shift": draw(st.integers(0, most))}


def operands(draw: DrawFn, rank: int, size: int) -> tuple[tuple[int, ...], list[tuple[int, ...]], list[int]]:
    """dims of an output, and for either operand its strides (0 where broadcast) and number of elements."""
    dims = (*([1] * (rank - 3)), *(draw(st.integers(1, size)) for _ in range(3)))
    strides: list[tuple[int, ...]] = []
    sizes: list[int] = []
    for _ in range(2):
        walks = [draw(st.booleans()) or draw(st.booleans()) for _ in dims]
        steps: list[int] = []
        step = 1
        for length, walk in zip(reversed(dims), reversed(walks), strict=True):
            steps.insert(0, step if walk and length > 1 else 0)
            step *= length if walk else 1
        strides.append(tuple(steps))
        sizes.append(step)
    return dims, strides, sizes


@st.composite
def matmul(draw: DrawFn, sound: bool = False, size: int = 7) -> Case:
    batch, strides, sizes = operands(draw, 3, 3)
    m, k, n = (draw(st.integers(1, size)) for _ in range(3))
    record: dict[str, Any] = {"batch": batch, "m": m, "k": k, "n": n}
    record |= {"a_stride": tuple(s * m * k for s in strides[0]), "b_stride": tuple(s * k * n for s in strides[1])}
    record |= {f"{name}_zero_point": zero_point(draw) for name in ("a", "b", "output")} | scaling(draw, 30) | clamp(draw)
    if sound:
        record["shift"] = min(record["shift"], 31 - (k * 255 * 255).bit_length())
    inputs = [elements(draw, sizes[0] * m * k), elements(draw, sizes[1] * k * n)]
    return Case("MatMul", "int8", record, inputs, output(draw, prod(batch) * m * n))


# Elementwise


@st.composite
def binary(draw: DrawFn, op: str, size: int = 5) -> Case:
    dims, strides, sizes = operands(draw, MAX_DIMS, size)
    record: dict[str, Any] = {"dims": dims, "a_stride": strides[0], "b_stride": strides[1]}
    record |= {f"{name}_zero_point": zero_point(draw) for name in ("a", "b", "output")} | clamp(draw)
    if op == "Add":
        edge = (1 << 22) - 1
        for name in ("a_multiplier", "b_multiplier"):
            record[name] = int(multipliers(draw, 1, low=-edge, high=edge)[0])
        record["shift"] = draw(st.integers(1, 24))
    else:
        record |= scaling(draw, 14 if op == "Mul" else 40)
        if op == "Div":
            record["multiplier"] >>= 9
    return Case(op, "int8", record, [elements(draw, n) for n in sizes], output(draw, prod(dims)))


@st.composite
def prelu(draw: DrawFn) -> Case:
    rows, channels = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    record = {"count": rows * channels, "channels": channels, "input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw)}
    record |= {"positive_multiplier": int(multipliers(draw, 1)[0]), "shift": draw(st.integers(0, 22)), **clamp(draw)}
    slope = multipliers(draw, channels, low=-INT32[1])
    return Case("PRelu", "int8", record, [elements(draw, rows, channels), slope], output(draw, rows * channels))


@st.composite
def softmax(draw: DrawFn, sound: bool = False, size: int = 40) -> Case:
    rows, length = draw(st.integers(1, 4)), draw(st.integers(1, size))
    if sound:
        bits = min(23, 31 - (length - 1).bit_length())
        table = np.rint(2.0**bits * np.exp(-(2.0 ** draw(st.floats(-8, 3))) * np.arange(256))).astype(np.uint32)
        numerator = min(round(2**32 / 2.0 ** draw(st.floats(-31, 2))), 1 << 62)
    else:
        table = generator(draw).integers(0, 1 << draw(st.integers(1, 32)), 256).astype(np.uint32)
        numerator = draw(st.one_of(st.just(1 << 62), st.integers(0, 1 << 62)))
    low = np.int64(numerator & 0xFFFFFFFF).astype(np.int32)
    record = {"rows": rows, "length": length, "numerator_low": int(low), "numerator_high": numerator >> 32}
    record |= {"output_zero_point": zero_point(draw), **clamp(draw)}
    return Case("Softmax", "int8", record, [elements(draw, rows, length), table.view(np.int32)], output(draw, rows * length))


@st.composite
def lookup(draw: DrawFn) -> Case:
    count = draw(st.integers(1, 300))
    return Case("Lookup", "int8", {"count": count}, [elements(draw, count), elements(draw, 256)], output(draw, count))


# Pooling


@st.composite
def max_pool(draw: DrawFn, size: int = 9) -> Case:
    record = window(draw, size, most=6)
    record |= {"out_c": record["in_c"], **clamp(draw)}
    return Case("MaxPool", "int8", record, [image(draw, record)], image_output(draw, record))


def mean(draw: DrawFn) -> dict[str, int]:
    scale = {"multiplier": 1, "shift": 0}
    if draw(st.booleans()):
        scale = {"multiplier": draw(st.integers(0, (1 << 22) - 1)), "shift": draw(st.integers(0, 30))}
    return {"input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **scale, **clamp(draw)}


@st.composite
def average_pool(draw: DrawFn, size: int = 9) -> Case:
    record = window(draw, size, most=6)
    pads = {"pad_bottom": draw(st.integers(0, 3)), "pad_right": draw(st.integers(0, 3)), "count_include_pad": draw(st.integers(0, 1))}
    record |= {"out_c": record["in_c"], **pads, **mean(draw)}
    return Case("AveragePool", "int8", record, [image(draw, record)], image_output(draw, record))


@st.composite
def reduce_mean(draw: DrawFn) -> Case:
    outer, count, inner = (draw(st.integers(1, most)) for most in (3, 40, 5))
    record = {"outer": outer, "count": count, "inner": inner, **mean(draw)}
    return Case("ReduceMean", "int8", record, [elements(draw, outer, count, inner)], output(draw, outer * inner))


# Resampling


@st.composite
def resample(draw: DrawFn, sound: bool = False, size: int = 9) -> Case:
    """Whatever int16 holds, or weights within the proof."""
    outer, inner, length, count = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, size)), draw(st.integers(1, size))
    taps = draw(st.integers(1, length))
    rng = generator(draw)
    first = rng.integers(0, length - taps + 1, count).astype(np.int32)
    weight = rng.integers(-(1 << 15), 1 << draw(st.sampled_from([3, 9, 15])), (count, taps)).astype(np.int16)
    record: dict[str, Any] = {"outer": outer, "size": length, "count": count, "taps": taps, "inner": inner}
    record |= {"input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **scaling(draw, 30), **clamp(draw)}
    if sound:
        bound = 255 * int(np.abs(weight.astype(np.int64)).sum(axis=1).max())
        record["shift"] = min(record["shift"], max(0, 31 - bound.bit_length()))
    return Case("Resample", "int8", record, [elements(draw, outer, length, inner), first, weight], output(draw, outer * count * inner))


# Movement


@st.composite
def strided_copy(draw: DrawFn) -> Case:
    """Any view of the input, backwards and repeated too, into an output with gaps."""
    size = draw(st.sampled_from([1, 2, 4, 8]))
    dims = (1, 1, *(draw(st.integers(1, 4)) for _ in range(4)))
    order = draw(st.permutations(range(MAX_DIMS)))
    out_stride, step = [0] * MAX_DIMS, 1
    for axis in order:
        step *= draw(st.integers(1, 2))
        out_stride[axis] = step
        step *= dims[axis]
    in_stride = tuple(draw(st.integers(-4, 4)) for _ in dims)
    reach = [(length - 1) * stride for length, stride in zip(dims, in_stride, strict=True)]
    in_offset, out_offset = draw(st.integers(0, 3)) - sum(min(r, 0) for r in reach), draw(st.integers(0, 3))
    record = {"element_size": size, "dims": dims, "input_stride": in_stride, "output_stride": tuple(out_stride)}
    record |= {"input_offset": in_offset, "output_offset": out_offset}
    x = elements(draw, (in_offset + sum(max(r, 0) for r in reach) + 1) * size)
    reach = [(length - 1) * stride for length, stride in zip(dims, out_stride, strict=True)]
    return Case("StridedCopy", "bytes", record, [x], output(draw, (out_offset + sum(reach) + 1) * size))


@st.composite
def fill(draw: DrawFn) -> Case:
    count = draw(st.integers(1, 70))
    return Case("Fill", "bytes", {"count": count, "value": draw(st.integers(-128, 127))}, [], output(draw, count))


def scales() -> st.SearchStrategy[float]:
    """Every normal float32."""
    return st.floats(float(np.finfo(np.float32).tiny), 2.0**100, width=32)


@st.composite
def quantize(draw: DrawFn) -> Case:
    scale, zero = draw(scales()), zero_point(draw)
    halves = st.integers(-300, 300).map(lambda steps: np.float32(steps / 2) * np.float32(scale))  # ties
    values = draw(st.lists(st.one_of(st.floats(width=32), halves), min_size=1, max_size=20))
    record = {"count": len(values), "scale": scale, "zero_point": zero}
    return Case("Quantize", "int8", record, [np.asarray(values, np.float32)], output(draw, len(values)))


@st.composite
def dequantize(draw: DrawFn) -> Case:
    count = draw(st.integers(1, 30))
    record = {"count": count, "scale": draw(scales()), "zero_point": zero_point(draw)}
    return Case("Dequantize", "int8", record, [elements(draw, count)], np.zeros(count, np.float32))


CASES: dict[str, st.SearchStrategy[Case]] = {
    "conv": conv(),
    "conv_wide": conv("wide"),
    "depthwise_conv": depthwise_conv(),
    "depthwise_conv_wide": depthwise_conv("wide"),
    "fully_connected": fully_connected(),
    "fully_connected_wide": fully_connected("wide"),
    "matmul": matmul(),
    "add": binary("Add"),
    "mul": binary("Mul"),
    "div": binary("Div"),
    "prelu": prelu(),
    "softmax": softmax(),
    "lookup": lookup(),
    "max_pool": max_pool(),
    "average_pool": average_pool(),
    "reduce_mean": reduce_mean(),
    "resample": resample(),
    "strided_copy": strided_copy(),
    "fill": fill(),
    "quantize": quantize(),
    "dequantize": dequantize(),
}
"""Every kernel, with whatever constants."""

SOUND: dict[str, st.SearchStrategy[Case]] = {
    **CASES,
    "conv": conv(sound=True, size=4),
    "conv_wide": conv("wide", sound=True, size=4),
    "depthwise_conv": depthwise_conv(sound=True, size=4),
    "depthwise_conv_wide": depthwise_conv("wide", sound=True, size=4),
    "fully_connected": fully_connected(sound=True, size=9),
    "fully_connected_wide": fully_connected("wide", sound=True, size=9),
    "matmul": matmul(sound=True, size=4),
    "add": binary("Add", size=3),
    "mul": binary("Mul", size=3),
    "div": binary("Div", size=3),
    "softmax": softmax(sound=True, size=9),
    "max_pool": max_pool(size=4),
    "average_pool": average_pool(size=4),
    "resample": resample(sound=True, size=4),
}
"""Every kernel, within the proofs, and small."""
