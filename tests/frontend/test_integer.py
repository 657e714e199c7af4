"""Quantized operators: scales and zero points computed at run time, integer products, and what onnxruntime's quantizer writes."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from arenite.graph import DType
from onnx import TensorProto, helper

F = np.float32
MS = {"com.microsoft": 1}
QUANTIZED = (np.int8, np.uint8, np.int16, np.uint16)
ORT = ("onnxruntime",)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name=f"{op}_{outputs[0]}", **attributes)


def contrib(op, inputs, **attributes):
    """One of onnxruntime's own operators; y is its result, dequantized where it has a scale, for its type is not inferred."""
    if "y_scale" not in inputs:
        return [node(op, inputs, domain="com.microsoft", **attributes)]
    return [node(op, inputs, ("q",), domain="com.microsoft", **attributes), node("DequantizeLinear", ("q", "y_scale", "y_zero"))]


def integers(dtype, *shape, seed=0):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


# QuantizeLinear, DequantizeLinear


def scales(x_shape, axis, block, seed=0):
    """One for all (axis None), one an entry of the axis, or one a block."""
    if axis is None:
        shape = ()
    elif block:
        shape = tuple(-(-size // block) if d == axis % len(x_shape) else size for d, size in enumerate(x_shape))
    else:
        shape = (x_shape[axis],)
    return np.random.default_rng(seed).uniform(0.01, 0.5, shape).astype(F)


WHERE = [(None, 0), (0, 0), (-1, 0), (1, 0), (0, 2), (-1, 2)]


@pytest.mark.parametrize("computed", [("s", "z"), ("z",)])
@pytest.mark.parametrize(("axis", "block"), WHERE)
@pytest.mark.parametrize("dtype", QUANTIZED)
def test_quantize(dtype, axis, block, computed, agree, values):
    s = scales((4, 6), axis, block)
    feeds = {"x": values(4, 6) * F(3), "s": s, "z": integers(dtype, *s.shape)}
    constants = {name: feeds.pop(name) for name in ("s", "z") if name not in computed}
    attributes = ({} if axis is None else {"axis": axis}) | ({"block_size": block} if block else {})
    graph = agree(node("QuantizeLinear", ("x", "s", "z"), **attributes), feeds, constants, opset=21)
    assert [n.op for n in graph.nodes] == ["QuantizeLinear"]


@pytest.mark.parametrize(("axis", "block"), WHERE)
@pytest.mark.parametrize("dtype", [*QUANTIZED, np.int32])
def test_dequantize(dtype, axis, block, agree):
    s, x = scales((4, 6), axis, block), integers(dtype, 4, 6)
    attributes = ({} if axis is None else {"axis": axis}) | ({"block_size": block} if block else {})
    feeds = {"x": x, "s": s} | ({} if dtype is np.int32 else {"z": integers(dtype, *s.shape, seed=1)})
    agree(
        node("DequantizeLinear", list(feeds), **attributes),
        feeds,
        opset=21,
        oracles=ORT if dtype is np.int32 else ("onnxruntime", "reference"),
    )


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_constant_scales_of_16_bits(dtype, agree, values):
    nodes = [node("QuantizeLinear", ("x", "s", "z"), ("i",)), node("DequantizeLinear", ("i", "s", "z"))]
    agree(nodes, {"x": values(3, 40)}, {"s": F(0.001), "z": dtype(17)}, opset=21)


def test_one_scale_a_channel_of_an_activation(agree, values):
    nodes = [node("QuantizeLinear", ("x", "s", "z"), ("i",), axis=1), node("DequantizeLinear", ("i", "s", "z"), axis=1)]
    agree(nodes, {"x": values(3, 4)}, {"s": F([0.01, 0.02, 0.03, 0.5]), "z": np.array([1, 2, 3, 4], np.uint8)}, opset=13, oracles=ORT)


def test_another_scale_in_dequantize_than_in_quantize(agree, values):
    nodes = [node("QuantizeLinear", ("x", "s", "z"), ("i",)), node("DequantizeLinear", ("i", "s2", "z2"))]
    constants = {"s": F(0.01), "s2": F(0.5), "z": np.uint8(100), "z2": np.uint8(3)}
    graph = agree(nodes, {"x": values(3, 40)}, constants, opset=21)
    assert [n.op for n in graph.nodes] == ["Quantize", "Dequantize", "QuantizeLinear", "DequantizeLinear"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_cast_of_what_is_quantized(dtype, agree, values):
    nodes = [node("QuantizeLinear", ("x", "s", "z"), ("i",)), node("Cast", ("i",), to=TensorProto.INT32)]
    agree(nodes, {"x": values(3, 40)}, {"s": F(0.01), "z": dtype(9)}, opset=21)


def test_special_numbers(agree):
    x = F([np.inf, -np.inf, 0.5, 1.5, 2.5, -0.5, -1.5, 1e30, -1e30, 3e-39])
    agree(node("QuantizeLinear", ("x", "s", "z")), {"x": x, "s": F(1), "z": np.int16(-5)}, opset=21, oracles=(), expected=[
        np.array([32767, -32768, -5, -3, -3, -5, -7, 32767, -32768, -5], np.int16)
    ])  # fmt: skip


# Products


def padded_oracle(x, w, xz, wz, pads, stride, group):
    """ConvInteger in int64, written as loops over taps."""
    x = np.pad(x.astype(np.int64) - int(xz), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    w = w.astype(np.int64) - np.asarray(wz, np.int64).reshape(-1, 1, 1, 1)
    kh, kw = w.shape[2:]
    h, wd = (x.shape[2] - kh) // stride + 1, (x.shape[3] - kw) // stride + 1
    y = np.zeros((x.shape[0], w.shape[0], h, wd), np.int64)
    per = w.shape[0] // group
    for o in range(w.shape[0]):
        channels = range(o // per * w.shape[1], (o // per + 1) * w.shape[1])
        for (i, c), a, b in ((pair, a, b) for pair in enumerate(channels) for a in range(kh) for b in range(kw)):
            y[:, o] += x[:, c, a : a + h * stride : stride, b : b + wd * stride : stride] * w[o, i, a, b]
    return y.astype(np.int32)


@pytest.mark.parametrize("computed_weights", [True, False])
@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize(("x_type", "w_type"), [(np.uint8, np.int8), (np.uint8, np.uint8), (np.int8, np.int8), (np.int8, np.uint8)])
def test_conv_integer(x_type, w_type, group, computed_weights, agree):
    x, w = integers(x_type, 2, 4, 5, 6), integers(w_type, 8, 4 // group, 3, 2, seed=1)
    xz, wz = x_type(101), integers(w_type, 8, seed=2)
    feeds, constants = {"x": x, "w": w, "xz": xz, "wz": wz}, {}
    if not computed_weights:
        constants = {name: feeds.pop(name) for name in ("w", "wz")}
    pads = (1, 0, 2, 1)
    attributes = {"pads": pads, "strides": (2, 2), "group": group}
    wanted = padded_oracle(x, w, xz, wz, pads, 2, group)
    agree(node("ConvInteger", ("x", "w", "xz", "wz"), **attributes), feeds, constants, oracles=(), expected=[wanted])


@pytest.mark.parametrize("zeros", [(), ("xz",), ("xz", "wz")])
def test_conv_integer_of_one_dimension(zeros, agree):
    x, w = integers(np.uint8, 1, 3, 9), integers(np.uint8, 4, 3, 3, seed=1)
    feeds = {"x": x, "w": w} | {name: np.uint8(77) for name in zeros}
    zero = [feeds.get(name, 0) for name in ("xz", "wz")]
    wanted = padded_oracle(x[..., None], w[..., None], *zero, (1, 0, 1, 0), 1, 1)[..., 0]
    agree(node("ConvInteger", feeds, pads=(1, 1)), feeds, oracles=(), expected=[wanted])


def test_conv_integer_of_three_dimensions_is_refused(attempt):
    with pytest.raises(UnsupportedModelError, match="3 spatial dimensions"):
        attempt(node("ConvInteger", ("x", "w")), {"x": integers(np.uint8, 1, 1, 4, 4, 4), "w": integers(np.uint8, 1, 1, 2, 2, 2)})


@pytest.mark.parametrize(
    ("a", "b", "az", "bz"),
    [
        ((3, 5), (5, 4), (), ()),
        ((3, 5), (5, 4), (3,), (4,)),
        ((2, 3, 5), (5, 4), (), (4,)),
        ((2, 3, 5), (2, 5, 4), (2, 3, 1), (2, 1, 4)),
        ((2, 1, 3, 5), (3, 5, 4), (2, 1, 3, 1), (3, 1, 4)),
        ((5,), (5, 4), (), (4,)),
        ((3, 5), (5,), (3,), ()),
        ((5,), (5,), (1,), (1,)),
    ],
)
@pytest.mark.parametrize(("a_type", "b_type"), [(np.uint8, np.int8), (np.int8, np.int8), (np.uint8, np.uint8), (np.int8, np.uint8)])
def test_matmul_integer(a_type, b_type, a, b, az, bz, agree):
    feeds = {
        "a": integers(a_type, *a),
        "b": integers(b_type, *b, seed=1),
        "az": integers(a_type, *az, seed=2),
        "bz": integers(b_type, *bz, seed=3),
    }
    left, right = feeds["a"].astype(np.int64), feeds["b"].astype(np.int64)
    rows = feeds["az"].astype(np.int64)
    rows = rows.reshape(-1, 1) if rows.ndim == 1 and len(a) > 1 else rows
    wanted = (left - rows) @ (right - feeds["bz"].astype(np.int64))
    agree(node("MatMulInteger", feeds), feeds, oracles=(), expected=[wanted.astype(np.int32)])


def test_zero_points_of_another_type(attempt):
    feeds = {"a": integers(np.uint8, 3, 5), "b": integers(np.int8, 5, 4), "az": np.int8(1)}
    with pytest.raises(ModelFileError, match="zero point, is int8, its elements are uint8"):
        attempt(node("MatMulInteger", feeds), feeds)


def test_product_of_what_is_quantized_with_a_constant_scale(agree, values):
    nodes = [node("QuantizeLinear", ("x", "s", "z"), ("i",)), node("MatMulInteger", ("i", "w", "z"))]
    agree(nodes, {"x": values(3, 5)}, {"s": F(0.02), "z": np.uint8(120), "w": integers(np.int8, 5, 4)}, oracles=ORT)


# Dynamic quantization


@pytest.mark.parametrize("kind", ["both", "positive", "negative", "zero"])
def test_dynamic_quantize_linear(kind, agree, values):
    x = {"both": values(3, 7), "positive": np.abs(values(3, 7)) + 1, "negative": -np.abs(values(3, 7)), "zero": np.zeros((3, 7), F)}[kind]
    agree(node("DynamicQuantizeLinear", ("x",), ("y", "s", "z")), {"x": x}, outputs=("y", "s", "z"), oracles=ORT)


def test_dynamic_layer(agree, values):
    """As onnxruntime's quantize_dynamic writes a MatMul."""
    nodes = [
        node("DynamicQuantizeLinear", ("x",), ("q", "s", "z")),
        node("MatMulInteger", ("q", "w", "z", "wz"), ("i",)),
        node("Cast", ("i",), ("f",), to=TensorProto.FLOAT),
        node("Mul", ("s", "ws"), ("t",)),
        node("Mul", ("f", "t")),
    ]
    constants = {"w": integers(np.int8, 5, 4), "wz": np.zeros(4, np.int8), "ws": F([0.1, 0.2, 0.3, 0.4])}
    agree(nodes, {"x": values(3, 5)}, constants, oracles=ORT)


@pytest.mark.parametrize("bias", [True, False])
def test_dynamic_quantize_matmul(bias, agree, values):
    constants = {"w": integers(np.uint8, 5, 4), "ws": F([0.1, 0.2, 0.3, 0.4]), "wz": integers(np.uint8, 4, seed=1)} | (
        {"b": values(4)} if bias else {}
    )
    agree(contrib("DynamicQuantizeMatMul", ("x", *constants)), {"x": values(3, 5)}, constants, domains=MS, oracles=ORT)


def test_matmul_integer_to_float(agree, values):
    constants = {"w": integers(np.int8, 5, 4), "xs": F(0.1), "ws": F(0.2), "xz": np.uint8(100), "wz": np.int8(3), "b": values(4)}
    agree(contrib("MatMulIntegerToFloat", ("x", *constants)), {"x": integers(np.uint8, 3, 5)}, constants, domains=MS, oracles=ORT)


# Quantized operators


def quantization(name, dtype, seed, factor=1):
    rng = np.random.default_rng(seed)
    return {f"{name}_scale": np.asarray(factor * rng.uniform(0.01, 0.05), F), f"{name}_zero": np.asarray(rng.integers(20, 100), dtype)}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("computed", [True, False])
def test_qlinear_conv(dtype, per_channel, bias, computed, agree):
    count = (6,) if per_channel else ()
    constants = {
        **quantization("x", dtype, 1),
        "w": integers(np.int8, 6, 3, 3, 3),
        "w_scale": np.random.default_rng(2).uniform(0.001, 0.01, count).astype(F),
        "w_zero": np.zeros(count, np.int8),
        **quantization("y", dtype, 3, factor=12),
        **({"b": np.arange(-300, 300, 100, dtype=np.int32)} if bias else {}),
    }
    feeds = {"x": integers(dtype, 1, 3, 6, 5)}
    names = ("x", *constants)
    if computed:
        feeds |= {name: constants.pop(name) for name in ("x_scale", "w", "w_scale", "w_zero", "y_scale")}
    graph = agree(node("QLinearConv", names, pads=(1, 1, 1, 1)), feeds, constants, oracles=ORT)
    assert ("ConvInteger" in {n.op for n in graph.nodes}) == computed


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("computed", [True, False])
@pytest.mark.parametrize("shape", [(5, 4), (2, 5, 4)])
def test_qlinear_matmul(dtype, computed, shape, agree):
    columns = {"b_scale": np.random.default_rng(2).uniform(0.01, 0.02, 4).astype(F), "b_zero": np.zeros(4, np.int8)}
    constants = {
        **quantization("a", dtype, 1),
        "b": integers(np.int8, *shape),
        **(columns if len(shape) == 2 else {"b_scale": np.asarray(0.013, F), "b_zero": np.int8(4)}),
        **quantization("y", dtype, 3, factor=40),
    }
    feeds, names = {"a": integers(dtype, *shape[:-2], 3, 5)}, ("a", *constants)
    if computed:
        feeds |= {name: constants.pop(name) for name in ("a_scale", "b", "b_scale", "y_scale")}
    agree(node("QLinearMatMul", names), feeds, constants, opset=21, oracles=ORT)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("result", [True, False])
def test_qgemm(dtype, trans, result, agree):
    constants = {
        **quantization("a", dtype, 1),
        "b": integers(np.int8, *((4, 5) if trans else (5, 4))),
        "b_scale": np.random.default_rng(2).uniform(0.01, 0.02, 4).astype(F),
        "b_zero": np.zeros(4, np.int8),
        "c": np.array([100, -200, 3000, 0], np.int32),
        **(quantization("y", dtype, 3, factor=30) if result else {}),
    }
    agree(contrib("QGemm", ("a", *constants), transB=trans, alpha=1.0), {"a": integers(dtype, 3, 5)}, constants, domains=MS, oracles=ORT)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("constant", [True, False])
def test_qlinear_arithmetic(dtype, op, constant, agree):
    feeds, scaled = (
        {"a": integers(dtype, 3, 4), "b": integers(dtype, 4, seed=1)},
        {**quantization("a", dtype, 1), **quantization("b", dtype, 2)},
    )
    scaled |= quantization("y", dtype, 3, factor=4)
    names = ("a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero")
    if constant:
        scaled["b"] = feeds.pop("b")
    agree(contrib(op, names), feeds, scaled, domains=MS, oracles=ORT)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize(
    ("op", "shape", "attributes"),
    [
        ("QLinearSigmoid", (3, 40), {}),
        ("QLinearLeakyRelu", (3, 40), {"alpha": 0.2}),
        ("QLinearSoftmax", (3, 9), {"axis": -1, "opset": 13}),
        ("QLinearSoftmax", (3, 4, 5), {"axis": 1, "opset": 12}),
        ("QLinearGlobalAveragePool", (1, 3, 4, 5), {}),
        ("QLinearGlobalAveragePool", (1, 4, 5, 3), {"channels_last": 1}),
        ("QLinearAveragePool", (1, 3, 6, 5), {"kernel_shape": (3, 2), "strides": (2, 1), "pads": (1, 0, 1, 1), "count_include_pad": 1}),
        ("QLinearAveragePool", (1, 6, 5, 3), {"kernel_shape": (3, 2), "channels_last": 1}),
    ],
)
def test_qlinear_functions(dtype, op, shape, attributes, agree):
    x = quantization("x", dtype, 1)
    y = (
        {"y_scale": F(1 / 256), "y_zero": dtype(0 if dtype is np.uint8 else -128)}
        if op in ("QLinearSigmoid", "QLinearSoftmax")
        else quantization("y", dtype, 3)
    )
    agree(contrib(op, ("x", *x, *y), **attributes), {"x": integers(dtype, *shape)}, {**x, **y}, domains=MS, oracles=ORT)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_qlinear_concat(dtype, agree):
    feeds = {"a": integers(dtype, 3, 4), "b": integers(dtype, 3, 2, seed=1)}
    scaled = {**quantization("a", dtype, 1), **quantization("b", dtype, 2), **quantization("y", dtype, 3)}
    names = ("y_scale", "y_zero", "a", "a_scale", "a_zero", "b", "b_scale", "b_zero")
    agree(contrib("QLinearConcat", names, axis=1), feeds, scaled, domains=MS, oracles=ORT)


def test_qlinear_where(agree):
    scaled = {**quantization("a", np.uint8, 1), **quantization("b", np.uint8, 2), **quantization("y", np.uint8, 3)}
    feeds = {"c": np.array([[True, False, True, False]]), "a": integers(np.uint8, 3, 4), "b": integers(np.uint8, 3, 4, seed=1)}
    names = ("c", "a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero")
    agree(contrib("QLinearWhere", names), feeds, scaled, domains=MS, oracles=ORT)


def test_the_input_of_a_quantized_operator_is_known_by_its_scale(agree):
    scaled = {**quantization("x", np.uint8, 1), **quantization("y", np.uint8, 2)}
    graph = agree(contrib("QLinearSigmoid", ("x", *scaled)), {"x": integers(np.uint8, 2, 9)}, scaled, domains=MS, oracles=ORT)
    assert graph.io_dtypes == {"x": DType.UINT8}
    assert graph.tensors["x"].quantization.scale == scaled["x_scale"]
