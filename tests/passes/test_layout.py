"""merge_views, choose_layouts, absorb_permutations, drop_edge_transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph, Quantization
from arenite.passes.absorb_permutations import absorb_permutations
from arenite.passes.choose_layouts import choose_layouts
from arenite.passes.drop_edge_transposes import drop_edge_transposes
from arenite.passes.layout_cost import LayoutCost
from arenite.passes.merge_views import merge_views

A, B = Quantization.per_tensor(0.05, 3), Quantization.per_tensor(0.02, -7)
TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]


def moved(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes if node.op == "Transpose"]


# merge_views


def test_inverse_transposes_vanish(build: Any, same: Same, ops: Ops) -> None:
    x = build.conv(build.input(1, 4, 5, 3), 2)
    graph = build.done(build.conv(build.transpose(build.transpose(x, TO_NCHW), TO_NHWC), 2))
    merged = merge_views(graph)
    assert ops(merged) == ["Conv", "Conv"]
    same(graph, merged)


def test_a_chain_becomes_one_transpose(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.reshape(build.input(2, 3, 4), 2, 12), (1, 0))
    x = build.transpose(build.reshape(x, 3, 4, 2), (1, 2, 0))
    graph = build.done(build.relu(build.reshape(x, 4, 1, 6)))
    merged = merge_views(graph)
    assert ops(merged) == ["Transpose", "Reshape", "Elementwise"]
    same(graph, merged)


def test_tf2onnx_reshape_for_transpose(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.reshape(build.input(1, 9, 10, 1), 1, 1, 9, 10), TO_NHWC)
    graph = build.done(build.conv(x, 2))
    merged = merge_views(graph)
    assert ops(merged) == ["Conv"]
    same(graph, merged)


def test_a_shared_transpose_is_made_once(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.input(1, 3, 4, 5), TO_NHWC)
    graph = build.done(build.conv(x, 2), build.fully_connected(build.reshape(x, 1, 60), 2))
    merged = merge_views(graph)
    assert ops(merged) == ["Transpose", "Conv", "Reshape", "FullyConnected"]
    same(graph, merged)


@pytest.mark.parametrize("wide", [False, True])
def test_outputs_keep_their_names(build: Any, same: Same, ops: Ops, wide: bool) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 2)
    y = build.transpose(build.transpose(x, TO_NCHW), TO_NHWC, out="y")
    graph = build.done(*([y, x] if wide else [y]), build.relu(x))
    merged = merge_views(graph)
    assert ops(merged) == (["Conv", "Elementwise", "Reshape"] if wide else ["Conv", "Elementwise"])
    same(graph, merged)


def test_who_reads_the_value_of_an_output_reads_the_output(build: Any, same: Same, ops: Ops) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 2)
    y = build.transpose(x, TO_NCHW)
    graph = build.done(build.function("Tanh", build.transpose(y, (0, 1, 2, 3))), y)
    merged = merge_views(graph)
    assert ops(merged) == ["Conv", "Transpose", "Elementwise"]
    same(graph, merged)


def test_an_input_that_is_an_output_stays_a_copy(build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(build.reshape(build.reshape(build.input(1, 6), 6), 1, 6, out="y"))
    merged = merge_views(graph)
    assert ops(merged) == ["Reshape"]
    same(graph, merged)


def test_a_view_that_changes_the_annotation_stays(build: Any, ops: Ops) -> None:
    x = build.reshape(build.relu(build.input(1, 6), q=A), 6, q=B)
    graph = build.done(build.function("Sigmoid", build.reshape(x, 1, 6, q=B)))
    assert ops(merge_views(graph)) == ["Elementwise", "Reshape", "Reshape", "Elementwise"]


def test_crossing_borders_are_two_transposes(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.reshape(build.transpose(build.input(2, 3), (1, 0)), 2, 3), (1, 0))
    graph = build.done(build.relu(x))
    merged = merge_views(graph)
    assert ops(merged).count("Transpose") == 2
    same(graph, merged)


# choose_layouts


def residual(b: Any, x: str) -> str:
    y = b.relu(b.nchw(b.conv, x, 4, kernel=3, pad=1))
    z = b.nchw(b.conv, y, 4, kernel=3, pad=1)
    return b.nchw(b.conv, b.relu(b.node("Add", y, z)), 2)


def squeeze_excite(b: Any, x: str) -> str:
    x = b.function("HardSwish", b.nchw(b.conv, x, 6))
    s = b.transpose(b.node("ReduceMean", b.transpose(x, TO_NHWC), axes=(1, 2), keepdims=True), TO_NCHW)
    s = b.function("HardSigmoid", b.nchw(b.conv, s, 6))
    return b.nchw(b.conv, b.node("Mul", x, s), 2)


def concat_slice_pad(b: Any, x: str) -> str:
    y, z = b.nchw(b.conv, x, 4), b.nchw(b.conv, x, 2)
    x = b.node("Concat", y, z, axis=1)
    x = b.node("Slice", x, starts=(0, 5, 0, 1), steps=(1, -2, 1, 1), sizes=(1, 3, 4, 3))
    x = b.node("Pad", x, pads=(0, 1, 0, 2, 0, 0, 1, 0), value=0.5)
    return b.nchw(b.conv, x, 2)


def normalized(b: Any, x: str) -> str:
    x = b.nchw(b.conv, x, 4)
    x = b.node("Sub", x, b.node("ReduceMean", x, axes=(1,), keepdims=True))
    x = b.node("Mul", x, b.constant(b.values(1, 4, 1, 1)))
    x = b.node("PRelu", x, b.constant(b.values(4, 1, 1).reshape(1, 4, 1, 1)))
    return b.nchw(b.batch_norm, b.node("Div", b.constant(b.values(1, 1, 1, 5)), b.function("Exp", x)))


def softmax_over_channels(b: Any, x: str) -> str:
    return b.nchw(b.conv, b.nchw(lambda t: b.node("Softmax", t), b.nchw(b.conv, x, 4)), 3)


def one_dimensional(b: Any, x: str) -> str:
    def conv(x: str) -> str:
        x = b.transpose(x, (0, 2, 1))
        n, length, c = b.graph.tensors[x].shape
        return b.transpose(b.reshape(b.conv(b.reshape(x, n, length, 1, c), 4), n, length, 4), (0, 2, 1))

    x = b.relu(conv(b.reshape(x, 1, 3, 20)))
    x = b.node("Add", x, b.constant(b.values(1, 4, 1)))
    x = b.node("Pad", x, pads=(0, 0, 2, 0, 0, 0), value=0.0)
    return b.reshape(conv(x), 1, 1, 4, 22)


NETWORKS = [residual, squeeze_excite, concat_slice_pad, normalized, softmax_over_channels, one_dimensional]


@pytest.mark.parametrize("network", NETWORKS)
def test_transposes_only_at_the_edges(build: Any, same: Same, network: Any) -> None:
    graph = build.done(network(build, build.input(1, 3, 4, 5)))
    chosen = choose_layouts(graph)
    transposes = [node for node in chosen.nodes if node.op == "Transpose"]
    assert len(transposes) <= 2
    for node in transposes:
        readers = [other.op for other in chosen.nodes if node.output in other.inputs]
        assert node.input in chosen.inputs or node.output in chosen.outputs or set(readers) == {"Reshape"}
    same(graph, chosen)
    assert LayoutCost(chosen, "onnx").total() <= LayoutCost(merge_views(graph), "onnx").total()


@pytest.mark.parametrize("network", NETWORKS)
def test_nhwc_at_the_edges(builder: Any, network: Any) -> None:
    b = builder()
    chosen = drop_edge_transposes(choose_layouts(b.done(network(b, b.input(1, 3, 4, 5))), "nhwc"))
    assert moved(chosen) == [] or network is one_dimensional
    assert chosen.inputs == ["x"]
    assert chosen.tensors["x"].shape == (1, 4, 5, 3) or network is one_dimensional


def test_elementwise_at_the_input_moves_the_transpose_to_the_edge(build: Any, same: Same, ops: Ops) -> None:
    x = build.node("Mul", build.input(1, 3, 4, 5), build.constant(build.values(1, 3, 1, 1)))
    graph = build.done(build.conv(build.transpose(x, TO_NHWC), 2))
    chosen = choose_layouts(graph)
    assert ops(chosen) == ["Transpose", "Mul", "Conv"]
    same(graph, chosen)


def test_reshapes_leave_chains_of_one_dimensional_operators(build: Any, same: Same, ops: Ops) -> None:
    x = build.relu(build.reshape(build.conv(build.input(1, 8, 1, 3), 4), 1, 8, 4))
    graph = build.done(build.conv(build.reshape(x, 1, 8, 1, 4), 2))
    chosen = choose_layouts(graph)
    assert ops(chosen) == ["Conv", "Elementwise", "Conv"]
    same(graph, chosen)


def test_an_operator_bound_to_its_axes_keeps_its_transposes(build: Any, same: Same, ops: Ops) -> None:
    x = build.conv(build.input(1, 4, 5, 3), 2)
    graph = build.done(build.conv(build.transpose(build.node("Softmax", build.transpose(x, TO_NCHW)), TO_NHWC), 2))
    chosen = choose_layouts(graph)
    assert ops(chosen) == ["Conv", "Transpose", "Softmax", "Transpose", "Conv"]
    same(graph, chosen)


def test_only_the_cheaper_part_of_a_region_is_turned(build: Any, same: Same) -> None:
    """A large branch in NHWC and a small one in NCHW meet in operators of either layout: the cut is where little moves."""
    x = build.relu(build.nchw(build.conv, build.input(1, 3, 16, 16), 8))
    large = build.nchw(build.conv, build.node("Add", x, build.constant(build.values(1, 8, 16, 16))), 2)
    small = build.node("Slice", x, starts=(0, 0, 0, 0), steps=(1, 1, 8, 8), sizes=(1, 8, 2, 2))
    small = build.node("Softmax", build.function("Tanh", small))
    graph = build.done(large, small)
    chosen = choose_layouts(graph)
    same(graph, chosen)
    inner = [
        node for node in chosen.nodes if node.op == "Transpose" and node.input not in chosen.inputs and node.output not in chosen.outputs
    ]
    assert [chosen.tensors[node.output].elements for node in inner] == [32]


def test_annotations_stay_with_their_values(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.conv(build.input(1, 4, 5, 3), 2, q=A), TO_NCHW, q=A)
    x = build.transpose(build.function("Tanh", x, q=B), TO_NHWC, q=B)
    graph = build.done(build.conv(x, 2))
    chosen = choose_layouts(graph)
    assert ops(chosen) == ["Conv", "Elementwise", "Conv"]
    same(graph, chosen, quantized=True)


def test_annotated_constants_turn_with_their_axis(build: Any, same: Same) -> None:
    x = build.transpose(build.conv(build.input(1, 4, 5, 3), 2), TO_NCHW)
    q = Quantization.per_channel(np.float32([0.125, 0.25]), 1)
    x = build.node("Mul", x, build.constant(np.float32([[[[0.25]], [[0.5]]]]), q))
    graph = build.done(build.conv(build.transpose(x, TO_NHWC), 2))
    chosen = choose_layouts(graph)
    same(graph, chosen)
    constant = chosen.tensor(chosen.nodes[1].inputs[1])
    assert constant.shape == (1, 1, 1, 2)
    assert constant.quantization is not None
    assert constant.quantization.axis == 3


# absorb_permutations


def test_flatten_before_fully_connected(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.conv(build.input(2, 4, 5, 3), 6), TO_NCHW)
    graph = build.done(build.fully_connected(build.reshape(x, 2, 120), 7))
    absorbed = absorb_permutations(merge_views(graph))
    assert ops(absorbed) == ["Conv", "Reshape", "FullyConnected"]
    same(graph, absorbed)


def test_fully_connected_before_an_image(build: Any, same: Same, ops: Ops) -> None:
    q = Quantization.per_channel(np.linspace(0.1, 0.3, 60, dtype=np.float32), 0)
    weight = build.constant(build.values(60, 4), q)
    x = build.node("FullyConnected", build.input(2, 4), weight, build.constant(build.values(60)))
    graph = build.done(build.conv(build.transpose(build.reshape(x, 2, 3, 4, 5), TO_NHWC), 2))
    absorbed = absorb_permutations(merge_views(graph))
    assert ops(absorbed) == ["FullyConnected", "Reshape", "Conv"]
    same(graph, absorbed)
    before, after = graph.tensors[weight], absorbed.tensor(absorbed.nodes[0].inputs[1])
    assert before.data is not None and after.data is not None and after.quantization is not None
    rows = [
        int(np.flatnonzero((after.data == row).all(1) & (after.quantization.scale == s))[0])
        for row, s in zip(before.data, q.scale, strict=True)
    ]
    assert sorted(rows) == list(range(60))


@pytest.mark.parametrize("also", ["output", "plain reader", "other order"])
def test_rows_that_others_read_in_another_order(build: Any, same: Same, also: str) -> None:
    x = build.fully_connected(build.input(1, 4), 60)
    y = build.conv(build.transpose(build.reshape(x, 1, 3, 4, 5), TO_NHWC), 2)
    other = {
        "output": lambda: x,
        "plain reader": lambda: build.function("Tanh", x),
        "other order": lambda: build.conv(build.transpose(build.reshape(x, 1, 3, 4, 5), (0, 3, 2, 1)), 2),
    }[also]()
    graph = build.done(y, other)
    absorbed = absorb_permutations(merge_views(graph))
    assert moved(absorbed)
    same(graph, absorbed)


def test_a_permutation_across_rows_is_not_absorbed(build: Any, same: Same) -> None:
    x = build.transpose(build.relu(build.input(3, 4, 5)), (1, 0, 2))
    graph = build.done(build.fully_connected(x, 2))
    absorbed = absorb_permutations(merge_views(graph))
    assert moved(absorbed)
    same(graph, absorbed)


def test_an_activation_between_flatten_and_fully_connected(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.conv(build.input(1, 4, 5, 3), 6), TO_NCHW)
    graph = build.done(build.fully_connected(build.function("Tanh", build.reshape(x, 1, 120)), 7))
    absorbed = absorb_permutations(choose_layouts(graph))
    assert "Transpose" not in ops(absorbed)
    same(graph, absorbed)


# drop_edge_transposes


def test_edges_that_others_see_keep_their_transposes(build: Any, ops: Ops) -> None:
    x = build.input(1, 3, 4, 5)
    y = build.conv(build.transpose(x, TO_NHWC), 2)
    graph = build.done(build.transpose(y, TO_NCHW), y, build.relu(x))
    assert sorted(ops(drop_edge_transposes(graph))) == sorted(ops(graph))


def test_edges_without_readers_lose_them(build: Any, ops: Ops) -> None:
    graph = build.done(build.transpose(build.conv(build.transpose(build.input(1, 3, 4, 5), TO_NHWC), 2), TO_NCHW, out="y"))
    dropped = drop_edge_transposes(graph)
    assert ops(dropped) == ["Conv"]
    assert (dropped.tensors["x"].shape, dropped.tensors["y"].shape) == ((1, 4, 5, 3), (1, 4, 5, 2))
    assert (dropped.inputs, dropped.outputs) == (["x"], ["y"])
