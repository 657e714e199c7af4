"""NonMaxSuppression: NumPy, portable C, onnxruntime and the reference select the same boxes."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.graph import Graph
from arenite.graph.onnx_export import to_onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, generator
from kernels.node_calls import NodeCall, run_c, run_numpy, run_onnxruntime
from kernels.portable_library import PortableLibrary
from onnx.reference import ReferenceEvaluator

WILD = np.asarray([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, 0, -0.0], np.float32)


@st.composite
def calls(draw: DrawFn, wild: bool) -> NodeCall:
    """Boxes on a coarse grid: many touch, many are alike, many scores are equal."""
    batch, classes, count = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 12))
    rng = generator(draw)
    boxes = (rng.integers(0, 7, (batch, count, 4)) / 2).astype(np.float32)
    scores = (rng.integers(-3, 8, (batch, classes, count)) / 8).astype(np.float32)
    if wild:
        boxes = np.where(rng.random(boxes.shape) < 0.2, rng.choice(WILD, boxes.shape), boxes)
        scores = np.where(rng.random(scores.shape) < 0.2, rng.choice(WILD, scores.shape), scores)
    elif draw(st.booleans()):
        boxes = rng.random((batch, count, 4)).astype(np.float32)
    iou = np.asarray([draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))], np.float32)
    least = np.asarray([draw(st.sampled_from([0.0, 0.25, -0.125]))], np.float32)
    thresholds = [iou if not wild or draw(st.booleans()) else None, least if draw(st.booleans()) else None]
    attributes = {"limit": draw(st.integers(1, count)), "centred": draw(st.booleans())}
    return NodeCall("NonMaxSuppression", "float32", [boxes, scores, *thresholds], attributes)


def run_reference(call: NodeCall) -> Array:
    graph = Graph("node")
    for tensor in (*call.tensors, *call.results):
        if tensor is not None:
            graph.add(tensor)
    graph.inputs = [tensor.name for tensor in call.tensors if tensor is not None]
    graph.outputs = [tensor.name for tensor in call.results]
    graph.nodes = [call.node]
    feeds = {tensor.name: x for tensor, x in zip(call.tensors, call.inputs, strict=True) if tensor is not None}
    return np.asarray(ReferenceEvaluator(to_onnx(graph)).run(None, feeds)[0])


@settings(deadline=None, derandomize=True, max_examples=150)
@given(calls(wild=True))
def test_numpy_and_c(portable: PortableLibrary, call: NodeCall) -> None:
    np.testing.assert_array_equal(run_c(portable, call)[0], run_numpy(call)[0], err_msg=str(call))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(calls(wild=False))
def test_numpy_onnxruntime_and_the_reference(call: NodeCall) -> None:
    got = run_numpy(call)[0]
    np.testing.assert_array_equal(got, run_onnxruntime(call)[0], err_msg=str(call))
    np.testing.assert_array_equal(got, run_reference(call), err_msg=str(call))


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=3000)
@given(calls(wild=True))
def test_many(portable: PortableLibrary, call: NodeCall) -> None:
    np.testing.assert_array_equal(run_c(portable, call)[0], run_numpy(call)[0], err_msg=str(call))


@pytest.mark.parametrize(
    ("boxes", "scores", "limit", "message"),
    [
        ((1, 5, 3), (1, 2, 5), 1, "boxes"),
        ((1, 5, 4), (1, 2, 4), 1, "boxes"),
        ((2, 5, 4), (1, 2, 5), 1, "boxes"),
        ((1, 5, 4), (1, 2, 5), 6, "at most 6"),
        ((1, 5, 4), (1, 2, 5), 0, "at most 0"),
    ],
)
def test_what_does_not_fit_is_refused(boxes: tuple[int, ...], scores: tuple[int, ...], limit: int, message: str) -> None:
    call = NodeCall(
        "NonMaxSuppression",
        "float32",
        [np.zeros(boxes, np.float32), np.zeros(scores, np.float32), None, None],
        {"limit": limit, "centred": False},
    )
    with pytest.raises(ValueError, match=message):
        assert call.results
