"""The layout `int4`: factors of groups, the converter's arrangement, its inverse in NumPy, the C kernels here."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from arenite.emit.arrange_int4 import int4
from arenite.graph import OPERATORS, DType, Node, Tensor
from arenite.graph.operators.int4 import BLOCK, CHUNK, GROUP, HIGHEST, LOWEST, MOST_FACTOR, factors, groups, stream_bytes
from arenite_runtime.kernels import KERNELS
from arenite_runtime.kernels.arranged import int4 as unpacked
from arenite_runtime.record import Record
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, Case, conv, fully_connected
from kernels.portable_library import PortableLibrary


def four_bit_rows(rng: np.random.Generator, filters: int, taps: int) -> Array:
    """[filters, taps] int8: steps times factors; some groups take all the steps that there are, some are zero."""
    scales = rng.integers(1, MOST_FACTOR + 1, (filters, groups(taps)))
    scales *= rng.random(scales.shape) > 0.1
    steps = rng.integers(LOWEST, HIGHEST + 1, (filters, taps))
    return (steps * np.repeat(scales, GROUP, axis=1)[:, :taps]).astype(np.int8)


@st.composite
def four_bit_layers(draw: DrawFn) -> Case:
    """Any shape of Conv or FullyConnected, also one row of more taps than are unpacked at a time."""
    case = draw(st.one_of(conv(), fully_connected()))
    weight = case.inputs[1]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = four_bit_rows(rng, len(weight), weight[0].size).reshape(weight.shape)
    return Case(case.op, "int8", case.record, [case.inputs[0], rows, *case.inputs[2:]], case.y)


def arranged(case: Case) -> Case:
    p, (x, *constants) = case.record, case.inputs
    node = Node(case.op, "layer", ("x", "w", "b", "m"), ("y",), {"variant": "int4", "group": p.get("group", 1)})
    image = Tensor("x", x.shape, DType.INT8)
    tensors = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", constants, strict=True)]
    shape = (p["rows"], p["out_features"]) if case.op == "FullyConnected" else tuple(p[n] for n in ("batch", "out_h", "out_w", "out_c"))
    scratch = OPERATORS[case.op].scratch(node, [image, *tensors], [Tensor("y", shape, DType.INT8)])
    return replace(case, variant="int4", inputs=[x, int4(node, tensors, image)], scratch=scratch)


def _c_result(portable: PortableLibrary, case: Case) -> Array:
    y, scratch = case.y.copy(), np.full(case.scratch + 16, 0x5A, np.uint8)
    function = {"Conv": "arn_conv_s8_int4", "FullyConnected": "arn_fully_connected_s8_int4"}[case.op]
    portable.call(function, case, [ctypes.c_void_p(array.ctypes.data) for array in (*case.inputs, y, scratch)])
    assert (scratch[case.scratch :] == 0x5A).all()
    return y


@settings(deadline=None, derandomize=True, max_examples=120)
@given(four_bit_layers())
def test_same_bytes_as_from_plain_constants(portable: PortableLibrary, case: Case) -> None:
    _check(portable, case)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=4000)
@given(four_bit_layers())
def test_many_layers(portable: PortableLibrary, case: Case) -> None:
    _check(portable, case)


@pytest.mark.parametrize("features", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + GROUP, 3 * CHUNK - 7])
@pytest.mark.parametrize("outputs", [1, 3, 4, 6])
def test_one_row_in_parts(portable: PortableLibrary, features: int, outputs: int) -> None:
    rng = np.random.default_rng(features + outputs)
    record = {"rows": 1, "in_features": features, "out_features": outputs, "shift": 0, "output_zero_point": -3}
    record |= {"activation_min": -100, "activation_max": 100}
    x, weight = rng.integers(-128, 128, (1, features)).astype(np.int8), four_bit_rows(rng, outputs, features)
    bias, multiplier = rng.integers(-2000, 2000, outputs).astype(np.int32), rng.integers(1 << 18, 1 << 22, outputs).astype(np.int32)
    _check(portable, Case("FullyConnected", "int8", record, [x, weight, bias, multiplier], np.zeros(outputs, np.int8)))


def _check(portable: PortableLibrary, case: Case) -> None:
    plain, y = case.y.copy(), case.y.copy()
    KERNELS[case.op, "int8"](Record(**case.record), *case.inputs, plain)
    packed = arranged(case)
    weight, bias, multiplier = case.inputs[1:]
    group = case.record.get("group", 1)
    assert packed.inputs[1].nbytes == stream_bytes(len(weight) // group, weight[0].size, group)
    if group == 1:
        found = unpacked(packed.inputs[1], len(weight), weight[0].size)
        np.testing.assert_array_equal(found[0], weight.reshape(len(weight), -1))
        np.testing.assert_array_equal(found[1], bias)
        np.testing.assert_array_equal(found[2], multiplier)
    KERNELS[case.op, "int4"](Record(**packed.record), *packed.inputs, y)
    np.testing.assert_array_equal(y, plain)
    np.testing.assert_array_equal(_c_result(portable, packed), plain, err_msg=str(case.record))


def test_a_stream_by_hand() -> None:
    """Worked by hand from runtime_c/kernels/int4.h: five filters of nine taps."""
    weight = np.zeros((5, 9), np.int8)
    weight[0] = [15, -15, 30, 0, 45, 60, 75, 90, 105]  # 15 times 1, -1, 2, 0, 3, 4, 5, 6 and 7
    weight[3, 8] = -8
    weight[4, 0] = 14  # twice seven
    tensors: list[Array] = [weight, np.arange(1, 6, dtype=np.int32), np.arange(11, 16, dtype=np.int32)]
    constants = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", tensors, strict=True)]
    stream = int4(Node("FullyConnected", "", ("x", "w", "b", "m"), ("y",), {}), constants, Tensor("x", (1, 9), DType.INT8))
    zero = 0x88888888
    first = [0xE8DAC7B9, 0x8888888F]
    block = [1, 2, 3, 4, 11, 12, 13, 14, 0x0101010F, *first, zero, zero, zero, zero, zero, 0x88888880]
    assert stream.view(np.uint32).tolist() == [*block, 5, 15, 0x02, 0x8888888F, zero]


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        ([0] * 40, [1, 1]),
        ([7, -8, 0], [1]),
        ([8, 0, 1], None),
        ([105, -120], [15]),
        ([112, -128], None),  # the factor would be 16
        ([14] * GROUP + [17], None),
        ([14] * GROUP + [7], [2, 1]),
    ],
)
def test_factors(weights: list[int], wanted: list[int] | None) -> None:
    found = factors(np.array([weights], np.int8))
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == [wanted]


def test_words_of_four_weights_hold_every_step_times_every_factor(portable: PortableLibrary) -> None:
    """The arithmetic on whole words of int4_block.c, for all 240 products and in every byte."""
    steps, scales = np.arange(LOWEST, HIGHEST + 1), np.arange(1, MOST_FACTOR + 1)
    weight = np.zeros((len(scales), GROUP), np.int8)
    for row, factor in enumerate(scales):
        weight[row] = np.concatenate([steps, steps[::-1]]) * factor
    x = np.eye(GROUP, dtype=np.int8)
    record = {"rows": GROUP, "in_features": GROUP, "out_features": len(scales), "shift": 1, "output_zero_point": 0}
    record |= {"activation_min": -128, "activation_max": 127}
    multiplier = np.full(len(scales), 2**31 - 1, np.int32)  # half of a weight, and with a shift of one all of it
    y = np.zeros(GROUP * len(scales), np.int8)
    _check(portable, Case("FullyConnected", "int8", record, [x, weight, np.zeros(len(scales), np.int32), multiplier], y))
    assert len(scales) % BLOCK
