"""Damaged files: whatever the bytes, the answer is a graph or an error that names the file, never a traceback."""

from __future__ import annotations

import random

import numpy as np
import pytest
from arenite.errors import AreniteError
from arenite.frontend import load
from arenite.graph.verifier import verify
from onnx import TensorProto, helper, numpy_helper


def network():
    """Convolution, pooling, shape arithmetic and a quantized dense layer."""
    draw = np.random.default_rng(0)
    constants = {
        "w": draw.normal(size=(2, 1, 3, 3)).astype(np.float32),
        "minus": np.array([-1]),
        "first": np.array([0]),
        "q": draw.integers(-127, 128, (18, 3)).astype(np.int8),
        "s": np.array([0.1, 0.2, 0.3], np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], strides=[1, 1], auto_pad="SAME_UPPER"),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["p"], ["shape"]),
        helper.make_node("Gather", ["shape", "first"], ["batch"]),
        helper.make_node("Concat", ["batch", "minus"], ["flat"], axis=0),
        helper.make_node("Reshape", ["p", "flat"], ["f"]),
        helper.make_node("DequantizeLinear", ["q", "s"], ["d"], axis=1),
        helper.make_node("MatMul", ["f", "d"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [numpy_helper.from_array(a, n) for n, a in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10).SerializeToString()


def damaged(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5])):
        at, kind = chance.randrange(len(data)), chance.random()
        if kind < 0.6:
            data[at] = chance.randrange(256)
        elif kind < 0.8:
            data[at] ^= 1 << chance.randrange(8)
        elif kind < 0.9:
            del data[at : at + chance.randrange(1, 9)]
        else:
            data[at:at] = chance.randbytes(chance.randrange(1, 9))
    return bytes(data)


def attempt(path, count, seed):
    whole, chance, loaded = network(), random.Random(seed), 0
    path.write_bytes(whole)
    load(path)
    for _ in range(count):
        path.write_bytes(damaged(whole, chance))
        try:
            verify(load(path))
            loaded += 1
        except AreniteError as error:
            assert str(path) in str(error)
    assert 0 < loaded < count


def test_damaged_files(tmp_path):
    attempt(tmp_path / "m.onnx", 400, seed=1)


@pytest.mark.long
def test_many_damaged_files(tmp_path):
    attempt(tmp_path / "m.onnx", 50_000, seed=2)
