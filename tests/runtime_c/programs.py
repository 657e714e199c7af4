"""Programs that use every kernel, built tensor by tensor: no converter decides what is in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arenite.emit import Call, Port, Program, ProgramTensor
from arenite.emit.program import Storage
from arenite.graph import DType, Quantization
from arenite.plan import Memory

from runtime_c import (
    control_programs,
    int4_programs,
    integer_image_programs,
    integer_node_programs,
    integer_recurrent_programs,
    typed_node_programs,
    typed_programs,
)

CLAMP = {"activation_min": -128, "activation_max": 127}
POINTS = {"input_zero_point": 3, "output_zero_point": -5}


class ProgramBuilder:
    """A program, call by call. Every activation has bytes of its own, so that all of them can be looked at afterwards."""

    def __init__(self, seed: int = 1) -> None:
        self.random = np.random.default_rng(seed)
        self.tensors: list[ProgramTensor] = []
        self.calls: list[Call] = []
        self.arena = self.constants = 0

    def activation(self, *shape: int, dtype: DType = DType.INT8, quantized: bool = True, memory: int = 0) -> int:
        quantization = Quantization.per_tensor(0.05, 3) if quantized and dtype is DType.INT8 else None
        offset = self.arena if memory == 0 else 0
        tensor = ProgramTensor(f"t{len(self.tensors)}", shape, dtype, Storage.REGION, memory, offset, None, quantization)
        if memory == 0:
            self.arena += -(-tensor.bytes // 16) * 16
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def constant(self, data: np.ndarray) -> int:
        tensor = ProgramTensor(f"c{len(self.tensors)}", data.shape, DType.of(data), Storage.CONSTANT, 0, self.constants, data)
        self.constants += -(-tensor.bytes // 16) * 16
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def weights(self, *shape: int) -> int:
        return self.constant(self.random.integers(-127, 128, shape, np.int8))

    def linear(self, channels: int, wide: bool = False) -> tuple[int, int]:
        """Bias and multiplier."""
        if wide:
            pairs = np.stack([self.random.integers(1 << 21, 1 << 22, channels), self.random.integers(28, 34, channels)], axis=1)
            return self.constant(self.random.integers(-(1 << 30), 1 << 30, channels)), self.constant(pairs.astype(np.int32))
        bias = self.random.integers(-5000, 5000, channels, np.int32)
        return self.constant(bias), self.constant(self.random.integers(1 << 20, 1 << 24, channels, np.int32))

    def call(self, op: str, inputs: Sequence[int], output: int, variant: str = "int8", scratch: int | None = None, **record: object) -> int:
        index = len(self.calls)
        self.calls.append(Call(op, variant, f"n{index}", record, tuple(inputs), (output,), scratch, 0, index))  # type: ignore[arg-type]
        return output

    def image(self, x: int, y: int, kernel: tuple[int, int], **window: object) -> dict[str, object]:
        """The record of a spatial operator between two NHWC tensors."""
        (batch, in_h, in_w, in_c), (_, out_h, out_w, out_c) = self.tensors[x].shape, self.tensors[y].shape
        sizes = {"batch": batch, "in_h": in_h, "in_w": in_w, "in_c": in_c, "out_h": out_h, "out_w": out_w, "out_c": out_c}
        unit = dict.fromkeys(("stride_h", "stride_w", "dilation_h", "dilation_w"), 1)
        return {**sizes, "kernel_h": kernel[0], "kernel_w": kernel[1], **unit, "pad_top": 0, "pad_left": 0, **CLAMP, **window}

    def program(self, inputs: Sequence[int], outputs: Sequence[int], memories: Sequence[Memory] = (), sizes: Sequence[int] = ()) -> Program:
        return Program(
            name="example",
            tensors=tuple(self.tensors),
            calls=tuple(self.calls),
            inputs=tuple(Port(f"in{i}", tensor, ("no", "yes")) for i, tensor in enumerate(inputs)),
            outputs=tuple(Port(f"out{i}", tensor) for i, tensor in enumerate(outputs)),
            memories=(Memory("arena"), *memories),
            memory_bytes=(self.arena, *sizes),
            calibrated=True,
        )


def spatial_program() -> Program:
    """Convolutions of every kind, pools, mean, fully connected layers, softmax."""
    b = ProgramBuilder(1)
    x = b.activation(1, 7, 6, 3)
    c = b.activation(1, 4, 3, 8)
    padded = {"pad_top": 1, "pad_left": 1}
    b.call(
        "Conv",
        (x, b.weights(8, 3, 3, 3), *b.linear(8)),
        c,
        **b.image(x, c, (3, 3), stride_h=2, stride_w=2, **padded, group=1, shift=2, **POINTS),
    )
    g = b.activation(1, 4, 3, 6)
    b.call("Conv", (c, b.weights(6, 3, 2, 4), *b.linear(6)), g, **b.image(c, g, (3, 2), dilation_w=2, **padded, group=2, shift=0, **POINTS))
    w = b.activation(1, 4, 3, 5)
    b.call("Conv", (g, b.weights(5, 1, 1, 6), *b.linear(5, True)), w, "wide", **b.image(g, w, (1, 1), group=1, shift=0, **POINTS))
    d = b.activation(1, 4, 3, 10)
    b.call("DepthwiseConv", (w, b.weights(3, 3, 10), *b.linear(10)), d, **b.image(w, d, (3, 3), **padded, shift=1, **POINTS))
    s = b.activation(1, 4, 3, 10)
    b.call("DepthwiseConv", (d, b.weights(3, 3, 10), *b.linear(10)), s, **b.image(d, s, (3, 3), **padded, shift=1, **POINTS))
    e = b.activation(1, 4, 3, 10)
    b.call("DepthwiseConv", (s, b.weights(2, 2, 10), *b.linear(10, True)), e, "wide", **b.image(s, e, (2, 2), **padded, shift=0, **POINTS))
    m = b.activation(1, 2, 2, 10)
    b.call("MaxPool", (e,), m, **b.image(e, m, (2, 2), stride_h=2, stride_w=2))
    a = b.activation(1, 2, 2, 10)
    mean = {"multiplier": 3000000, "shift": 21, **POINTS}
    b.call("AveragePool", (m,), a, **b.image(m, a, (3, 3), **padded, pad_bottom=1, pad_right=1, count_include_pad=1, **mean))
    r = b.activation(1, 10)
    b.call("ReduceMean", (a,), r, outer=1, count=4, inner=10, **mean, **CLAMP)
    f = b.activation(1, 9)
    b.call(
        "FullyConnected",
        (r, b.weights(9, 10), *b.linear(9)),
        f,
        rows=1,
        in_features=10,
        out_features=9,
        output_zero_point=1,
        shift=3,
        **CLAMP,
    )
    v = b.activation(1, 9)
    record = {"rows": 1, "in_features": 9, "out_features": 9, "output_zero_point": 1, "shift": 0, **CLAMP}
    b.call("FullyConnected", (f, b.weights(9, 9), *b.linear(9, True)), v, "wide", **record)
    table = b.constant(np.rint(2**23 * np.exp(-0.05 * np.arange(256))).astype(np.int32))
    y = b.activation(1, 9)
    b.call("Softmax", (v, table), y, rows=1, length=9, output_zero_point=-128, numerator_low=0, numerator_high=256, **CLAMP)
    return b.program([x], [y, m])


def elementwise_program() -> Program:
    """Conversions, everything elementwise, matrix product, movement."""
    b = ProgramBuilder(2)
    x = b.activation(2, 3, 4, dtype=DType.FLOAT32)
    q = b.call("Quantize", (x,), b.activation(2, 3, 4), count=24, scale=0.05, zero_point=3)
    points = {"a_zero_point": 3, "b_zero_point": -2, "output_zero_point": 1, **CLAMP}
    views = {"dims": (1, 1, 1, 1, 6, 4), "a_stride": (0, 0, 0, 0, 4, 1), "b_stride": (0, 0, 0, 0, 0, 1), **points}
    row = b.weights(4)
    s = b.call("Add", (q, row), b.activation(2, 3, 4), **views, a_multiplier=2000000, b_multiplier=-3000000, shift=21)
    m = b.call("Mul", (s, row), b.activation(2, 3, 4), **views, multiplier=1 << 26, shift=3)
    d = b.call("Div", (m, row), b.activation(2, 3, 4), **views, multiplier=4000000, shift=17)
    slopes = b.constant(b.random.integers(-(1 << 30), 1 << 30, 4, np.int32))
    prelu = {"count": 24, "channels": 4, **POINTS, "positive_multiplier": 1 << 29, "shift": 3, **CLAMP}
    p = b.call("PRelu", (d, slopes), b.activation(2, 3, 4), **prelu)
    lookup = b.call("Lookup", (p, b.constant(b.random.integers(-128, 128, 256).astype(np.int8))), b.activation(2, 3, 4), count=24)
    t = b.activation(2, 4, 3)
    strides = {"input_stride": (0, 0, 0, 12, 1, -4), "output_stride": (0, 0, 0, 12, 3, 1)}
    b.call("StridedCopy", (lookup,), t, "bytes", element_size=1, dims=(1, 1, 1, 2, 4, 3), **strides, input_offset=8, output_offset=0)
    y = b.activation(2, 3, 3)
    product = {"batch": (1, 1, 2), "a_stride": (0, 0, 12), "b_stride": (0, 0, 12), "m": 3, "k": 4, "n": 3}
    b.call("MatMul", (lookup, t), y, **product, multiplier=1 << 25, shift=2, **points)
    z = b.activation(4, 9)
    b.call("Fill", (), z, "bytes", count=36, value=-7)
    wide = {"input_stride": (0, 0, 0, 0, 0, 1), "output_stride": (0, 0, 0, 0, 0, 1)}
    b.call("StridedCopy", (y,), z, "bytes", element_size=2, dims=(1, 1, 1, 1, 1, 9), **wide, input_offset=0, output_offset=9)
    out = b.activation(4, 9, dtype=DType.FLOAT32)
    b.call("Dequantize", (z,), out, count=36, scale=0.25, zero_point=-7)
    return b.program([x], [out, y])


def small_program() -> Program:
    """out0 = in0 + in1, elementwise."""
    b = ProgramBuilder(3)
    x, h, y = b.activation(1, 8), b.activation(1, 8), b.activation(1, 8)
    stride = (0, 0, 0, 0, 0, 1)
    points = {"a_zero_point": 3, "b_zero_point": 3, "output_zero_point": 3, **CLAMP}
    views = {"dims": (1, 1, 1, 1, 1, 8), "a_stride": stride, "b_stride": stride}
    b.call("Add", (x, h), y, **views, a_multiplier=1 << 20, b_multiplier=1 << 20, shift=20, **points)
    return b.program([x, h], [y])


def channels_program() -> Program:
    """Spatial operators on many channels, where a distance in elements is much larger than one in pixels."""
    b = ProgramBuilder(4)
    x, c, d, m = (b.activation(1, 2, 2, 64) for _ in range(4))
    padded = {"pad_top": 1, "pad_left": 1}
    b.call("DepthwiseConv", (x, b.weights(3, 3, 64), *b.linear(64)), c, **b.image(x, c, (3, 3), **padded, shift=1, **POINTS))
    b.call("Conv", (c, b.weights(64, 3, 3, 4), *b.linear(64)), d, **b.image(c, d, (3, 3), **padded, group=16, shift=0, **POINTS))
    b.call("MaxPool", (d,), m, **b.image(d, m, (3, 3), **padded))
    w, a = b.activation(1, 2, 2, 64), b.activation(1, 2, 2, 64)
    record = b.image(m, w, (3, 3), **padded, shift=0, **POINTS)
    b.call("DepthwiseConv", (m, b.weights(3, 3, 64), *b.linear(64, True)), w, "wide", **record)
    mean = {"multiplier": 1, "shift": 0, **POINTS}
    b.call("AveragePool", (w,), a, **b.image(w, a, (3, 3), **padded, pad_bottom=1, pad_right=1, count_include_pad=0, **mean))
    y = b.activation(1, 2, 2, 64)
    record = b.image(a, y, (1, 1), group=64, shift=0, **POINTS)
    b.call("Conv", (a, b.weights(64, 1, 1, 1), *b.linear(64, True)), y, "wide", **record)
    return b.program([x], [y])


def forest_program() -> Program:
    """Trees of both widths, with every optional operand and without, and a support vector machine."""
    b = ProgramBuilder(5)
    real = {"dtype": DType.FLOAT32}
    x = b.activation(3, 4, **real)
    feature, child = np.asarray([1, ~0, 3]), np.asarray([[1, 2], [~0, ~1], [2 - 5, ~0]])
    scores = []
    for op, index in (("TreeEnsemble", np.int16), ("LargeTreeEnsemble", np.int32)):
        nodes = [b.constant(feature.astype(index)), b.constant(np.asarray([0.5, -0.5, 0.0], np.float32)), b.constant(child.astype(index))]
        root = b.constant(np.asarray([0, ~1, 1], index))
        weight = b.constant(np.asarray([0.5, -1.0, 2.0, 0.25, 1.0], np.float32))
        start, target = b.constant(np.asarray([0, 2, 3, 5], np.int32)), b.constant(np.asarray([0, 2, 1, 2, 0], index))
        record = {"rows": 3, "features": 4, "trees": 3, "aggregate": 1}
        scores.append(b.call(op, (x, *nodes, root, start, target, weight), b.activation(3, 3, **real), "float32", **record, targets=3))
        b.call(op, (x, *nodes, root, -1, -1, weight), b.activation(3, 1, **real), "float32", **{**record, "aggregate": 2}, targets=1)
    vectors = b.constant(b.random.normal(size=(5, 4)).astype(np.float32))
    kernel = b.call("SquaredDistance", (x, vectors), b.activation(3, 5, **real), "float32", rows=3, vectors=5, length=4)
    coefficient, rho = b.constant(b.random.normal(size=(2, 5)).astype(np.float32)), b.constant(np.asarray([0.1, 0.2, -0.3], np.float32))
    machine = (kernel, coefficient, rho, b.constant(np.asarray([0, 2, 3, 5], np.int32)))
    decision = b.call("SvmDecision", machine, b.activation(3, 3, **real), "float32", rows=3, vectors=5, classes=3)
    votes = b.call("SvmVotes", (decision,), b.activation(3, 3, **real), "float32", rows=3, classes=3)
    scratch = b.activation(21, **real)
    p = b.call("SvmProbability", (decision, rho, rho), b.activation(3, 3, **real), "float32", scratch, rows=3, classes=3)
    z = b.call("SoftmaxZero", (scores[0],), b.activation(3, 3, **real), "float32", rows=3, length=3)
    q = b.call("Probit", (p,), b.activation(3, 3, **real), "float32", count=9)
    keys = b.constant(np.asarray([0.0, 1.0, 2.0], np.float32))
    k = b.call("KeyIndex", (votes, keys), b.activation(3, 3, dtype=DType.INT64), "float32", count=9, keys=3, nan=4)
    return b.program([x], [*scores, z, q, k])


PROGRAMS = {
    "forest": forest_program,
    "channels": channels_program,
    "spatial": spatial_program,
    "elementwise": elementwise_program,
    "small": small_program,
    "typed_spatial": lambda: typed_programs.spatial(ProgramBuilder(6)),
    "typed_elementwise": lambda: typed_programs.elementwise(ProgramBuilder(7)),
    "typed_reductions": lambda: typed_node_programs.reductions(ProgramBuilder(8)),
    "typed_indexing": lambda: typed_node_programs.indexing(ProgramBuilder(9)),
    "typed_sampling": lambda: typed_node_programs.sampling(ProgramBuilder(11)),
    "typed_signals": lambda: typed_node_programs.signals(ProgramBuilder(13)),
    "control": lambda: control_programs.control(ProgramBuilder(14)),
    "typed_integer": lambda: typed_node_programs.integers(ProgramBuilder(16)),
    "typed_recurrent": lambda: typed_node_programs.recurrent(ProgramBuilder(10)),
    "integer_reductions": lambda: integer_node_programs.statistics(ProgramBuilder(12)),
    "integer_recurrent": lambda: integer_recurrent_programs.recurrent(ProgramBuilder(17)),
    "recurrent_16": lambda: integer_recurrent_programs.recurrent_16(ProgramBuilder(27)),
    "four_bits": lambda: int4_programs.four_bits(ProgramBuilder(18)),
    "four_bit_lanes": lambda: int4_programs.four_bits(ProgramBuilder(18), "int4_lanes"),
    "integer_images": lambda: integer_image_programs.images(ProgramBuilder(15)),
}
