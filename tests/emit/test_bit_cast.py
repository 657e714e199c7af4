"""BitCast costs nothing: its output is its input's bytes."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.errors import ModelFileError
from arenite.frontend import load
from arenite.passes import optimize
from arenite.plan import plan
from arenite.quantize.to_typed import to_typed
from arenite_runtime import Interpreter, Model
from onnx import TensorProto, helper, save

SIGN = -(2**31)


def built(path, nodes, dtype, output, constants=()):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", dtype, [2, 3])],
        [helper.make_tensor_value_info("y", output, [2, 3])],
        list(constants),
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 26)], ir_version=11), path)
    typed = to_typed(optimize(load(path)))
    return build_program(typed, plan(typed), name="cast", calibrated=True)


def run(program, x):
    return Interpreter(Model.load(serialize(program))).run([x])[0]


def test_the_sign_of_floats_by_their_bits(tmp_path):
    """Between two BitCasts one kernel runs, and neither of them."""
    mask = helper.make_tensor("mask", TensorProto.INT32, [], [SIGN])
    nodes = [
        helper.make_node("BitCast", ["x"], ["bits"], to=TensorProto.INT32),
        helper.make_node("BitwiseXor", ["bits", "mask"], ["turned"]),
        helper.make_node("BitCast", ["turned"], ["y"], to=TensorProto.FLOAT),
    ]
    program = built(tmp_path / "m.onnx", nodes, TensorProto.FLOAT, TensorProto.FLOAT, [mask])
    assert [call.op for call in program.calls] == ["BitwiseXor"]
    x = np.array([[1.5, -2, 0], [np.inf, 3e-40, -0.0]], np.float32)
    np.testing.assert_array_equal(run(program, x).view(np.uint32), (-x).view(np.uint32))


@pytest.mark.parametrize(("source", "target"), [("INT8", "UINT8"), ("UINT16", "INT16"), ("INT32", "FLOAT"), ("UINT32", "FLOAT")])
def test_an_input_that_is_an_output(tmp_path, source, target):
    dtypes = [helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name)) for name in (source, target)]
    node = helper.make_node("BitCast", ["x"], ["y"], to=getattr(TensorProto, target))
    program = built(tmp_path / "m.onnx", [node], getattr(TensorProto, source), getattr(TensorProto, target))
    x = np.random.default_rng(0).integers(0, 256, 6 * dtypes[0].itemsize).astype(np.uint8).view(dtypes[0]).reshape(2, 3)
    np.testing.assert_array_equal(run(program, x).view(dtypes[0]), x)


def test_types_of_different_sizes(tmp_path):
    node = helper.make_node("BitCast", ["x"], ["y"], to=TensorProto.INT16)
    with pytest.raises(ModelFileError, match=r"not as many bits|BitCast"):
        built(tmp_path / "m.onnx", [node], TensorProto.FLOAT, TensorProto.INT16)
