"""What exporters spell out, through the frontend and all passes: one node of the function that is meant, with its values.

The graphs are written as exporters write them: TorchScript before opset 14 and 17, tf2onnx, Keras, hand-written modules.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from arenite.frontend import load
from arenite.graph import Graph
from arenite.graph.onnx_export import evaluate
from arenite.passes import optimize
from arenite.quantize import keep_float, quantize
from onnx.reference import ReferenceEvaluator


def model(body: str, shape: str = "1,4,6", opset: int = 13, outputs: str = "float y") -> onnx.ModelProto:
    parsed = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[{shape}] x) => ({outputs}) {{ {body} }}')
    onnx.checker.check_model(parsed)
    return parsed


def converted(parsed: onnx.ModelProto, folder: Path) -> tuple[Graph, list[str]]:
    """The optimized graph, checked against ONNX's reference, and the operators that a float32 target runs."""
    path = folder / "model.onnx"
    path.write_bytes(parsed.SerializeToString())
    graph = optimize(load(path))
    x = np.random.default_rng(1).normal(0, 3, graph.tensors["x"].shape).astype(np.float32)
    expected = ReferenceEvaluator(parsed).run(None, {"x": x})
    typed = keep_float(graph).graph
    for name, want in zip(typed.outputs, expected, strict=True):
        got = evaluate(graph, {"x": x})[name]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * float(np.abs(want).max()) + 1e-6)
    return graph, [node.op for node in typed.nodes]


def constant(name: str, *values: float, shape: str = "") -> str:
    return f"{name} = Constant <value = float{shape} {{{', '.join(map(str, values))}}}> ()\n"


HALF, ONE, TWO, THREE, SIX = (constant(n, v) for n, v in (("half", 0.5), ("one", 1.0), ("two", 2.0), ("three", 3.0), ("six", 6.0)))
ZERO = constant("zero", 0.0)

