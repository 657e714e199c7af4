"""Pads into place: what is padded is computed where it lies in the result, so that only the padding is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.graph import DType, Graph, Node, Quantization, Tensor
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.plan import check, plan
from arenite.plan.aliasing import pad_start, parts, views
from arenite.targets import open_engine
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper, save
from onnx.reference import ReferenceEvaluator


def graph_of(shape: tuple[int, ...], pads: tuple[int, ...], keep: bool = False) -> Graph:
    """x → Lookup → Pad → Lookup → y; `keep`: what is padded is an output, too."""
    rank = len(shape)
    padded = tuple(size + pads[axis] + pads[rank + axis] for axis, size in enumerate(shape))
    graph = Graph("pads", inputs=["x"], outputs=["y", "a"] if keep else ["y"])
    for name, dimensions in (("x", shape), ("a", shape), ("p", padded), ("y", padded)):
        graph.add(Tensor(name, dimensions, DType.INT8, quantization=Quantization.per_tensor(0.5, 3)))
    graph.add_constant("table", np.arange(256).astype(np.uint8).view(np.int8)[::-1].copy())
    graph.nodes = [
        Node("Lookup", "first", ("x", "table"), ("a",), {}),
        Node("Pad", "pad", ("a",), ("p",), {"pads": pads, "value": 0.0, "fill": 3}),
        Node("Lookup", "last", ("p", "table"), ("y",), {}),
    ]
    return graph


SHAPES = st.lists(st.sampled_from([1, 1, 2, 3, 4]), min_size=1, max_size=4).map(tuple)


@given(shape=SHAPES, data=st.data())
@settings(deadline=None, derandomize=True, max_examples=150)
def test_where_the_input_lies(shape: tuple[int, ...], data: st.DataObject) -> None:
    """`pad_start` against NumPy: one run of bytes, or several; every plan passes the checker, which has its own idea of both."""
    pads = tuple(data.draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=2 * len(shape), max_size=2 * len(shape))))
    graph = graph_of(shape, pads)
    rank, padded = len(shape), graph.tensors["p"].shape
    places = np.arange(np.prod(padded)).reshape(padded)[tuple(slice(pads[a], pads[a] + shape[a]) for a in range(rank))].reshape(-1)
    one_run = bool(np.array_equal(places, np.arange(places[0], places[0] + places.size)))
    found = pad_start(graph, graph.nodes[1])
    assert found is None or (one_run and found == places[0])
    # Without padding there is nothing to gain.
    assert (found is not None) == (one_run and any(pads))
    check(graph, plan(graph))


def test_the_arena_holds_the_result_alone() -> None:
    graph = graph_of((1, 6, 4, 2), (0, 1, 0, 0, 0, 2, 0, 0))
    assert parts(graph, views(graph), 4) == {("a", "p"): 8}
    made = plan(graph)
    assert made.arena_bytes == 9 * 8
    assert made.placements["a"].offset == made.placements["p"].offset + 8
    kept = graph_of((1, 6, 4, 2), (0, 1, 0, 0, 0, 2, 0, 0), keep=True)
    check(kept, plan(kept))
    # Bytes that no word begins at are copied: kernels load words.
    odd = graph_of((1, 6, 3, 1), (0, 1, 0, 0, 0, 2, 0, 0))
    assert not parts(odd, views(odd), 4)


@pytest.mark.parametrize("shift", [-8, -4, 4, 16])
def test_a_wrong_place_is_found(shift: int) -> None:
    """The padding would overwrite what is padded, or what is padded lies elsewhere in the result."""
    graph = graph_of((1, 6, 4, 2), (0, 1, 0, 0, 0, 2, 0, 0))
    made = plan(graph)
    x, place = made.placements["x"], made.placements["a"]
    apart = {"x": replace(x, offset=128), "a": replace(place, offset=place.offset + shift)}
    moved = replace(made, placements={**made.placements, **apart}, memory_bytes=(256,))
    with pytest.raises(ValueError, match=r"writes p at 0 over its operand a"):
        check(graph, moved)


def network(pads: list[int], channels: int, value: float | None, keep: bool) -> Any:
    """Two halves of a tensor, each with a function of its own and padded, are added: as a stack of frames."""
    image = [1, 6, 4, channels]
    padded = [image[axis] + pads[axis] + pads[4 + axis] for axis in range(4)]
    constants = [numpy_helper.from_array(np.array(pads, np.int64), "pads")]
    if value is not None:
        constants.append(numpy_helper.from_array(np.float32(value), "value"))
    more = [] if value is None else ["value"]
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["a"]),
        helper.make_node("Pad", ["a", "pads", *more], ["p"]),
        helper.make_node("Tanh", ["x"], ["b"]),
        helper.make_node("Pad", ["b", "pads", *more], ["q"]),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, padded)]
    if keep:
        outputs.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, image))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, image)], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run_everywhere(conversion: Conversion, sample: NDArray[Any]) -> list[NDArray[Any]]:
    results = {engine: open_engine(engine, conversion.folder).run([[sample]])[0] for engine in ("numpy", "c", "compiled")}
    for engine, found in results.items():
        for array, expected in zip(found, results["numpy"], strict=True):
            if array.dtype == np.float32:
                np.testing.assert_allclose(array, expected, rtol=0, atol=1e-5 * np.abs(expected).max() + 1e-6, err_msg=engine)
            else:
                np.testing.assert_array_equal(array, expected, engine)
    return results["numpy"]


@pytest.mark.parametrize("precision", ["int8", "float32"])
@pytest.mark.parametrize(
    ("pads", "value", "keep"),
    [
        ([0, 1, 0, 0, 0, 2, 0, 0], None, False),
        ([0, 3, 0, 0, 0, 0, 0, 0], None, True),
        ([0, 0, 0, 0, 0, 5, 0, 0], 0.25, False),
        ([2, 0, 0, 0, 1, 0, 0, 0], -0.5, True),
        ([0, 1, 1, 0, 0, 0, 1, 0], None, False),
    ],
)
def test_every_engine(tmp_path: Path, precision: str, pads: list[int], value: float | None, keep: bool) -> None:
    model = network(pads, 4, value, keep)
    save(model, tmp_path / "net.onnx")
    conversion = convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out", precision=precision))
    calls = [(layer.op, layer.form) for layer in conversion.report.layers if layer.form == "Pad"]
    in_place = not any(pads[2:4] + pads[6:8])
    copies = sum(op == "StridedCopy" for op, _ in calls)
    if in_place and value is None:
        assert not copies, "nothing is moved"
    elif not in_place:
        assert copies == 2
    rng = np.random.default_rng(sum(pads))
    x = rng.normal(size=(1, 6, 4, 4)).astype(np.float32)
    if precision == "float32":
        found = run_everywhere(conversion, x)
        for array, expected in zip(found, ReferenceEvaluator(model).run(None, {"x": x}), strict=True):
            np.testing.assert_allclose(array, expected, atol=1e-5)
    else:
        run_everywhere(conversion, rng.integers(-128, 128, (1, 6, 4, 4)).astype(np.int8))
