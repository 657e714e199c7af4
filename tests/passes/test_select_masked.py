"""select_masked: masks of attention, which exporters add."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from arenite.frontend import load
from arenite.graph import DType, Graph
from arenite.passes import optimize
from arenite.passes.select_masked import select_masked
from arenite.quantize import InputSpec, QuantizeOptions, quantize
from arenite.quantize.calibration_data import Dataset

Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]
CAUSAL = np.tril(np.ones((4, 4), bool))


def mask(fill: float, keep: np.ndarray = CAUSAL) -> np.ndarray:
    return np.where(keep, 0, fill).astype(np.float32)


@pytest.mark.parametrize("fill", [-np.inf, -3.4028235e38, -1e30])
def test_a_mask_of_stand_ins_for_infinity_selects(fill: float, build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(build.node("Softmax", build.node("Add", build.input(1, 4, 4), build.constant(mask(fill)[None]))))
    selected = select_masked(graph)
    assert ops(selected) == ["Where", "Softmax"]
    same(graph, selected, tolerance=0)


@pytest.mark.parametrize("fill", [-1e4, -1e9])
def test_other_numbers_select_in_front_of_a_softmax_only(fill: float, build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(build.node("Softmax", build.node("Add", build.constant(mask(fill)[None]), build.input(1, 4, 4))))
    selected = select_masked(graph)
    assert ops(selected) == ["Where", "Softmax"]
    same(graph, selected, tolerance=1e-7)


def test_where_the_sum_is_seen_it_stays(build: Any, ops: Ops) -> None:
    total = build.node("Add", build.input(1, 4, 4), build.constant(mask(-1e4)[None]))
    assert ops(select_masked(build.done(build.node("Softmax", total), total))) == ["Add", "Softmax"]


def test_a_row_that_is_masked_as_a_whole_stays(build: Any, ops: Ops) -> None:
    keep = CAUSAL.copy()
    keep[2] = False
    graph = build.done(build.node("Softmax", build.node("Add", build.input(1, 4, 4), build.constant(mask(-1e4, keep)[None]))))
    assert ops(select_masked(graph)) == ["Add", "Softmax"]


@pytest.mark.parametrize("values", [mask(-50.0), np.float32([[0, -1e9, -np.inf, 0]]), np.float32([[1, -np.inf, 1, 1]])])
def test_what_is_no_mask_stays(values: np.ndarray, build: Any, ops: Ops) -> None:
    graph = build.done(build.node("Softmax", build.node("Add", build.input(1, 4, 4), build.constant(np.broadcast_to(values, (1, 4, 4))))))
    assert ops(select_masked(graph)) == ["Add", "Softmax"]


@pytest.mark.parametrize("fill", ["-inf", "-3.4028235e38", "-1e9"])
def test_masked_attention_in_int8(fill: str, tmp_path: Path) -> None:
    """The scores that stay keep their resolution, and those that do not weigh nothing."""
    numbers = ", ".join("0.0" if keep else ("-inf" if fill == "-inf" else fill) for keep in CAUSAL.ravel())
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]> g (float[1,4,6] x) => (float y) {{
            m = Constant <value = float[4,4] {{{numbers.replace("-inf", "0.0")}}}> ()
            t = Transpose <perm = [0, 2, 1]> (x)
            s = MatMul(x, t)
            a = Add(s, m)
            p = Softmax <axis = -1> (a)
            y = MatMul(p, x)
        }}"""
    )
    if fill == "-inf":  # the parser knows no infinities
        values = onnx.numpy_helper.from_array(mask(-np.inf), "m")
        model.graph.node[0].attribute[0].t.CopyFrom(values)
    path = tmp_path / "attention.onnx"
    path.write_bytes(model.SerializeToString())
    x = np.random.default_rng(0).normal(size=(32, 1, 4, 6)).astype(np.float32)
    result = quantize(optimize(load(path)), Dataset((InputSpec("x", (1, 4, 6), DType.FLOAT32),), {"x": x}), QuantizeOptions())
    assert "Where" in [node.op for node in result.graph.nodes]
    assert result.sqnr_db["y"] > 25
