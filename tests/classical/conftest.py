"""Models of ai.onnx.ml operators, converted as float32 and run by the NumPy and the C engine, beside ONNX's two implementations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.frontend import load
from arenite.passes import optimize
from arenite.plan import plan
from arenite.quantize.to_typed import to_typed
from arenite.targets import open_engine
from arenite_runtime import Model
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator

Array = NDArray[Any]
ML = "ai.onnx.ml"


def ml_node(op: str, inputs: Sequence[str] = ("x",), outputs: Sequence[str] = ("y",), **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, list(inputs), list(outputs), domain=ML, **attributes)


def ml_model(nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, Array], outputs: Sequence[str], version: int) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "case",
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, version)], ir_version=9)
    inferred = onnx.shape_inference.infer_shapes(model)
    first = next(iter(inputs.values())).dtype
    same = helper.np_dtype_to_tensor_dtype(first if nodes[-1].op_type == "Imputer" else np.dtype(np.float32))
    for declared, known in zip(model.graph.output, inferred.graph.output, strict=True):
        declared.CopyFrom(known if known.type.WhichOneof("value") else helper.make_tensor_value_info(known.name, same, None))
    return model


@dataclass
class Prediction:
    model: onnx.ModelProto
    inputs: Mapping[str, Array]
    flat: Model
    results: dict[str, list[Array]]
    """By engine."""

    def onnxruntime(self) -> list[Any]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        return list(onnxruntime.InferenceSession(self.model.SerializeToString(), options).run(None, dict(self.inputs)))

    def reference(self) -> list[Any]:
        return list(ReferenceEvaluator(self.model).run(None, dict(self.inputs)))

    def equals(self, wanted: Sequence[Any], tolerance: float = 1e-5) -> None:
        """Every engine's outputs: integers and texts exactly, floats relative to the greatest."""
        for engine, results in self.results.items():
            for index, (have, want) in enumerate(zip(results, wanted, strict=True)):
                want = np.asarray(want)
                message = f"output {index} of engine {engine}"
                if want.dtype.kind in "OSU":
                    have = np.asarray(self.flat.outputs[index].labels)[have]
                assert have.shape == want.shape, f"{message}: {have.shape} instead of {want.shape}"
                if want.dtype.kind != "f":
                    np.testing.assert_array_equal(have, want, err_msg=message)
                    continue
                assert have.dtype == np.float32, message
                finite = np.isfinite(want)
                atol = tolerance * float(np.abs(want[finite]).max(initial=1e-6))
                np.testing.assert_allclose(have, want.astype(np.float32), rtol=0, atol=atol, err_msg=message)


@pytest.fixture(scope="session")
def predict(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Prediction]:
    """predict(nodes, x, …): of a node or several, for an input x or a mapping of inputs; outputs, and the version of ai.onnx.ml."""
    folder = tmp_path_factory.mktemp("classical")

    def run(
        nodes: onnx.NodeProto | Sequence[onnx.NodeProto],
        x: Array | Mapping[str, Array],
        outputs: Sequence[str] | None = None,
        version: int = 3,
    ) -> Prediction:
        listed = [nodes] if isinstance(nodes, onnx.NodeProto) else list(nodes)
        inputs = x if isinstance(x, Mapping) else {"x": x}
        model = ml_model(listed, inputs, outputs or list(listed[-1].output), version)
        return Prediction(model, inputs, *engines(model, inputs, folder))

    return run


def engines(model: onnx.ModelProto, inputs: Mapping[str, Array], folder: Path) -> tuple[Model, dict[str, list[Array]]]:
    path = folder / "case.onnx"
    path.write_bytes(model.SerializeToString())
    graph = load(path)
    typed = to_typed(optimize(graph))
    (folder / "case.arn").write_bytes(serialize(build_program(typed, plan(typed), name="case", calibrated=True)))
    flat = Model.load(folder / "case.arn")
    sample = [inputs[port.name].astype(port.dtype) for port in flat.inputs]
    return flat, {engine: open_engine(engine, folder).run([sample])[0] for engine in ("numpy", "c")}


