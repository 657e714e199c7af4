"""Interpolation in int8: the weights of docs/numerics.md §13, and what Resize becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.frontend import load
from arenite.passes import optimize
from arenite.pipeline import ConvertOptions, convert
from arenite.quantize import quantize
from arenite.quantize.lower_resample import FINEST, LARGEST_RATIO, LARGEST_SUM, integer_weights
from arenite.targets import open_engine
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(23)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    seed=st.integers(0, 2**32 - 1),
    taps=st.integers(1, 40),
    total=st.floats(0, LARGEST_SUM),
    ratio=st.one_of(st.floats(2.0**-30, 2.0**40), st.sampled_from([1.0, LARGEST_RATIO, 2.0**15])),
)
def test_weights_satisfy_the_proof_and_are_as_fine_as_it_allows(seed: int, taps: int, total: float, ratio: float) -> None:
    weight = np.random.default_rng(seed).normal(0, 1, (3, taps))
    weight *= total / np.abs(weight).sum(axis=1).max()
    got = integer_weights(weight, ratio)
    bound = 255 * int(np.abs(got.steps.astype(np.int64)).sum(axis=1).max())
    assert bound << got.shift < 1 << 31 and 0 <= got.multiplier < 1 << 31
    np.testing.assert_allclose(got.steps * got.scale, weight, rtol=0, atol=got.scale / 2)
    k = int(-np.log2(got.scale))
    finer = np.rint(weight * 2.0 ** (k + 1))
    assert k == FINEST or np.abs(finer).max() >= 1 << 15 or 255 * np.abs(finer).sum(axis=1).max() * 2.0**got.shift >= 1 << 30
    # The multiplier is the effective scale to half a step of 2^(shift − 32).
    assert abs(got.multiplier * 2.0 ** (got.shift - 32) - min(ratio, LARGEST_RATIO) * got.scale) <= 2.0 ** (got.shift - 33)


def resized(shape: tuple[int, ...], scales: tuple[float, ...], **attributes: Any) -> onnx.ModelProto:
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)
    graph = helper.make_graph(
        [node],
        "resized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [int(n * s) for n, s in zip(shape, scales, strict=True)])],
        [numpy_helper.from_array(np.asarray(scales, np.float32), "scales")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


KINDS: list[tuple[tuple[int, ...], tuple[float, ...], dict[str, Any]]] = [
    ((1, 3, 7, 5), (1, 1, 2, 3), {"mode": "linear"}),
    ((1, 3, 8, 8), (1, 1, 0.5, 0.5), {"mode": "linear", "antialias": 1}),
    ((2, 2, 6, 4), (1, 1, 1.5, 2), {"mode": "cubic"}),
    ((1, 2, 9, 9), (1, 1, 1 / 3, 2), {"mode": "cubic", "antialias": 1, "cubic_coeff_a": -0.5}),
    ((1, 2, 9), (1, 1, 2.5), {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    ((1, 2, 3, 4, 5), (1, 1, 2, 1, 2), {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}),
    ((4, 6), (2, 0.5), {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}),
]


@pytest.mark.parametrize(("shape", "scales", "attributes"), KINDS)
def test_resize(shape: tuple[int, ...], scales: tuple[float, ...], attributes: dict[str, Any], tmp_path: Path) -> None:
    """Within a rounding an axis of the reference, the same bytes in NumPy and C."""
    model = resized(shape, scales, **attributes)
    onnx.save(model, tmp_path / "resized.onnx")
    x = RNG.normal(0.5, 1, (6, *shape)).astype(np.float32)
    np.savez(tmp_path / "calibration.npz", x=x)
    conversion = convert(tmp_path / "resized.onnx", ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out"))
    assert conversion.quantized.precision == "int8"
    ports = [conversion.program.tensors[port.tensor].quantization for port in (*conversion.program.inputs, *conversion.program.outputs)]
    (x_scale, x_zero), (y_scale, y_zero) = ((float(q.scale), int(q.zero_point)) for q in ports if q is not None)
    stored = np.clip(np.rint(x[0] / x_scale) + x_zero, -128, 127).astype(np.int8)
    real = (x_scale * (stored.astype(np.float32) - x_zero)).astype(np.float32)
    (wanted,) = ReferenceEvaluator(model).run(None, {"x": real})
    results = [open_engine(engine, conversion.folder).run([[stored]])[0][0].reshape(wanted.shape) for engine in ("numpy", "c")]
    np.testing.assert_array_equal(results[0], results[1])
    inside = (wanted >= y_scale * (-128 - y_zero)) & (wanted <= y_scale * (127 - y_zero))
    axes = sum(scale != 1 for scale in scales)
    # A rounding an axis, of which the next one's weights (cubic ones add up to 1.5 in absolute value) make more.
    assert np.abs(y_scale * (results[0].astype(np.float64) - y_zero) - wanted)[inside].max() <= y_scale * 0.8 * 1.5 ** (axes - 1) * axes


@pytest.mark.parametrize(
    "engine", ["compiled", *(pytest.param(name, marks=pytest.mark.emulated) for name in ("emulated", "emulated-compiled"))]
)
def test_every_engine_gives_the_same_bytes(engine: str, tmp_path: Path) -> None:
    shape, scales, attributes = KINDS[2]
    onnx.save(resized(shape, scales, **attributes), tmp_path / "resized.onnx")
    np.savez(tmp_path / "calibration.npz", x=RNG.normal(0.5, 1, (6, *shape)).astype(np.float32))
    conversion = convert(tmp_path / "resized.onnx", ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out"))
    samples = [[RNG.integers(-128, 127, shape, endpoint=True).astype(np.int8)] for _ in range(3)]
    expected, got = (open_engine(name, conversion.folder).run(samples) for name in ("numpy", engine))
    np.testing.assert_array_equal(np.stack([y for (y,) in got]), np.stack([y for (y,) in expected]))


def test_equal_elements_stay_as_they_are(tmp_path: Path) -> None:
    model = resized((1, 1, 5, 5), (1, 1, 2, 2), mode="linear")
    onnx.save(model, tmp_path / "resized.onnx")
    np.savez(tmp_path / "calibration.npz", x=np.asarray([-1, 2], np.float32).repeat(25).reshape(2, 1, 5, 5))
    conversion = convert(tmp_path / "resized.onnx", ConvertOptions(calibration=tmp_path / "calibration.npz", output=tmp_path / "out"))
    engine = open_engine("c", conversion.folder)
    for value in range(-128, 128):
        (got,) = engine.run([[np.full((1, 1, 5, 5), value, np.int8)]])[0]
        assert (got == value).all()


def test_weights_beyond_the_bound_are_not_quantized(tmp_path: Path) -> None:
    onnx.save(resized((1, 1, 4, 4), (1, 1, 2, 2), mode="cubic", cubic_coeff_a=-90.0), tmp_path / "resized.onnx")
    quantized = quantize(optimize(load(tmp_path / "resized.onnx")))
    assert {node.attributes["variant"] for node in quantized.graph.nodes if node.op == "Resample"} == {"float32"}
