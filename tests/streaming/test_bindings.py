"""Inputs that become constants: --bind."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnx.parser
import pytest
from arenite.errors import PortError
from arenite.frontend import load
from arenite.pipeline import ConvertOptions, calibrate_command, convert
from arenite.targets import open_engine
from arenite.verify import verify

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
branches (float[N, 4] x, int64 rate, bool loud, float[N, 4] offset) => (float[N, 4] y) {
    limit = Constant<value = int64 {9000}>()
    fast = Greater(rate, limit)
    s = If(fast) <
        then_branch = high () => (float[N, 4] h) { h = Add(x, offset) },
        else_branch = low () => (float[N, 4] l) { l = Sub(x, offset) }
    >
    y = If(loud) <
        then_branch = up () => (float[N, 4] u) { u = Add(s, s) },
        else_branch = as_is () => (float[N, 4] a) { a = Identity(s) }
    >
}"""
VALUES = {"rate": 16000, "loud": 1, "offset": 0.5}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "branches.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


def test_taken_branches(model, tmp_path):
    conversion = convert(model, ConvertOptions(precision="float32", output=tmp_path / "out", values=VALUES))
    assert [port.name for port in conversion.program.inputs] == ["x"]
    assert conversion.report.values == VALUES
    x = np.array([[1, 2, -3, 4]], np.float32)
    np.testing.assert_array_equal(open_engine("c", tmp_path / "out").run([[x]])[0][0], 2 * (x + 0.5))
    slow = convert(model, ConvertOptions(precision="float32", output=tmp_path / "slow", values={**VALUES, "rate": 8000, "loud": 0}))
    np.testing.assert_array_equal(open_engine("numpy", slow.folder).run([[x]])[0][0], x - 0.5)


def test_verify_binds_too(model, tmp_path):
    """The ONNX file still has the inputs: onnxruntime is given the same numbers."""
    convert(model, ConvertOptions(precision="float32", output=tmp_path / "out", values=VALUES))
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(0, 1, (5, 1, 4)).astype(np.float32))
    found = verify(model, tmp_path / "out", tmp_path / "x.npy", engines=("numpy", "c"))
    assert found.agree and found.engines["c"].sqnr_db == float("inf")


def test_the_command_to_calibrate_keeps_them(model):
    options = ConvertOptions(values={"rate": 16000.0, "offset": 0.1}, states={"y": "x"})
    assert calibrate_command(model, options).endswith("--bind rate=16000 --bind offset=0.1 --state y=x")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speed": 1}, "--bind speed names no input; the model has x, rate, loud, offset"),
        ({"rate": 0.5}, "--bind rate=0.5: the input is int64"),
        ({"rate": float("inf")}, "--bind rate=inf: the input is int64"),
        ({"offset": float("nan")}, "--bind offset=nan: the input is float32, give it a number"),
        ({"loud": 2}, "--bind loud=2: the input is bool, from 0 to 1"),
    ],
)
def test_refusals(values, message, model):
    with pytest.raises(PortError, match=re.escape(message)):
        load(model, values=values)


def test_a_number_that_the_model_cannot_take(tmp_path):
    """Not the file is at fault but the option, which the message names beside the node."""
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 4] x, int64 i) => (float[1] y) { y = Gather<axis = 1>(x, i) }'
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    load(path, values={"i": 3})
    with pytest.raises(PortError, match=r"y \(Gather\).*7.*Given were --bind i=7") as caught:
        load(path, values={"i": 7})
    assert caught.value.exit_code == 4
