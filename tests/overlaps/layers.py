"""Random layers of every kernel that states how its result may overlap an operand, small enough for exhaustive checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from arenite.emit.arrange import ARRANGEMENTS
from arenite.emit.lower_movement import MOVEMENT_OPERATORS, lower_movement
from arenite.graph import OPERATORS, DType, Node, Tensor
from arenite.graph.operators.declaration import Overlap
from kernels.cases import Array, Case

Rng = np.random.Generator


@dataclass(frozen=True)
class Layer:
    """A node and its operands. Slice and Transpose are the StridedCopy that they become."""

    node: Node
    arrays: tuple[Array, ...]
    """Operands as the graph has them: constants not arranged."""

    @cached_property
    def operands(self) -> list[Tensor]:
        if self.node.op in MOVEMENT_OPERATORS:
            return [Tensor("x0", self.arrays[0].shape, DType.of(self.arrays[0]))]
        constant = OPERATORS[self.node.op].form(self.variant).stored
        return [
            Tensor(name or "", array.shape, DType.of(array), array if operand.constant or operand.name == "bias" else None)
            for name, array, operand in zip(self.node.inputs, self.arrays, constant, strict=True)
        ]

    @cached_property
    def result(self) -> Tensor:
        (shape, dtype), *_ = OPERATORS[self.node.op].outputs(self.operands, self.node.attributes)
        return Tensor("y", tuple(shape), self.node.attributes.get("result", dtype))

    @property
    def variant(self) -> str:
        return str(self.node.attributes["variant"])

    @property
    def overlaps(self) -> Mapping[int, Overlap]:
        return OPERATORS[self.node.op].overlaps(self.node, self.operands, [self.result])

    @cached_property
    def case(self) -> Case:
        """The call of the kernel."""
        if self.node.op in MOVEMENT_OPERATORS:
            (move,) = lower_movement("", self.node, self.operands, self.result)
            y = np.full(self.result.elements, 0x33, self.result.dtype.numpy)
            return Case(move.op, self.variant, dict(move.record), list(self.arrays), y)
        operator = OPERATORS[self.node.op]
        record = operator.form(self.variant).record
        assert record is not None
        arrays: list[Array] = list(self.arrays)
        if (self.node.op, self.variant) in ARRANGEMENTS:
            x, *constants = self.operands
            arrays = [self.arrays[0], ARRANGEMENTS[self.node.op, self.variant](self.node, constants, x)]
        y = np.full(self.result.elements, 0x33, self.result.dtype.numpy)
        scratch = operator.scratch(self.node, self.operands, [self.result])
        return Case(self.node.op, self.variant, dict(record(self.node, self.operands, [self.result])), arrays, y, scratch)

    def __str__(self) -> str:
        shapes = ", ".join(str(array.shape) for array in self.arrays)
        return f"{self.node.op} {self.variant} of {shapes} to {self.result.shape} {dict(self.node.attributes)}"


def random_layer(rng: Rng, kernel: tuple[str, str]) -> Layer:
    """Of the operator and variant `kernel`, one of KERNELS."""
    return KERNELS[kernel](rng, kernel[1])


def _layer(op: str, arrays: list[Array], **attributes: Any) -> Layer:
    names = tuple(f"x{i}" for i in range(len(arrays)))
    return Layer(Node(op, "layer", names, ("y",), attributes), tuple(arrays))


def _int8(rng: Rng, *shape: int) -> Array:
    return rng.integers(-128, 128, shape).astype(np.int8)


def _real(rng: Rng, *shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def _pixels(rng: Rng, variant: str, *shape: int) -> Array:
    if variant.startswith("int16"):
        return rng.integers(-(1 << 15), 1 << 15, shape).astype(np.int16)
    return _real(rng, *shape) if variant == "float32" else _int8(rng, *shape)


def _points(rng: Rng, variant: str) -> dict[str, int]:
    if variant.startswith("int16"):
        return {"input_zero_point": 0, "output_zero_point": 0, "shift": 0, **_clamp(variant)}
    points = {"input_zero_point": int(rng.integers(-128, 128)), "output_zero_point": int(rng.integers(-10, 10))}
    return {**points, "shift": 0, **_clamp(variant)}


def _clamp(variant: str) -> dict[str, int]:
    """None that the type has not."""
    most = 1 << 15 if variant.startswith("int16") else 1 << 7
    return {"activation_min": -most, "activation_max": most - 1}


def _constants(rng: Rng, variant: str, weight: tuple[int, ...], out: int) -> list[Array]:
    """Weights and what follows them, so that outputs cover int8."""
    if variant == "float32":
        return [_real(rng, *weight), _real(rng, out)]
    taps = prod(weight) // out
    most = 7 if variant == "int4" else max(1, min(127, (1 << 22) // (128 * taps)))
    weights = rng.integers(-most, most + 1, weight).astype(np.int8)
    real = rng.uniform(0.5, 1.5, out) / (most * np.sqrt(taps))
    if variant in ("wide", "int16_steps", "int16_weights"):
        pairs = np.stack([np.rint(real * 2**31).astype(np.int64), np.full(out, 31)], axis=1)
        weights = weights.astype(np.int16) if variant == "int16_weights" else weights
        return [weights, rng.integers(-(1 << 15), 1 << 15, out), pairs.astype(np.int32)]
    return [weights, rng.integers(-20_000, 20_000, out).astype(np.int32), np.rint(real * 2**31).astype(np.int32)]


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
    x = _pixels(rng, variant, *image, depth * group)
    constants = _constants(rng, variant, (filters * group, *kernel, depth), filters * group)
    return _layer("Conv", [x, *constants], variant=variant, group=group, **attributes, **_points(rng, variant))


def _plain_conv(rng: Rng, variant: str) -> Layer:
    """Also images of more rows than are made at a time."""
    if rng.random() < 0.5:
        return _conv(rng, variant)
    sizes = Sizes(taps=(1, 1, 3), strides=(1,), dilations=(1,), most=24)
    image, kernel, attributes = _window(rng, sizes)
    depth, filters = (int(rng.choice([8, 16, 20])) for _ in range(2))
    constants = _constants(rng, variant, (filters, *kernel, depth), filters)
    return _layer("Conv", [_int8(rng, *image, depth), *constants], variant=variant, group=1, **attributes, **_points(rng, variant))


_THREE = Sizes(taps=(3,), strides=(1,), dilations=(1,), most=12)


def _winograd(rng: Rng, variant: str) -> Layer:
    image, kernel, attributes = _window(rng, _THREE)
    depth, filters = (int(rng.choice([4, 8, 12, 16])) for _ in range(2))
    constants = _constants(rng, variant, (filters, *kernel, depth), filters)
    return _layer("Conv", [_int8(rng, *image, depth), *constants], variant=variant, group=1, **attributes, **_points(rng, variant))


def _planes(rng: Rng, variant: str) -> Layer:
    sizes = Sizes(taps=(3,), strides=(1 if variant == "planes" else 2,), dilations=(1,), most=12)
    image, kernel, attributes = _window(rng, sizes)
    if rng.random() < 0.2:  # more outputs in a row than pixels
        image, attributes = (image[0], image[1] + 2, 1), {**attributes, "pads": (2, 2, 2, 2)}
    channels = int(rng.choice([4, 5, 7, 8, 12, 18]))
    constants = _constants(rng, variant, (*kernel, channels), channels)
    return _layer("DepthwiseConv", [_int8(rng, *image, channels), *constants], variant=variant, **attributes, **_points(rng, variant))


def _depthwise(rng: Rng, variant: str) -> Layer:
    long = rng.random() < 0.25  # more than the windows that tap_pairs computes at a time
    one = Sizes(taps=(1,), strides=(1,), dilations=(1,), most=2)
    many = Sizes(taps=(2, 3, 5, 9), most=200)
    image, kernel, attributes = _window(rng, *((many, one) if rng.random() < 0.5 else (one, many))) if long else _window(rng, Sizes())
    channels, multiplier = int(rng.choice([1, 3, 4, 8, 9, 17])), int(rng.choice([1, 1, 1, 2, 3]))
    x = _pixels(rng, variant, *image, channels)
    constants = _constants(rng, variant, (*kernel, channels * multiplier), channels * multiplier)
    return _layer("DepthwiseConv", [x, *constants], variant=variant, **attributes, **_points(rng, variant))


def _plain_depthwise(rng: Rng, variant: str) -> Layer:
    """Also those that are made channel by channel."""
    if rng.random() < 0.5:
        return _depthwise(rng, variant)
    image, kernel, attributes = _window(rng, Sizes(taps=(3,), strides=(1, 1, 2), dilations=(1,), most=14))
    channels = int(rng.choice([1, 3, 8, 17, 20, 37]))
    constants = _constants(rng, variant, (*kernel, channels), channels)
    return _layer("DepthwiseConv", [_int8(rng, *image, channels), *constants], variant=variant, **attributes, **_points(rng, variant))


def _fully_connected(rng: Rng, variant: str) -> Layer:
    rows = 1 if variant == "paired_row" else int(rng.choice([1, 2, 3, 5]))
    features, outputs = int(rng.integers(1, 60)), int(rng.integers(1, 60))
    x = _pixels(rng, variant, rows, features)
    return _layer("FullyConnected", [x, *_constants(rng, variant, (outputs, features), outputs)], variant=variant, **_points(rng, variant))


def _pool(op: str) -> Callable[[Rng, str], Layer]:
    def draw(rng: Rng, variant: str) -> Layer:
        image, kernel, attributes = _window(rng, Sizes())
        channels = int(rng.choice([1, 3, 4, 5, 16, 18, 33]))
        x = _int8(rng, *image, channels)
        x = {"float32": x.astype(np.float32), "uint8": x.view(np.uint8), "int16_steps": _pixels(rng, variant, *x.shape)}.get(variant, x)
        mean = {"multiplier": 1, "count_include_pad": bool(rng.random() < 0.3)} if op == "AveragePool" else {}
        return _layer(op, [x], variant=variant, kernel=kernel, overhang=(0, 0), **mean, **attributes, **_points(rng, variant))

    return draw


def _reduce_mean(rng: Rng, variant: str) -> Layer:
    shape = tuple(int(rng.integers(1, 9)) for _ in range(3))
    x = _pixels(rng, variant, *shape)
    axes = (int(rng.integers(0, 3)),) if rng.random() < 0.7 else (0, 1)
    return _layer("ReduceMean", [x], variant=variant, axes=axes, keepdims=bool(rng.random() < 0.5), multiplier=1, **_points(rng, variant))


def _binary(op: str) -> Callable[[Rng, str], Layer]:
    points = {"a_zero_point": 3, "b_zero_point": -2, "output_zero_point": 1}
    scales = {
        "Add": {"a_multiplier": 1 << 19, "b_multiplier": 1 << 19, "shift": 20},
        "Mul": {"multiplier": 1 << 26, "shift": 0},
    }

    def draw(rng: Rng, variant: str) -> Layer:
        shape = tuple(int(rng.integers(1, 8)) for _ in range(3))
        shapes = [shape, shape]
        if rng.random() < 0.4:
            shapes[int(rng.integers(0, 2))] = tuple(1 if rng.random() < 0.5 else size for size in shape)
        arrays = [_pixels(rng, variant, *each) for each in shapes]
        return _layer(op, arrays, variant=variant, **(points | scales[op] | _clamp(variant) if variant.startswith("int") else {}))

    return draw


def _softmax(rng: Rng, variant: str) -> Layer:
    x = _pixels(rng, variant, int(rng.integers(1, 5)), int(rng.integers(1, 20)))
    if variant == "float32":
        return _layer("Softmax", [x], variant=variant)
    table = (2.0**24 * np.exp(-0.02 * np.arange(256))).astype(np.int32)
    attributes = {"numerator": 1 << 56, "output_zero_point": -128, **_clamp(variant)}
    return _layer("Softmax", [x, table], variant=variant, **attributes)


def _lookup(rng: Rng, variant: str) -> Layer:
    return _layer("Lookup", [_int8(rng, int(rng.integers(1, 200))), _int8(rng, 256)], variant=variant)


def _cast(rng: Rng, variant: str) -> Layer:
    source = {"float32": np.float32, "plain_int8": np.int8, "int16": np.int16}[variant]
    target = DType.of(np.zeros(0, rng.choice([np.float32, np.int16, np.int8, np.uint8])))
    x = rng.integers(-100, 100, int(rng.integers(1, 200))).astype(source)
    return _layer("Cast", [x], variant=variant, to=target.value)


def _slice(rng: Rng, variant: str) -> Layer:
    shape = tuple(int(rng.integers(1, 9)) for _ in range(3))
    steps = tuple(int(rng.choice([1, 1, 2, -1])) for _ in shape)
    sizes = tuple(int(rng.integers(1, (size - 1) // abs(step) + 2)) for size, step in zip(shape, steps, strict=True))
    starts = []
    for size, step, count in zip(shape, steps, sizes, strict=True):
        room = size - 1 - (count - 1) * abs(step)
        first = int(rng.integers(0, room + 1))
        starts.append(first if step > 0 else first + (count - 1) * -step)
    return _layer("Slice", [_moved(rng, shape)], variant=variant, starts=tuple(starts), steps=steps, sizes=sizes)


def _transpose(rng: Rng, variant: str) -> Layer:
    shape = tuple(int(rng.integers(1, 9)) for _ in range(3))
    perm = tuple(int(axis) for axis in rng.permutation(3))
    return _layer("Transpose", [_moved(rng, shape)], variant=variant, perm=perm)


def _moved(rng: Rng, shape: tuple[int, ...]) -> Array:
    return rng.integers(-100, 100, shape).astype([np.int8, np.int16, np.float32][int(rng.integers(0, 3))])


KERNELS: dict[tuple[str, str], Callable[[Rng, str], Layer]] = {
    ("Conv", "int8"): _plain_conv,
    ("DepthwiseConv", "int8"): _plain_depthwise,
    ("Conv", "int4"): _conv,
    ("FullyConnected", "int4"): _fully_connected,
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
    ("MaxPool", "int16_steps"): _pool("MaxPool"),
    ("AveragePool", "int8"): _pool("AveragePool"),
    ("AveragePool", "float32"): _pool("AveragePool"),
    ("AveragePool", "int16_steps"): _pool("AveragePool"),
    ("ReduceMean", "int8"): _reduce_mean,
    ("ReduceMean", "float32"): _reduce_mean,
    ("ReduceMean", "int16_steps"): _reduce_mean,
    ("Add", "int8"): _binary("Add"),
    ("Add", "float32"): _binary("Add"),
    ("Add", "int16_steps"): _binary("Add"),
    ("Mul", "int8"): _binary("Mul"),
    ("Max", "float32"): _binary("Max"),
    ("Less", "float32"): _binary("Less"),
    ("Softmax", "int8"): _softmax,
    ("Softmax", "float32"): _softmax,
    ("Lookup", "int8"): _lookup,
    ("Cast", "float32"): _cast,
    ("Cast", "plain_int8"): _cast,
    ("Cast", "int16"): _cast,
    ("Slice", "bytes"): _slice,
    ("Transpose", "bytes"): _transpose,
}
"""By operator and variant."""
