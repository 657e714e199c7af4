"""Small ONNX models, and the comparison of their import with ONNX's two implementations: onnxruntime and the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.frontend import load
from arenite.graph import Graph
from arenite.graph.onnx_export import evaluate
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = NDArray[Any]


@dataclass
class Case:
    """An ONNX model to be: nodes, inputs by name (an array gives shape, type and value), constants, output names."""

    nodes: Sequence[onnx.NodeProto]
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array] = field(default_factory=dict)
    outputs: Sequence[str] = ("y",)
    opset: int = 17
    functions: Sequence[onnx.FunctionProto] = ()
    domains: Mapping[str, int] = field(default_factory=dict)

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(
            list(self.nodes),
            "case",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in self.inputs.items()],
            [helper.make_empty_tensor_value_info(name) for name in self.outputs],
            [numpy_helper.from_array(np.asarray(a), n) for n, a in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(d, v) for d, v in self.domains.items())]
        model = helper.make_model(graph, opset_imports=opsets, functions=list(self.functions), ir_version=10)
        # The checker wants element types of outputs; inference knows them, except behind operators that it does not know.
        try:
            inferred = onnx.shape_inference.infer_shapes(model)
        except onnx.shape_inference.InferenceError:
            inferred = model
        for declared, known in zip(model.graph.output, inferred.graph.output, strict=True):
            declared.CopyFrom(known)
            if not known.type.HasField("tensor_type"):
                declared.CopyFrom(helper.make_tensor_value_info(known.name, onnx.TensorProto.FLOAT, None))
        return model


def run_onnxruntime(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return list(onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, dict(feeds)))


def run_reference(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    return list(ReferenceEvaluator(model).run(None, dict(feeds)))


ORACLES = {"onnxruntime": run_onnxruntime, "reference": run_reference}


def as_int8(array: Array) -> Array:
    """Quantized uint8 inputs and outputs of the model are int8 in the IR."""
    return (array ^ np.uint8(0x80)).view(np.int8) if array.dtype == np.uint8 else array


def import_model(model: onnx.ModelProto, folder: Path) -> Graph:
    path = folder / "case.onnx"
    path.write_bytes(model.SerializeToString())
    return load(path)


def compare(
    case: Case, folder: Path, oracles: Sequence[str] = tuple(ORACLES), expected: Sequence[Array] | None = None, tolerance: float = 1e-5
) -> Graph:
    """Import a case and compare its outputs with the oracles', or with `expected`, relative to the greatest value."""
    model = case.model()
    graph = import_model(model, folder)
    feeds = {name: as_int8(a) if graph.tensors[name].dtype.value == "int8" else a for name, a in case.inputs.items()}
    got = evaluate(graph, {n: a.astype(np.float32) if a.dtype.kind == "f" else a for n, a in feeds.items() if n in graph.inputs})
    results = {name: ORACLES[name](model, case.inputs) for name in oracles}
    if expected is not None:
        results["the specification"] = list(expected)
    assert results
    for oracle, wants in results.items():
        for name, want in zip(case.outputs, wants, strict=True):
            have = got[name]
            assert have.shape == np.shape(want), f"{name}: {have.shape}, {oracle} says {np.shape(want)}"
            if have.dtype == np.int8:
                np.testing.assert_array_equal(have, as_int8(np.asarray(want)), err_msg=f"{name} against {oracle}")
            elif have.dtype.kind in "iub":
                assert have.dtype == np.asarray(want).dtype
                np.testing.assert_array_equal(have, want, err_msg=f"{name} against {oracle}")
            else:
                want64 = np.asarray(want, np.float64)
                atol = tolerance * max(1e-6, float(np.abs(want64[np.isfinite(want64)]).max(initial=0)))
                np.testing.assert_allclose(have.astype(np.float64), want64, rtol=0, atol=atol, err_msg=f"{name} against {oracle}")
    return graph


@pytest.fixture(scope="session")
def make_case() -> type[Case]:
    return Case


@pytest.fixture
def agree(tmp_path: Path) -> Callable[..., Graph]:
    """agree(nodes, inputs, constants=…, outputs=…, opset=…, oracles=…, expected=…): import, compare, return the graph."""

    def check(nodes: Sequence[onnx.NodeProto] | onnx.NodeProto, inputs: Mapping[str, Array], constants: Any = None, **how: Any) -> Graph:
        compared = {key: how.pop(key) for key in ("oracles", "expected", "tolerance") if key in how}
        listed = [nodes] if isinstance(nodes, onnx.NodeProto) else nodes
        return compare(Case(listed, inputs, constants or {}, **how), tmp_path, **compared)

    return check


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[..., Graph]:
    """attempt(nodes, inputs, …): import only, for what must be refused."""

    def check(nodes: Sequence[onnx.NodeProto] | onnx.NodeProto, inputs: Mapping[str, Array], constants: Any = None, **how: Any) -> Graph:
        listed = [nodes] if isinstance(nodes, onnx.NodeProto) else nodes
        return import_model(Case(listed, inputs, constants or {}, **how).model(), tmp_path)

    return check


@pytest.fixture(scope="session")
def values() -> Callable[..., Array]:
    """values(shape, seed=0): float32 normal numbers."""

    def draw(*shape: int, seed: int = 0) -> Array:
        return np.random.default_rng((seed, *shape)).normal(size=shape).astype(np.float32)

    return draw


@pytest.fixture(scope="session")
def hypothesis_agree(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Graph]:
    """As `agree`, for tests that hypothesis runs many times."""
    folder = tmp_path_factory.mktemp("onnx")

    def check(node: onnx.NodeProto, inputs: Mapping[str, Array], constants: Any = None, opset: int = 17, **how: Any) -> Graph:
        return compare(Case([node], inputs, constants or {}, opset=opset), folder, **how)

    return check
