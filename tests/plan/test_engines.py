"""What the planner lets share bytes, executed: NumPy, the C interpreter and the compiled form against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine

ENGINES = ("numpy", "c", "compiled")
PARTS = """
    <ir_version: 8, opset_import: ["": 17]>
    parts (float[1, 24] x) => (float[1, 40] y)
    <float[24, 8] narrow, float[24, 32] broad, int64[3] sizes = {8, 16, 16}, float[16, 16] square>
    {
        a = MatMul (x, narrow)
        b = MatMul (x, broad)
        whole = Concat <axis = 1> (a, b)
        first, second, third = Split <axis = 1> (whole, sizes)
        turned = MatMul (second, square)
        summed = Add (turned, third)
        bounded = Relu (summed)
        y = Concat <axis = 1> (bounded, second, first)
    }
"""
CHAIN = """
    <ir_version: 8, opset_import: ["": 17]>
    chain (float[1, 3, 20, 17] x) => (float[1, 24] y)
    <float[8, 3, 3, 3] w0, float[8, 1, 3, 3] w1, float[24, 8, 1, 1] w2, float[24, 1, 3, 3] w3, float[24, 24, 1, 1] w4>
    {
        a = Conv <pads = [1, 1, 1, 1]> (x, w0)
        b = Relu (a)
        c = Conv <pads = [1, 1, 1, 1], group = 8> (b, w1)
        d = Conv (c, w2)
        e = Relu (d)
        f = Conv <pads = [1, 1, 1, 1], strides = [2, 2], group = 24> (e, w3)
        g = Conv (f, w4)
        h = Add (g, f)
        pooled = ReduceMean <axes = [2, 3], keepdims = 0> (h)
        y = Identity (pooled)
    }
"""


def saved(text: str, path: Path) -> onnx.ModelProto:
    model = onnx.parser.parse_model(text)
    random = np.random.default_rng(3)
    for info in model.graph.value_info:
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        if info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT and shape:
            model.graph.initializer.append(onnx.numpy_helper.from_array(random.normal(0, 0.4, shape).astype(np.float32), info.name))
    del model.graph.value_info[:]
    onnx.save(model, path)
    return model


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("text, shape", [(PARTS, (1, 24)), (CHAIN, (1, 3, 20, 17))], ids=["parts", "chain"])
def test_engines_agree(text: str, shape: tuple[int, ...], precision: str, tmp_path: Path) -> None:
    model = saved(text, tmp_path / "model.onnx")
    samples = np.random.default_rng(4).normal(0, 1, (16, *shape)).astype(np.float32)
    np.savez(tmp_path / "data.npz", x=samples.reshape(16, *shape[1:]))
    calibration = tmp_path / "data.npz" if precision == "int8" else None
    options = ConvertOptions(output=tmp_path / "out", precision=precision, io="float32", calibration=calibration, target="cortex-m4")
    conversion = convert(tmp_path / "model.onnx", options)
    permutation = (
        (0, 2, 3, 1) if conversion.program.tensors[conversion.program.inputs[0].tensor].shape != shape else tuple(range(len(shape)))
    )
    inputs = [[sample.transpose(permutation)] for sample in samples]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = np.concatenate([session.run(None, {"x": sample})[0] for sample in samples])
    results = {engine: np.concatenate([out[0] for out in open_engine(engine, tmp_path / "out").run(inputs)]) for engine in ENGINES}
    assert np.array_equal(results["c"], results["compiled"])
    if precision == "int8":
        assert np.array_equal(results["numpy"], results["c"])
        noise = np.square(results["c"] - expected).mean()
        assert 10 * np.log10(np.square(expected).mean() / noise) > 25
    else:
        np.testing.assert_allclose(results["numpy"], expected, rtol=0, atol=1e-5 * np.abs(expected).max() + 1e-6)
        np.testing.assert_allclose(results["c"], expected, rtol=0, atol=1e-5 * np.abs(expected).max() + 1e-6)
    if text is PARTS:
        copies = sum(call.op == "StridedCopy" for call in conversion.program.calls)
        assert copies <= 3  # of eight: what lies in `whole` cannot lie in `y` as well
    else:
        placements = conversion.plan.placements.values()
        assert conversion.plan.proven_optimal
        assert conversion.plan.arena_bytes < sum(sorted(place.bytes for place in placements)[-2:])  # the largest two share bytes
