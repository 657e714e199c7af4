"""DepthwiseConv, from every layout, and layers without weights on cores with the DSP extension: NumPy's bytes, for any geometry."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from arenite.emit.arrange import ARRANGEMENTS
from arenite.graph import OPERATORS, DType, Node, Tensor
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from kernels.cases import CASES, Case, bias_and_multiplier, clamp, depthwise_conv, elements, image, image_output, zero_point
from kernels.test_tap_pairs import long_filters
from targets.kernel_calls import run_on_board
from targets.large_layers import LARGE

OTHERS = ("add", "mul", "prelu", "softmax", "lookup", "max_pool", "average_pool", "reduce_mean", "matmul", "strided_copy", "fill")
LONG = bool(os.environ.get("ARENITE_LONG"))

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


@st.composite
def three_by_three(draw: DrawFn) -> Case:
    """What `planes` serves."""
    stride, (top, left) = draw(st.sampled_from([1, 1, 2])), draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    record = {"batch": draw(st.integers(1, 2)), "in_c": draw(st.integers(4, 20)), "pad_top": top, "pad_left": left}
    for name, pad in (("h", top), ("w", left)):
        padded = draw(st.integers(3, 16))
        record |= {f"in_{name}": max(1, padded - pad - draw(st.integers(0, 2))), f"out_{name}": (padded - 3) // stride + 1}
        record |= {f"kernel_{name}": 3, f"stride_{name}": stride, f"dilation_{name}": 1}
    record |= {"out_c": record["in_c"], "input_zero_point": zero_point(draw), "output_zero_point": zero_point(draw), **clamp(draw)}
    weight = elements(draw, 3, 3, record["out_c"])
    bias, multiplier, record["shift"] = bias_and_multiplier(draw, False, weight.transpose(2, 0, 1), True)
    return Case("DepthwiseConv", "int8", record, [image(draw, record), weight, bias, multiplier], image_output(draw, record))


def _collected(strategy: SearchStrategy[Case], use: Callable[[Case], Case]) -> list[Case]:
    cases: list[Case] = []

    @settings(deadline=None, derandomize=True, max_examples=1000 if LONG else 60, database=None)
    @given(strategy)
    def collect(case: Case) -> None:
        cases.append(use(case))

    collect()
    return cases


def _storable(case: Case) -> Case:
    """With a shift that the weights of a layout can hold."""
    return Case(case.op, case.variant, {**case.record, "shift": case.record["shift"] % 9}, case.inputs, case.y)


def _arranged(case: Case, variant: str) -> Case:
    p, (x, *constants) = case.record, case.inputs
    steps = {"strides": (p["stride_h"], p["stride_w"]), "dilations": (p["dilation_h"], p["dilation_w"])}
    node = Node(case.op, "layer", ("x", "w", "b", "m"), ("y",), {"variant": variant, "shift": p["shift"], **steps})
    input_ = Tensor("x", x.shape, DType.INT8)
    tensors = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", constants, strict=True)]
    output = Tensor("y", tuple(p[name] for name in ("batch", "out_h", "out_w", "out_c")), DType.INT8)
    scratch = OPERATORS[case.op].scratch(node, [input_, *tensors], [output])
    return Case(case.op, variant, {**p, "shift": 0}, [x, ARRANGEMENTS[case.op, variant](node, tensors, input_)], case.y, scratch)


@pytest.mark.parametrize(("target", "optimize"), [("cortex-m4", "-O2"), ("cortex-m4", "-Os"), ("cortex-m33", "-O2")])
def test_same_bytes_as_numpy(target: str, optimize: str) -> None:
    any_shape = [*_collected(depthwise_conv(), _storable), *_collected(long_filters(), _storable)]
    square = _collected(three_by_three(), _storable)
    others = [case for name in OTHERS for case in _collected(CASES[name], lambda case: case)]
    rng = np.random.default_rng(7)
    others += [LARGE[name](rng) for name in ("elementwise", "pool", "reduce_mean", "copy") for _ in range(300 if LONG else 20)]
    pairs = [(case, _arranged(case, "tap_pairs")) for case in [*any_shape, *square]]
    pairs += [(case, _arranged(case, "planes" if case.record["stride_h"] == 1 else "planes_2")) for case in square]
    pairs += [(case, case) for case in [*any_shape, *others]]
    results = run_on_board([given_ for _, given_ in pairs], target, optimize)
    for (case, given_), found in zip(pairs, results, strict=True):
        y = case.y.copy()
        KERNELS[case.op, case.variant](Record(**case.record), *case.inputs, y)
        np.testing.assert_array_equal(found, y, err_msg=f"{given_}")
