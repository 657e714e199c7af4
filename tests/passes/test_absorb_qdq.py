"""The forms in which exporters write quantized graphs; afterwards every value is a float tensor with the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from arenite.graph import DType, Graph, Quantization
from arenite.passes.absorb_qdq import absorb_qdq
from arenite.passes.propagate_annotations import IDENTITY, propagate_annotations

A, B = Quantization.per_tensor(0.05, 3), Quantization.per_tensor(0.02, -7)
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]


def quantize(b: Any, x: str, q: Quantization = A, **more: Any) -> str:
    return b.node("Quantize", x, q=q, dtype=DType.INT8, **more)


def dequantize(b: Any, x: str, **more: Any) -> str:
    return b.node("Dequantize", x, **more)


def qdq(b: Any, x: str, q: Quantization = A) -> str:
    return dequantize(b, quantize(b, x, q))


def absorbed(graph: Graph, same: Same) -> Graph:
    result = absorb_qdq(graph)
    assert not {"Quantize", "Dequantize"}.intersection(node.op for node in result.nodes)
    assert all(tensor.dtype is DType.FLOAT32 for tensor in result.tensors.values())
    same(graph, result, quantized=True, tolerance=1e-6)
    return result


def test_pairs_around_every_operator(build: Any, same: Same, ops: Ops) -> None:
    """onnxruntime's form."""
    x = qdq(build, build.input(1, 4, 4, 3))
    x = qdq(build, build.conv(x, 4), B)
    x = qdq(build, build.relu(x), B)
    graph = build.done(qdq(build, build.pool("MaxPool", x), B))
    result = absorbed(graph, same)
    assert ops(result) == ["Conv", "Elementwise", "MaxPool"]
    assert A.same_as(result.tensors["x"].quantization)
    assert all(B.same_as(result.tensors[node.output].quantization) for node in result.nodes)


def test_int8_input_moved_before_it_is_dequantized(build: Any, same: Same, ops: Ops) -> None:
    """tf2onnx's form: int8 input, Transpose, Dequantize … Quantize, Reshape, Dequantize … Quantize, int8 output."""
    x = build.input(1, 4, 4, 3, dtype=DType.INT8, q=A)
    x = dequantize(build, build.transpose(x, (0, 3, 1, 2), dtype=DType.INT8, q=A))
    x = build.conv(build.transpose(x, (0, 2, 3, 1)), 4)
    x = dequantize(build, build.reshape(quantize(build, x, B), 1, 64, dtype=DType.INT8, q=B))
    graph = build.done(quantize(build, build.fully_connected(x, 5), A, out="y"))
    result = absorbed(graph, same)
    assert ops(result) == ["Transpose", "Transpose", "Conv", "Reshape", "FullyConnected"]
    assert result.io_dtypes == {"x": DType.INT8, "y": DType.INT8}
    assert [tensor.name for tensor in result.tensors.values() if not tensor.is_constant and tensor.quantization is None] == []


def test_movement_of_floats_between_int8(build: Any, same: Same, ops: Ops) -> None:
    """How the frontend writes int8 movement: a Quantize behind it."""
    x = dequantize(build, build.input(1, 6, dtype=DType.INT8, q=A))
    x = dequantize(build, quantize(build, build.reshape(x, 2, 3), A))
    graph = build.done(build.fully_connected(x, 2))
    assert ops(absorbed(graph, same)) == ["Reshape", "FullyConnected"]


def test_the_type_that_the_file_declares_is_remembered(build: Any, same: Same) -> None:
    build.graph.io_dtypes["x"] = DType.UINT8
    graph = build.done(build.relu(dequantize(build, build.input(1, 4, dtype=DType.INT8, q=A))))
    assert absorbed(graph, same).io_dtypes == {"x": DType.UINT8}


