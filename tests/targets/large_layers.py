"""Random layers as large as a kernel's loops need them: whole vectors, blocks and segments, and what is left over of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernels.cases import Array, Case

Generator = np.random.Generator


def conv(rng: Generator) -> Case:
    kernel, depth, group = _kernel(rng), _pick(rng, [1, 3, 4, 8, 16, 17, 32, 48, 64, 130]), _pick(rng, [1, 1, 1, 2, 3])
    filters = _pick(rng, [1, 2, 3, 4, 7, 8, 16, 33, 130]) if depth < 60 else _pick(rng, [1, 2, 5, 8])
    record = _window(rng, kernel, depth * group)
    record |= {"out_c": filters * group, "group": group}
    weight = _elements(rng, filters * group, *kernel, depth)
    return _layer(rng, "Conv", record, weight, weight)


def depthwise_conv(rng: Generator) -> Case:
    kernel, outputs = _kernel(rng, most=9), _pick(rng, [1, 1, 1, 1, 2, 3])
    channels = _pick(rng, [1, 3, 4, 8, 12, 15, 16, 17, 24, 31, 32, 40, 64])
    record = _window(rng, kernel, channels)
    record["out_c"] = channels * outputs
    weight = _elements(rng, *kernel, channels * outputs)
    return _layer(rng, "DepthwiseConv", record, weight, weight.transpose(2, 0, 1))


def fully_connected(rng: Generator) -> Case:
    features, outputs = (
        _pick(rng, [1, 5, 8, 15, 16, 17, 64, 100, 112, 113, 128, 224, 250, 640]),
        _pick(rng, [1, 2, 3, 10, 64, 127, 129, 300]),
    )
    rows = _pick(rng, [1, 1, 2, 5])
    weight = _elements(rng, outputs, features)
    bias, multiplier, shift = _constants(rng, weight)
    record = {"rows": rows, "in_features": features, "out_features": outputs, "shift": shift}
    record |= {"output_zero_point": int(rng.integers(-128, 128)), **_clamp(rng)}
    y = np.full(rows * outputs, 0x33, np.int8)
    return Case("FullyConnected", "int8", record, [_elements(rng, rows, features), weight, bias, multiplier], y)


def elementwise(rng: Generator) -> Case:
    """Add or Mul of rows; either operand may be one element, one row or one column."""
    rows, length = int(rng.integers(1, 6)), _pick(rng, [1, 3, 4, 7, 16, 33, 70])
    views = [((length, 1), rows * length), ((0, 1), length), ((1, 0), rows), ((0, 0), 1)]
    (a_stride, a_size), (b_stride, b_size) = (views[_pick(rng, [0, 0, 1, 2, 3])] for _ in range(2))
    record: dict[str, Any] = {"dims": (1, 1, 1, 1, rows, length), "a_stride": (0, 0, 0, 0, *a_stride), "b_stride": (0, 0, 0, 0, *b_stride)}
    record |= {f"{name}_zero_point": int(rng.integers(-128, 128)) for name in ("a", "b", "output")} | _clamp(rng)
    if op := _pick(rng, [0, 1]):
        record |= {"multiplier": int(rng.integers(1 << 18, 1 << 24)), "shift": _pick(rng, [0, 4, 8])}
    else:
        shift = _pick(rng, [12, 20, 24])
        record |= {f"{name}_multiplier": int(rng.integers(-(1 << 22), 1 << 22) >> (24 - shift)) for name in "ab"} | {"shift": shift}
    y = np.full(rows * length, 0x33, np.int8)
    return Case("Mul" if op else "Add", "int8", record, [_elements(rng, a_size), _elements(rng, b_size)], y)


def pool(rng: Generator) -> Case:
    channels = _pick(rng, [1, 4, 15, 16, 17, 40])
    record = _window(rng, _kernel(rng), channels) | {"out_c": channels, **_clamp(rng)}
    x = _elements(rng, record["batch"], record["in_h"], record["in_w"], channels)
    y = np.full(record["batch"] * record["out_h"] * record["out_w"] * channels, 0x33, np.int8)
    if rng.random() < 0.5:
        return Case("MaxPool", "int8", record, [x], y)
    record |= {"pad_bottom": 1, "pad_right": 1, "count_include_pad": _pick(rng, [0, 1]), **_mean(rng)}
    return Case("AveragePool", "int8", record, [x], y)


def reduce_mean(rng: Generator) -> Case:
    outer, count, inner = _pick(rng, [1, 3]), _pick(rng, [1, 15, 16, 100]), _pick(rng, [1, 2, 5, 16, 30])
    record = {"outer": outer, "count": count, "inner": inner, **_mean(rng), **_clamp(rng)}
    return Case("ReduceMean", "int8", record, [_elements(rng, outer, count, inner)], np.full(outer * inner, 0x33, np.int8))


def copy(rng: Generator) -> Case:
    """A transposed matrix, or rows with gaps between them."""
    size, rows, length, gap = _pick(rng, [1, 2, 4, 8]), _pick(rng, [1, 3, 20]), _pick(rng, [1, 4, 5, 19, 40]), _pick(rng, [0, 3])
    transposed = rng.random() < 0.5
    to = (1, rows + gap) if transposed else (length + gap, 1)
    record = {"element_size": size, "dims": (1, 1, 1, 1, rows, length), "input_stride": (0, 0, 0, 0, length, 1), "input_offset": 0}
    record |= {"output_stride": (0, 0, 0, 0, *to), "output_offset": 0}
    y = np.full(((rows - 1) * to[0] + (length - 1) * to[1] + 1) * size, 0x33, np.int8)
    return Case("StridedCopy", "bytes", record, [_elements(rng, rows * length * size)], y)


def _mean(rng: Generator) -> dict[str, int]:
    scale = {"multiplier": 1, "shift": 0} if rng.random() < 0.5 else {"multiplier": int(rng.integers(1 << 20, 1 << 22)), "shift": 21}
    return scale | {f"{name}_zero_point": int(rng.integers(-128, 128)) for name in ("input", "output")}


def _kernel(rng: Generator, most: int = 5) -> tuple[int, int]:
    if rng.random() < 0.4:
        side = _pick(rng, [1, 3])
        return side, side
    return int(rng.integers(1, most + 1)), int(rng.integers(1, most + 1))


def _window(rng: Generator, kernel: tuple[int, int], channels: int) -> dict[str, int]:
    record = {"batch": _pick(rng, [1, 1, 2]), "in_c": channels}
    for axis, before, taps in (("h", "pad_top", kernel[0]), ("w", "pad_left", kernel[1])):
        dilation, stride = _pick(rng, [1, 1, 1, 2]), _pick(rng, [1, 1, 2])
        first, after = (_pick(rng, [0, taps // 2, taps]) for _ in range(2))
        length = int(rng.integers(1, 9))
        out = max(1, (length + first + after - (taps - 1) * dilation - 1) // stride + 1)
        record |= {f"in_{axis}": length, f"out_{axis}": out, f"kernel_{axis}": taps, before: first}
        record |= {f"stride_{axis}": stride, f"dilation_{axis}": dilation}
    return record


def _layer(rng: Generator, op: str, record: dict[str, Any], weight: Array, by_output: Array) -> Case:
    bias, multiplier, record["shift"] = _constants(rng, by_output)
    record |= {"input_zero_point": _pick(rng, [-128, 0, 5, 127]), "output_zero_point": int(rng.integers(-128, 128)), **_clamp(rng)}
    x = _elements(rng, record["batch"], record["in_h"], record["in_w"], record["in_c"])
    y = np.full(record["batch"] * record["out_h"] * record["out_w"] * record["out_c"], 0x33, np.int8)
    return Case(op, "int8", record, [x, weight, bias, multiplier], y)


def _constants(rng: Generator, weight: Array) -> tuple[Array, Array, int]:
    """bias, multiplier and shift with which outputs take many values."""
    outputs = weight.shape[0]
    bias = rng.integers(-(1 << 14), 1 << 14, outputs, np.int32)
    return bias, rng.integers(1 << 17, 1 << 21, outputs, np.int32), _pick(rng, [0, 0, 2, 5])


def _elements(rng: Generator, *shape: int) -> Array:
    """int8 without the lowest, as weights of our own are; sometimes all of it."""
    low = -128 if rng.random() < 0.3 else -127
    if rng.random() < 0.2:
        return rng.choice(np.array([low, 127], np.int8), shape)
    return rng.integers(low, 128, shape, np.int8)


def _clamp(rng: Generator) -> dict[str, int]:
    low, high = sorted(int(v) for v in rng.integers(-128, 128, 2))
    return {"activation_min": -128, "activation_max": 127} if rng.random() < 0.6 else {"activation_min": low, "activation_max": high}


def _pick(rng: Generator, values: list[int]) -> int:
    return int(rng.choice(values))


LARGE = {
    "conv": conv,
    "depthwise_conv": depthwise_conv,
    "fully_connected": fully_connected,
    "elementwise": elementwise,
    "pool": pool,
    "reduce_mean": reduce_mean,
    "copy": copy,
}
