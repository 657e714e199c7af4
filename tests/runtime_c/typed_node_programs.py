"""Programs of reductions, of computed indices and of recurrent layers, with the records that the declarations give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from arenite.emit import Program
from arenite.emit.program import Call
from arenite.graph import OPERATORS, DType, Node, Tensor
from arenite.graph.operators.signal import root_count

if TYPE_CHECKING:
    from runtime_c.programs import ProgramBuilder


def node(b: ProgramBuilder, op: str, variant: str, inputs: Sequence[int], **attributes: Any) -> tuple[int, ...]:
    """Append a call; its results get memory of their own, scratch too."""
    operator = OPERATORS[op]
    attributes["variant"] = variant
    tensors = [None if i < 0 else Tensor(b.tensors[i].name, b.tensors[i].shape, b.tensors[i].dtype) for i in inputs]
    outputs = tuple(b.activation(*shape, dtype=dtype, quantized=False) for shape, dtype in operator.outputs(tensors, attributes))
    results = [Tensor(b.tensors[i].name, b.tensors[i].shape, b.tensors[i].dtype) for i in outputs]
    call = Node(op, op, tuple(None if t is None else t.name for t in tensors), tuple(t.name for t in results), attributes)
    form = operator.form(variant)
    assert form.record is not None
    needed = operator.scratch(call, tensors, results)
    scratch = b.activation(-(-needed // 4), dtype=DType.FLOAT32) if needed else None
    record, index = form.record(call, tensors, results), len(b.calls)
    b.calls.append(Call(op, variant, f"n{index}", record, tuple(inputs), outputs, scratch, 0, index))
    return outputs


def reductions(b: ProgramBuilder) -> Program:
    variants = {DType.FLOAT32: "float32", DType.UINT8: "uint8"}
    inputs, outputs = [], []
    for dtype, variant in variants.items():
        x = b.activation(3, 2, 4, 5, dtype=dtype)
        inputs.append(x)
        for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
            if variant in OPERATORS[op].all_variants:
                outputs += node(b, op, variant, [x], axes=(0, 2), keepdims=False)
        for op in ("ArgMax", "ArgMin"):
            outputs += node(b, op, variant, [x], axis=2, keepdims=False, last=True)
        for op in ("CumSum", "CumProd"):
            if variant in OPERATORS[op].all_variants:
                outputs += node(b, op, variant, [x], axis=1, exclusive=True, reverse=True)
        outputs += node(b, "TopK", variant, [x], axis=3, k=3, largest=True)
    return b.program(inputs, outputs[-8:])


def indexing(b: ProgramBuilder) -> Program:
    """Whatever the memory holds is an index."""
    x, flat = b.activation(3, 4, 5, dtype=DType.FLOAT32), b.activation(6, dtype=DType.INT64)
    three, pairs = b.activation(2, 4, 3, dtype=DType.INT32), b.activation(4, 2, dtype=DType.INT64)
    update, rows = b.activation(2, 4, 3, dtype=DType.FLOAT32), b.activation(4, 5, dtype=DType.FLOAT32)
    part, starts, k = b.activation(3, 2, 5, dtype=DType.FLOAT32), b.activation(3, dtype=DType.INT64), b.activation(1, dtype=DType.INT64)
    outputs = [
        *node(b, "Gather", "bytes", [x, flat], axis=1),
        *node(b, "GatherElements", "bytes", [x, three], axis=2),
        *node(b, "GatherND", "bytes", [x, pairs], batch_dims=0),
        *node(b, "ScatterElements", "bytes", [x, three, update], axis=0),
        *node(b, "ScatterND", "bytes", [x, pairs, rows]),
        *node(b, "TensorScatter", "bytes", [x, part, starts], axis=1, circular=True),
        *node(b, "TensorScatter", "bytes", [x, part, starts], axis=1, circular=False),
        *node(b, "OneHot", "bytes", [update, b.constant(np.asarray([0, 1], np.int16))], axis=1, depth=5),
        *node(b, "Trilu", "bytes", [x, k], upper=True),
        *node(b, "ReverseSequence", "bytes", [x, starts], time_axis=1),
    ]
    for reduction in ("add", "mul", "max", "min"):
        outputs += node(b, "ScatterElementsReduce", "float32", [x, three, update], axis=1, reduction=reduction)
        outputs += node(b, "ScatterNdReduce", "float32", [x, pairs, rows], reduction=reduction)
    return b.program([x, flat, three, pairs, update, rows, part, starts, k], outputs[-8:])


def recurrent(b: ProgramBuilder) -> Program:
    """Every cell in both directions, normalized between."""
    steps, batch, hidden = 4, 2, 3
    x, lengths = b.activation(steps, batch, 5, dtype=DType.FLOAT32), b.activation(batch, dtype=DType.INT32)
    state = b.activation(2, batch, hidden, dtype=DType.FLOAT32)

    def numbers(*shape: int) -> int:
        return b.constant(b.random.standard_normal(shape).astype(np.float32))

    def cell(name: str, gates: int, biases: int, functions: Sequence[str], *more: int, **own: bool) -> tuple[int, ...]:
        weights = (numbers(2, gates * hidden, 5), numbers(2, gates * hidden, hidden), numbers(2, biases * hidden))
        activations = tuple((function, 0.5, 0.5) for function in functions) * 2
        attributes = {"hidden": hidden, "directions": (False, True), "activations": activations, "threshold": float("inf"), **own}
        return node(b, name, "float32", [x, *weights, lengths, state, *more], **attributes)

    first = cell("Lstm", 4, 8, ("Sigmoid", "Tanh", "Softplus"), state, numbers(2, 3 * hidden), coupled=False)
    outputs = [*first, *cell("LstmLast", 4, 8, ("HardSigmoid", "Tanh", "Tanh"), -1, -1, coupled=True)]
    for linear in (False, True):
        outputs += cell("GruLast" if linear else "Gru", 3, 6, ("Sigmoid", "Elu"), linear_before_reset=linear)
    outputs += [*cell("Rnn", 1, 2, ("Tanh",)), *cell("RnnLast", 1, 2, ("Affine",))]
    normalized = node(b, "LayerNormalization", "float32", [first[0], numbers(6), -1], length=6, centred=True, epsilon=1e-5)
    return b.program([x, lengths, state], [*normalized, *outputs[-6:]])


def sampling(b: ProgramBuilder) -> Program:
    """Whatever the memory holds is a position, a region, an index."""
    real = {"dtype": DType.FLOAT32}
    x, grid, rois = b.activation(2, 4, 5, 6, **real), b.activation(2, 3, 4, 2, **real), b.activation(3, 4, **real)
    batch, volume, deep = b.activation(3, dtype=DType.INT64), b.activation(1, 2, 3, 4, 5, **real), b.activation(1, 2, 2, 3, 3, **real)
    offset, mask = b.activation(2, 2 * 6 * 2, 4, 3, **real), b.activation(2, 2 * 6, 4, 3, **real)
    pixels = b.activation(2, 6, 5, 3, dtype=DType.UINT8)
    first, weight = b.constant(np.asarray([0, 1, 2, 3], np.int32)), b.constant(b.random.standard_normal((4, 2)).astype(np.float32))
    filters = b.constant(b.random.standard_normal((4, 2, 2, 3)).astype(np.float32))
    window = {"kernel": (2, 3, 2), "strides": (1, 2, 2), "dilations": (1, 1, 2), "pads": (1, 0, 1, 0, 1, 1)}
    plane = {"kernel": (3, 2), "strides": (2, 1), "dilations": (1, 2), "pads": (1, 0, 1, 1), "overhang": (0, 0), "clip": (3.0, 90.0)}
    outputs = [*node(b, "Resample", "float32", [x, first, weight], axis=2)]
    values, indices = node(b, "MaxPoolWithIndices", "float32", [volume], **window, column_major=True)
    outputs += [values, *node(b, "MaxUnpool", "bytes", [values, indices], inferred=(1, 2, 3, 4, 5), shape=(1, 2, 3, 5, 6))]
    for mode, padding in (("nearest", "reflection"), ("linear", "border"), ("cubic", "zeros")):
        align = mode == "linear"
        outputs += node(b, "GridSample", "float32", [x, grid], mode=mode, padding_mode=padding, align_corners=align)
        outputs += node(b, "GridSample", "float32", [volume, deep], mode=mode, padding_mode=padding, align_corners=align)
    bins = {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5}
    for mode in ("avg", "max"):
        outputs += node(b, "RoiAlign", "float32", [x, rois, batch], **bins, half_pixel=mode == "avg", mode=mode)
    deformed = {"strides": (1, 2), "dilations": (2, 1), "pads": (1, 0, 0, 1), "group": 2, "offset_group": 2}
    outputs += node(b, "DeformConv", "float32", [x, filters, offset, -1, mask], **deformed)
    blocks = {"image_shape": (5, 4), "block_shape": (2, 3), "strides": (1, 2), "dilations": (2, 1), "pads": (0, 1, 1, 0)}
    outputs += node(b, "Col2Im", "float32", [b.constant(b.random.standard_normal((2, 12, 8)).astype(np.float32))], **blocks)
    outputs += node(b, "MaxPool", "uint8", [pixels], **plane)
    return b.program([x, grid, rois, batch, volume, deep, offset, mask, pixels], outputs[-8:])


def signals(b: ProgramBuilder) -> Program:
    """Transforms of every kind, boxes, determinants."""
    real = {"dtype": DType.FLOAT32}
    x, z = b.activation(2, 20, 1, **real), b.activation(1, 9, 2, **real)
    boxes, scores, threshold = b.activation(2, 5, 4, **real), b.activation(2, 3, 5, **real), b.activation(1, **real)
    matrices = b.activation(3, 4, 4, **real)

    def dft(source: int, length: int, transform: str, size: int, window: int = -1, **more: object) -> tuple[int, ...]:
        angle = -2 * np.pi * np.arange(root_count(length)) / length
        roots = b.constant(np.stack([np.cos(angle), np.sin(angle)], axis=-1).astype(np.float32))
        framed = {"frames": 1, "step": 0, "inverse": transform == "to_real", **more}
        return node(b, "Dft", "float32", [source, roots, window], length=length, transform=transform, size=size, **framed)

    hann = b.constant(np.hanning(8).astype(np.float32))
    outputs = [
        *dft(x, 8, "onesided", 8, hann, frames=4, step=4),
        *dft(x, 15, "onesided", 12),
        *dft(x, 12, "full", 12, frames=2, step=7, inverse=True),
        *dft(z, 9, "full", 9, inverse=True),
        *dft(z, 12, "to_real", 7),
        *dft(z, 7, "to_real", 3),
    ]
    for centred in (False, True):
        thresholds = [threshold, -1] if centred else [-1, threshold]
        outputs += node(b, "NonMaxSuppression", "float32", [boxes, scores, *thresholds], limit=2, centred=centred)
    outputs += node(b, "Det", "float32", [matrices])
    return b.program([x, z, boxes, scores, threshold, matrices], outputs[-8:])


def integers(b: ProgramBuilder) -> Program:
    """Scales and zero points of run time: whatever the memory holds."""
    x, scale, row = b.activation(2, 6, 5, dtype=DType.FLOAT32), b.activation(1, dtype=DType.FLOAT32), b.activation(6, dtype=DType.FLOAT32)
    blocks = b.activation(2, 3, 5, dtype=DType.FLOAT32)
    inputs, outputs = [x, scale, row, blocks], []
    for variant, dtype in (("plain_int8", DType.INT8), ("uint8", DType.UINT8), ("int16", DType.INT16), ("uint16", DType.UINT16)):
        zero = b.activation(6, dtype=dtype, quantized=False)
        q = node(b, "QuantizeLinear", variant, [x, row, zero], axis=1, block=0, to=dtype.value)
        node(b, "QuantizeLinear", variant, [x, blocks, -1], axis=1, block=2, to=dtype.value)
        outputs += node(b, "DequantizeLinear", variant, [*q, blocks, -1], axis=1, block=2)
        node(b, "DequantizeLinear", variant, [*q, row, zero], axis=1, block=0)
        inputs.append(zero)
    y, y_scale, y_zero = node(b, "DynamicQuantizeLinear", "float32", [x])
    rows, weight_zero = b.activation(6, 1, dtype=DType.UINT8, quantized=False), b.activation(4, dtype=DType.INT8, quantized=False)
    weight = b.constant(b.random.integers(-128, 128, (4, 2, 2, 3), np.int8))
    matrix = b.constant(b.random.integers(-128, 128, (5, 4), np.int8))
    image = b.activation(1, 5, 4, 6, dtype=DType.UINT8, quantized=False)
    window = {"strides": (1, 2), "dilations": (1, 1), "pads": (1, 0, 1, 1), "group": 2}
    acc = node(b, "ConvInteger", "bytes", [image, weight, y_zero, weight_zero], **window)
    node(b, "ConvInteger", "bytes", [image, weight, -1, -1], **window)
    outputs += node(b, "DequantizeLinear", "int32", [*acc, scale, -1], axis=0, block=0)
    outputs += node(b, "MatMulInteger", "bytes", [y, matrix, rows, -1])
    outputs += node(b, "FakeQuantize", "float32", [x], scale=0.0371, zero_point=-5)
    return b.program([*inputs, rows, weight_zero, image], [*outputs, y, y_scale])
