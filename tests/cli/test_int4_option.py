"""convert --weights int4, --int4-layer, --int4-loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from arenite.errors import QuantizationError
from arenite.pipeline import ConvertOptions, calibrate_command, convert
from arenite.targets import open_engine
from onnx import helper, numpy_helper


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Conv, DepthwiseConv, Gemm, with calibration data beside it."""
    rng = np.random.default_rng(3)
    shapes = {"cw": (10, 3, 3, 3), "dw": (10, 1, 3, 3), "gw": (640, 7)}
    weights = [numpy_helper.from_array(rng.normal(0, 0.3, shape).astype(np.float32), name) for name, shape in shapes.items()]
    nodes = [
        helper.make_node("Conv", ["x", "cw"], ["c"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Conv", ["r", "dw"], ["d"], "spread", pads=[1, 1, 1, 1], group=10),
        helper.make_node("Flatten", ["d"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "gw"], ["y"], "last"),
    ]
    x, y = (helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", [1, 3, 8, 8]), ("y", [1, 7])))
    onnx.save(
        helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights), opset_imports=[helper.make_opsetid("", 17)]),
        tmp_path / "m.onnx",
    )
    np.savez(tmp_path / "x.npz", x=rng.normal(0, 1, (24, 3, 8, 8)).astype(np.float32))
    return tmp_path / "m.onnx"


def test_every_engine_and_the_report(model: Path) -> None:
    made = {
        layers: convert(model, ConvertOptions(calibration=model.parent / "x.npz", int4_layers=layers, output=model.parent / str(layers)))
        for layers in ((), None, ("last",))
    }
    kernels = {layers: {layer.name: layer.variant for layer in found.report.layers} for layers, found in made.items()}
    assert "int4_lanes" not in kernels[()].values()
    assert kernels[None]["first"] == kernels[None]["last"] == "int4_lanes" != kernels[None]["spread"]
    assert kernels[("last",)]["first"] != "int4_lanes" == kernels[("last",)]["last"]
    bytes_of = {layers: sum(layer.weight_bytes for layer in found.report.layers if layer.name == "last") for layers, found in made.items()}
    assert bytes_of[None] < 0.6 * bytes_of[()]
    x = np.random.default_rng(4).integers(-128, 128, (3, 1, 3, 8, 8)).astype(np.int8)
    outputs = {
        name: [y[0].tobytes() for y in open_engine(name, made[None].folder).run([[s] for s in x])] for name in ("numpy", "c", "compiled")
    }
    assert outputs["numpy"] == outputs["c"] == outputs["compiled"]


def test_not_for_layers_that_are_not_int8(model: Path) -> None:
    with pytest.raises(QuantizationError, match="--precision float32"):
        convert(model, ConvertOptions(precision="float32", int4_layers=None, output=model.parent / "out"))


def test_the_command_to_calibrate_keeps_them() -> None:
    path = Path("m.onnx")
    assert "--weights int4 --int4-loss 3" in calibrate_command(path, ConvertOptions(int4_layers=None, int4_loss_db=3.0))
    assert "--int4-layer last" in calibrate_command(path, ConvertOptions(int4_layers=("last",)))
