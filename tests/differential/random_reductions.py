"""Normalizations, reductions, orders and choices in random models (random_models.py)."""

from __future__ import annotations

import numpy as np
from differential.builder import Builder, Grow
from hypothesis import strategies as st
from onnx import helper


def layer_normalization(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    axis = b.integer(0, len(shape) - 1)
    inputs = [x, b.weights(*shape[axis:])]
    if b.draw(st.booleans()):
        inputs.append(b.weights(*shape[axis:]))
    epsilon = b.draw(st.sampled_from([1e-5, 1e-12, 1.0, 1e3]))
    b.emit("LayerNormalization", inputs, shape, axis=axis, epsilon=epsilon)
    return True


def written_out(b: Builder, x: str) -> bool:
    """As exporters did before opset 17."""
    shape, row = b.shapes[x], (*b.shapes[x][:-1], 1)
    mean = b.emit("ReduceMean", [x], row, axes=[-1])
    centred = b.emit("Sub", [x, mean], shape)
    square = b.emit("Mul", [centred, centred], shape)
    variance = b.emit("ReduceMean", [square], row, axes=[-1])
    root = b.emit("Sqrt", [b.emit("Add", [variance, b.constant(np.float32(1e-3))], row)], row)
    b.emit("Div", [centred, root], shape)
    return True


def instance_normalization(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 3:
        return False
    b.emit("InstanceNormalization", [x, b.weights(shape[1]), b.weights(shape[1])], shape, epsilon=1e-5)
    return True


def lp_normalization(b: Builder, x: str) -> bool:
    b.emit("LpNormalization", [x], b.shapes[x], axis=b.integer(0, len(b.shapes[x]) - 1), p=b.integer(1, 2))
    return True


def reduction(b: Builder, x: str) -> bool:
    shape = b.shapes[x]
    if len(shape) < 2:
        return False
    axes = sorted(b.draw(st.sets(st.integers(1, len(shape) - 1), min_size=1)))
    keepdims = b.integer(0, 1)
    kept = tuple(1 if i in axes else d for i, d in enumerate(shape) if keepdims or i not in axes)
    op = b.draw(
        st.sampled_from(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceMean"])
    )
    if op == "ReduceSum":
        b.emit(op, [x, b.constant(np.array(axes, np.int64))], kept, keepdims=keepdims)
    else:
        b.emit(op, [x], kept, axes=axes, keepdims=keepdims)
    return True


def _partner(b: Builder, x: str) -> str:
    """Another value of this shape, a constant of few values, or one number."""
    same = [name for name, shape in b.shapes.items() if shape == b.shapes[x]]
    kind = b.draw(st.sampled_from(["value", "row", "number"]))
    if kind == "value":
        return b.draw(st.sampled_from(same))
    return b.weights(*(b.shapes[x][-1:] if kind == "row" else ()), spread=False)


def extremum(b: Builder, x: str) -> bool:
    b.emit(b.draw(st.sampled_from(["Max", "Min"])), [x, _partner(b, x)], b.shapes[x])
    return True


def choice(b: Builder, x: str) -> bool:
    """A comparison and what it chooses between."""
    condition = f"condition{len(b.nodes)}"
    op = b.draw(st.sampled_from(["Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"]))
    b.nodes.append(helper.make_node(op, [x, _partner(b, x)], [condition], name=f"{op.lower()}_{len(b.nodes)}"))
    b.emit("Where", [condition, x, _partner(b, x)], b.shapes[x])
    return True


def cum_sum(b: Builder, x: str) -> bool:
    axis = b.constant(np.int64(b.integer(0, len(b.shapes[x]) - 1)))
    b.emit("CumSum", [x, axis], b.shapes[x], exclusive=b.integer(0, 1), reverse=b.integer(0, 1))
    return True


def top_k(b: Builder, x: str) -> bool:
    shape, axis = b.shapes[x], b.integer(0, len(b.shapes[x]) - 1)
    k = b.integer(1, shape[axis])
    values = f"v{len(b.nodes)}"
    inputs = [x, b.constant(np.array([k], np.int64))]
    node = helper.make_node(
        "TopK", inputs, [values, f"indices{len(b.nodes)}"], name=f"topk_{len(b.nodes)}", axis=axis, largest=b.integer(0, 1)
    )
    b.nodes.append(node)
    b.shapes[values] = (*shape[:axis], k, *shape[axis + 1 :])
    return True


def scores(b: Builder, x: str) -> bool:
    if len(b.shapes[x]) < 2:
        return False
    b.emit(b.draw(st.sampled_from(["LogSoftmax", "Hardmax"])), [x], b.shapes[x], axis=b.integer(1, len(b.shapes[x]) - 1))
    return True


REDUCTIONS: tuple[Grow, ...] = (
    *(layer_normalization,) * 2,
    written_out,
    instance_normalization,
    lp_normalization,
    *(reduction,) * 2,
    extremum,
    choice,
    cum_sum,
    top_k,
    scores,
)
