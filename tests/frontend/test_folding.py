"""What disappears at import: constants, shape arithmetic, functions, branches; and what it leaves behind."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from arenite.graph import DType
from onnx import TensorProto, helper


def ints(*values):
    return np.array(values, np.int64)


def test_pytorch_flatten(agree, values):
    """x.view(x.size(0), -1) as the TorchScript exporter writes it."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "minus"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    graph = agree(nodes, {"x": values(2, 3, 4)}, {"zero": np.int64(0), "axes": ints(0), "minus": ints(-1)})
    assert [n.op for n in graph.nodes] == ["Reshape"]


def test_shape_arithmetic(agree, values):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], start=1),
        helper.make_node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["f", "two"], ["h"]),
        helper.make_node("Floor", ["h"], ["fl"]),
        helper.make_node("Cast", ["fl"], ["i"], to=TensorProto.INT64),
        helper.make_node("Slice", ["i", "zero", "one"], ["end"]),
        helper.make_node("Slice", ["x", "zero", "end", "one"], ["part"]),
        helper.make_node("Size", ["part"], ["count"]),
        helper.make_node("Reshape", ["count", "vector"], ["flat"]),
        helper.make_node("Reshape", ["part", "flat"], ["y"]),
    ]
    constants = {"two": np.float32(2), "zero": ints(0), "one": ints(1), "vector": ints(1)}
    graph = agree(nodes, {"x": values(2, 7, 4)}, constants)
    assert [n.op for n in graph.nodes] == ["Slice", "Reshape"]


