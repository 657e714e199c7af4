"""Values without a range that the model itself takes out again: the layers that see them are not quantized."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from arenite.errors import CalibrationError
from arenite.frontend import load
from arenite.graph import DType, Graph
from arenite.passes import optimize
from arenite.quantize import InputSpec, QuantizeOptions, quantize
from arenite.quantize.calibration_data import Dataset


def imported(body: str, folder: Path) -> Graph:
    path = folder / "model.onnx"
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float[1,8] x) => (float y) {{ {body} }}'
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return optimize(load(path))


def samples(count: int = 32) -> Dataset:
    x = np.random.default_rng(0).normal(size=(count, 1, 8)).astype(np.float32)
    return Dataset((InputSpec("x", (1, 8), DType.FLOAT32),), {"x": x})


def test_an_untaken_branch_may_be_nan(tmp_path: Path) -> None:
    """√|x| written as a choice between √x and √−x, one of which is NaN."""
    body = "zero = Constant <value = float {0}> () c = Less(x, zero) n = Neg(x) a = Sqrt(n) b = Sqrt(x) s = Where(c, a, b) y = Tanh(s)"
    result = quantize(imported(body, tmp_path), samples(), QuantizeOptions())
    ops = [node.op for node in result.graph.nodes]
    assert ops.count("Sqrt") == 2 and "Lookup" in ops
    assert result.sqnr_db["y"] > 30


def test_infinities_that_come_out_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="NaN or infinite"):
        quantize(imported("s = Sqrt(x) y = Add(s, x)", tmp_path), samples(), QuantizeOptions())
