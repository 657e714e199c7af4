"""Steps of optimizers, BatchNormalization in training mode, n-grams: compared with the reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from onnx import helper

DOMAIN = "ai.onnx.preview.training"


def operands(values, kinds, variables, iteration):
    shapes = [(3,), (2, 4)][:variables]
    inputs = {"r": np.array(0.1, np.float32), "t": np.array(iteration)}
    for kind in kinds:
        for v, shape in enumerate(shapes):
            array = values(*shape, seed=ord(kind))
            inputs[f"{kind}{v}"] = np.abs(array) if kind == "h" else array
    return inputs


@pytest.mark.parametrize("variables", [1, 2])
@pytest.mark.parametrize("iteration", [0, 3])
@pytest.mark.parametrize(
    ("op", "kinds", "how"),
    [
        ("Adagrad", "xgh", {"norm_coefficient": 0.01, "decay_factor": 0.1, "epsilon": 1e-3}),
        ("Adam", "xgvh", {"norm_coefficient": 0.01, "alpha": 0.8, "beta": 0.7, "epsilon": 1e-3}),
        ("Adam", "xgvh", {"norm_coefficient_post": 0.2, "alpha": 0.8, "beta": 0.7}),
        ("Momentum", "xgv", {"norm_coefficient": 0.01, "alpha": 0.8, "beta": 0.7, "mode": "standard"}),
        ("Momentum", "xgv", {"norm_coefficient": 0.01, "alpha": 0.8, "beta": 0.7, "mode": "nesterov"}),
    ],
)
def test_steps_of_optimizers(op, kinds, how, iteration, variables, agree, values):
    inputs = operands(values, kinds, variables, iteration)
    outputs = tuple(f"{kind}_new{v}" for kind in kinds.replace("g", "") for v in range(variables))
    node = helper.make_node(op, list(inputs), outputs, domain=DOMAIN, **how)
    agree(node, inputs, outputs=outputs, opset=17, oracles=("reference",), domains={DOMAIN: 1})


def test_an_optimizer_without_its_operands(attempt, values):
    inputs = operands(values, "xg", 1, 0)
    node = helper.make_node("Adam", list(inputs), ["y"], domain=DOMAIN, alpha=0.8, beta=0.7)
    with pytest.raises(ModelFileError, match=r"4 inputs are not R, T and 4 tensors"):
        attempt(node, inputs, opset=17, domains={DOMAIN: 1})


@pytest.mark.parametrize("opset", [14, 15])
@pytest.mark.parametrize("shape", [(3, 2, 4, 5), (6, 3), (1, 2, 7)])
def test_batch_normalization_in_training(shape, opset, agree, values):
    channels = shape[1]
    inputs = {"x": values(*shape) * 3 + 1, **{name: values(channels, seed=i) for i, name in enumerate("sbm")}}
    inputs["v"] = np.abs(values(channels, seed=9))
    node = helper.make_node("BatchNormalization", list(inputs), ["y", "m2", "v2"], training_mode=1, momentum=0.7, epsilon=1e-2)
    agree(node, inputs, outputs=("y", "m2", "v2"), opset=opset, oracles=("reference",), tolerance=1e-4)
    agree(
        helper.make_node("BatchNormalization", list(inputs), ["y"], training_mode=1),
        inputs,
        opset=opset,
        oracles=("reference",),
        tolerance=1e-4,
    )


POOL = {"pool_int64s": [5, 7, 2, 2, 3, 5, 4, 5, 6, 1, 2, 3], "ngram_counts": [0, 3, 9], "ngram_indexes": [3, 0, 6, 1, 2, 4, 5]}
ONE_A_COLUMN = {**POOL, "ngram_indexes": list(range(7))}


@pytest.mark.parametrize("lengths", [(1, 1), (1, 3), (2, 3), (3, 3)], ids=str)
@pytest.mark.parametrize("skips", [0, 2])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_n_grams(dtype, skips, lengths, agree):
    x = np.random.default_rng(skips).integers(1, 8, (3, 11)).astype(dtype)
    node = helper.make_node(
        "TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=lengths[0], max_gram_length=lengths[1], max_skip_count=skips, **POOL
    )
    agree(node, {"x": x}, oracles=("reference", "onnxruntime"))
    agree(node, {"x": x[0]}, oracles=("reference", "onnxruntime"))


@pytest.mark.parametrize("mode", ["IDF", "TFIDF"])
@pytest.mark.parametrize("weights", [{}, {"weights": [0.5, 1.5, 2.0, 0.25, 3.0, 1.0, 0.125]}], ids=["plain", "weighted"])
def test_weights_of_n_grams(mode, weights, agree):
    x = np.random.default_rng(7).integers(1, 8, (2, 12))
    how = {"mode": mode, "min_gram_length": 1, "max_gram_length": 3, "max_skip_count": 1, **weights}
    agree(helper.make_node("TfIdfVectorizer", ["x"], ["y"], **how, **ONE_A_COLUMN), {"x": x}, oracles=("onnxruntime",))


def test_n_grams_that_int32_does_not_hold(agree):
    """They never stand in a row of int32, rather than as what is left of them."""
    x = np.array([[1, 2, 3, 1, 2]], np.int32)
    how = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0}
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **how, pool_int64s=[2**32 + 1, 1], ngram_counts=[0], ngram_indexes=[0, 1])
    agree(node, {"x": x}, oracles=(), expected=[np.array([[0, 2]], np.float32)])


def test_texts_are_refused(attempt):
    how = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0}
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], **how, pool_strings=["a", "b"], ngram_counts=[0], ngram_indexes=[0, 1])
    with pytest.raises(UnsupportedModelError, match="texts"):
        attempt(node, {"x": np.array([[1, 2]])})
