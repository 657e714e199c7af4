"""QuantizeLinear, DequantizeLinear, Cast: scales are kept exactly, and int8 tensors stand between Quantize and Dequantize."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from arenite.graph import DType
from onnx import TensorProto, helper

F = np.float32


def oracles(opset):
    """The reference implementation knows DequantizeLinear from opset 19 on."""
    return ("onnxruntime",) if opset < 19 else ("onnxruntime", "reference")


def q(x, y, *operands, name="", **attributes):
    return helper.make_node("QuantizeLinear", [x, *operands], [y], name=name, **attributes)


def dq(x, y, *operands, name="", **attributes):
    return helper.make_node("DequantizeLinear", [x, *operands], [y], name=name, **attributes)


@pytest.mark.parametrize(("dtype", "zero_point"), [(np.int8, -7), (np.uint8, 121), (np.uint8, 0), (np.int8, 127)])
@pytest.mark.parametrize("opset", [10, 13, 19, 21])
def test_pair(dtype, zero_point, opset, agree, values):
    constants = {"s": F(0.013), "z": dtype(zero_point)}
    nodes = [q("x", "i", "s", "z"), dq("i", "y", "s", "z")]
    graph = agree(nodes, {"x": values(3, 40) * 2}, constants, opset=opset, oracles=oracles(opset))
    quantization = graph.tensors["i"].quantization
    assert [n.op for n in graph.nodes] == ["Quantize", "Dequantize"]
    assert quantization.scale == F(0.013) and quantization.zero_point == zero_point - (128 if dtype is np.uint8 else 0)


def test_no_zero_point_means_uint8(agree, values):
    graph = agree(
        [q("x", "i", "s"), dq("i", "y", "s")], {"x": values(3, 40)}, {"s": F(0.01)}, oracles=("onnxruntime",), opset=13, outputs=["y"]
    )
    assert graph.tensors["i"].quantization.zero_point == -128


def test_output_dtype(agree, values):
    graph = agree([q("x", "i", "s", output_dtype=TensorProto.INT8), dq("i", "y", "s")], {"x": values(3, 40)}, {"s": F(0.01)}, opset=21)
    assert graph.tensors["i"].quantization.zero_point == 0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_int8_input_and_output(dtype, agree):
    x = np.arange(0, 256, dtype=np.uint8).reshape(2, 128).view(dtype)
    constants = {"s": F(0.02), "z": dtype(3), "s2": F(0.01), "z2": dtype(9)}
    nodes = [dq("x", "f", "s", "z"), helper.make_node("Relu", ["f"], ["r"]), q("r", "y", "s2", "z2")]
    graph = agree(nodes, {"x": x}, constants, opset=19)
    assert graph.io_dtypes == dict.fromkeys(("x", "y"), DType(np.dtype(dtype).name))
    assert graph.tensors["x"].dtype is graph.tensors["y"].dtype is DType.INT8
    assert int(graph.tensors["x"].quantization.zero_point) == (3 if dtype is np.int8 else 3 - 128)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_movement_of_int8(dtype, agree):
    """Every int8 tensor ends up between a Quantize (or an input) and a Dequantize (or an output)."""
    x = np.random.default_rng(0).integers(0, 256, (1, 2, 4, 4), dtype=np.uint8).view(dtype)
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["t", "shape"], ["r"]),
        dq("r", "f", "s", "z"),
        helper.make_node("Tanh", ["f"], ["g"]),
        q("g", "h", "s", "z"),
        helper.make_node("Concat", ["h", "h"], ["c"], axis=0),
        helper.make_node("Slice", ["c", "from", "to"], ["y"]),
    ]
    constants = {"s": F(0.02), "z": dtype(3), "shape": np.array([4, -1]), "from": np.array([2]), "to": np.array([6])}
    graph = agree(nodes, {"x": x}, constants, opset=19)
    for node in graph.nodes:
        if node.op not in ("Quantize", "Dequantize"):
            assert all(graph.tensors[name].dtype is DType.FLOAT32 for name in (*node.inputs, *node.outputs))


def test_max_pool_of_int8(agree):
    x = np.random.default_rng(0).integers(-128, 128, (1, 2, 4, 4)).astype(np.int8)
    nodes = [helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), dq("p", "y", "s", "z")]
    agree(nodes, {"x": x}, {"s": F(0.02), "z": np.int8(3)}, opset=19)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_cast_of_an_int8_input(dtype, agree, values):
    x = np.random.default_rng(0).integers(0, 256, (2, 8), dtype=np.uint8).view(dtype)
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT), helper.make_node("Mul", ["f", "c"], ["y"])]
    agree(nodes, {"x": x}, {"c": F(1 / 255)})


def test_cast_between_float_types_is_nothing(agree, values):
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT), helper.make_node("Relu", ["f"], ["y"])]
    assert [n.op for n in agree(nodes, {"x": values(3)}).nodes] == ["Elementwise"]


def test_cast_to_a_type_without_tensors_is_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match=r"cast .Cast.: it casts to UINT64"):
        attempt(helper.make_node("Cast", ["x"], ["y"], name="cast", to=TensorProto.UINT64), {"x": values(3)})


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_constants(dtype, axis, agree, values):
    info = np.iinfo(dtype)
    stored = np.random.default_rng(0).integers(max(info.min, -(2**20)), min(info.max, 2**20), (4, 6)).astype(dtype)
    count = 1 if axis is None else stored.shape[axis]
    scale = np.linspace(0.01, 0.02, count, dtype=F)
    zero = np.full(count, 0 if dtype is np.int32 else 5, dtype)
    if axis is None:
        scale, zero = scale.reshape(()), zero.reshape(())
    attributes = {} if axis is None else {"axis": axis}
    nodes = [dq("c", "w", "s", "z", **attributes), helper.make_node("Add", ["x", "w"], ["y"])]
    graph = agree(nodes, {"x": values(4, 6)}, {"c": stored, "s": scale, "z": zero}, opset=19)
    tensor = graph.tensors[graph.nodes[0].inputs[1]]
    assert tensor.dtype is DType.FLOAT32
    assert tensor.quantization.axis == (None if axis is None else axis % 2)
    np.testing.assert_array_equal(tensor.quantization.scale, scale)
    assert (tensor.quantization.zero_point == zero.astype(int) - (128 if dtype is np.uint8 else 0)).all()


def test_quantized_float_constant(agree, values):
    """A weight that the exporter left in float, with Q and DQ behind it."""
    w, scale = values(4, 6), np.linspace(0.01, 0.02, 6, dtype=F)
    nodes = [q("w", "i", "s", "z", axis=1), dq("i", "v", "s", "z", axis=1), helper.make_node("MatMul", ["x", "v"], ["y"])]
    graph = agree(nodes, {"x": values(2, 4)}, {"w": w, "s": scale, "z": np.zeros(6, np.int8)}, opset=19)
    weight = graph.tensors[graph.nodes[0].inputs[1]]
    assert weight.quantization.axis == 0
    np.testing.assert_array_equal(np.rint(weight.data / scale[:, None]), np.clip(np.rint(w / scale), -128, 127).T)


@pytest.mark.parametrize(
    ("name", "nodes", "constants", "opset", "problem"),
    [
        ("Q", [q("x", "i", "s", "z", axis=1), dq("i", "y", "s", "z")], {}, 12, r"axis=1 does not exist in opset 12"),
        ("D", [q("x", "i", "s", "z"), dq("i", "y", "s", "z", axis=0)], {}, 12, r"axis=0 does not exist in opset 12"),
        (
            "Q",
            [q("x", "i", "s", "z"), dq("i", "y", "s", "z")],
            {"s": F([1, 2, 3]), "z": np.zeros(3, np.int8)},
            12,
            "3 values, but opset 12",
        ),
        ("Q", [q("x", "i", "s"), dq("i", "y", "s")], {"s": F([[1, 2, 3]])}, 13, r"the scale has the shape \[1, 3\]"),
        ("Q", [q("x", "i", "s", output_dtype=TensorProto.FLOAT8E4M3FN), dq("i", "y", "s")], {}, 21, "its quantized type is float8"),
    ],
)
def test_refusals(name, nodes, constants, opset, problem, attempt, values):
    with pytest.raises(UnsupportedModelError, match=problem) as caught:
        attempt(nodes, {"x": values(2, 3)}, {"s": F(0.01), "z": np.int8(0)} | constants, opset=opset)
    assert any(p.operator == {"Q": "QuantizeLinear", "D": "DequantizeLinear"}[name] and p.remedy for p in caught.value.problems)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize("axis", [0, -1])
def test_blocks_of_constants(dtype, axis, agree, values):
    stored = np.random.default_rng(0).integers(0, 100, (6, 4)).astype(dtype)
    scale = np.linspace(0.01, 0.02, 12, dtype=F).reshape((3, 4) if axis == 0 else (6, 2))
    zero = np.full(scale.shape, 7, dtype)
    nodes = [dq("c", "w", "s", "z", block_size=2, axis=axis), helper.make_node("Add", ["x", "w"], ["y"])]
    agree(nodes, {"x": values(6, 4)}, {"c": stored, "s": scale, "z": zero}, opset=21)


def test_arithmetic_on_quantized_int8_is_refused(attempt):
    nodes = [helper.make_node("Neg", ["x"], ["r"]), dq("x", "y", "s")]
    with pytest.raises(UnsupportedModelError, match=r"x, is int8 and has no DequantizeLinear in front"):
        attempt(nodes, {"x": np.zeros((2, 3), np.int8)}, {"s": F(0.5)}, outputs=["r", "y"])


def test_int8_without_a_scale_stands_for_itself(agree):
    graph = agree(helper.make_node("Relu", ["x"], ["y"]), {"x": np.array([[-3, 4]], np.int8)}, opset=14)
    assert graph.tensors["x"].quantization is None and not graph.io_dtypes


@pytest.mark.parametrize("scale", [0.0, -1.0])
def test_scale_that_is_not_positive(scale, attempt, values):
    with pytest.raises(ModelFileError, match="the scale s is not positive"):
        attempt([q("x", "i", "s", name="q"), dq("i", "y", "s")], {"x": values(2)}, {"s": F(scale)})
