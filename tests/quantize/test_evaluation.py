"""The NumPy evaluator of float graphs against onnxruntime's, with and without simulated quantization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph
from arenite.graph.onnx_export import Evaluator
from arenite.quantize.evaluation import TypedEvaluator, open_evaluator

FREE = (float("-inf"), float("inf"))


def network(net: Any) -> Graph:
    """Every movement, a layer, a pool, a table, a softmax; two annotations."""
    rng = np.random.default_rng(2)
    n = net(x=(1, 4, 6, 3))
    padded = n.node("Pad", "x", pads=(0, 1, 0, 0, 0, 0, 2, 0), value=0.5)
    relu = n.annotate(n.conv(padded, rng.normal(0, 1, (5, 2, 2, 3)), rng.normal(0, 1, 5), clip=(0.0, 6.0)), 0.02, -128)
    parts = [
        n.node("Slice", relu, starts=(0, 0, 6, 4), steps=(1, 1, -2, -1), sizes=(1, 4, 4, 5)),
        n.pool("MaxPool", relu, (1, 2), strides=(1, 2)),
    ]
    wide = n.node("Concat", *parts[:1], n.node("Transpose", n.node("Transpose", parts[0], perm=(0, 3, 1, 2)), perm=(0, 2, 3, 1)), axis=3)
    flat = n.node("Reshape", wide, shape=(1, 160))
    dense = n.annotate(n.dense(flat, rng.normal(0, 0.1, (7, 160))), 0.05, 3)
    pooled = n.node("ReduceMean", parts[1], axes=(1, 2), keepdims=False, clip=FREE)
    return n.done(n.node("Softmax", n.function(dense, "Tanh")), pooled)


@pytest.mark.parametrize("fake_quantize", [False, True])
def test_both_evaluators_agree(net: Any, fake_quantize: bool) -> None:
    graph = network(net)
    names = [name for node in graph.nodes for name in node.outputs]
    x = np.random.default_rng(3).normal(0, 1, (1, 4, 6, 3)).astype(np.float32)
    ours = TypedEvaluator(graph, names, fake_quantize=fake_quantize)({"x": x})
    theirs = Evaluator(graph, names, fake_quantize=fake_quantize)({"x": x})
    for name in names:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-5, err_msg=name)


def test_onnxruntime_where_it_can(net: Any) -> None:
    graph = network(net)
    assert isinstance(open_evaluator(graph, graph.outputs), Evaluator)


def test_numpy_where_onnx_has_no_word_for_it(net: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from arenite.graph import onnx_export

    graph = network(net)
    monkeypatch.delitem(onnx_export._EXPORTERS, "Softmax")
    opened = open_evaluator(graph, graph.outputs)
    assert isinstance(opened, TypedEvaluator)
    assert float(opened({"x": np.zeros((1, 4, 6, 3), np.float32)})[graph.outputs[0]].sum()) == pytest.approx(1.0)
