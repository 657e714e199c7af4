"""Tables of measurements: inputs whose features have unlike sizes stay float32, others do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph
from arenite.graph.operators import UNBOUNDED
from arenite.quantize import Dataset, QuantizeOptions, input_specs, quantize, synthetic_data
from arenite.quantize.features import uneven_tensors, vector_inputs
from arenite.quantize.model import settle
from arenite.quantize.observers import min_max, observe
from arenite.quantize.output_error import Judge
from arenite.quantize.scales import choose_scales, undetermined

SIZES = np.array([1000.0, 30.0, 5.0, 1.0, 0.3, 0.1, 0.02, 2.0])
PLAIN = frozenset[str]()


def table(graph: Graph, count: int = 64, seed: int = 0, sizes: np.ndarray = SIZES) -> Dataset:
    values = 2 * sizes + sizes * np.random.default_rng(seed).normal(size=(count, 1, 8))
    return Dataset(input_specs(graph), {"x": values.astype(np.float32)})


def scaled(net: Any) -> Graph:
    """(x − mean) / deviation, then two dense layers."""
    g = np.random.default_rng(1)
    n = net(x=(1, 8))
    centred = n.node("Sub", "x", n.constant(2 * SIZES[None]), clip=UNBOUNDED)
    features = n.node("Div", centred, n.constant(SIZES[None]), clip=UNBOUNDED)
    return n.done(n.dense(n.dense(features, g.normal(size=(16, 8)), clip=(0.0, float("inf"))), g.normal(size=(3, 16))))


def folded(net: Any) -> Graph:
    """The same with the scaler in the first layer's weights."""
    g = np.random.default_rng(1)
    n = net(x=(1, 8))
    weights = g.normal(size=(16, 8)) / SIZES
    hidden = n.dense("x", weights, -weights @ (2 * SIZES), clip=(0.0, float("inf")))
    return n.done(n.dense(hidden, g.normal(size=(3, 16))))


def figure(graph: Graph, methods: frozenset[str]) -> float:
    """dB over samples that were not calibrated with."""
    found = settle(graph, table(graph), QuantizeOptions(methods=methods)).found
    assert found is not None
    return Judge(graph, table(graph, seed=7)).sqnr_db(found.draft)


@pytest.mark.parametrize("build", [scaled, folded])
def test_features_of_unlike_sizes_stay_float(net: Any, build: Any) -> None:
    graph = build(net)
    assert figure(graph, PLAIN) < 15
    assert figure(graph, frozenset({"features"})) > max(20, figure(graph, PLAIN) + 10)
    model = quantize(graph, table(graph))
    assert model.precision == "mixed"
    assert model.graph.tensors["x"].dtype.value == "float32"
    assert any("features of unlike sizes" in note for note in model.notes)
    last = model.graph.producers()[graph.outputs[0]]
    assert last.op == "FullyConnected" and last.attributes["variant"] == "int8"


def test_what_follows_the_scaler_is_int8(net: Any) -> None:
    graph = scaled(net)
    model = quantize(graph, table(graph))
    assert [node.op for node in model.graph.nodes if node.attributes.get("variant") == "float32"] == ["Sub", "Div"]


def test_features_of_like_sizes_are_int8(net: Any) -> None:
    n = net(x=(1, 8))
    graph = n.done(n.dense("x", np.random.default_rng(0).normal(size=(3, 8))))
    model = quantize(graph, table(graph, sizes=np.ones(8)))
    assert model.precision == "int8"
    assert not any("features" in note for note in model.notes)


def test_features_that_never_change_do_not_count(net: Any) -> None:
    n = net(x=(1, 8))
    graph = n.done(n.dense("x", np.random.default_rng(0).normal(size=(3, 8)) * (np.arange(8) < 5)))
    values = np.random.default_rng(0).normal(size=(32, 1, 8))
    values[..., 5:] = 0.25
    data = Dataset(input_specs(graph), {"x": values.astype(np.float32)})
    found = settle(graph, data, QuantizeOptions(methods=PLAIN)).found
    assert found is not None
    assert uneven_tensors(graph, found.draft.quantization(), data) == ()


def test_uneven_features_that_nothing_needs_are_int8(net: Any) -> None:
    """The rule is one of measured loss: only the large features are read."""
    n = net(x=(1, 8))
    graph = n.done(n.dense("x", np.random.default_rng(0).normal(size=(3, 8)) * (SIZES == 1000.0)))
    found = settle(graph, table(graph), QuantizeOptions(methods=PLAIN)).found
    assert found is not None
    assert uneven_tensors(graph, found.draft.quantization(), table(graph)) == ("x",)
    assert quantize(graph, table(graph)).precision == "int8"


def test_images_are_no_vectors(net: Any) -> None:
    n = net(x=(1, 4, 4, 8), v=(1, 1, 8))
    graph = n.done(n.conv("x", np.ones((2, 1, 1, 8))), n.dense("v", np.ones((2, 8))))
    ranges = {name: min_max(h) for name, h in observe(graph, synthetic_data(graph, 4), undetermined(graph)).items()}
    assert vector_inputs(graph, choose_scales(graph, ranges)) == ("v",)


def test_few_samples_say_nothing(net: Any) -> None:
    graph = scaled(net)
    found = settle(graph, table(graph, 4), QuantizeOptions(methods=PLAIN)).found
    assert found is not None
    assert uneven_tensors(graph, found.draft.quantization(), table(graph, 4)) == ()
