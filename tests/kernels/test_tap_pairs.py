"""The layout `tap_pairs`: the converter's arrangement, its inverse in NumPy, the C kernel and the twins of the sizes."""

from __future__ import annotations

import ctypes

import numpy as np
from arenite.emit.arrange_tap_pairs import depthwise_conv_tap_pairs
from arenite.graph import DType, Node, Tensor
from arenite.graph.operators.tap_pairs import scratch_bytes
from arenite_runtime.kernels import KERNELS
from arenite_runtime.kernels.arranged import tap_pairs
from arenite_runtime.record import Record
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, Case, depthwise_conv
from kernels.portable_library import PortableLibrary


@st.composite
def long_filters(draw: DrawFn) -> Case:
    """One-dimensional, with filters of several parts and more outputs than a chunk."""
    case = draw(depthwise_conv(sound=True, size=4))
    record, rng = case.record, np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    at, across = draw(st.sampled_from([("h", "w"), ("w", "h")]))
    kernel, stride, dilation = draw(st.integers(1, 70)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    extent, outputs, pad = (kernel - 1) * dilation + 1, draw(st.integers(1, 150)), draw(st.integers(0, 9))
    for name, value in {"kernel": 1, "stride": 1, "dilation": 1, "in": 1, "out": 1}.items():
        record[f"{name}_{across}"] = value
    record |= {"pad_top": 0, "pad_left": 0, "pad_top" if at == "h" else "pad_left": pad}
    record |= {f"kernel_{at}": kernel, f"stride_{at}": stride, f"dilation_{at}": dilation, f"out_{at}": outputs}
    record[f"in_{at}"] = max(1, (outputs - 1) * stride + extent - pad - draw(st.integers(0, 9)))
    x = rng.integers(-128, 128, (record["batch"], record["in_h"], record["in_w"], record["in_c"]), np.int8)
    weight = rng.integers(-128, 128, (record["kernel_h"], record["kernel_w"], record["out_c"]), np.int8)
    y = np.zeros(record["batch"] * outputs * record["out_c"], np.int8)
    return Case(case.op, case.variant, record, [x, weight, *case.inputs[2:]], y)


def _arranged(case: Case) -> Case:
    p = case.record
    x, weight, bias, multiplier = case.inputs
    node = Node(
        "DepthwiseConv",
        "",
        ("x", "w", "b", "m"),
        ("y",),
        {"strides": (p["stride_h"], p["stride_w"]), "dilations": (p["dilation_h"], p["dilation_w"]), "shift": p["shift"]},
    )
    constants = [Tensor(name, data.shape, DType.of(data), data) for name, data in (("w", weight), ("b", bias), ("m", multiplier))]
    stream = depthwise_conv_tap_pairs(node, constants, Tensor("x", x.shape, DType.INT8))
    return Case(case.op, "tap_pairs", {**p, "shift": 0}, [x, stream], case.y)


def _c_result(portable: PortableLibrary, case: Case) -> Array:
    y, p = case.y.copy(), case.record
    kernel, strides, dilations, outputs = ((p[f"{name}_h"], p[f"{name}_w"]) for name in ("kernel", "stride", "dilation", "out"))
    needed = scratch_bytes(kernel, strides, dilations, outputs)
    scratch = np.full(needed + 16, 0x5A, np.uint8)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*case.inputs, y, scratch)]
    portable.call("arn_depthwise_conv_s8_tap_pairs", case, pointers)
    assert (scratch[needed:] == 0x5A).all()
    return y


def _check(portable: PortableLibrary, case: Case) -> None:
    case.record["shift"] %= 9
    plain = case.y.copy()
    KERNELS["DepthwiseConv", "int8"](Record(**case.record), *case.inputs, plain)
    arranged = _arranged(case)
    weight, _, multiplier = tap_pairs(arranged.inputs[1], Record(**arranged.record))
    np.testing.assert_array_equal(weight, case.inputs[1].astype(np.int64) << case.record["shift"])
    np.testing.assert_array_equal(multiplier, case.inputs[3])
    np.testing.assert_array_equal(_c_result(portable, arranged), plain, err_msg=str(case.record))
    y = case.y.copy()
    KERNELS["DepthwiseConv", "tap_pairs"](Record(**arranged.record), *arranged.inputs, y)
    np.testing.assert_array_equal(y, plain)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(depthwise_conv())
def test_same_bytes_as_from_plain_constants(portable: PortableLibrary, case: Case) -> None:
    _check(portable, case)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(long_filters())
def test_filters_of_several_parts(portable: PortableLibrary, case: Case) -> None:
    _check(portable, case)


def test_scratch_is_known() -> None:
    """Worked by hand from runtime_c/kernels/tap_pairs.h."""
    assert scratch_bytes((10, 1), (1, 1), (1, 1), (34, 1)) == 16 * (36 // 2 + 5) + 4 * 2
    assert scratch_bytes((3, 5), (2, 2), (1, 1), (24, 24)) == 16 * 6 * (24 // 2 + 2) + 4 * 7
    assert scratch_bytes((1, 40), (1, 3), (1, 6), (1, 500)) == 16 * (32 + 21) + 4 * 4
