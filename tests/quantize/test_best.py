"""`--quantize best`: what it is for, and that it makes nothing worse."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from arenite.graph import Quantization
from arenite.graph.onnx_export import Evaluator
from arenite.quantize import LEVELS, Dataset, QuantizedModel, QuantizeOptions, input_specs, quantize
from arenite.quantize.multipliers import quantize_values
from quantize.hard_depthwise import Hard, hard_depthwise

PLAIN, BEST = frozenset[str](), LEVELS["best"]


@pytest.fixture(scope="module")
def hard() -> Hard:
    from quantize.conftest import Net

    return hard_depthwise(Net)


@pytest.fixture(scope="module")
def best(hard: Hard) -> QuantizedModel:
    return quantize(hard.graph, hard.calibration, QuantizeOptions(methods=BEST))


def accuracy_float(hard: Hard) -> float:
    run = Evaluator(hard.graph)
    hits = [np.argmax(run({"image": image})[hard.graph.outputs[0]]) == label for image, label in zip(hard.images, hard.labels, strict=True)]
    return float(np.mean(hits))


def accuracy(hard: Hard, model: QuantizedModel, engine: Any) -> float:
    """Of the NumPy engine."""
    run, chosen = engine(model.graph), model.graph.tensors["image"].quantization
    hits = [np.argmax(run.run([quantize_values(x, chosen)])[0]) == label for x, label in zip(hard.images, hard.labels, strict=True)]
    return float(np.mean(hits))


def test_channels_spread_1_to_1000_collapse_with_min_max_and_not_with_best(hard: Hard, best: QuantizedModel, engine: Any) -> None:
    exact = accuracy_float(hard)
    assert exact > 0.9
    plain = quantize(hard.graph, hard.calibration, QuantizeOptions(methods=PLAIN))
    assert accuracy(hard, plain, engine) < exact - 0.2
    assert accuracy(hard, best, engine) >= exact - 0.01
    assert best.precision == "int8"
    assert next(effect for effect in best.methods if effect.name == "equalize").kept


def test_every_kept_method_improves_samples_that_it_has_not_seen(best: QuantizedModel) -> None:
    figures = [(effect.before_db, effect.after_db) for effect in best.methods if effect.kept]
    assert len(figures) >= 2
    assert all(before is not None and after is not None and after > before for before, after in figures)
    assert all(after == later for (_, after), (later, _) in pairwise(figures))
    assert any("by method" in note for note in best.notes)


def test_the_same_twice(hard: Hard) -> None:
    first, second = (quantize(hard.graph, hard.calibration.first(20), QuantizeOptions(methods=BEST)) for _ in range(2))
    for name, tensor in first.graph.tensors.items():
        other = second.graph.tensors[name]
        assert (tensor.data is None) == (other.data is None)
        assert tensor.data is None or np.array_equal(tensor.data, other.data)
        assert tensor.quantization is None or tensor.quantization.same_as(other.quantization)


def test_no_method_without_calibration(hard: Hard) -> None:
    best, plain = (quantize(hard.graph, None, QuantizeOptions(methods=methods)) for methods in (BEST, PLAIN))
    assert best.methods == ()
    assert str(best.graph) == str(plain.graph)


def test_annotated_models_keep_their_scales(net: Any) -> None:
    n = net(x=(1, 6))
    n.annotate("x", 0.05, 3)
    weight = n.constant(np.round(np.random.default_rng(0).normal(0, 30, (4, 6))) * 0.01, "weight")
    tensor = n.graph.tensors[weight]
    n.graph.tensors[weight] = replace(tensor, quantization=Quantization.per_channel(np.full(4, 0.01, np.float32), 0))
    graph = n.done(n.annotate(n.dense("x", weight), 0.1, 0))
    data = Dataset(input_specs(graph), {"x": np.random.default_rng(1).normal(size=(32, 1, 6)).astype(np.float32)})
    best, plain = (quantize(graph, data, QuantizeOptions(methods=methods)) for methods in (BEST, PLAIN))
    assert str(best.graph) == str(plain.graph)
    assert best.methods == ()
