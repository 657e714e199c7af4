"""Hypothesis strategies for random small ONNX models over every operator that the converter supports.

A model grows one node at a time: a value that exists already is drawn, then an operator that fits its rank, then the operator's
attributes: odd sizes, strides, pads (asymmetric, larger than the image), dilations, groups, multipliers, broadcasts, and
constants whose magnitudes spread over many decades. Everything is drawn from one seed for weights, so that examples shrink well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from differential.builder import MAX_ELEMENTS, Builder, Grow
from differential.random_indexing import INDEXING
from differential.random_reductions import REDUCTIONS
from differential.random_spatial import SPATIAL
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray
from onnx import TensorProto, helper

OPSET = 17


def _positions(size: int, kernel: int, stride: int, dilation: int, before: int, after: int) -> int:
    return (size + before + after - (kernel - 1) * dilation - 1) // stride + 1


@dataclass(frozen=True)
class Window:
    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    pads: list[int]
    output: tuple[int, ...]

    @property
    def attributes(self) -> dict[str, list[int]]:
        return {"kernel_shape": self.kernel, "strides": self.strides, "dilations": self.dilations, "pads": self.pads}


def _window(b: Builder, spatial: tuple[int, ...], below_kernel: bool) -> Window | None:
    """`below_kernel`: pads smaller than the window's extent, as pooling demands."""
    kernel = [b.integer(1, 4) for _ in spatial]
    strides = [b.integer(1, 3) for _ in spatial]
    dilations = [b.integer(1, 2) for _ in spatial]
    limits = [(k - 1) if below_kernel else 3 for k in kernel]
    pads = [b.integer(0, limit) for limit in limits] + [b.integer(0, limit) for limit in limits]
    rank = len(spatial)
    output = tuple(_positions(spatial[i], kernel[i], strides[i], dilations[i], pads[i], pads[rank + i]) for i in range(rank))
    if min(output) < 1:
        return None
    return Window(kernel, strides, dilations, pads, output)


