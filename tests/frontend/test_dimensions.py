"""Binding of dynamic dimensions: the batch becomes 1, others are asked for. ShapeError, exit code 4."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from arenite.errors import ModelFileError, ShapeError
from arenite.frontend import load
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def write(tmp_path):
    def write(**inputs):
        """A model that squashes each of its inputs; a dimension is a number, a symbol or None."""
        path = tmp_path / "m.onnx"
        model = helper.make_model(
            helper.make_graph(
                [helper.make_node("Tanh", [name], [f"{name}_y"]) for name in inputs],
                "g",
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()],
                [helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, dims) for name, dims in inputs.items()],
            ),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=10,
        )
        path.write_bytes(model.SerializeToString())
        return path

    return write


def shapes(graph):
    return {name: graph.tensors[name].shape for name in graph.inputs}


@pytest.mark.parametrize("batch", ["batch", None, 0, 1])
def test_open_batch_is_one(batch, write):
    assert shapes(load(write(x=[batch, 3, 4]))) == {"x": (1, 3, 4)}


def test_fixed_batch_stays(write):
    assert shapes(load(write(x=[5, 3]))) == {"x": (5, 3)}


def test_shape_binds_all_dimensions(write):
    assert shapes(load(write(x=["n", "t", 4]), {"x": (2, 7, 4)})) == {"x": (2, 7, 4)}


@pytest.mark.parametrize("open_size", [0, -1])
def test_shape_binds_what_is_written_as_no_size(open_size, write):
    assert shapes(load(write(x=[1, open_size]), {"x": (1, 5)})) == {"x": (1, 5)}


def test_symbols_are_shared(write):
    path = write(x=["n", "t"], state=[2, "n", 8], z=["n", "t", 3])
    assert shapes(load(path, {"x": (1, 50)})) == {"x": (1, 50), "state": (2, 1, 8), "z": (1, 50, 3)}


def test_undeclared_shape(write):
    path = write(x=None)
    assert shapes(load(path, {"x": (1, 2)})) == {"x": (1, 2)}
    with pytest.raises(ShapeError, match="input x has no declared shape: give it, for example --shape x=1,49,10,1"):
        load(path)


@pytest.mark.parametrize(
    ("inputs", "given", "message"),
    [
        ({"x": ["n", "t", 4]}, {}, r"input x has the shape \[n, t, 4\]: dimension 1 is dynamic.* give it with --shape x=1,N,4 "),
        ({"x": ["n", None, None]}, {}, r"input x has the shape \[n, \?, \?\]: dimensions 1, 2 are dynamic.* --shape x=1,N,N "),
        ({"x": [1, 0]}, {}, r"input x has the shape \[1, 0\]: dimension 1 is 0, which is no size.* give it with --shape x=1,N "),
        ({"x": [1, 0, "t", 0]}, {}, r"\[1, 0, t, 0\]: dimensions 1, 2, 3 are 0, which is no size or dynamic.* --shape x=1,N,N,N "),
        ({"x": ["n", "t"]}, {"x": (3, 2**31)}, r"--shape x=3,2147483648: input x would have 6,442,450,944 elements"),
        ({"x": ["n", 2**40]}, {}, r"the shape x=1,1099511627776: input x would have 1,099,511,627,776 elements"),
        ({"x": [1, 4]}, {"y": (1, 4)}, r"--shape y=1,4 names no input; the model has x \[1, 4\]"),
        ({"x": ["n", 4]}, {"x": (1, 4, 1)}, r"--shape x=1,4,1 has 3 dimensions, input x \[n, 4\] has 2"),
        ({"x": ["n", 4]}, {"x": (1, 5)}, r"--shape x=1,5 gives 5 for dimension 1 of input x \[n, 4\], which is 4 in the model"),
        ({"x": ["n", 4]}, {"x": (0, 4)}, r"--shape x=0,4: every dimension must be 1 or more"),
        ({"x": ["n", "t"], "z": ["t", 3]}, {"x": (1, 5), "z": (6, 3)}, r"--shape z=6,3 makes t 6, but --shape x=1,5 makes it 5"),
    ],
)
def test_errors(inputs, given, message, write):
    path = write(**inputs)
    with pytest.raises(ShapeError, match=message) as caught:
        load(path, given)
    assert caught.value.exit_code == 4 and str(path) in str(caught.value)


def test_input_that_is_no_tensor(tmp_path):
    info = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    node = helper.make_node("SequenceAt", ["s", "i"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [info],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
        [helper.make_tensor("i", TensorProto.INT64, [], [0])],
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10).SerializeToString())
    with pytest.raises(ModelFileError, match="input s is a sequence_type, not a tensor"):
        load(path)


@pytest.fixture
def image_model(tmp_path):
    """Flatten → Gemm over 1 × 4 × 4 values, declared with an open height."""
    weights = numpy_helper.from_array(np.ones((2, 16), np.float32), "w")
    nodes = [
        helper.make_node("MaxPool", ["image"], ["p"], "pool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("Gemm", ["f", "w"], ["y"], "dense", transB=1),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("image", [1, 1, "height", 4]), ("y", [1, 2]))]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "m.onnx"


@pytest.mark.parametrize("height", [1, 3, 5, 99_999_999, 10**30])
def test_a_shape_that_the_model_cannot_take(image_model, height):
    """Not the file is at fault but the option, which the message names, with the input."""
    load(image_model, {"image": (1, 1, 4, 4)})
    with pytest.raises(ShapeError) as caught:
        load(image_model, {"image": (1, 1, height, 4)})
    assert f"--shape image=1,1,{height},4" in str(caught.value) and "m.onnx" in str(caught.value)
    if height < 10**30:
        assert "dense (Gemm)" in str(caught.value) and "input image [1, 1, height, 4]" in str(caught.value)


def test_a_fault_of_the_file_stays_one(image_model):
    model = onnx.load(image_model)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_value = 5
    onnx.save(model, image_model)
    with pytest.raises(ModelFileError, match=r"dense \(Gemm\)") as caught:
        load(image_model)
    assert type(caught.value) is ModelFileError
