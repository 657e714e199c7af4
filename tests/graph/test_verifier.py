"""The verifier accepts what is well formed, and names node and numbers of what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.graph.verifier import VerificationError, verify


def test_well_formed(small):
    verify(small)


def change(graph, index, **fields):
    graph.nodes[index] = replace(graph.nodes[index], **fields)


def retype(graph, name, **fields):
    graph.tensors[name] = replace(graph.tensors[name], **fields)


DAMAGE = {
    "misfiled": (lambda g: g.tensors.update(x=replace(g.tensors["x"], name="z")), "the tensor named z is filed as x"),
    "empty": (lambda g: retype(g, "e", shape=(1, 0, 5, 3)), r"tensor e of shape \(1, 0, 5, 3\) has no elements"),
    "lost input": (lambda g: g.inputs.append("nowhere"), "input nowhere has no tensor"),
    "input twice": (lambda g: g.inputs.append("x"), "an input is listed twice"),
    "constant input": (lambda g: g.inputs.append("w"), "input w is a constant"),
    "io_dtypes": (lambda g: g.io_dtypes.update(c=DType.INT8), "io_dtypes names c"),
    "unknown operand": (lambda g: change(g, 1, inputs=("nowhere",)), r"act \(Elementwise\) reads nowhere, which does not exist"),
    "order": (lambda g: g.nodes.reverse(), r"head \(FullyConnected\) reads f before any node has written it"),
    "written twice": (lambda g: g.nodes.insert(1, g.nodes[0]), r"conv1 \(Conv\) writes c, which conv1 \(Conv\) writes too"),
    "constant written": (lambda g: change(g, 1, outputs=("b",)), r"act \(Elementwise\) writes b, which is an input or a constant"),
    "output": (lambda g: g.nodes.pop(), "no node writes the output y"),
    "operator": (lambda g: change(g, 1, op="Nonsense"), r"act \(Nonsense\): no such operator"),
    "operands": (lambda g: change(g, 1, inputs=("c", "b")), r"act \(Elementwise\) has 2 operands, at most 1 are declared"),
    "absent operand": (lambda g: change(g, 0, inputs=("x", None)), r"conv1 \(Conv\): operand weight is absent"),
    "computed weight": (lambda g: change(g, 3, inputs=("f", "f")), r"head \(FullyConnected\): operand weight, f, is not constant"),
    "attribute": (lambda g: change(g, 2, attributes={}), r"flat \(Reshape\): attribute shape is missing"),
    "stride": (
        lambda g: g.nodes.__setitem__(0, g.nodes[0].with_attributes(strides=(0, 1))),
        r"conv1 \(Conv\): strides \(0, 1\) must be 1 or more",
    ),
    "clip": (lambda g: g.nodes.__setitem__(0, g.nodes[0].with_attributes(clip=(6.0, 0.0))), r"clip \(6.0, 0.0\) is empty"),
    "shape": (
        lambda g: retype(g, "c", shape=(1, 5, 6, 3)),
        r"conv1 \(Conv\): output c has the shape \(1, 5, 6, 3\), not \(1, 6, 5, 3\)",
    ),
    "elements": (lambda g: g.nodes.__setitem__(2, g.nodes[2].with_attributes(shape=(1, 91))), r"flat \(Reshape\): .* \(1, 91\)"),
    "channels": (
        lambda g: g.tensors.update(b=Tensor.constant("b", np.zeros(4, np.float32))),
        r"conv1 \(Conv\): a vector of shape \(4,\) does not fit 3 channels",
    ),
    "type": (lambda g: retype(g, "e", dtype=DType.INT32), r"act \(Elementwise\) reads float32 \(c\) and writes int32"),
    "channel scales": (
        lambda g: retype(g, "e", dtype=DType.INT8, quantization=Quantization.per_channel(np.ones(3, np.float32), 3)),
        "int8 tensor e is quantized per channel",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage(damage, small):
    harm, message = DAMAGE[damage]
    harm(small)
    with pytest.raises(VerificationError, match=f"graph small: .*{message}" if not message.startswith("graph") else message):
        verify(small)


def one(op, inputs, output, **attributes):
    """A graph of one node; tensors by name in order, constants as arrays."""
    graph = Graph("one", inputs=[n for n, t in inputs.items() if t.data is None], outputs=["y"])
    graph.tensors = {**{n: replace(t, name=n) for n, t in inputs.items()}, "y": replace(output, name="y")}
    graph.nodes = [Node(op, "n", tuple(inputs), ("y",), attributes)]
    return graph


def floating(*shape):
    return Tensor("", shape, DType.FLOAT32)


def int8(*shape):
    return Tensor("", shape, DType.INT8, None, Quantization.per_tensor(0.1, 0))


def constant(array):
    return Tensor.constant("", array)


def test_ranks_of_a_broadcast():
    graph = one("Add", {"a": floating(2, 3), "b": floating(3)}, floating(2, 3), clip=UNBOUNDED)
    with pytest.raises(VerificationError, match=r"n \(Add\): operands \[\(2, 3\), \(3,\)\] differ in rank"):
        verify(graph)


@pytest.mark.parametrize(("start", "step", "size"), [(4, 1, 1), (0, 2, 3), (1, -1, 3), (0, 0, 1)])
def test_slice_leaves_the_tensor(start, step, size):
    graph = one("Slice", {"a": floating(4)}, floating(size), starts=(start,), steps=(step,), sizes=(size,))
    with pytest.raises(VerificationError, match=f"start {start}, step {step}, size {size} leave axis 0 of 4"):
        verify(graph)


def test_conversions_have_their_types():
    verify(one("Quantize", {"a": floating(4)}, int8(4)))
    verify(one("Dequantize", {"a": int8(4)}, floating(4)))
    with pytest.raises(VerificationError, match="goes from int8 to float32 instead of float32 to int8"):
        verify(one("Quantize", {"a": int8(4)}, floating(4)))


def test_concat_is_variadic():
    verify(one("Concat", {"a": floating(1, 2), "b": floating(1, 3), "c": floating(1, 1)}, floating(1, 6), axis=1))
    with pytest.raises(VerificationError, match="differ elsewhere than along axis 1"):
        verify(one("Concat", {"a": floating(1, 2), "b": floating(2, 3)}, floating(1, 5), axis=1))


FULLY_CONNECTED = {
    "x": int8(1, 8),
    "w": constant(np.ones((4, 8), np.int8)),
    "b": constant(np.zeros(4, np.int32)),
    "m": constant(np.ones(4, np.int32)),
}
STORED = {"variant": "int8", "output_zero_point": 3, "shift": 0, "activation_min": -128, "activation_max": 127}


def test_int8_form():
    verify(one("FullyConnected", FULLY_CONNECTED, int8(1, 4), **STORED))


@pytest.mark.parametrize(
    ("missing", "changed", "message"),
    [
        ("shift", {}, r"n \(FullyConnected\): the record cannot be built: KeyError: 'shift'"),
        (None, {"output_zero_point": 2**31}, r"output_zero_point = 2147483648 does not fit int32"),
    ],
)
def test_record(missing, changed, message):
    attributes = {name: value for name, value in STORED.items() if name != missing} | changed
    with pytest.raises(VerificationError, match=message):
        verify(one("FullyConnected", FULLY_CONNECTED, int8(1, 4), **attributes))


def test_int8_form_lacks_an_operand():
    operands = {name: tensor for name, tensor in FULLY_CONNECTED.items() if name != "m"}
    with pytest.raises(VerificationError, match="operand multiplier is absent"):
        verify(one("FullyConnected", operands, int8(1, 4), **STORED))