SPELLINGS = {
    "SiLU of torch and Keras": ("s = Sigmoid(x) y = Mul(x, s)", "Swish"),
    "SiLU by exp": (f"{ONE} n = Neg(x) e = Exp(n) d = Add(one, e) y = Div(x, d)", "Swish"),
    "quick GELU": (f"{constant('c', 1.702)} a = Mul(x, c) s = Sigmoid(a) y = Mul(x, s)", "Swish"),
    "sigmoid by exp": (f"{ONE} n = Neg(x) e = Exp(n) d = Add(e, one) y = Div(one, d)", "Sigmoid"),
    "HardSwish of torch before opset 14": ("h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul(x, h)", "HardSwish"),
    "HardSwish by Clip, quotient last": (
        f"{ZERO} {THREE} {SIX} a = Add(x, three) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)",
        "HardSwish",
    ),
    "HardSwish by Clip, quotient first": (
        f"{ZERO} {THREE} {SIX} a = Add(three, x) c = Clip(a, zero, six) d = Div(c, six) y = Mul(d, x)",
        "HardSwish",
    ),
    "HardSwish of Keras": (
        f"{THREE} {SIX} {constant('sixth', 0.16666667)} a = Add(x, three) r = Relu(a) c = Min(r, six) d = Mul(c, sixth) y = Mul(x, d)",
        "HardSwish",
    ),
    "hard sigmoid by Clip": (f"{ZERO} {THREE} {SIX} a = Add(x, three) c = Clip(a, zero, six) y = Div(c, six)", "HardSigmoid"),
    "GELU of torch before opset 20": (
        f"{HALF} {ONE} {constant('r', 1.4142135)} d = Div(x, r) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half)",
        "Gelu",
    ),
    "GELU of tf2onnx": (
        f"{HALF} {ONE} {constant('r', 0.70710677)} d = Mul(x, r) e = Erf(d) a = Add(e, one) h = Mul(x, half) y = Mul(h, a)",
        "Gelu",
    ),
    "GELU by tanh": (
        f"{HALF} {ONE} {THREE} {constant('k', 0.7978845834732056)} {constant('c', 0.044714998453855515)}"
        "p = Pow(x, three) q = Mul(p, c) s = Add(x, q) t = Mul(s, k) u = Tanh(t) v = Add(u, one) w = Mul(x, v) y = Mul(w, half)",
        "Gelu",
    ),
    "GELU by tanh, products for the power": (
        f"{HALF} {ONE} {constant('k', 0.7978845834732056)} {constant('c', 0.044714998453855515)}"
        "a = Mul(x, x) p = Mul(a, x) q = Mul(p, c) s = Add(x, q) t = Mul(s, k) u = Tanh(t) v = Add(u, one) w = Mul(half, v) y = Mul(x, w)",
        "Gelu",
    ),
    "Mish of torch before opset 18": ("s = Softplus(x) t = Tanh(s) y = Mul(x, t)", "Mish"),
    "softplus": (f"{ONE} e = Exp(x) a = Add(e, one) y = Log(a)", "Softplus"),
    "softsign of torch": (f"{ONE} a = Abs(x) b = Add(a, one) y = Div(x, b)", "Softsign"),
    "leaky ReLU": (f"{constant('c', 0.125)} m = Mul(x, c) y = Max(x, m)", "LeakyRelu"),
    "ELU": (f"{ZERO} {ONE} r = Relu(x) n = Min(x, zero) e = Exp(n) m = Sub(e, one) y = Add(r, m)", "Elu"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_spelled_function_is_one_node(spelling: str, tmp_path: Path) -> None:
    body, function = SPELLINGS[spelling]
    graph, ops = converted(model(body), tmp_path)
    assert ops == [function]
    assert [node.op for node in quantize(graph).graph.nodes] == ["Lookup"]


def test_factors_of_a_spelling_are_not_taken_by_the_next_layer(tmp_path: Path) -> None:
    """The last product of GELU could become part of the matrix; then what is left would be no GELU."""
    weights = constant("w", *np.linspace(-1, 1, 18), shape="[6,3]")
    _, ops = converted(
        model(SPELLINGS["GELU of torch before opset 20"][0].replace("y = Mul", "z = Mul") + f"{weights} y = MatMul(z, w)"), tmp_path
    )
    assert ops == ["Gelu", "FullyConnected"]


NOT_QUITE = {
    "another bound": f"{ZERO} {constant('a3', 2.99)} {SIX} a = Add(x, a3) c = Clip(a, zero, six) m = Mul(x, c) y = Div(m, six)",
    "two variables": "t = Tanh(x) s = Sigmoid(t) y = Mul(x, s)",
    "no GELU": f"{HALF} {ONE} {constant('r', 1.41)} d = Div(x, r) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half)",
}


@pytest.mark.parametrize("case", NOT_QUITE)
def test_what_only_looks_like_a_function_keeps_its_arithmetic(case: str, tmp_path: Path) -> None:
    _, ops = converted(model(NOT_QUITE[case]), tmp_path)
    assert not {"HardSwish", "Gelu", "Swish", "Mish"} & set(ops)
    assert len(ops) > 1


def test_a_value_that_is_read_elsewhere_stays(tmp_path: Path) -> None:
    _, ops = converted(model("s = Sigmoid(x) y = Mul(x, s)", outputs="float y, float s"), tmp_path)
    assert sorted(ops) == ["Mul", "Sigmoid"]


# Normalization

EPSILON = constant("eps", 1e-5)
GAIN = constant("gain", *np.linspace(0.5, 1.5, 6), shape="[6]") + constant("bias", *np.linspace(-1, 1, 6), shape="[6]")
MEAN = "u = ReduceMean <axes = [-1]> (x) d = Sub(x, u)"
START = f"{EPSILON} {MEAN}"
VARIANCE = f"{START} p = Mul(d, d) v = ReduceMean <axes = [2]> (p) a = Add(v, eps)"

NORMALIZATIONS = {
    "torch before opset 17": f"{TWO} {START} p = Pow(d, two) v = ReduceMean <axes = [-1]> (p)a = Add(v, eps) r = Sqrt(a) n = Div(d, r)",
    "with the difference twice": f"{START} d2 = Sub(x, u) p = Mul(d2, d2) v = ReduceMean <axes = [-1]> (p) a = Add(eps, v)"
    "r = Sqrt(a) n = Div(d, r)",
    "by a reciprocal": f"{VARIANCE} r = Sqrt(a) i = Reciprocal(r) n = Mul(d, i)",
    "by 1 over the root": f"{ONE} {VARIANCE} r = Sqrt(a) i = Div(one, r)n = Mul(i, d)",
    "by a power": f"{constant('e', -0.5)} {VARIANCE} i = Pow(a, e) n = Mul(d, i)",
    "variance by squares": f"{START} p = Mul(x, x) q = ReduceMean <axes = [2]> (p) w = Mul(u, u) v0 = Sub(q, w) v = Relu(v0)"
    "a = Add(v, eps) r = Sqrt(a) n = Div(d, r)",
    "without dimensions kept": f"{START} p = Mul(d, d) v0 = ReduceMean <axes = [2], keepdims = 0> (p)"
    "at = Constant <value = int64[1] {2}> () v = Unsqueeze(v0, at) a = Add(v, eps) r = Sqrt(a) n = Div(d, r)",
}


@pytest.mark.parametrize("spelling", NORMALIZATIONS)
def test_a_spelled_layer_normalization_is_one_node(spelling: str, tmp_path: Path) -> None:
    _, ops = converted(model(f"{NORMALIZATIONS[spelling]} y = Identity(n)"), tmp_path)
    assert ops == ["LayerNormalization"]


def test_rms_normalization(tmp_path: Path) -> None:
    graph, ops = converted(
        model(f"{EPSILON} p = Mul(x, x) v = ReduceMean <axes = [-1]> (p) a = Add(v, eps) r = Sqrt(a) y = Div(x, r)"), tmp_path
    )
    assert ops == ["LayerNormalization"]
    assert graph.nodes[0].attributes["centred"] is False


def test_keras_scales_and_shifts(tmp_path: Path) -> None:
    """x·s + (β − µ·s) with s = γ/√(v + ε)."""
    body = (
        f"{EPSILON} {GAIN} {ONE} {MEAN} p = Mul(d, d) v = ReduceMean <axes = [-1]> (p) a = Add(v, eps) r = Sqrt(a) i = Reciprocal(r)"
        "s = Mul(i, gain) m = Mul(x, s) o = Mul(u, s) b = Sub(bias, o) y = Add(m, b)"
    )
    _, ops = converted(model(body), tmp_path)
    assert ops == ["LayerNormalization"]


def test_keras_3_pools_and_negates(tmp_path: Path) -> None:
    """x·s + ((−µ)·s + β), the means as GlobalAveragePools along the last of three dimensions."""
    body = (
        f"{EPSILON} {GAIN} u = GlobalAveragePool(x) k = Neg(u) d = Sub(x, u) p = Mul(d, d) v = GlobalAveragePool(p) a = Add(v, eps)"
        "r = Sqrt(a) i = Reciprocal(r) s = Mul(i, gain) m = Mul(x, s) o = Mul(k, s) b = Add(o, bias) y = Add(m, b)"
    )
    _, ops = converted(model(body), tmp_path)
    assert ops == ["LayerNormalization"]


def test_normalization_along_channels_of_an_image(tmp_path: Path) -> None:
    """ConvNeXt's: along dimension 1; transposed to the end, and back."""
    body = (
        f"{EPSILON} u = ReduceMean <axes = [1]> (x) d = Sub(x, u) p = Mul(d, d) v = ReduceMean <axes = [1]> (p)"
        "a = Add(v, eps) r = Sqrt(a) y = Div(d, r)"
    )
    _, ops = converted(model(body, shape="1,5,3,4"), tmp_path)
    assert sorted(set(ops)) == ["LayerNormalization", "Transpose"]


def test_group_normalization_of_torchscript_is_as_the_operator_itself(tmp_path: Path) -> None:
    rows, image = "[3] {0, 2, -1}", "[4] {1, 4, 3, 3}"
    gain = constant("gain", 0.5, 1.5, -1.0, 2.0, shape="[4]") + constant("bias", 1, 2, 3, 4, shape="[4]")
    spelled = (
        f"{gain} one2 = Constant <value = float[2] {{1, 1}}> () zero2 = Constant <value = float[2] {{0, 0}}> ()"
        f"s = Constant <value = int64{rows}> () t = Constant <value = int64{image}> ()"
        "a = Reshape(x, s) n = InstanceNormalization <epsilon = 1e-5> (a, one2, zero2) b = Reshape(n, t)"
        "g = Constant <value = float[4,1,1] {0.5, 1.5, -1.0, 2.0}> () h = Constant <value = float[4,1,1] {1, 2, 3, 4}> ()"
        "m = Mul(b, g) y = Add(m, h)"
    )
    whole = f"{gain} y = GroupNormalization <num_groups = 2, epsilon = 1e-5> (x, gain, bias)"
    _, from_parts = converted(model(spelled, shape="1,4,3,3"), tmp_path)
    _, from_whole = converted(model(whole, shape="1,4,3,3", opset=21), tmp_path)
    assert from_parts == from_whole
    assert from_parts.count("LayerNormalization") == 1


NO_NORMALIZATION = {
    "other axes": f"{EPSILON} u = ReduceMean <axes = [1]> (x) d = Sub(x, u) p = Mul(d, d) v = ReduceMean <axes = [2]> (p)"
    "a = Add(v, eps) r = Sqrt(a) y = Div(d, r)",
    "epsilon outside of the root": f"{START} p = Mul(d, d) v = ReduceMean <axes = [2]> (p) r = Sqrt(v)a = Add(r, eps) y = Div(d, a)",
    "the square of something else": f"{START} t = Abs(d) e = Exp(t) p = Mul(e, e) v = ReduceMean <axes = [2]> (p) a = Add(v, eps)"
    "r = Sqrt(a) y = Div(d, r)",
}


@pytest.mark.parametrize("case", NO_NORMALIZATION)
def test_other_statistics_stay(case: str, tmp_path: Path) -> None:
    _, ops = converted(model(NO_NORMALIZATION[case]), tmp_path)
    assert "ReduceMean" in ops


def test_a_variance_that_is_an_output_stays(tmp_path: Path) -> None:
    body = f"{VARIANCE} r = Sqrt(a) y = Div(d, r)"
    _, ops = converted(model(body, outputs="float y, float v"), tmp_path)
    assert "LayerNormalization" not in ops