def conv(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) not in (3, 4):
        return False
    window = _window(b, shape[2:], below_kernel=False)
    if window is None:
        return False
    channels = shape[1]
    group = b.draw(st.sampled_from([g for g in range(1, channels + 1) if channels % g == 0]))
    out = group * b.integer(1, 3)
    if out * np.prod(window.output) > MAX_ELEMENTS:
        return False
    inputs = [x, b.weights(out, channels // group, *window.kernel)]
    if b.draw(st.booleans()):
        inputs.append(b.weights(out))
    b.emit("Conv", inputs, (shape[0], out, *window.output), group=group, **window.attributes)
    return True


def pool(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) not in (3, 4):
        return False
    op = b.draw(st.sampled_from(["MaxPool", "AveragePool"]))
    window = _window(b, shape[2:], below_kernel=True)
    if window is None:
        return False
    attributes: dict[str, Any] = window.attributes
    if op == "AveragePool":
        if any(d != 1 for d in window.dilations):
            return False  # opset 19
        del attributes["dilations"]
        attributes["count_include_pad"] = b.integer(0, 1)
    b.emit(op, [x], (*shape[:2], *window.output), **attributes)
    return True


def global_pool(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) not in (3, 4):
        return False
    b.emit("GlobalAveragePool", [x], (*shape[:2], *(1,) * (len(shape) - 2)))
    return True


def reduce_mean(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    axes = sorted(b.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)) - {0})
    keepdims = b.integer(0, 1)
    if not axes:
        return False
    kept = tuple((1 if i in axes else d) for i, d in enumerate(shape) if keepdims or i not in axes)
    b.emit("ReduceMean", [x], kept, axes=axes, keepdims=keepdims)
    return True


def gemm(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) != 2:
        return False
    out, transposed = b.integer(1, 9), b.integer(0, 1)
    weight = b.weights(out, shape[1]) if transposed else b.weights(shape[1], out, spread=False)
    inputs = [x, weight] + ([b.weights(out)] if b.draw(st.booleans()) else [])
    attributes = {"alpha": b.draw(st.sampled_from([1.0, 0.5])), "beta": b.draw(st.sampled_from([1.0, 2.0]))}
    b.emit("Gemm", inputs, (shape[0], out), transB=transposed, **attributes)
    return True


def matmul(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 2:
        return False
    others = [name for name, s in b.shapes.items() if len(s) == len(shape) and s[:-2] == shape[:-2] and s[-2] == shape[-1]]
    if others and b.draw(st.booleans()):
        other = b.draw(st.sampled_from(others))
        output = (*shape[:-1], b.shapes[other][-1])
    else:
        out = b.integer(1, 7)
        other, output = b.weights(shape[-1], out, spread=False), (*shape[:-1], out)
    if np.prod(output) > MAX_ELEMENTS:
        return False
    b.emit("MatMul", [x, other], output)
    return True


def binary(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    op = b.draw(st.sampled_from(["Add", "Sub", "Mul", "Div"]))
    peers = [name for name, s in b.shapes.items() if len(s) == len(shape) and all(m in (1, n) for m, n in zip(s, shape, strict=True))]
    if op != "Div" and b.draw(st.booleans()):
        other = b.draw(st.sampled_from(peers))
    else:
        kept = [b.draw(st.booleans()) for _ in shape]
        sizes = [n if keep else 1 for n, keep in zip(shape, kept, strict=True)]
        while sizes and sizes[0] == 1 and b.draw(st.booleans()):
            sizes.pop(0)
        data = b.rng.normal(0, 1, sizes)
        if op == "Div":
            data = np.sign(data) * (np.abs(data) + 0.25)
        other = b.constant((data * 10.0 ** b.integer(-2, 2)).astype(np.float32))
    operands = [x, other] if b.draw(st.booleans()) or op == "Div" else [other, x]
    b.emit(op, operands, shape)
    return True


def unary(b: Builder, x: str) -> bool:
    choices: list[tuple[str, dict[str, Any]]] = [
        ("Relu", {}),
        ("LeakyRelu", {"alpha": 0.1}),
        ("Sigmoid", {}),
        ("Tanh", {}),
        ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
        ("HardSwish", {}),
        ("Elu", {}),
        ("Erf", {}),
        ("Softplus", {}),
        ("Abs", {}),
        ("Neg", {}),
    ]
    op, attributes = b.draw(st.sampled_from(choices))
    b.emit(op, [x], b.shapes[x], **attributes)
    return True


def clip(b: Builder, x: str) -> bool:
    low, high = b.draw(st.sampled_from([("", 1.5), (-0.75, ""), (0.0, 6.0), (-1.0, 1.0)]))
    inputs = [x, "" if low == "" else b.constant(np.float32(low)), "" if high == "" else b.constant(np.float32(high))]
    b.emit("Clip", inputs, b.shapes[x])
    return True


def swish(b: Builder, x: str) -> bool:
    gate = b.emit("Sigmoid", [x], b.shapes[x])
    b.emit("Mul", [x, gate], b.shapes[x])
    return True


def prelu(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 2:
        return False
    slope = b.rng.normal(0, 0.5, (shape[1],) + (1,) * (len(shape) - 2)).astype(np.float32)
    b.emit("PRelu", [x, b.constant(slope)], shape)
    return True


def batch_normalization(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 2:
        return False
    n = shape[1]
    parts = [b.rng.normal(1, 0.3, n), b.rng.normal(0, 0.3, n), b.rng.normal(0, 0.3, n), b.rng.uniform(0.1, 2, n)]
    b.emit("BatchNormalization", [x, *(b.constant(p.astype(np.float32)) for p in parts)], shape)
    return True


def softmax(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    b.emit("Softmax", [x], shape, axis=b.integer(1 if len(shape) > 1 else 0, len(shape) - 1))
    return True


def pad(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    before = [0, *(b.integer(0, 2) for _ in shape[1:])]
    after = [0, *(b.integer(0, 2) for _ in shape[1:])]
    output = tuple(p + d + q for p, d, q in zip(before, shape, after, strict=True))
    if np.prod(output) > MAX_ELEMENTS:
        return False
    value = b.constant(np.float32(b.draw(st.sampled_from([0.0, 0.5, -1.0]))))
    b.emit("Pad", [x, b.constant(np.array(before + after, np.int64)), value], output)
    return True


def concat(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    axis = b.integer(1, len(shape) - 1) if len(shape) > 1 else 0
    peers = [
        name
        for name, s in b.shapes.items()
        if len(s) == len(shape) and all(m == n for i, (m, n) in enumerate(zip(s, shape, strict=True)) if i != axis)
    ]
    names = [x, *(b.draw(st.sampled_from(peers)) for _ in range(b.integer(1, 2)))]
    total = sum(b.shapes[name][axis] for name in names)
    output = (*shape[:axis], total, *shape[axis + 1 :])
    if np.prod(output) > MAX_ELEMENTS:
        return False
    b.emit("Concat", names, output, axis=axis)
    return True


def slice_(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    axis = b.integer(0, len(shape) - 1)
    size = shape[axis]
    step = b.draw(st.sampled_from([1, 2, 3, -1, -2]))
    start = b.integer(0, size - 1)
    end = b.integer(start + 1, size) if step > 0 else b.integer(-size - 1, start - size - 1)
    count = len(range(size)[start : end if end >= 0 or end >= -size else None : step])
    if count < 1:
        return False
    values = [np.array([v], np.int64) for v in (start, end, axis, step)]
    b.emit("Slice", [x, *(b.constant(v) for v in values)], (*shape[:axis], count, *shape[axis + 1 :]))
    return True


def split(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    axis = b.integer(0, len(shape) - 1)
    if shape[axis] < 2:
        return False
    first = b.integer(1, shape[axis] - 1)
    sizes = [first, shape[axis] - first]
    names = [f"v{len(b.nodes)}", f"v{len(b.nodes)}_b"]
    b.nodes.append(helper.make_node("Split", [x, b.constant(np.array(sizes, np.int64))], names, name=f"split_{len(b.nodes)}", axis=axis))
    for name, size in zip(names, sizes, strict=True):
        b.shapes[name] = (*shape[:axis], size, *shape[axis + 1 :])
    return True


def transpose(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    perm = [0, *b.draw(st.permutations(range(1, len(shape))))] if len(shape) > 1 else [0]
    b.emit("Transpose", [x], tuple(shape[i] for i in perm), perm=perm)
    return True


def reshape(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    kind = b.draw(st.sampled_from(["flatten", "merge", "unsqueeze"]))
    if kind == "flatten":
        b.emit("Flatten", [x], (shape[0], int(np.prod(shape[1:]))), axis=1)
    elif kind == "merge" and len(shape) == 4:
        b.emit("Reshape", [x, b.constant(np.array([0, 0, -1], np.int64))], (shape[0], shape[1], shape[2] * shape[3]))
    elif kind == "unsqueeze" and len(shape) < 4:
        b.emit("Unsqueeze", [x, b.constant(np.array([len(shape)], np.int64))], (*shape, 1))
    else:
        return False
    return True


OPERATORS: tuple[Grow, ...] = (
    *(conv,) * 4,
    *(pool,) * 4,
    global_pool,
    reduce_mean,
    *(gemm,) * 2,
    *(matmul,) * 2,
    *(binary,) * 6,
    *(unary,) * 2,
    clip,
    swish,
    prelu,
    batch_normalization,
    softmax,
    pad,
    concat,
    slice_,
    split,
    transpose,
    reshape,
    *INDEXING,
    *REDUCTIONS,
    *SPATIAL,
)


@dataclass(frozen=True)
class RandomModel:
    model: onnx.ModelProto
    calibration: NDArray[np.float32]
    """[samples, *input shape without the batch]"""

    def __repr__(self) -> str:
        return onnx.printer.to_text(self.model.graph)


@st.composite
def random_models(draw: DrawFn, max_nodes: int = 6) -> RandomModel:
    """A valid model with one input `x` and one or two outputs, and inputs to calibrate and run it with."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    b = Builder(draw, rng)
    rank = draw(st.sampled_from([2, 3, 4, 4]))
    sizes = {2: (1, 40), 3: (1, 12), 4: (1, 9)}[rank]
    shape = (1, *(draw(st.integers(*sizes)) for _ in range(rank - 1)))
    b.shapes["x"] = shape
    wanted = draw(st.integers(1, max_nodes))
    for _ in range(4 * max_nodes):
        if len(b.nodes) >= wanted:
            break
        names = list(b.shapes)
        value = names[-1] if draw(st.integers(0, 3)) else draw(st.sampled_from(names))
        draw(st.sampled_from(OPERATORS))(b, value)
    if not b.nodes:
        b.emit("Relu", ["x"], shape)
    read = {name for node in b.nodes for name in node.input}
    leaves = [name for name in b.shapes if name not in read and name != "x"]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, b.shapes[name]) for name in leaves[-2:]]
    graph = helper.make_graph(
        b.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], outputs, initializer=b.constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    scale = 10.0 ** draw(st.sampled_from([0, 0, 0, -4, 3, -12, 8]))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, -3.0]))
    samples = (rng.normal(offset, 1.0, (16, *shape[1:])) * scale).astype(np.float32)
    return RandomModel(model, samples)