@pytest.fixture(scope="session")
def node() -> Callable[..., onnx.NodeProto]:
    """node(op, inputs=("x",), outputs=("y",), **attributes), of ai.onnx.ml."""
    return ml_node


@pytest.fixture
def attempt(tmp_path: Path) -> Callable[..., None]:
    """attempt(nodes, x): import only, for what must be refused."""

    def run(nodes: onnx.NodeProto | Sequence[onnx.NodeProto], x: Array | Mapping[str, Array], version: int = 3) -> None:
        listed = [nodes] if isinstance(nodes, onnx.NodeProto) else list(nodes)
        inputs = x if isinstance(x, Mapping) else {"x": x}
        path = tmp_path / "case.onnx"
        path.write_bytes(ml_model(listed, inputs, list(listed[-1].output), version).SerializeToString())
        load(path)

    return run


@pytest.fixture(scope="session")
def forest() -> Callable[..., dict[str, Any]]:
    """forest(seed, …): the attributes nodes_… and, under the names of `kind`, weights of random trees."""

    def grow(
        seed: int,
        kind: str = "target",
        trees: int = 3,
        depth: int = 4,
        features: int = 5,
        scores: int = 1,
        modes: Sequence[str] = ("BRANCH_LEQ",),
        missing: bool = False,
        per_leaf: int = 1,
        low: float = -1.0,
    ) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        a: dict[str, list[Any]] = {f"nodes_{name}": [] for name in _NODE}
        a |= {f"{kind}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
        for tree in range(trees):
            _grow(
                rng,
                a,
                tree,
                depth,
                features,
                modes,
                missing,
                lambda place, tree=tree: _weigh(rng, a, kind, tree, place, scores, per_leaf, low),
            )
        return a

    return grow


_NODE = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")


def _grow(
    rng: np.random.Generator,
    a: dict[str, list[Any]],
    tree: int,
    depth: int,
    features: int,
    modes: Sequence[str],
    missing: bool,
    weigh: Callable[[int], None],
) -> int:
    """A subtree; its node's number. Thresholds are multiples of 1/2, so that elements can equal them."""
    place = sum(t == tree for t in a["nodes_treeids"])
    is_leaf = depth == 0 or (place > 0 and rng.random() < 0.2)
    row = [tree, place, int(rng.integers(features)), float(rng.integers(-4, 5)) / 2, "LEAF" if is_leaf else str(rng.choice(modes)), 0, 0]
    for name, value in zip(_NODE, [*row, int(missing and rng.random() < 0.5)], strict=True):
        a[f"nodes_{name}"].append(value)
    index = len(a["nodes_treeids"]) - 1
    if is_leaf:
        weigh(place)
    else:
        for name in ("truenodeids", "falsenodeids"):
            child = _grow(rng, a, tree, depth - 1, features, modes, missing, weigh)
            a[f"nodes_{name}"][index] = child
    return place


def _weigh(
    rng: np.random.Generator, a: dict[str, list[Any]], kind: str, tree: int, place: int, scores: int, per_leaf: int, low: float
) -> None:
    for score in rng.permutation(scores)[:per_leaf]:
        for name, value in (
            ("treeids", tree),
            ("nodeids", place),
            ("ids", int(score)),
            ("weights", float(np.float32(rng.uniform(low, 1)))),
        ):
            a[f"{kind}_{name}"].append(value)


@pytest.fixture(scope="session")
def rows() -> Callable[..., Array]:
    """rows(count, features, seed=0, missing=False): multiples of 1/2 and numbers between, NaN and infinities where missing."""

    def draw(count: int, features: int, seed: int = 0, missing: bool = False) -> Array:
        rng = np.random.default_rng((seed, count, features))
        x = np.where(rng.random((count, features)) < 0.5, rng.integers(-5, 6, (count, features)) / 2, rng.normal(0, 1.5, (count, features)))
        if missing:
            x = np.where(rng.random(x.shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], x.shape), x)
        return x.astype(np.float32)

    return draw