def test_expand_over_constants(agree, values):
    """ConstantOfShape, Equal, Where and Expand, as torch.expand is exported."""
    nodes = [
        helper.make_node("ConstantOfShape", ["rank"], ["ones"], value=helper.make_tensor("v", TensorProto.INT64, [1], [1])),
        helper.make_node("Mul", ["ones", "minus"], ["negative"]),
        helper.make_node("Equal", ["shape", "negative"], ["open"]),
        helper.make_node("Where", ["open", "ones", "shape"], ["target"]),
        helper.make_node("Expand", ["token", "target"], ["t"]),
        helper.make_node("Range", ["zero", "four", "one"], ["r"]),
        helper.make_node("Cast", ["r"], ["ramp"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["t", "ramp"], ["u"]),
        helper.make_node("Concat", ["u", "x"], ["y"], axis=1),
    ]
    constants = {
        "rank": ints(3),
        "minus": np.int64(-1),
        "shape": ints(-1, 2, 4),
        "token": values(1, 1, 4),
        **{n: np.int64(v) for n, v in (("zero", 0), ("four", 4), ("one", 1))},
    }
    graph = agree(nodes, {"x": values(1, 3, 4)}, constants)
    assert [n.op for n in graph.nodes] == ["Concat"]


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_weights_of_other_float_types(dtype, agree, values):
    """A whole model in another float type computes in float32."""
    inputs, constants = {"x": values(2, 3).astype(dtype)}, {"w": values(3, 4).astype(dtype)}
    graph = agree(helper.make_node("MatMul", ["x", "w"], ["y"]), inputs, constants, tolerance=2e-3 if dtype is np.float16 else 1e-6)
    assert {t.dtype for t in graph.tensors.values()} == {DType.FLOAT32}


def test_bfloat16_weights(attempt, values):
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2], [1.5, -2.0])
    nodes = [
        helper.make_node("Constant", [], ["w"], value=weight),
        helper.make_node("Cast", ["w"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["x", "f"], ["y"]),
    ]
    graph = attempt(nodes, {"x": values(2)})
    np.testing.assert_array_equal(graph.tensors[graph.nodes[0].inputs[1]].data, [1.5, -2])


def test_float64_beyond_float32(attempt, values):
    with pytest.raises(ModelFileError, match=r"initializer c.*holds 1e\+300 at index \[0\]"):
        attempt(helper.make_node("Mul", ["x", "c"], ["y"]), {"x": values(1).astype(np.float64)}, {"c": np.array([1e300])})


def test_infinite_mask(agree, values):
    agree(helper.make_node("Add", ["x", "mask"], ["y"]), {"x": values(2)}, {"mask": np.float32([0, -np.inf])}, expected=None)


def test_nan_is_an_error_with_its_name(attempt, values):
    with pytest.raises(ModelFileError, match=r"initializer mask\[2\], used by node add \(Add\), holds nan"):
        attempt(helper.make_node("Add", ["x", "mask"], ["y"], name="add"), {"x": values(2)}, {"mask": np.float32([0, np.nan])})


def test_local_functions_are_inlined(agree, values):
    silu = helper.make_function(
        "mine",
        "Silu",
        ["a"],
        ["b"],
        [helper.make_node("Sigmoid", ["a"], ["g"]), helper.make_node("Mul", ["a", "g"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    nodes = [helper.make_node("Silu", ["x"], ["t"], domain="mine"), helper.make_node("Silu", ["t"], ["y"], domain="mine")]
    graph = agree(nodes, {"x": values(2, 3)}, functions=[silu], domains={"mine": 1})
    assert [n.op for n in graph.nodes] == ["Elementwise", "Mul"] * 2


def branch(name, op):
    return helper.make_graph(
        [helper.make_node(op, ["x"], [name])], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])]
    )


@pytest.mark.parametrize("condition", [True, False])
def test_constant_branch(condition, agree, values):
    """The condition is computed from a shape; the operator of the other branch is never asked for."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Equal", ["n", "two"], ["c"]),
        helper.make_node("If", ["c"], ["b"], then_branch=branch("t", "Tanh"), else_branch=branch("e", "Relu")),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    graph = agree(nodes, {"x": values(2, 3)}, {"zero": np.int64(0), "two": np.int64(2 if condition else 3)})
    assert str(graph.nodes[0].attributes["expression"]) == ("Tanh" if condition else "Clip")


def test_what_is_not_supported_in_either_branch_is_listed(attempt, values):
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch("t", "Unheard"), else_branch=branch("e", "Unknown"))
    with pytest.raises(UnsupportedModelError, match=r"(?s)t \(Unheard\).*e \(Unknown\)"):
        attempt(node, {"x": values(2, 3), "c": np.array(True)})


def test_dead_nodes_are_not_refused(agree, values):
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("RandomUniformLike", ["x"], ["unused"])]
    assert len(agree(nodes, {"x": values(3, 3)}).nodes) == 1


def test_random_numbers_are_not_folded(attempt, values):
    nodes = [helper.make_node("RandomNormal", [], ["r"], shape=[3]), helper.make_node("Add", ["x", "r"], ["y"])]
    with pytest.raises(UnsupportedModelError, match="RandomNormal"):
        attempt(nodes, {"x": values(3)})


def test_outputs_that_are_all_constant_are_refused(attempt, values):
    with pytest.raises(UnsupportedModelError, match=r"z \(graph output\): it depends on no input"):
        attempt([helper.make_node("Neg", ["c"], ["z"])], {"x": values(3)}, {"c": values(3)}, outputs=["z"])


def test_constant_output_beside_another(agree, values):
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["c"], ["z"])]
    graph = agree(nodes, {"x": values(3)}, {"c": values(3)}, outputs=["y", "z"])
    assert graph.tensors["z"].is_constant


@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.int32, np.int64, np.uint16, np.uint32, np.uint8, np.int8])
def test_inputs_of_every_type(dtype, agree):
    graph = agree(helper.make_node("Transpose", ["x"], ["y"]), {"x": np.array([[0, 1, 1], [1, 0, 1]], dtype)})
    assert graph.tensors["y"].dtype.numpy == dtype


def test_node_names(agree, values):
    """A node has the ONNX node's name, or that of its first output."""
    nodes = [helper.make_node("Relu", ["x"], ["a"], name="first"), helper.make_node("Softmax", ["a"], ["y"], axis=1)]
    graph = agree(nodes, {"x": values(2, 3, 4)})
    assert [n.name for n in graph.nodes] == ["first", "y", "y", "y"]
    assert graph.nodes[-1].outputs == ("y",)


def test_generated_names_do_not_take_the_model_s(agree, values):
    """A user's tensor may have the very name that an importer would choose."""
    nodes = [helper.make_node("Softmax", ["x"], ["s"], axis=1), helper.make_node("Relu", ["s"], ["s/Transpose"])]
    assert agree(nodes, {"x": values(2, 3, 4)}, outputs=["s/Transpose"]).outputs == ["s/Transpose"]


def test_model_versions_of_shape_inference_are_not_trusted(agree, values):
    """A wrong value_info in the file does not matter: the IR computes its own shapes."""
    nodes = [helper.make_node("Flatten", ["x"], ["f"]), helper.make_node("Relu", ["f"], ["y"])]
    graph = agree(nodes, {"x": values(2, 3, 4)})
    assert graph.tensors["f"].shape == (2, 12)
    assert onnx.__version__
