"""The layout `int4_lanes`: the converter's arrangement, its inverse in NumPy, the C kernels here."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from arenite.emit.arrange_int4 import int4_lanes
from arenite.graph import OPERATORS, DType, Node, Tensor
from arenite.graph.operators.int4 import GROUP, HIGHEST, LOWEST, MOST_FACTOR, lanes_bytes
from arenite_runtime.kernels import KERNELS
from arenite_runtime.kernels.arranged import int4_lanes as unpacked
from arenite_runtime.record import Record
from hypothesis import given, settings
from kernels.cases import Array, Case
from kernels.portable_library import PortableLibrary
from kernels.test_int4 import four_bit_layers

FUNCTIONS = {"Conv": "arn_conv_s8_int4_lanes", "FullyConnected": "arn_fully_connected_s8_int4_lanes"}


def in_lanes(case: Case) -> Case:
    p, (x, *constants) = case.record, case.inputs
    node = Node(case.op, "layer", ("x", "w", "b", "m"), ("y",), {"variant": "int4_lanes", "group": p.get("group", 1)})
    if case.op == "Conv":
        node = node.with_attributes(strides=(p["stride_h"], p["stride_w"]), dilations=(p["dilation_h"], p["dilation_w"]))
    image = Tensor("x", x.shape, DType.INT8)
    tensors = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", constants, strict=True)]
    shape = (p["rows"], p["out_features"]) if case.op == "FullyConnected" else tuple(p[n] for n in ("batch", "out_h", "out_w", "out_c"))
    scratch = OPERATORS[case.op].scratch(node, [image, *tensors], [Tensor("y", shape, DType.INT8)])
    return replace(case, variant="int4_lanes", inputs=[x, int4_lanes(node, tensors, image)], scratch=scratch)


def _c_result(portable: PortableLibrary, case: Case) -> Array:
    y, scratch = case.y.copy(), np.full(case.scratch + 16, 0x5A, np.uint8)
    portable.call(FUNCTIONS[case.op], case, [ctypes.c_void_p(array.ctypes.data) for array in (*case.inputs, y, scratch)])
    assert (scratch[case.scratch :] == 0x5A).all()
    return y


def _check(portable: PortableLibrary, case: Case) -> None:
    plain, y = case.y.copy(), case.y.copy()
    KERNELS[case.op, "int8"](Record(**case.record), *case.inputs, plain)
    packed = in_lanes(case)
    weight, bias, multiplier = case.inputs[1:]
    group = case.record.get("group", 1)
    assert packed.inputs[1].nbytes == lanes_bytes(len(weight) // group, weight[0].size, group)
    if group == 1:
        found = unpacked(packed.inputs[1], len(weight), weight[0].size)
        for got, wanted in zip(found, (weight.reshape(len(weight), -1), bias, multiplier), strict=True):
            np.testing.assert_array_equal(got, wanted)
    KERNELS[case.op, "int4_lanes"](Record(**packed.record), *packed.inputs, y)
    np.testing.assert_array_equal(y, plain)
    np.testing.assert_array_equal(_c_result(portable, packed), plain, err_msg=str(case.record))


@settings(deadline=None, derandomize=True, max_examples=120)
@given(four_bit_layers())
def test_same_bytes_as_from_plain_constants(portable: PortableLibrary, case: Case) -> None:
    _check(portable, case)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=4000)
@given(four_bit_layers())
def test_many_layers(portable: PortableLibrary, case: Case) -> None:
    _check(portable, case)


def every_product() -> Case:
    """All 240 products of a step and a factor, by every filter of a block and in every place of a word."""
    steps, scales = np.arange(LOWEST, HIGHEST + 1), np.arange(1, MOST_FACTOR + 1)
    weight = np.zeros((4 * len(scales), GROUP), np.int8)
    for row in range(len(weight)):
        weight[row] = np.roll(np.concatenate([steps, steps]), row) * scales[row // 4]
    x = np.eye(GROUP, dtype=np.int8)
    record = {"rows": GROUP, "in_features": GROUP, "out_features": len(weight), "shift": 1, "output_zero_point": 0}
    record |= {"activation_min": -128, "activation_max": 127}
    multiplier = np.full(len(weight), 2**31 - 1, np.int32)  # half of a weight, and with a shift of one all of it
    inputs: list[Array] = [x, weight, np.zeros(len(weight), np.int32), multiplier]
    return Case("FullyConnected", "int8", record, inputs, np.zeros(GROUP * len(weight), np.int8))


def test_every_step_times_every_factor(portable: PortableLibrary) -> None:
    _check(portable, every_product())


def test_a_stream_by_hand() -> None:
    """Worked by hand from runtime_c/kernels/int4_lanes.h: five filters of nine taps."""
    weight = np.zeros((5, 9), np.int8)
    weight[0] = [15, -15, 30, 0, 45, 60, 75, 90, 105]  # 15 times 1, -1, 2, 0, 3, 4, 5, 6 and 7
    weight[3] = [0, 0, 0, 0, 0, 0, 0, -1, -8]
    weight[4, 0] = 14  # twice seven
    tensors: list[Array] = [weight, np.arange(1, 6, dtype=np.int32), np.arange(11, 16, dtype=np.int32)]
    constants = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", tensors, strict=True)]
    stream = int4_lanes(Node("FullyConnected", "", ("x", "w", "b", "m"), ("y",), {}), constants, Tensor("x", (1, 9), DType.INT8))
    first = [1, 2, 3, 4, 0x088A0889, 0x08880887, 0x088D088B, 0xF88E088C, 0x0888888F, 0x08880888, 0x0101010F, 11, 12, 13, 14]
    second = [5, 0, 0, 0, 0x0888088F, *[0x08880888] * 5, 0x00000002, 15, 0, 0, 0]
    assert stream.view(np.uint32).tolist() == [*first, *second]
