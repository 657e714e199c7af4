"""Models with control flow, converted whole and run by every engine on this machine, against both of ONNX's implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets.engine import open_engine
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

Array = NDArray[Any]
Feeds = Mapping[str, Array]
ENGINES = ("numpy", "c", "compiled")


def parsed(text: str, opset: int = 17) -> onnx.ModelProto:
    """A model in onnx's text form, without its header."""
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": {opset}]> {text}')


def with_conditions(model: onnx.ModelProto) -> onnx.ModelProto:
    """Every loop with a condition. The standard takes an absent one for true; ONNX's reference implementation makes no iteration then."""
    given = onnx.ModelProto()
    given.CopyFrom(model)
    given.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(True), "always"))

    def fill(graph: onnx.GraphProto) -> None:
        for node in graph.node:
            if node.op_type == "Loop" and not node.input[1]:
                node.input[1] = "always"
            for attribute in node.attribute:
                fill(attribute.g)

    fill(given.graph)
    return given


def wanted(model: onnx.ModelProto, feeds: Feeds, reference: bool = True) -> list[Array]:
    """By onnxruntime; the reference implementation must agree."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    theirs = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, dict(feeds))
    if reference:
        for one, other in zip(theirs, ReferenceEvaluator(with_conditions(model)).run(None, dict(feeds)), strict=True):
            # The reference implementation gives scan outputs of scalars a dimension too many.
            np.testing.assert_allclose(one, np.reshape(other, one.shape), rtol=1e-5, atol=1e-6)
    return [np.asarray(value) for value in theirs]


def close(got: Array, expected: Array) -> None:
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected)
        return
    bound = 1e-5 * float(np.abs(expected).max(initial=0)) + 1e-6
    assert np.abs(got.astype(np.float64) - expected).max(initial=0) <= bound


@pytest.fixture
def converted(tmp_path: Path) -> Callable[..., Conversion]:
    """A model as a folder."""

    def make(model: onnx.ModelProto, **options: Any) -> Conversion:
        onnx.save(model, tmp_path / "flow.onnx")
        chosen = {"precision": "float32", "output": tmp_path / "out", "force": True, **options}
        return convert(tmp_path / "flow.onnx", ConvertOptions(**chosen))

    return make


@pytest.fixture
def agree(converted: Callable[..., Conversion]) -> Callable[..., Conversion]:
    """Convert a model, and compare every engine with onnxruntime and the reference for each of `samples`."""

    def check(
        model: onnx.ModelProto | str, samples: Sequence[Feeds], reference: bool = True, opset: int = 17, **options: Any
    ) -> Conversion:
        model = parsed(model, opset) if isinstance(model, str) else model
        conversion = converted(model, **options)
        expected = [wanted(model, feeds, reference) for feeds in samples]
        order = [info.name for info in model.graph.input if info.name in samples[0]]
        for engine in ENGINES:
            results = open_engine(engine, conversion.folder).run([[feeds[name] for name in order] for feeds in samples])
            for outputs, theirs in zip(results, expected, strict=True):
                for got, one in zip(outputs, theirs, strict=True):
                    close(got, one)
        return conversion

    return check


@pytest.fixture
def values() -> Callable[..., Array]:
    rng = np.random.default_rng(3)

    def make(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(np.float32)

    return make
