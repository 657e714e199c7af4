"""int8 and uint8 elements moved between QuantizeLinear and DequantizeLinear: what onnxruntime computes, no byte of it in float."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.errors import UnsupportedModelError
from arenite.frontend import load
from arenite.passes import optimize
from arenite.quantize import quantize
from arenite.quantize.evaluation import open_evaluator
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SCALE, ZERO = 0.05, -10
SHAPE = (1, 4, 6, 6)
DOUBLED = np.asarray([1, 1, 2, 2], np.float32)
PADS = np.asarray([0, 0, 1, 2, 0, 0, 3, 1], np.int64)
NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}


def whole(*values: int) -> NDArray[np.int64]:
    return np.asarray(values, np.int64)


Case = tuple[str, list[Any], dict[str, Any]]
"""Operator; operands behind the first, constants (int8 ones are shifted for uint8), None: absent, "q": the first again; attributes."""

CASES: dict[str, Case] = {
    "gather": ("Gather", [whole(0, 3, 1)], {"axis": 1}),
    "gather_elements": ("GatherElements", [np.zeros((1, 2, 3, 3), np.int64)], {"axis": 1}),
    "gather_nd": ("GatherND", [whole(0, 1)[None]], {}),
    "compress": ("Compress", [np.asarray([True, False, False, True])], {"axis": 1}),
    "reverse": ("ReverseSequence", [whole(3)], {"batch_axis": 0, "time_axis": 1}),
    "tile": ("Tile", [whole(1, 1, 2, 2)], {}),
    "depth_to_space": ("DepthToSpace", [], {"blocksize": 2}),
    "space_to_depth": ("SpaceToDepth", [], {"blocksize": 2}),
    "pad_with_the_zero_point": ("Pad", [PADS, np.asarray(ZERO, np.int8)], {}),
    "pad_with_a_value": ("Pad", [PADS, np.asarray(100, np.int8)], {}),
    "pad_with_the_byte_0": ("Pad", [PADS], {}),
    "pad_by_reflection": ("Pad", [PADS], {"mode": "reflect"}),
    "resize": ("Resize", [None, DOUBLED], NEAREST),
    "scatter": ("ScatterElements", [np.full((1, 1, 6, 6), 2), np.full((1, 1, 6, 6), 77, np.int8)], {"axis": 1}),
    "concat": ("Concat", ["q"], {"axis": 1}),
}


def between(case: Case, dtype: type) -> onnx.ModelProto:
    operator, operands, attributes = case
    shift = 128 if dtype is np.uint8 else 0
    arrays = {"scale": np.asarray(SCALE, np.float32), "zero": np.asarray(ZERO + shift, dtype)}
    names = ["q"]
    for i, operand in enumerate(operands):
        if isinstance(operand, np.ndarray):
            arrays[f"c{i}"] = (operand.astype(np.int32) + shift).astype(dtype) if operand.dtype == np.int8 else operand
        names.append("" if operand is None else f"c{i}" if isinstance(operand, np.ndarray) else operand)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node(operator, names, ["moved"], name="movement", **attributes),
        helper.make_node("DequantizeLinear", ["moved", "scale", "zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "between",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9))


def compared(model: onnx.ModelProto, folder: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of the optimized graph with rounded activations, and of onnxruntime. All of the graph has an int8 form."""
    onnx.save(model, folder / "between.onnx")
    graph = optimize(load(folder / "between.onnx"))
    assert quantize(graph).precision == "int8"
    x = np.random.default_rng(3).normal(0, 3, SHAPE).astype(np.float32)
    (wanted,) = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})
    (got,) = open_evaluator(graph, graph.outputs, fake_quantize=True)({"x": x}).values()
    return got, wanted


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("case", CASES)
def test_movement(case: str, dtype: type, tmp_path: Path) -> None:
    got, wanted = compared(between(CASES[case], dtype), tmp_path)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_interpolation_is_rounded_to_nearest(dtype: type, tmp_path: Path) -> None:
    """onnxruntime cuts the fraction off, along both axes at once; here each axis is rounded."""
    got, wanted = compared(between(("Resize", [None, DOUBLED], {"mode": "linear"}), dtype), tmp_path)
    assert np.abs(got - wanted).max() <= 2 * SCALE + 1e-6


@pytest.mark.parametrize(
    "case",
    [
        ("Trilu", [], {}),
        ("ScatterElements", [np.zeros((1, 1, 6, 6), np.int64), np.ones((1, 1, 6, 6), np.int8)], {"axis": 1, "reduction": "add"}),
        ("Resize", [np.asarray([0, 0, 0, 0, 1, 1, 2, 2], np.float32), DOUBLED], {"coordinate_transformation_mode": "tf_crop_and_resize"}),
    ],
)
def test_what_does_not_commute_is_refused(case: Case, tmp_path: Path) -> None:
    """A zero that the operator writes of its own, and sums, mean something else on bytes than on the numbers that they stand for."""
    onnx.save(between(case, np.int8), tmp_path / "between.onnx")
    with pytest.raises(UnsupportedModelError, match="movement"):
        load(tmp_path / "between.onnx")
