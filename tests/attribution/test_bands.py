"""verify --layers of a model in bands: layer by layer the figures of the plain model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.attribution import attribute
from arenite.pipeline import ConvertOptions, Limits, convert
from onnx import TensorProto, helper, numpy_helper


def save_block(path: Path) -> None:
    """Expand, depthwise with a stride, project, twice; a residual Add of the last."""
    rng = np.random.default_rng(1)
    shapes = {"a": (8, 3, 3, 3), "b": (48, 8, 1, 1), "c": (48, 1, 3, 3), "d": (8, 48, 1, 1), "e": (8, 8, 3, 3)}
    weights = [
        numpy_helper.from_array((rng.standard_normal(shape) * np.prod(shape[1:]) ** -0.5).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["stem"], name="stem", **same),
        helper.make_node("Conv", ["stem", "b"], ["wide"], name="expand"),
        helper.make_node("Conv", ["wide", "c"], ["filtered"], name="filter", group=48, strides=[2, 2], **same),
        helper.make_node("Relu", ["filtered"], ["positive"], name="relu"),
        helper.make_node("Conv", ["positive", "d"], ["projected"], name="project"),
        helper.make_node("Conv", ["projected", "e"], ["branch"], name="branch", **same),
        helper.make_node("Add", ["projected", "branch"], ["sum"], name="add"),
        helper.make_node("GlobalAveragePool", ["sum"], ["y"], name="mean"),
    ]
    value = helper.make_tensor_value_info
    ports = [value("x", TensorProto.FLOAT, [1, 3, 24, 20])], [value("y", TensorProto.FLOAT, [1, 8, 1, 1])]
    graph = helper.make_graph(nodes, "block", *ports, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


@pytest.mark.parametrize("share", [0.45, 0.3])
def test_layers_in_bands_have_the_figures_of_the_plain_model(tmp_path: Path, share: float) -> None:
    save_block(tmp_path / "m.onnx")
    data = tmp_path / "x.npz"
    np.savez(data, x=np.random.default_rng(9).standard_normal((6, 1, 3, 24, 20)).astype(np.float32))
    plain = convert(tmp_path / "m.onnx", ConvertOptions(calibration=data, output=tmp_path / "plain"))
    limit = Limits(ram_bytes=int(share * plain.report.ram_bytes))
    banded = convert(tmp_path / "m.onnx", ConvertOptions(calibration=data, output=tmp_path / "bands", limits=limit))
    cut = {call.band.tensor for call in banded.program.calls if call.band is not None}
    assert len(cut) >= 2
    whole, parts = (attribute(tmp_path / "m.onnx", tmp_path / name, data) for name in ("plain", "bands"))
    assert [layer.output for layer in parts.layers] == [layer.output for layer in whole.layers]
    for a, b in zip(whole.layers, parts.layers, strict=True):
        assert (a.name, a.op, a.sqnr_db, a.cosine) == (b.name, b.op, b.sqnr_db, b.cosine)
        assert (a.alone_db, a.output_db, a.changed) == (b.alone_db, b.output_db, b.changed)
    assert {layer.output for layer in parts.layers if layer.alone_db is not None} >= cut & {layer.output for layer in whole.layers}
