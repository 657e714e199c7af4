"""ONNX's own node tests, of the operators that have an int8 form: every case either imports, and its graph computes what ONNX expects in
the reference that calibration uses, or is refused with a reason. (tests/conformance runs all operators in the C runtime.)

Operands that the IR wants constant (weights, axes, shapes, bounds, …) are inputs in these tests: the case's data makes them initializers.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from functools import cache

import numpy as np
import onnx
import pytest
from arenite.errors import UnsupportedModelError
from arenite.frontend import load
from arenite.graph.onnx_export import evaluate
from onnx import numpy_helper

# fmt: off
OPERATORS = (
    "Abs", "Add", "AveragePool", "BatchNormalization", "Ceil", "Celu", "Clip", "Concat", "Conv", "Cos", "Div",
    "Dropout", "Elu", "Erf", "Exp", "Expand", "Flatten", "Floor", "Gather", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool",
    "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log", "MatMul", "Max", "MaxPool", "Min", "Mish", "Mul", "Neg", "PRelu",
    "Pad", "Pow", "Reciprocal", "ReduceMean", "Relu", "Reshape", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Slice",
    "Softmax", "Softplus", "Softsign", "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Swish", "Tanh", "ThresholdedRelu", "Transpose",
    "Unsqueeze",
)
# fmt: on

RUN_TIME = {"Concat": None, "Sum": None, "Add": None, "Sub": None, "Mul": None, "Div": None, "Gemm": None, "MatMul": None}
"""Operators whose inputs all stay inputs; of the others only the first does."""


@cache
def node_cases():
    """Cases by operator. (Building them takes seconds: not at collection.)"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases(None)
    cases = defaultdict(list)
    for case in found:
        if case.model is not None and suitable(case.model) and all(np.size(v) for data in case.data_sets for v in (*data[0], *data[1])):
            cases[case.model.graph.node[0].op_type].append(case)
    return cases


def suitable(model):
    """One node of a supported operator that computes floats from floats (or converts to and from int8)."""
    (node, *others) = model.graph.node
    types = [i.type.tensor_type.elem_type for i in model.graph.input[:1]] + [o.type.tensor_type.elem_type for o in model.graph.output]
    return (
        not others
        and node.domain == ""
        and node.op_type in OPERATORS
        and all(t in (onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8, onnx.TensorProto.INT8) for t in types)
        and onnx.TensorProto.FLOAT in types
        and bool(model.graph.input)
    )


def constant_operands(model, inputs):
    """The model with all inputs but those of RUN_TIME turned into initializers."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    keep = len(inputs) if model.graph.node[0].op_type in RUN_TIME else 1
    for value, info in list(zip(inputs, list(model.graph.input), strict=True))[keep:]:
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), info.name))
        model.graph.input.remove(info)
    return model, keep


REFUSALS = {
    "test_averagepool_3d": "3 spatial dimensions",
    "test_basic_conv_3d": "3 spatial dimensions",
    "test_batchnorm_": "training_mode=1",
    "test_dequantizelinear_": "the scale has 3 values|block_size",
    "test_expand": "repeats the elements",
    "test_gather": "not evenly spaced",
    "test_max_": "different values",
    "test_maxpool_3d": "3 spatial dimensions",
    "test_min_": "different values",
    "test_pow": "different values",
    "test_quantizelinear": "the scale has|block_size",
    "test_slice_start_out_of_bounds": "select nothing",
    "test_training_dropout": "training_mode is true",
}
"""Why a case of this prefix may be refused."""


@pytest.mark.parametrize("op", OPERATORS)
def test_cases(op, tmp_path):
    cases = node_cases()[op]
    assert cases or op == "GlobalMaxPool", f"ONNX has no test of {op} any more?"
    for case in cases:
        run_case(case, tmp_path / f"{case.name}.onnx")


def run_case(case, path):
    inputs, wants = case.data_sets[0]
    model, keep = constant_operands(case.model, inputs)
    path.write_bytes(model.SerializeToString())
    try:
        graph = load(path, {i.name: np.shape(v) for i, v in zip(model.graph.input, inputs, strict=False) if not _static(i)})
    except UnsupportedModelError as error:
        reasons = [why for prefix, why in REFUSALS.items() if case.name.startswith(prefix)]
        assert reasons and re.search(reasons[0], str(error)), f"refused without need: {error}"
        return
    feeds = {i.name: int8(np.asarray(v)) for i, v in zip(model.graph.input, inputs[:keep], strict=True)}
    got = evaluate(graph, feeds)
    for output, want in zip(model.graph.output, wants, strict=True):
        want = np.asarray(want)
        assert got[output.name].shape == want.shape, case.name
        np.testing.assert_allclose(got[output.name], int8(want), rtol=max(case.rtol, 1e-5), atol=max(case.atol, 1e-6), err_msg=case.name)


def _static(info):
    return all(d.HasField("dim_value") for d in info.type.tensor_type.shape.dim)


def int8(array):
    return (array ^ np.uint8(0x80)).view(np.int8) if array.dtype == np.uint8 else array
