"""Random layers of every kernel that states how its result may overlap an operand, small enough for exhaustive checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from kernels.cases import Array
from overlaps.elementwise_layers import ELEMENTWISE
from overlaps.layer import Layer, Rng, int8, layer, pixels, points, real


def random_layer(rng: Rng, kernel: tuple[str, str]) -> Layer:
    """Of the operator and variant `kernel`, one of KERNELS."""
    return KERNELS[kernel](rng, kernel[1])


def _constants(rng: Rng, variant: str, weight: tuple[int, ...], out: int) -> list[Array]:
    """Weights and what follows them, so that outputs cover int8."""
    if variant == "float32":
        return [real(rng, *weight), real(rng, out)]
    taps = prod(weight) // out
    most = 7 if variant in ("int4", "int4_lanes") else max(1, min(127, (1 << 22) // (128 * taps)))
    weights = rng.integers(-most, most + 1, weight).astype(np.int8)
    scales = rng.uniform(0.5, 1.5, out) / (most * np.sqrt(taps))
    if variant in ("wide", "int16_steps", "int16_weights"):
        pairs = np.stack([np.rint(scales * 2**31).astype(np.int64), np.full(out, 31)], axis=1)
        weights = weights.astype(np.int16) if variant == "int16_weights" else weights
        return [weights, rng.integers(-(1 << 15), 1 << 15, out), pairs.astype(np.int32)]
    return [weights, rng.integers(-20_000, 20_000, out).astype(np.int32), np.rint(scales * 2**31).astype(np.int32)]


@dataclass(frozen=True)
class Sizes:
    """How windows are drawn along an axis."""

    taps: tuple[int, ...] = (1, 2, 3, 4, 5)
    strides: tuple[int, ...] = (1, 1, 2, 3)
    dilations: tuple[int, ...] = (1, 1, 1, 2)
    most: int = 9
    """Positions beyond what a window needs."""


def _axis(rng: Rng, sizes: Sizes) -> dict[str, int]:
    taps, stride, dilation = (int(rng.choice(of)) for of in (sizes.taps, sizes.strides, sizes.dilations))
    extent = (taps - 1) * dilation + 1
    before, after = (int(rng.integers(0, extent)) if rng.random() < 0.7 else 0 for _ in range(2))
    size = int(rng.integers(max(1, extent - before - after), max(2, extent - before - after) + sizes.most))
    return {"taps": taps, "stride": stride, "dilation": dilation, "before": before, "after": after, "size": size}


def _window(rng: Rng, sizes: Sizes, across: Sizes | None = None) -> tuple[tuple[int, int, int], tuple[int, int], dict[str, Any]]:
    """(batch, height, width), kernel, attributes."""
    h, w = _axis(rng, sizes), _axis(rng, across or sizes)
    attributes = {
        "strides": (h["stride"], w["stride"]),
        "dilations": (h["dilation"], w["dilation"]),
        "pads": (h["before"], w["before"], h["after"], w["after"]),
    }
    return (int(rng.choice([1, 1, 1, 2])), h["size"], w["size"]), (h["taps"], w["taps"]), attributes


def _conv(rng: Rng, variant: str) -> Layer:
    pointwise = rng.random() < 0.4
    image, kernel, attributes = _window(rng, Sizes(taps=(1,), dilations=(1,), most=12) if pointwise else Sizes())
    group = int(rng.choice([1, 1, 1, 2]))
    depth, filters = (int(rng.choice([1, 2, 3, 4, 5, 8, 12, 16, 20])) for _ in range(2))
    x = pixels(rng, variant, *image, depth * group)
    constants = _constants(rng, variant, (filters * group, *kernel, depth), filters * group)
    return layer("Conv", [x, *constants], variant=variant, group=group, **attributes, **points(rng, variant))


def _plain_conv(rng: Rng, variant: str) -> Layer:
    """Also images of more rows than are made at a time."""
    if rng.random() < 0.5:
        return _conv(rng, variant)
    sizes = Sizes(taps=(1, 1, 3), strides=(1,), dilations=(1,), most=24)
    image, kernel, attributes = _window(rng, sizes)
    depth, filters = (int(rng.choice([8, 16, 20])) for _ in range(2))
    constants = _constants(rng, variant, (filters, *kernel, depth), filters)
    return layer("Conv", [int8(rng, *image, depth), *constants], variant=variant, group=1, **attributes, **points(rng, variant))


_THREE = Sizes(taps=(3,), strides=(1,), dilations=(1,), most=12)


def _winograd(rng: Rng, variant: str) -> Layer:
    image, kernel, attributes = _window(rng, _THREE)
    depth, filters = (int(rng.choice([4, 8, 12, 16])) for _ in range(2))
    constants = _constants(rng, variant, (filters, *kernel, depth), filters)
    return layer("Conv", [int8(rng, *image, depth), *constants], variant=variant, group=1, **attributes, **points(rng, variant))


def _planes(rng: Rng, variant: str) -> Layer:
    sizes = Sizes(taps=(3,), strides=(1 if variant == "planes" else 2,), dilations=(1,), most=12)
    image, kernel, attributes = _window(rng, sizes)
    if rng.random() < 0.2:  # more outputs in a row than pixels
        image, attributes = (image[0], image[1] + 2, 1), {**attributes, "pads": (2, 2, 2, 2)}
    channels = int(rng.choice([4, 5, 7, 8, 12, 18]))
    constants = _constants(rng, variant, (*kernel, channels), channels)
    return layer("DepthwiseConv", [int8(rng, *image, channels), *constants], variant=variant, **attributes, **points(rng, variant))


def _depthwise(rng: Rng, variant: str) -> Layer:
    long = rng.random() < 0.25  # more than the windows that tap_pairs computes at a time
    one = Sizes(taps=(1,), strides=(1,), dilations=(1,), most=2)
    many = Sizes(taps=(2, 3, 5, 9), most=200)
    image, kernel, attributes = _window(rng, *((many, one) if rng.random() < 0.5 else (one, many))) if long else _window(rng, Sizes())
    channels, multiplier = int(rng.choice([1, 3, 4, 8, 9, 17])), int(rng.choice([1, 1, 1, 2, 3]))
    x = pixels(rng, variant, *image, channels)
    constants = _constants(rng, variant, (*kernel, channels * multiplier), channels * multiplier)
    return layer("DepthwiseConv", [x, *constants], variant=variant, **attributes, **points(rng, variant))


def _plain_depthwise(rng: Rng, variant: str) -> Layer:
    """Also those that are made channel by channel."""
    if rng.random() < 0.5:
        return _depthwise(rng, variant)
    image, kernel, attributes = _window(rng, Sizes(taps=(3,), strides=(1, 1, 2), dilations=(1,), most=14))
    channels = int(rng.choice([1, 3, 8, 17, 20, 37]))
    constants = _constants(rng, variant, (*kernel, channels), channels)
    return layer("DepthwiseConv", [int8(rng, *image, channels), *constants], variant=variant, **attributes, **points(rng, variant))


def _fully_connected(rng: Rng, variant: str) -> Layer:
    rows = 1 if variant == "paired_row" else int(rng.choice([1, 2, 3, 5]))
    features, outputs = int(rng.integers(1, 60)), int(rng.integers(1, 60))
    x = pixels(rng, variant, rows, features)
    return layer("FullyConnected", [x, *_constants(rng, variant, (outputs, features), outputs)], variant=variant, **points(rng, variant))


def _pool(op: str) -> Callable[[Rng, str], Layer]:
    def draw(rng: Rng, variant: str) -> Layer:
        image, kernel, attributes = _window(rng, Sizes())
        channels = int(rng.choice([1, 3, 4, 5, 16, 18, 33]))
        x = int8(rng, *image, channels)
        x = {"float32": x.astype(np.float32), "uint8": x.view(np.uint8), "int16_steps": pixels(rng, variant, *x.shape)}.get(variant, x)
        mean = {"multiplier": 1, "count_include_pad": bool(rng.random() < 0.3)} if op == "AveragePool" else {}
        return layer(op, [x], variant=variant, kernel=kernel, overhang=(0, 0), **mean, **attributes, **points(rng, variant))

    return draw


def _reduce_mean(rng: Rng, variant: str) -> Layer:
    shape = tuple(int(rng.integers(1, 9)) for _ in range(3))
    x = pixels(rng, variant, *shape)
    axes = (int(rng.integers(0, 3)),) if rng.random() < 0.7 else (0, 1)
    return layer("ReduceMean", [x], variant=variant, axes=axes, keepdims=bool(rng.random() < 0.5), multiplier=1, **points(rng, variant))


def _slice(rng: Rng, variant: str) -> Layer:
    shape = tuple(int(rng.integers(1, 9)) for _ in range(3))
    steps = tuple(int(rng.choice([1, 1, 2, -1])) for _ in shape)
    sizes = tuple(int(rng.integers(1, (size - 1) // abs(step) + 2)) for size, step in zip(shape, steps, strict=True))
    starts = []
    for size, step, count in zip(shape, steps, sizes, strict=True):
        room = size - 1 - (count - 1) * abs(step)
        first = int(rng.integers(0, room + 1))
        starts.append(first if step > 0 else first + (count - 1) * -step)
    return layer("Slice", [_moved(rng, shape)], variant=variant, starts=tuple(starts), steps=steps, sizes=sizes)


def _transpose(rng: Rng, variant: str) -> Layer:
    shape = tuple(int(rng.integers(1, 9)) for _ in range(3))
    perm = tuple(int(axis) for axis in rng.permutation(3))
    return layer("Transpose", [_moved(rng, shape)], variant=variant, perm=perm)


def _moved(rng: Rng, shape: tuple[int, ...]) -> Array:
    return rng.integers(-100, 100, shape).astype([np.int8, np.int16, np.float32][int(rng.integers(0, 3))])


KERNELS: dict[tuple[str, str], Callable[[Rng, str], Layer]] = {
    ("Conv", "int8"): _plain_conv,
    ("DepthwiseConv", "int8"): _plain_depthwise,
    ("Conv", "int4"): _conv,
    ("FullyConnected", "int4"): _fully_connected,
    ("Conv", "int4_lanes"): _conv,
    ("FullyConnected", "int4_lanes"): _fully_connected,
    ("Conv", "paired"): _conv,
    ("Conv", "winograd_2"): _winograd,
    ("Conv", "winograd_4"): _winograd,
    ("Conv", "wide"): _conv,
    ("Conv", "int16_steps"): _conv,
    ("Conv", "int16_weights"): _conv,
    ("Conv", "float32"): _conv,
    ("DepthwiseConv", "planes"): _planes,
    ("DepthwiseConv", "planes_2"): _planes,
    ("DepthwiseConv", "tap_pairs"): _depthwise,
    ("DepthwiseConv", "wide"): _depthwise,
    ("DepthwiseConv", "int16_steps"): _depthwise,
    ("DepthwiseConv", "int16_weights"): _depthwise,
    ("DepthwiseConv", "float32"): _depthwise,
    ("FullyConnected", "int8"): _fully_connected,
    ("FullyConnected", "wide"): _fully_connected,
    ("FullyConnected", "int16_steps"): _fully_connected,
    ("FullyConnected", "int16_weights"): _fully_connected,
    ("FullyConnected", "paired"): _fully_connected,
    ("FullyConnected", "paired_row"): _fully_connected,
    ("FullyConnected", "float32"): _fully_connected,
    ("MaxPool", "int8"): _pool("MaxPool"),
    ("MaxPool", "float32"): _pool("MaxPool"),
    ("MaxPool", "uint8"): _pool("MaxPool"),
    ("MaxPool", "plain_int8"): _pool("MaxPool"),
    ("MaxPool", "int16_steps"): _pool("MaxPool"),
    ("AveragePool", "int8"): _pool("AveragePool"),
    ("AveragePool", "float32"): _pool("AveragePool"),
    ("AveragePool", "int16_steps"): _pool("AveragePool"),
    ("ReduceMean", "int8"): _reduce_mean,
    ("ReduceMean", "float32"): _reduce_mean,
    ("ReduceMean", "int16_steps"): _reduce_mean,
    ("Slice", "bytes"): _slice,
    ("Transpose", "bytes"): _transpose,
    **ELEMENTWISE,
}
"""By operator and variant."""
