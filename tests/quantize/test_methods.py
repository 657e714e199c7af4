"""Each method by itself: names, equalization, rounding, scales of weights, bias correction, observers of tensors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from arenite.errors import QuantizationError
from arenite.graph import Expression, Graph
from arenite.graph.expression import Step
from arenite.graph.onnx_export import evaluate
from arenite.graph.operators import UNBOUNDED
from arenite.quantize import LEVELS, METHODS, Dataset, QuantizeOptions, input_specs, method_flags, quantize, selected
from arenite.quantize.bias_correction import corrected
from arenite.quantize.draft import Draft
from arenite.quantize.equalize import equalized, is_homogeneous
from arenite.quantize.layer_inputs import free_layers, layer_inputs, linear_rows
from arenite.quantize.multipliers import quantize_values
from arenite.quantize.observer_choice import candidates, chosen
from arenite.quantize.observers import Histogram, least_divergence, min_max, observe
from arenite.quantize.output_error import Judge, judged_tensors
from arenite.quantize.ranges import Range
from arenite.quantize.rounding import best_rounding, damped, errors, rounded
from arenite.quantize.scales import undetermined
from arenite.quantize.weight_scales import best_scales

RELU, RELU6 = (0.0, float("inf")), (0.0, 6.0)


def quiet(done: int, total: int) -> None:
    assert 0 < done <= total


def data_for(graph: Graph, count: int = 24, seed: int = 0) -> Dataset:
    generator = np.random.default_rng(seed)
    return Dataset(
        input_specs(graph), {name: generator.normal(size=(count, *graph.tensors[name].shape)).astype(np.float32) for name in graph.inputs}
    )


def draft_of(graph: Graph, data: Dataset) -> Draft:
    return Draft(graph, {name: min_max(histogram) for name, histogram in observe(graph, data, undetermined(graph)).items()})


# Names


def test_levels_and_flags() -> None:
    assert selected("default") == LEVELS["default"] < selected("best") == set(METHODS)
    assert selected("default", ["rounding"], ["features"]) == {"rounding"}
    for methods in (LEVELS["default"], LEVELS["best"], frozenset({"rounding"}), LEVELS["best"] - {"scales"}, frozenset[str]()):
        words = method_flags(methods)
        level = words[words.index("--quantize") + 1] if "--quantize" in words else "default"
        added = [words[i + 1] for i, word in enumerate(words) if word == "--method"]
        removed = [words[i + 1] for i, word in enumerate(words) if word == "--no-method"]
        assert selected(level, added, removed) == methods
    assert method_flags(LEVELS["default"]) == []


@pytest.mark.parametrize("arguments", [("better",), ("best", ["roundng"]), ("best", [], ["biass"])])
def test_unknown_names_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(QuantizationError, match=r"not known|no such method"):
        selected(*arguments)


# Equalization


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([Step("LeakyRelu", (0,), {"alpha": 0.125})], True),
        ([Step("Clip", (0,), {"min": 0.0, "max": float("inf")})], True),
        ([Step("Abs", (0,))], True),
        ([Step("Clip", (0,), {"min": 0.0, "max": 6.0})], False),
        ([Step("Sigmoid", (0,))], False),
        ([Step("Add", (0, 1.0))], False),
        ([Step("HardSwish", (0,))], False),
    ],
)
def test_homogeneous_functions(steps: list[Step], expected: bool) -> None:
    assert is_homogeneous(Expression(tuple(steps))) is expected


def uneven_network(net: Any, clip: tuple[float, float], residual: bool, groups: int = 1) -> Graph:
    """Convolutions, a sum, pools and a dense layer behind a Reshape; ranges of channels between them differ widely."""
    g = np.random.default_rng(3)
    spread = np.exp(g.uniform(-4, 0, 8))
    n = net(x=(1, 6, 6, 3))
    y = n.conv("x", g.normal(size=(8, 3, 3, 3)) * spread[:, None, None, None], spread, pads=(1, 1, 1, 1), clip=clip)
    z = n.depthwise(y, g.normal(size=(3, 3, 8)), g.normal(size=8) * spread, pads=(1, 1, 1, 1), clip=clip)
    if residual:
        z = n.node("Add", y, z, clip=clip)
    z = n.function(n.pool("MaxPool", z, (2, 2)), "LeakyRelu", alpha=0.25)
    w = g.normal(size=(8, 1, 1, 8 // groups))
    z = n.conv(z, w, None, group=groups, clip=clip)
    z = n.node("Reshape", n.pool("AveragePool", z, (3, 1)), shape=(1, 24))
    return n.done(n.dense(z, g.normal(size=(4, 24))))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("balance", [0.5, 1.0])
def test_equalization_changes_nothing_in_float(net: Any, residual: bool, groups: int, balance: float) -> None:
    graph = uneven_network(net, RELU, residual, groups)
    data = data_for(graph)
    other = equalized(graph, data, balance)
    assert other is not None
    changed = [name for node in graph.nodes for name in node.inputs[1:] if name in other.tensors and name not in graph.outputs]
    assert len(other.tensors) > len(graph.tensors) or changed
    for feeds in (*data_for(graph, 4, seed=9).samples(),):
        a, b = evaluate(graph, feeds)[graph.outputs[0]], evaluate(other, feeds)[graph.outputs[0]]
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("residual", [False, True])
def test_equalization_makes_ranges_alike(net: Any, residual: bool) -> None:
    graph = uneven_network(net, RELU, residual)
    data = data_for(graph)
    other = equalized(graph, data, 1.0)
    assert other is not None

    def spread(which: Graph, name: str) -> float:
        largest = np.max([np.abs(evaluate(which, feeds, [name])[name]).reshape(-1, 8).max(axis=0) for feeds in data.samples()], axis=0)
        return float(largest.max() / largest.min())

    name = graph.nodes[0].output
    assert spread(graph, name) > 8
    assert spread(other, name) < spread(graph, name) / 2


def test_clipped_channels_are_clipped_where_they_were(net: Any) -> None:
    graph = uneven_network(net, RELU6, False)
    data = data_for(graph)
    other = equalized(graph, data, 1.0)
    assert other is not None
    for feeds in data.samples():
        np.testing.assert_array_equal(evaluate(graph, feeds)[graph.outputs[0]], evaluate(other, feeds)[graph.outputs[0]])


def test_ports_and_other_operators_are_left_alone(net: Any) -> None:
    n = net(x=(1, 4, 4, 2))
    y = n.conv("x", np.diag([1.0, 100.0]).reshape(2, 1, 1, 2), clip=RELU)
    z = n.conv(n.function(y, "Sigmoid"), np.ones((2, 1, 1, 2)), clip=RELU)
    graph = n.done(n.conv(z, np.ones((2, 1, 1, 2))), z)
    assert equalized(graph, data_for(graph, 4), 1.0) is None


def test_dead_channels_do_not_make_rows_coarser(net: Any) -> None:
    """A channel that is never above 0 has any weights: large ones must not decide on the scale of the rows that read it."""
    n = net(x=(1, 4, 4, 2))
    y = n.conv("x", np.ones((3, 1, 1, 2)), np.array([0.5, 0.01, -100.0]), clip=RELU)
    graph = n.done(n.conv(y, np.array([[1.0, 2.0, 1000.0], [0.5, 1.0, 1000.0]]).reshape(2, 1, 1, 3)))
    other = equalized(graph, data_for(graph), 1.0)
    assert other is not None
    weights = np.abs(np.asarray(other.tensor(other.nodes[1].inputs[1]).data)).reshape(2, 3)
    assert (weights[:, 2] <= 2 * weights[:, :2].max(axis=1)).all()


# Rounding, scales, biases


def problem(seed: int, groups: int = 2, rows: int = 3, length: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    g = np.random.default_rng(seed)
    x = g.normal(size=(groups, 40, length)) @ g.normal(size=(groups, length, length))
    return g.normal(size=(groups, rows, length)), np.full((groups, rows), 0.3), damped(x.transpose(0, 2, 1) @ x / 40)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_is_never_worse_than_to_the_nearest_and_near_the_optimum(seed: int) -> None:
    weights, scale, products = problem(seed)
    steps = best_rounding(weights, scale, products)
    assert np.all(np.abs(steps - weights / scale[..., None]) <= 1)
    found = errors(weights, steps, scale, products)
    nearest = errors(weights, np.rint(weights / scale[..., None]), scale, products)
    assert np.all(found <= nearest * (1 + 1e-9))
    low = np.floor(weights / scale[..., None])
    every = [errors(weights, low + np.array(bits), scale, products) for bits in product((0, 1), repeat=7)]
    optimum = np.min(every, axis=0)
    assert found.sum() <= 1.25 * optimum.sum()
    assert found.sum() < 0.8 * nearest.sum()


def test_rounding_makes_a_network_better(net: Any) -> None:
    graph = uneven_network(net, RELU, False)
    data, unseen = data_for(graph, 48), data_for(graph, 16, seed=5)
    draft, judge = draft_of(graph, data), Judge(graph, unseen)
    better = rounded(draft, data, quiet)
    assert set(better.choices) == {node.output for node in free_layers(draft)}
    assert judge.sqnr_db(better) > judge.sqnr_db(draft)


def test_an_outlier_that_nothing_is_multiplied_with_loses_its_say() -> None:
    weights = np.array([[[0.3, -0.2, 0.1, 50.0]]])
    products = damped(np.diag([1.0, 1.0, 1.0, 0.0])[None])
    scale = np.array([[50.0 / 127]])
    chosen_scale = best_scales(weights, scale, np.diag([1.0, 1.0, 1.0, 1e-9])[None])
    assert chosen_scale[0, 0] < scale[0, 0] / 10
    assert best_scales(weights, scale, np.eye(4)[None])[0, 0] == scale[0, 0]
    assert products[0, 3, 3] > 0


@pytest.mark.parametrize("calibrated", [False, True])
def test_bias_correction_takes_the_mean_error_away(net: Any, calibrated: bool) -> None:
    g = np.random.default_rng(0)
    n = net(x=(1, 32))
    graph = n.done(n.dense("x", np.abs(g.normal(size=(6, 32))), None))
    inputs = {"x": (3 + 0.1 * g.normal(size=(64, 1, 32))).astype(np.float32)}
    data = Dataset(input_specs(graph), inputs)
    draft = draft_of(graph, data)
    better = corrected(draft, data, quiet, calibrated=calibrated)
    assert list(better.choices) == [graph.outputs[0]]
    shift = {}
    for key, one in (("before", draft), ("after", better)):
        lowering = one.lowering()
        stored = lowering.target.producers()[graph.outputs[0]]
        weight, bias = (lowering.target.tensor(stored.inputs[i]) for i in (1, 2))
        assert weight.data is not None and bias.data is not None and weight.quantization is not None
        scale = weight.quantization.scale.astype(np.float64)
        x = lowering.quantization["x"]
        steps = np.clip(np.rint(inputs["x"][:, 0].astype(np.float64) / float(x.scale)) + int(x.zero_point), -128, 127)
        got = (steps @ weight.data.astype(np.float64).T + bias.data) * scale * float(x.scale)
        exact = inputs["x"][:, 0].astype(np.float64) @ np.asarray(graph.tensor(graph.nodes[0].inputs[1]).data, np.float64).T
        shift[key] = float(np.abs((got - exact).mean(axis=0)).max())
    assert shift["after"] < shift["before"] / (20 if calibrated else 2)


def test_vectors_are_what_layers_multiply(net: Any) -> None:
    """Rows times the mean vector are the mean of the results, for strides, dilations, pads, groups and multipliers."""
    g = np.random.default_rng(1)
    n = net(x=(1, 5, 5, 4))
    a = n.conv("x", g.normal(size=(6, 3, 2, 2)), strides=(2, 1), dilations=(1, 2), pads=(1, 0, 1, 2), group=2)
    b = n.depthwise(a, g.normal(size=(2, 3, 12)), pads=(0, 1, 1, 1), strides=(1, 2))
    c = n.dense(n.node("Reshape", b, shape=(1, n.graph.tensors[b].elements)), g.normal(size=(3, n.graph.tensors[b].elements)))
    graph = n.done(c)
    data = data_for(graph, 6)
    draft = draft_of(graph, data)

    def mean_of(name: str) -> np.ndarray:
        values = [evaluate(graph, feeds, [name])[name] for feeds in data.samples()]
        return np.asarray(np.mean([value.reshape(-1, value.shape[-1]).mean(axis=0) for value in values], axis=0))

    results = {name: mean_of(name) for name in (a, b, c)}
    for node, inputs in layer_inputs(draft, draft.lowering(), free_layers(draft), data):
        mean = np.einsum("grn,gn->gr", inputs.rows(linear_rows(graph, node)), inputs.float_mean).reshape(-1)
        np.testing.assert_allclose(mean, results[node.output], rtol=1e-4, atol=1e-5)


def test_channels_without_weights_to_speak_of(net: Any, execute: Any) -> None:
    """Folded batch normalization leaves rows of 1e-13 with biases of any size: no bias overflows, and no method stumbles over them."""
    g = np.random.default_rng(2)
    n = net(x=(1, 6, 6, 3))
    rows = g.normal(size=(6, 3, 3, 3))
    rows[1:3] *= 1e-13
    rows[3] = 0
    y = n.conv("x", rows, np.array([0.1, 0.5, -2.0, 0.25, 0.0, 3.0]), pads=(1, 1, 1, 1), clip=RELU)
    graph = n.done(n.conv(n.depthwise(y, g.normal(size=(3, 3, 6)), g.normal(size=6), clip=RELU), g.normal(size=(4, 1, 1, 6))))
    data = data_for(graph, 40)
    model = quantize(graph, data, QuantizeOptions(methods=LEVELS["best"]))
    linear = [node for node in model.graph.nodes if node.op in ("Conv", "DepthwiseConv")]
    assert [node.attributes["variant"] for node in linear] == ["int8"] * 3
    signal = noise = 0.0
    x, y_of = (model.graph.tensors[name].quantization for name in (graph.inputs[0], graph.outputs[0]))
    for feeds in data_for(graph, 8, seed=3).samples():
        exact = evaluate(graph, feeds)[graph.outputs[0]].astype(np.float64)
        (stored,) = execute(model.graph, quantize_values(feeds["x"], x))
        real = float(y_of.scale) * (stored.astype(np.float64) - int(y_of.zero_point))
        signal, noise = signal + np.sum(exact**2), noise + np.sum((exact - real) ** 2)
    assert 10 * np.log10(signal / noise) > 28


# Observers


def test_entropy_cuts_off_what_is_alone() -> None:
    g = np.random.default_rng(0)
    values = np.concatenate([np.abs(g.normal(size=200_000)), [80.0]])
    counts, _ = np.histogram(values, 4096, (0, 80))
    found = least_divergence(Histogram(Range(0.0, 80.0), counts.astype(np.int64)))
    assert 2 < found.high < 40
    assert found.low == 0
    even = Histogram(Range(-1.0, 1.0), np.full(4096, 10, np.int64))
    assert least_divergence(even) == Range(-1.0, 1.0)
    assert least_divergence(Histogram(Range(0.0, 0.0), np.zeros(4096, np.int64))) == Range(0.0, 0.0)


def test_observers_are_chosen_by_the_outputs(net: Any) -> None:
    """Rare outliers that the next layer hardly reads: clipping them is right, though they are large."""
    g = np.random.default_rng(0)
    n = net(x=(1, 16))
    graph = n.done(n.dense(n.dense("x", np.eye(16), clip=RELU), g.normal(size=(4, 16)) * np.r_[np.ones(15), 0.0]))
    x = g.normal(size=(400, 1, 16))
    x[::80, 0, 15] = 60.0
    data = Dataset(input_specs(graph), {"x": x.astype(np.float32)})
    histograms = observe(graph, data, undetermined(graph))
    draft = draft_of(graph, data)
    draft = draft.with_ranges({"x": Range(-4.0, 4.0)})
    judge = Judge(graph, data.first(64))
    ranges = candidates(graph, histograms)
    hidden = graph.nodes[0].output
    assert list(ranges) == [hidden]
    better, names = chosen(draft, ranges, judge, quiet)
    assert better.ranges[hidden].high < 10
    assert names[hidden] != "minmax"
    assert judge.sqnr_db(better) > judge.sqnr_db(draft) + 6


# What is judged


def test_logits_are_judged_where_scores_are_given(net: Any) -> None:
    n = net(x=(1, 8))
    logits = n.dense("x", np.random.default_rng(0).normal(size=(5, 8)))
    graph = n.done(n.node("Softmax", logits), n.function("x", "Exp"))
    assert judged_tensors(graph) == {logits: True, graph.outputs[1]: False}
    both = n.done(n.node("Softmax", logits), logits)
    assert judged_tensors(both) == {logits: False}


def test_methods_without_anything_to_do(net: Any) -> None:
    n = net(x=(1, 8))
    graph = n.done(n.node("Add", "x", "x", clip=UNBOUNDED))
    model = quantize(graph, data_for(graph), QuantizeOptions(methods=LEVELS["best"]))
    assert not any(effect.kept for effect in model.methods)
    assert any("nothing to do" in str(effect) for effect in model.methods)