def test_several_dequantize_nodes_of_one_value(build: Any, same: Same, ops: Ops) -> None:
    x = quantize(build, build.relu(build.input(1, 4)))
    graph = build.done(build.node("Add", build.fully_connected(dequantize(build, x), 4), dequantize(build, x)))
    result = absorbed(graph, same)
    assert ops(result) == ["Elementwise", "FullyConnected", "Add"]
    assert A.same_as(result.tensors[result.nodes[0].output].quantization)


def test_several_quantize_nodes_of_one_value(build: Any, same: Same, ops: Ops) -> None:
    x = build.relu(build.input(1, 4))
    graph = build.done(build.node("Add", qdq(build, x), qdq(build, x)))
    assert ops(absorbed(graph, same)) == ["Elementwise", "Add"]


def test_another_scale_is_a_requantization(build: Any, same: Same, ops: Ops) -> None:
    """Both values stay, and the node between them is the identity: on the target a table."""
    x = qdq(build, build.relu(build.input(1, 4)), A)
    graph = build.done(build.function("Sigmoid", qdq(build, x, B)))
    result = absorbed(graph, same)
    assert ops(result) == ["Elementwise", "Elementwise", "Elementwise"]
    assert result.nodes[1].attributes["expression"] == IDENTITY
    assert A.same_as(result.tensors[result.nodes[1].input].quantization)
    assert B.same_as(result.tensors[result.nodes[1].output].quantization)


def test_two_scales_of_one_value_requantize_from_the_finer(build: Any, ops: Ops) -> None:
    x = build.relu(build.input(1, 4))
    graph = build.done(build.node("Add", qdq(build, x, A), qdq(build, x, B)))
    result = absorb_qdq(graph)
    assert ops(result) == ["Elementwise", "Elementwise", "Add"]
    assert B.same_as(result.tensors[result.nodes[0].output].quantization)
    assert A.same_as(result.tensors[result.nodes[1].output].quantization)


def test_annotations_on_both_sides_of_a_movement_that_differ(build: Any, same: Same, ops: Ops) -> None:
    x = qdq(build, build.input(1, 6), A)
    graph = build.done(build.function("Sigmoid", qdq(build, build.reshape(x, 2, 3), B)))
    assert ops(absorbed(graph, same)) == ["Reshape", "Elementwise", "Elementwise"]


def test_concat_of_different_scales(build: Any, same: Same, ops: Ops) -> None:
    x, z = qdq(build, build.input(1, 4), A), qdq(build, build.input(1, 4, name="z"), B)
    graph = build.done(qdq(build, build.node("Concat", x, z, axis=1), B))
    result = absorbed(graph, same)
    assert ops(result) == ["Elementwise", "Concat"]
    assert all(B.same_as(result.tensor(name).quantization) for name in result.nodes[1].inputs)


def test_float_output_of_a_dequantize_keeps_its_name(build: Any, same: Same, ops: Ops) -> None:
    x = quantize(build, build.fully_connected(build.input(1, 4), 3))
    result = absorbed(build.done(dequantize(build, x, out="y")), same)
    assert ops(result) == ["FullyConnected"]
    assert A.same_as(result.tensors["y"].quantization)


def test_input_that_goes_straight_to_an_output(build: Any, same: Same, ops: Ops) -> None:
    x = build.input(1, 4, dtype=DType.INT8, q=A)
    assert ops(absorbed(build.done(dequantize(build, x, out="y")), same)) == ["Elementwise"]
    other = type(build)()
    assert ops(absorbed(other.done(quantize(other, other.input(1, 4), out="y")), same)) == ["Elementwise"]


