"""Shapes of graphs that exporters write, each as small as it can be. docs/exporters.md says who writes them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from arenite.frontend import load
from arenite.graph import DType, Graph
from arenite.passes import optimize
from arenite.pipeline import ConvertOptions, convert
from arenite.quantize import InputSpec, quantize
from arenite.quantize.calibration_data import Dataset
from arenite.targets import open_engine
from onnx import helper, numpy_helper

Agree = Callable[..., Graph]


@pytest.mark.parametrize("opset", [1, 9])
def test_top_k_before_opset_10_has_k_as_an_attribute(opset: int, agree: Agree, values: Any) -> None:
    node = helper.make_node("TopK", ["x"], ["y", "i"], k=3, axis=1)
    agree(node, {"x": values(2, 7)}, outputs=("y", "i"), opset=opset, oracles=("onnxruntime",))


def test_a_weight_of_layers_with_different_scales(tmp_path: Path, values: Any) -> None:
    """In int8 each layer's bias and multipliers go with its own scales; the weight is stored once."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]> g (float[1,6] x) => (float y) {
            a = Gemm <transB = 1> (x, w, b)
            r = Relu(a)
            hundred = Constant <value = float {100}> ()
            h = Mul(r, hundred)
            y = Gemm <transB = 1> (h, w, b)
        }"""
    )
    model.graph.initializer.extend([numpy_helper.from_array(values(6, 6), "w"), numpy_helper.from_array(values(6), "b")])
    path = tmp_path / "tied.onnx"
    path.write_bytes(model.SerializeToString())
    x = np.random.default_rng(0).normal(size=(64, 1, 6)).astype(np.float32)
    result = quantize(optimize(load(path)), Dataset((InputSpec("x", (1, 6), DType.FLOAT32),), {"x": x}))
    assert [node.op for node in result.graph.nodes].count("FullyConnected") == 2
    assert result.sqnr_db["y"] > 30


def test_names_that_are_no_c_identifiers(tmp_path: Path, values: Any) -> None:
    """Slashes, colons, dots, spaces, keywords, other alphabets, two that differ in such characters only: ports keep them."""
    names = ["int", "/model.0/conv:0", "/model/0.conv:0", "größe 1", "2nd"]
    nodes = [helper.make_node("Add", [a, b], [f"{a}->{b}"], name=f"{a}+{b}") for a, b in pairwise(names)]
    graph = helper.make_graph(
        nodes,
        "main(",
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 3]) for name in names],
        [helper.make_tensor_value_info(node.output[0], onnx.TensorProto.FLOAT, [1, 3]) for node in nodes],
    )
    path = tmp_path / "a model-1.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    conversion = convert(path, ConvertOptions(precision="float32", output=tmp_path / "folder"))
    assert [port.name for port in conversion.report.inputs] == names
    inputs = [values(1, 3, seed=i) for i in range(len(names))]
    for engine in ("c", "compiled"):
        (outputs,) = open_engine(engine, conversion.folder).run([inputs])
        for i, output in enumerate(outputs):
            np.testing.assert_allclose(output, inputs[i] + inputs[i + 1], rtol=1e-6)


def test_a_batch_that_is_left_open(tmp_path: Path) -> None:
    """Shape arithmetic with it, as TorchScript writes x.view(x.size(0), -1): evaluated at conversion."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 13]> g (float[N,2,3] x) => (float[N,M] y) {
            s = Shape(x)
            zero = Constant <value = int64 {0}> ()
            n = Gather <axis = 0> (s, zero)
            at = Constant <value = int64[1] {0}> ()
            n1 = Unsqueeze(n, at)
            rest = Constant <value = int64[1] {-1}> ()
            shape = Concat <axis = 0> (n1, rest)
            v = Reshape(x, shape)
            y = Sigmoid(v)
        }"""
    )
    path = tmp_path / "open.onnx"
    path.write_bytes(model.SerializeToString())
    graph = optimize(load(path))
    assert {node.op for node in graph.nodes} <= {"Reshape", "Elementwise"}
    assert graph.tensors["y"].shape == (1, 6)
