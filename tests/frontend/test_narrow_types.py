"""INT4 and UINT4, and com.microsoft.MatMulNBits: values as onnxruntime and the reference have them, scales as the file has them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from arenite.errors import ModelFileError, UnsupportedModelError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper

F = np.float32
INT4, UINT4 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)
RANGE = {INT4: (-8, 8), UINT4: (0, 16)}


def dq(x, y, *operands, **attributes):
    return helper.make_node("DequantizeLinear", [x, *operands], [y], **attributes)


def q(x, y, *operands, **attributes):
    return helper.make_node("QuantizeLinear", [x, *operands], [y], **attributes)


def drawn(rng, shape, dtype):
    return rng.integers(*RANGE[dtype], shape).astype(np.int8).astype(dtype)


def weight_of(graph):
    (node,) = (node for node in graph.nodes if node.op == "FullyConnected")
    return graph.tensors[node.inputs[1]]


@pytest.mark.parametrize("dtype", [INT4, UINT4])
@pytest.mark.parametrize("axis", [None, 0, 1])
@settings(deadline=None, derandomize=True, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(1, 9), columns=st.integers(1, 7), seed=st.integers(0, 2**32 - 1))
def test_weights(dtype, axis, rows, columns, seed, agree):
    """One scale a tensor, or of an axis; an odd number of elements leaves half a byte over."""
    rng = np.random.default_rng(seed)
    count = () if axis is None else ((rows, columns)[axis],)
    constants = {
        "w": drawn(rng, (rows, columns), dtype),
        "s": np.exp(rng.uniform(-8, 2, count)).astype(F),
        "z": drawn(rng, count, dtype),
    }
    nodes = [dq("w", "f", "s", "z", **({} if axis is None else {"axis": axis})), helper.make_node("MatMul", ["x", "f"], ["y"])]
    graph = agree(nodes, {"x": rng.normal(0, 1, (3, rows)).astype(F)}, constants, opset=21, oracles=("onnxruntime", "reference"))
    annotation = weight_of(graph).quantization
    if axis == 0 and rows > 1:  # of inputs: no scale of an output channel
        assert annotation is None
    else:
        assert annotation.bits == 4
        np.testing.assert_array_equal(annotation.scale.reshape(-1), constants["s"].reshape(-1))


@pytest.mark.parametrize("dtype", [INT4, UINT4])
@pytest.mark.parametrize("block", [16, 32])
@pytest.mark.parametrize("whole", [True, False])
def test_blocks(dtype, block, whole, agree):
    """Blocks along the inputs, the last one cut short. Scales that are whole multiples of one keep their annotation."""
    rng = np.random.default_rng(block)
    rows, columns = 3 * block - 5, 6
    base = np.exp(rng.uniform(-6, 0, columns)).astype(F)
    factors = rng.integers(1, 15, (3, columns)) if whole else rng.uniform(1, 15, (3, columns))
    factors[0] = 1
    constants = {"w": drawn(rng, (rows, columns), dtype), "s": (base * factors).astype(F)}
    if dtype == UINT4:
        constants["z"] = np.full((3, columns), 8, np.uint8).astype(UINT4)
    nodes = [dq("w", "f", *list(constants)[1:], axis=0, block_size=block), helper.make_node("MatMul", ["x", "f"], ["y"])]
    graph = agree(nodes, {"x": rng.normal(0, 1, (2, rows)).astype(F)}, constants, opset=21)
    annotation = weight_of(graph).quantization
    if whole:
        np.testing.assert_allclose(annotation.scale * np.rint(constants["s"] / annotation.scale), constants["s"], rtol=2e-7)
        assert annotation.bits == 4 and annotation.axis == 0 and not graph.remarks
    else:
        assert annotation is None and "blocks of" in graph.remarks[0] and "dB" in graph.remarks[0]


@pytest.mark.parametrize("dtype", [INT4, UINT4])
@pytest.mark.parametrize("zero", [0, 3])
def test_activations(dtype, zero, agree, values):
    """Four bits of a computed value are eight bits that stop earlier."""
    constants = {"s": F(0.11), "z": np.asarray(zero, np.int8).astype(dtype)}
    nodes = [q("x", "i", "s", "z"), dq("i", "y", "s", "z")]
    agree(nodes, {"x": values(3, 40) * 2}, constants, opset=21)


@pytest.mark.parametrize("dtype", [INT4, UINT4])
def test_weights_that_the_file_rounds(dtype, agree):
    """A float initializer through QuantizeLinear and DequantizeLinear, as frameworks train them."""
    rng = np.random.default_rng(5)
    constants = {
        "w": rng.normal(0, 1, (12, 5)).astype(F),
        "s": rng.uniform(0.1, 0.3, 5).astype(F),
        "z": np.full(5, 3, np.int8).astype(dtype),
    }
    nodes = [q("w", "i", "s", "z", axis=1), dq("i", "f", "s", "z", axis=1), helper.make_node("MatMul", ["x", "f"], ["y"])]
    graph = agree(nodes, {"x": rng.normal(0, 1, (2, 12)).astype(F)}, constants, opset=21)
    assert weight_of(graph).quantization.bits == 4


def test_brevitas_clips_between_the_pair(agree, values):
    """QCDQ: Clip stands for the bits that int8 has too many of, on weights and on activations."""
    rng = np.random.default_rng(6)
    constants = {
        "w": rng.normal(0, 1, (12, 5)).astype(F),
        "s": F(0.21),
        "z": np.int8(0),
        "low": np.int8(-7),
        "high": np.int8(7),
        "sx": F(0.1),
        "u": np.uint8(0),
        "ulow": np.uint8(0),
        "uhigh": np.uint8(15),
    }
    nodes = [
        q("x", "xi", "sx", "u"),
        helper.make_node("Clip", ["xi", "ulow", "uhigh"], ["xc"]),
        dq("xc", "xf", "sx", "u"),
        q("w", "wi", "s", "z"),
        helper.make_node("Clip", ["wi", "low", "high"], ["wc"]),
        dq("wc", "wf", "s", "z"),
        helper.make_node("MatMul", ["xf", "wf"], ["y"]),
    ]
    graph = agree(nodes, {"x": values(4, 12) * 3}, constants, opset=17, oracles=("onnxruntime",))
    weight = weight_of(graph)
    assert weight.quantization is not None and np.abs(weight.data).max() <= F(0.21) * 7 * 1.0001


@pytest.mark.parametrize(("dtype", "zero"), [(np.int8, 0), (np.int8, 5), (np.uint8, 128), (np.uint8, 0)])
def test_clip_of_bytes(dtype, zero, agree, values):
    """Bounds are bytes; one of them may be absent."""
    constants = {"s": F(0.1), "z": dtype(zero), "low": dtype(zero - 7 if zero > 6 else 2), "high": dtype(zero + 9)}
    nodes = [q("x", "i", "s", "z"), helper.make_node("Clip", ["i", "low", "high"], ["c"]), dq("c", "y", "s", "z")]
    agree(nodes, {"x": values(4, 12) * 3}, constants, opset=17, oracles=("onnxruntime",))
    nodes[1] = helper.make_node("Clip", ["i", "", "high"], ["c"])
    agree(nodes, {"x": values(4, 12) * 3}, constants, opset=17, oracles=("onnxruntime",))


def test_relu_of_bytes(agree, attempt, values):
    """The byte 0 is the number 0 only where that is the zero point."""
    nodes = [q("x", "i", "s", "z"), helper.make_node("Relu", ["i"], ["c"]), dq("c", "y", "s", "z")]
    agree(nodes, {"x": values(4, 12) * 3}, {"s": F(0.1), "z": np.int8(0)}, opset=17, oracles=("onnxruntime",))
    with pytest.raises(UnsupportedModelError, match="has no DequantizeLinear in front"):
        attempt(nodes, {"x": values(4, 12)}, {"s": F(0.1), "z": np.int8(4)}, opset=17)


# MatMulNBits


def packed(steps, bits):
    """[N, blocks, bytes] as onnxruntime packs them."""
    n, blocks, _ = steps.shape
    shifts = np.arange(0, 8, bits)
    return (steps.reshape(n, blocks, -1, 8 // bits).astype(np.int64) << shifts).sum(-1).astype(np.uint8)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("inner", [32, 70])
@pytest.mark.parametrize("with_zero_points", [True, False])
def test_matmul_n_bits(bits, inner, with_zero_points, agree):
    rng = np.random.default_rng(inner + bits)
    n, block = 5, 32
    blocks = -(-inner // block)
    steps = rng.integers(0, 1 << bits, (n, blocks, block))
    constants = {"b": packed(steps, bits), "s": rng.uniform(0.01, 0.1, (n, blocks)).astype(F)}
    operands = ["x", "b", "s"]
    if with_zero_points:
        row = -(-blocks * bits // 8) * 8 // bits
        zeros = rng.integers(0, 1 << bits, (n, 1, row))
        zeros[..., blocks:] = 0
        constants["z"] = packed(zeros, bits).reshape(n, -1)
        operands.append("z")
    node = helper.make_node("MatMulNBits", operands, ["y"], domain="com.microsoft", K=inner, N=n, bits=bits, block_size=block)
    x = rng.normal(0, 1, (2, 3, inner)).astype(F)
    zero = zeros[..., :blocks].transpose(0, 2, 1) if with_zero_points else 1 << (bits - 1)
    weight = ((steps - zero) * constants["s"][..., None]).reshape(n, -1)[:, :inner]
    agree(
        node, {"x": x}, constants, opset=21, domains={"com.microsoft": 1}, oracles=("onnxruntime",), expected=[x @ weight.T], tolerance=1e-4
    )


@pytest.mark.parametrize(
    ("attributes", "operands", "problem", "error"),
    [
        ({"bits": 3}, 3, "its weights have 3 bits", UnsupportedModelError),
        ({}, 5, "g_idx", UnsupportedModelError),
        ({"K": 64}, 3, "scales do not fit", ModelFileError),
        ({"block_size": 64}, 3, "do not hold", ModelFileError),
    ],
)
def test_matmul_n_bits_refused(attributes, operands, problem, error, attempt):
    rng = np.random.default_rng(0)
    constants = {
        "b": rng.integers(0, 256, (4, 1, 16)).astype(np.uint8),
        "s": np.ones((4, 1), F),
        "z": np.zeros((4, 1), np.uint8),
        "g": np.zeros(32, np.int32),
    }
    names = ["x", "b", "s", "z", "g"][:operands]
    attributes = {"K": 32, "N": 4, "bits": 4, "block_size": 32, **attributes}
    node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", **attributes)
    with pytest.raises(error, match=problem):
        attempt(node, {"x": np.ones((1, attributes["K"]), F)}, constants, opset=21, domains={"com.microsoft": 1})
