"""Graphs as exporters write them: Keras 3 (tf2onnx) recurrent layers, torch.cond and while_loop (dynamo)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.graph import DType
from arenite.targets.engine import open_engine
from control_flow.conftest import parsed, wanted
from onnx import numpy_helper

UNITS, FEATURES = 6, 5

KERAS_GRU = """
keras (float[1, STEPS, 5] x) => (float[1, STEPS, 6] y) {
    time_major = Transpose<perm = [1, 0, 2]>(x)
    zero = Constant<value = float {0.0}>()
    steps_real = Constant<value = float {STEPS.0}>()
    below = Less(zero, steps_real)
    go = And(below, below)
    counter = Constant<value = int32 {0}>()
    trips = Constant<value = int64 {STEPS}>()
    h0 = Constant<value = float[1, 6] {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}>()
    last_counter, last_h, last_bias, last_kernel, last_recurrent, all = Loop (trips, go, counter, h0, bias, kernel, recurrent) <
        body = while_body (int64 loop_counter, bool cond, int32 placeholder, float[u, 6] h, float[2, 18] bias_in,
                           float[5, 18] kernel_in, float[6, 18] recurrent_in) =>
            (bool go_on, int32 add, float[v, 6] next, float[2, 18] bias_out, float[5, 18] kernel_out, float[6, 18] recurrent_out,
             float[w, 6] entry) {
            bias_out = Identity(bias_in)
            kernel_out = Identity(kernel_in)
            recurrent_out = Identity(recurrent_in)
            one32 = Constant<value = int32 {1}>()
            add = Add(placeholder, one32)
            step = Gather<axis = 0>(time_major, placeholder)
            zero64 = Constant<value = int64[1] {0}>()
            b_in_2d, b_rec_2d = Split<axis = 0>(bias_in, halves)
            b_in = Squeeze(b_in_2d, zero64)
            b_rec = Squeeze(b_rec_2d, zero64)
            p0 = MatMul(step, kernel_in)
            p = Add(p0, b_in)
            q0 = MatMul(h, recurrent_in)
            q = Add(q0, b_rec)
            pz, pr, ph = Split<axis = 1>(p, thirds)
            qz, qr, qh = Split<axis = 1>(q, thirds)
            z0 = Add(pz, qz)
            z = Sigmoid(z0)
            r0 = Add(pr, qr)
            r = Sigmoid(r0)
            n0 = Mul(r, qh)
            n1 = Add(ph, n0)
            n = Tanh(n1)
            zh = Mul(z, h)
            one = Constant<value = float {1.0}>()
            rest = Sub(one, z)
            zn = Mul(rest, n)
            next = Add(zh, zn)
            entry = Identity(next)
            as_real = Cast<to = 1>(add)
            more = Less(as_real, steps_real)
            go_on = And(more, more)
        }>
    y = Transpose<perm = [1, 0, 2]>(all)
}
"""


def keras_gru(steps: int) -> onnx.ModelProto:
    model = parsed(KERAS_GRU.replace("STEPS", str(steps)), 15)
    rng = np.random.default_rng(8)
    shapes = {"bias": (2, 18), "kernel": (FEATURES, 18), "recurrent": (UNITS, 18)}
    for name, shape in shapes.items():
        model.graph.initializer.append(numpy_helper.from_array((rng.standard_normal(shape) * 0.4).astype(np.float32), name))
    model.graph.initializer.append(numpy_helper.from_array(np.asarray([1, 1]), "halves"))
    model.graph.initializer.append(numpy_helper.from_array(np.asarray([6, 6, 6]), "thirds"))
    return model


@pytest.mark.parametrize(("steps", "kept"), [(4, False), (30, True)])
def test_keras_gru(steps: int, kept: bool, agree: Callable[..., Any], values: Callable[..., Any]) -> None:
    """The trip count follows from what the condition compares; weights that are carried through the loop stay constants."""
    # The reference implementation joins scan outputs along their first dimension instead of a new one.
    conversion = agree(keras_gru(steps), [{"x": values(1, steps, FEATURES)} for _ in range(2)], reference=False)
    calls = conversion.program.calls
    assert ("BeginLoop" in [call.op for call in calls]) == kept
    weights = {tuple(conversion.program.tensors[call.inputs[1]].shape) for call in calls if call.op == "FullyConnected"}
    assert weights == {(18, FEATURES), (18, UNITS)}
    assert conversion.program.arena_bytes < 2 * 4 * steps * (FEATURES + UNITS) + 1000  # no weights in it


def test_keras_gru_in_int8(converted: Callable[..., Any], values: Callable[..., Any]) -> None:
    """The loop is not quantized; what stands around it is."""
    model = keras_gru(30)
    conversion = converted(model, precision="int8", io="float32")
    assert conversion.quantized.precision in ("mixed", "float32")
    x = values(1, 30, FEATURES)
    results = {name: open_engine(name, conversion.folder).run([[x]])[0][0] for name in ("numpy", "c", "compiled")}
    theirs = wanted(model, {"x": x}, reference=False)[0]
    for got in results.values():
        assert np.abs(got - theirs).max() < 0.05 * np.abs(theirs).max()


TORCH_COND = """
main_graph (float[2, 4] x) => (float[2, 4] getitem) {
    zero = Constant<value = float {0.0}>()
    sum_1 = ReduceSum<keepdims = 0>(x)
    gt = Greater(sum_1, zero)
    getitem = If (gt) <
        then_branch = true_graph_0 () => (float[2, 4] relu_true) {
            linear = Gemm<transB = 1>(x, "a.weight", "a.bias") relu_true = Relu(linear) },
        else_branch = false_graph_0 () => (float[2, 4] tanh_false) {
            linear_1 = Gemm<transB = 1>(x, "b.weight", "b.bias") tanh_false = Tanh(linear_1) }>
}
"""
TORCH_WHILE = """
main_graph (float[2, 4] x) => (float[2, 4] getitem_1) {
    zero = Constant<value = int64 {0}>()
    one = Constant<value = int64 {1}>()
    seven = Constant<value = int64 {7}>()
    twenty = Constant<value = float {6.0}>()
    sum_1 = ReduceSum<keepdims = 0>(x)
    lt = Less(zero, seven)
    lt_1 = Less(sum_1, twenty)
    val_0 = And(lt, lt_1)
    while_loop__0, getitem_1 = Loop (, val_0, zero, x) <
        body = while_loop_body_graph_0 (int64 iter_num, bool cond_in, int64 i, float[2, 4] v) =>
            (bool bitwise_and, int64 add, float[2, 4] add_1) {
            add = Add(i, one)
            linear = Gemm<transB = 1>(v, "a.weight", "a.bias")
            tanh = Tanh(linear)
            add_1 = Add(tanh, v)
            lt_2 = Less(add, seven)
            sum_2 = ReduceSum<keepdims = 0>(add_1)
            lt_3 = Less(sum_2, twenty)
            bitwise_and = And(lt_2, lt_3)
        }>
}
"""


@pytest.mark.parametrize("text", [TORCH_COND, TORCH_WHILE], ids=["cond", "while_loop"])
def test_torch(text: str, agree: Callable[..., Any], values: Callable[..., Any]) -> None:
    model = parsed(text, 18)
    rng = np.random.default_rng(2)
    for name, shape in {"a.weight": (4, 4), "a.bias": (4,), "b.weight": (4, 4), "b.bias": (4,)}.items():
        if name in text:
            model.graph.initializer.append(numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name))
    conversion = agree(model, [{"x": values(2, 4) + shift} for shift in (-0.6, -0.2, 0.0, 0.3, 2.0)])
    assert all(tensor.dtype is not DType.INT8 for tensor in conversion.program.tensors)
