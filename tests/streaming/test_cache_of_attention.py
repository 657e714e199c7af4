"""A cache of keys that a stream of frames is written into, attended over: all of it int8, in one quantization, in every engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FRAMES, PLACES, WIDTH = 40, 8, 4
RNG = np.random.default_rng(31)


def attention() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["key"]),
        helper.make_node("TensorScatter", ["cache", "key", "place"], ["kept"], axis=1, mode="circular"),
        helper.make_node("Transpose", ["kept"], ["keys"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["x", "keys"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["shares"], axis=-1),
        helper.make_node("MatMul", ["shares", "kept"], ["y"]),
    ]
    ports = {"x": (1, 1, WIDTH), "cache": (1, PLACES, WIDTH), "y": (1, 1, WIDTH), "kept": (1, PLACES, WIDTH)}
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ports.items()}
    place = helper.make_tensor_value_info("place", TensorProto.INT64, (1,))
    weights = numpy_helper.from_array(RNG.normal(0, 0.5, (WIDTH, WIDTH)).astype(np.float32), "w")
    graph = helper.make_graph(nodes, "attention", [info["x"], info["cache"], place], [info["y"], info["kept"]], [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)


def test_int8_cache(tmp_path: Path) -> None:
    model = attention()
    onnx.save(model, tmp_path / "attention.onnx")
    x = RNG.normal(0, 1, (FRAMES, 1, 1, WIDTH)).astype(np.float32)
    places = (np.arange(FRAMES, dtype=np.int64) % PLACES)[:, None]
    np.savez(tmp_path / "frames.npz", x=x, place=places)
    options = ConvertOptions(calibration=tmp_path / "frames.npz", output=tmp_path / "out", io="float32", states={"kept": "cache"})
    conversion = convert(tmp_path / "attention.onnx", options)
    assert conversion.quantized.precision == "int8"
    # Nothing between the cache's two ends: it is written in place, in its own quantization.
    assert [node.op for node in conversion.quantized.graph.nodes if node.op == "Lookup"] == []
    reference, cache, wanted = ReferenceEvaluator(model), np.zeros((1, PLACES, WIDTH), np.float32), []
    for frame, place in zip(x, places, strict=True):
        y, cache = reference.run(None, {"x": frame, "cache": cache, "place": place})
        wanted.append(np.asarray(y))
    results = {
        name: np.stack(
            [y for (y,) in open_engine(name, conversion.folder).run([[frame, place] for frame, place in zip(x, places, strict=True)])]
        )
        for name in ("numpy", "c", "compiled")
    }
    for name, got in results.items():
        np.testing.assert_array_equal(got, results["numpy"], err_msg=name)
    noise = np.sum((results["c"].reshape(FRAMES, -1) - np.stack(wanted).reshape(FRAMES, -1)) ** 2)
    assert 10 * np.log10(np.sum(np.square(wanted)) / noise) > 30
