"""Layer normalization of values that are nothing beside its epsilon: the report says what int8 cannot hold."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from arenite.pipeline import ConvertOptions, convert
from onnx import TensorProto, helper, numpy_helper


@pytest.mark.parametrize(("size", "limited"), [(1e-10, True), (1.0, False)])
def test_epsilon_beyond_what_int8_holds(tmp_path, size, limited):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("LayerNormalization", ["x", "g"], ["y"], name="norm", epsilon=1e-5)],
        "g",
        [value("x", TensorProto.FLOAT, [1, 10])],
        [value("y", TensorProto.FLOAT, [1, 10])],
        initializer=[numpy_helper.from_array(np.ones(10, np.float32), "g")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=(size * np.random.default_rng(0).standard_normal((16, 1, 10))).astype(np.float32))
    conversion = convert(tmp_path / "m.onnx", ConvertOptions(calibration=tmp_path / "x.npz", output=tmp_path / "out"))
    assert any("norm" in note and "epsilon, 1e-05" in note and "--float-layer" in note for note in conversion.report.notes) == limited
