"""What picks and places elements runs on int8 bytes, with indices of run time: exactly what ONNX's reference gives, in every engine.

All values are integers between −127 and 128, which int8 with scale 1 holds exactly: nothing is rounded, so that results must be equal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(11)
Array = NDArray[Any]


def whole(*shape: int) -> Array:
    """Integers as floats, the ends of what int8 holds among them."""
    values = RNG.integers(-127, 128, shape, endpoint=True).astype(np.float32)
    values.reshape(-1)[:2] = -127, 128
    return values


INPUTS: dict[str, Array] = {
    "x": whole(3, 4, 5),
    "image": whole(1, 2, 6, 6),
    "matrix": whole(4, 5),
    "value": np.asarray(77, np.float32),
    "i": np.asarray([[2, -1], [0, 3]], np.int64),
    "i32": np.asarray([1, 1, -4], np.int32),
    "elements": RNG.integers(-4, 4, (3, 2, 5)).astype(np.int64),
    "rows": np.asarray([[0, -1], [2, 1]], np.int64),
    "places": np.argsort(RNG.random((3, 4, 5)), axis=1)[:, :2].astype(np.int64),
    "starts": np.asarray([1, 0, 2], np.int64),
    "lengths": np.asarray([4, 1, 2], np.int64),
    "k": np.asarray(-1, np.int64),
}
CONSTANTS: dict[str, Array] = {
    "table": whole(7, 3),
    "updates": RNG.integers(-9, 9, (3, 2, 5)).astype(np.float32),
    "entries": RNG.integers(-9, 9, (2, 5)).astype(np.float32),
    "depth": np.asarray(6, np.int64),
    "off_on": np.asarray([-127, 128], np.float32),
    "pads": np.asarray([0, 0, 1, 0, 2, 0], np.int64),
    "image_shape": np.asarray([1, 2, 6, 6], np.int64),
    "scales": np.asarray([1, 1, 2, 3], np.float32),
    "sizes": np.asarray([2, 1, 2], np.int64),
    "repeats": np.asarray([1, 2, 3], np.int64),
}
NODES: tuple[tuple[str, list[str], int, dict[str, Any]], ...] = (
    ("Gather", ["x", "i"], 1, {"axis": 1}),
    ("Gather", ["table", "i32"], 1, {}),
    ("GatherElements", ["x", "elements"], 1, {"axis": 1}),
    ("GatherND", ["x", "rows"], 1, {}),
    ("ScatterElements", ["x", "places", "updates"], 1, {"axis": 1}),
    ("ScatterND", ["x", "rows", "entries"], 1, {}),
    ("ScatterND", ["x", "rows", "halves"], 1, {}),
    ("ScatterElements", ["x", "places", "updates"], 1, {"axis": 1, "reduction": "max"}),
    ("ScatterND", ["x", "rows", "entries"], 1, {"reduction": "min"}),
    ("TensorScatter", ["x", "updates", "starts"], 1, {"axis": 1, "mode": "circular"}),
    ("OneHot", ["i", "depth", "off_on"], 1, {}),
    ("Trilu", ["matrix", "k"], 1, {"upper": 0}),
    ("Trilu", ["matrix"], 1, {}),
    ("ReverseSequence", ["x", "lengths"], 1, {"batch_axis": 0, "time_axis": 1}),
    ("Pad", ["x", "pads", "value"], 1, {}),
    ("Pad", ["x", "pads"], 1, {"mode": "wrap"}),
    ("MaxPool", ["image"], 2, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("MaxUnpool", ["MaxPool_16_0", "MaxPool_16_1", "image_shape"], 1, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("Resize", ["image", "", "scales"], 1, {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    ("SpaceToDepth", ["image"], 1, {"blocksize": 2}),
    ("Split", ["x"], 2, {"axis": 1, "num_outputs": 2}),
    ("Tile", ["x", "repeats"], 1, {}),
)


def model() -> onnx.ModelProto:
    """Every node of NODES reads inputs and constants, and gives outputs; one updates with another's results, of half the scale."""
    nodes = [helper.make_node("Slice", ["matrix", "zero", "two"], ["top"]), helper.make_node("Mul", ["top", "half"], ["halves"])]
    outputs = ["halves"]
    for number, (op, inputs, count, attributes) in enumerate(NODES):
        names = [f"{op}_{number}_{i}" for i in range(count)]
        nodes.append(helper.make_node(op, inputs, names, **attributes))
        outputs += names
    constants = {**CONSTANTS, "zero": np.asarray([0]), "two": np.asarray([2]), "half": np.asarray([[0.5]], np.float32)}
    graph = helper.make_graph(
        nodes,
        "movement",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in INPUTS.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    inferred = onnx.shape_inference.infer_shapes(made)
    known = {info.name: info for info in inferred.graph.value_info} | {info.name: info for info in inferred.graph.output}
    del made.graph.output[:]
    made.graph.output.extend(known[name] for name in outputs)
    for info in made.graph.output:
        assert info.type.tensor_type.elem_type != TensorProto.UNDEFINED, info.name
    return made


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Conversion, list[Array]]:
    """The model in int8 with float32 ports, and what the reference gives."""
    folder: Path = tmp_path_factory.mktemp("movement")
    made = model()
    onnx.save(made, folder / "movement.onnx")
    np.savez(folder / "calibration.npz", **{name: x[None] for name, x in INPUTS.items()})
    options = ConvertOptions(calibration=folder / "calibration.npz", output=folder / "out", io="float32")
    wanted = ReferenceEvaluator(made).run(None, INPUTS)
    return convert(folder / "movement.onnx", options), [np.asarray(y) for y in wanted]


def test_nothing_leaves_int8(converted: tuple[Conversion, list[Array]]) -> None:
    variants = {(node.op, node.attributes["variant"]) for node in converted[0].quantized.graph.nodes if "variant" in node.attributes}
    assert {variant for _, variant in variants} == {"int8", "bytes", "plain_int8"}
    assert {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "TensorScatter", "OneHot", "Trilu"} <= {
        op for op, _ in variants
    }


@pytest.mark.parametrize(
    "engine",
    ["numpy", "c", "compiled", *(pytest.param(name, marks=pytest.mark.emulated) for name in ("emulated", "emulated-compiled"))],
)
def test_results_are_those_of_the_reference(engine: str, converted: tuple[Conversion, list[Array]]) -> None:
    conversion, wanted = converted
    got = open_engine(engine, conversion.folder).run([list(INPUTS.values())])[0]
    names = [port.name for port in conversion.program.outputs]
    assert len(names) == len(wanted)
    for name, y, want in zip(names, got, wanted, strict=True):
        # `halves` has steps of its own, and what is scattered of it is rounded to steps of 1.
        tolerance = 0.51 if name in ("halves", "ScatterND_6_0") else 0
        np.testing.assert_allclose(y.reshape(want.shape), want, rtol=0, atol=tolerance, err_msg=f"{name}, {engine}")


@pytest.mark.parametrize("index", [-(2**63), 2**63 - 1, 100, -100])
def test_indices_that_lie_outside(index: int, converted: tuple[Conversion, list[Array]]) -> None:
    """They read the nearest place and write nothing, alike in both engines."""
    conversion, _ = converted
    feeds = {
        name: np.full_like(x, max(min(index, np.iinfo(x.dtype).max), np.iinfo(x.dtype).min)) if x.dtype.kind == "i" else x
        for name, x in INPUTS.items()
    }
    expected, got = (open_engine(engine, conversion.folder).run([list(feeds.values())])[0] for engine in ("numpy", "c"))
    for a, b in zip(expected, got, strict=True):
        np.testing.assert_array_equal(a, b)