def test_fake_quantized_weights_are_rounded(build: Any, same: Same) -> None:
    """Training frameworks export float weights with a Quantize/Dequantize pair, per channel."""
    per_channel = Quantization.per_channel(np.float32([0.1, 0.2, 0.03]), 0)
    weight = dequantize(build, quantize(build, build.constant(build.values(3, 4) * 20), per_channel))
    build.graph.outputs = [build.node("MatMul", weight, build.input(4, 2))]
    graph = build.graph  # not verified: the frontend rounds such constants itself
    result = absorb_qdq(graph)
    constant = next(tensor for tensor in result.tensors.values() if tensor.is_constant)
    assert per_channel.same_as(constant.quantization)
    q = constant.data / per_channel.scale[:, None]
    assert np.array_equal(q, np.rint(q))
    assert q.min() == -128
    same(graph, result)


def test_values_of_constants_beyond_the_range_saturate(build: Any, same: Same) -> None:
    c = qdq(build, build.constant(np.float32([[-1e9, -0.31, 0.024, 0.026, 1e9]])), A)
    graph = build.done(build.node("Add", build.input(1, 5), c))
    same(graph, absorb_qdq(graph))


def test_per_channel_activations_are_refused(build: Any) -> None:
    q = Quantization.per_channel(np.float32([0.1, 0.2]), 1)
    x = build.input(1, 2)
    build.graph.nodes.clear()
    y = build.node("Quantize", x, q=q, dtype=DType.INT8, name="q1")
    build.node("Dequantize", y, name="d1")
    build.graph.outputs = [build.graph.nodes[-1].output]
    with pytest.raises(UnsupportedModelError, match=r"q1 \(Quantize\): an activation has a scale for each channel") as error:
        absorb_qdq(build.graph)
    assert len(error.value.problems) == 2


def test_arithmetic_on_int8_is_refused(build: Any) -> None:
    x = build.input(1, 4, dtype=DType.INT8, q=A)
    graph = build.done(build.node("Add", x, x, dtype=DType.INT8, q=A, name="sum1"))
    with pytest.raises(UnsupportedModelError, match=r"sum1 \(Add\): computes on int8"):
        absorb_qdq(graph)


# propagate_annotations


@pytest.mark.parametrize("op", ["Reshape", "Transpose", "Slice", "MaxPool", "Pad", "Concat"])
@pytest.mark.parametrize("up", [False, True])
def test_movement_has_one_annotation(build: Any, op: str, up: bool) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 2, q=None if up else A)
    q = A if up else None
    made = {
        "Reshape": lambda: build.reshape(x, 1, 32, q=q),
        "Transpose": lambda: build.transpose(x, (0, 3, 1, 2), q=q),
        "Slice": lambda: build.node("Slice", x, starts=(0, 1, 0, 0), steps=(1, 1, 1, 1), sizes=(1, 2, 4, 2), q=q),
        "MaxPool": lambda: build.pool("MaxPool", x, q=q),
        "Pad": lambda: build.node("Pad", x, pads=(0, 1, 0, 0, 0, 0, 0, 0), value=0.0, q=q),
        "Concat": lambda: build.node("Concat", x, x, axis=3, q=q),
    }
    y = made[op]()
    result = propagate_annotations(build.done(build.function("Sigmoid", y)))
    assert A.same_as(result.tensors[x].quantization)
    assert A.same_as(result.tensors[y].quantization)
    assert result.tensors["x"].quantization is None


def test_a_part_does_not_decide_for_the_whole(build: Any) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 2)
    part = build.node("Slice", x, starts=(0, 1, 0, 0), steps=(1, 1, 1, 1), sizes=(1, 2, 4, 2), q=A)
    result = propagate_annotations(build.done(part, build.function("Sigmoid", x)))
    assert result.tensors[x].quantization is None


@pytest.mark.parametrize("q", [A, None])
def test_a_border_that_may_not_be_on_the_grid(build: Any, q: Quantization | None) -> None:
    x = build.relu(build.input(1, 4), q=A if q is None else None)
    y = build.node("Pad", x, pads=(0, 1, 0, 0), value=0.013, q=q)
    result = propagate_annotations(build.done(y))
    assert (result.tensors[x].quantization is None) != (result.tensors[y].quantization is None)
