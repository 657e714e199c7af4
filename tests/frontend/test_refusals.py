"""Unsupported models: everything at once, each with node, operator, problem and remedy; exit code 5."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from arenite.frontend import load
from onnx import helper

DATA = Path(os.environ.get("ARENITE_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no model collection at {DATA} (set ARENITE_DATA)")


def problems(call, *arguments, **how):
    with pytest.raises(UnsupportedModelError) as caught:
        call(*arguments, **how)
    assert caught.value.exit_code == 5
    assert all(p.node and p.operator and p.problem and p.remedy for p in caught.value.problems)
    for p in caught.value.problems:
        assert str(p) in str(caught.value)
    return caught.value.problems


def test_all_at_once(attempt, values):
    """An unknown domain, an operator that ONNX lacks, one that is not supported, an attribute, behind each other."""
    nodes = [
        helper.make_node("Swizzle", ["x"], ["a"], name="one", domain="acme"),
        helper.make_node("Erfc", ["a"], ["b"], name="two"),
        helper.make_node("Bernoulli", ["x"], ["c"], name="three"),
        helper.make_node("Pad", ["x", "p"], ["d"], name="four", mode="mirror"),
        helper.make_node("Add", ["b", "d"], ["e"], name="fine"),
        helper.make_node("Unique", ["e"], ["y"], name="five"),
    ]
    constants = {"p": np.array([0, 0, 1, 0, 0, 1])}
    found = problems(attempt, nodes, {"x": values(1, 3, 3)}, constants, outputs=["y", "c"], domains={"acme": 1})
    assert [(p.node, p.operator) for p in found] == [
        ("one", "acme.Swizzle"),
        ("two", "Erfc"),
        ("three", "Bernoulli"),
        ("four", "Pad"),
        ("five", "Unique"),
    ]
    assert "mode is 'mirror'" in found[3].problem
    assert "ONNX has no such operator" in found[1].problem and "1 − Erf(x)" in found[1].remedy


def test_checking_goes_on_behind_a_refused_node(attempt, values):
    """The shape behind the Bernoulli is inferred, and so the attributes of later nodes are checked too."""
    nodes = [
        helper.make_node("Bernoulli", ["x"], ["a"], name="up"),
        helper.make_node("AveragePool", ["a"], ["b"], name="pool", kernel_shape=[2, 2], pads=[2, 2, 2, 2]),
        helper.make_node("Softmax", ["b"], ["y"]),
    ]
    found = problems(attempt, nodes, {"x": values(1, 2, 4, 4)})
    assert [p.node for p in found] == ["up", "pool"]


def test_several_problems_of_one_node(attempt, values):
    names = [f"c{i}" for i in range(4)]
    node = helper.make_node("BatchNormalization", ["x", *names], ["y", "m", "v", "n", "w"], name="bn", spatial=0)
    found = problems(attempt, node, {"x": values(2, 3)}, {n: np.abs(values(3)) for n in names}, opset=8)
    assert [p.node for p in found] == ["bn", "bn"]


def test_operator_newer_than_the_opset(attempt, values):
    (found,) = problems(attempt, helper.make_node("Gelu", ["x"], ["y"]), {"x": values(3)}, opset=17)
    assert found.problem == "opset 17 does not have it (it came with opset 20)"
    assert found.remedy == "export with opset 20 or later"
    assert found.node == "y"


def test_operator_that_a_newer_opset_would_not_help(attempt, values):
    (found,) = problems(attempt, helper.make_node("Bernoulli", ["x"], ["y"]), {"x": values(1, 3)}, opset=12)
    assert found.problem == "the operator is not supported"
    assert "opset 15" not in found.remedy


@pytest.mark.parametrize(
    ("op", "domain", "advice"),
    [
        ("QAttention", "com.microsoft", "QDQ"),
        ("FusedConv", "com.microsoft", "before onnxruntime's graph optimizations"),
        ("DictVectorizer", "ai.onnx.ml", "a tensor of numbers"),
        ("Custom", "acme", "model-local function"),
        ("Bernoulli", "", "drawn at run time"),
        ("ImageDecoder", "", "supported operators"),
        ("Nonsense", "", "ONNX's own operators"),
    ],
)
def test_remedies(op, domain, advice, attempt, values):
    node = helper.make_node(op, ["x"], ["y"], domain=domain)
    (found,) = problems(attempt, node, {"x": values(3)}, domains={domain: 1} if domain else {})
    assert advice in found.remedy
    assert found.operator == (f"{domain}.{op}" if domain else op)


@needs_data
@pytest.mark.parametrize(
    ("file", "count", "operators", "problem"),
    [
        ("deeploy_kws_dscnn.onnx", 10, {"RequantShift"}, "ONNX has no such operator"),
        ("keras3_digits_cnn_export.onnx", 1, {"Erfc"}, "ONNX has no such operator"),
        ("har_cnn1d_norm__qdq_s8_perch.onnx", 6, {"DequantizeLinear"}, "the attribute axis=0 does not exist in opset 12"),
    ],
)
def test_real_models(file, count, operators, problem):
    found = problems(load, DATA / "models" / "refuse" / file)
    assert len(found) == count
    assert {p.operator for p in found} == operators
    assert all(p.problem.startswith(problem) for p in found)


def test_the_shape_of_a_refused_result_is_no_problem_of_its_own(attempt, values):
    nodes = [
        helper.make_node("Swizzle", ["x"], ["a"], name="one", domain="acme"),
        helper.make_node("Shape", ["a"], ["s"], name="two"),
        helper.make_node("Reshape", ["x", "s"], ["y"], name="three"),
    ]
    found = problems(attempt, nodes, {"x": values(2, 3)}, domains={"acme": 1})
    assert [p.node for p in found] == ["one"]


@pytest.mark.parametrize(
    ("op", "attributes", "operand", "shape"),
    [
        ("Expand", {}, np.array([10**9, 4]), r"[1000000000, 4]: 16,000,000,000 bytes"),
        ("Pad", {}, np.array([10**10, 0, 0, 0]), r"[10000000001, 4]"),
        ("Tile", {}, np.array([10**5, 10**5]), "160,000,000,000 bytes"),
        ("Resize", {"mode": "linear"}, np.array([1e9, 1e9], np.float32), r"[1000000000, 4000000000]"),
    ],
)
def test_results_that_no_file_can_hold(op, attributes, operand, shape, attempt, values):
    """Before any pass or engine tries to allocate them."""
    inputs = ["x", "", "k"] if op == "Resize" else ["x", "k"]
    node = helper.make_node(op, inputs, ["y"], name="grow", **attributes)
    (found,) = problems(attempt, node, {"x": values(1, 4)}, {"k": operand})
    assert found.node == "grow" and shape in found.problem and "at most" in found.problem
