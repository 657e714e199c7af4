"""Conv and FullyConnected on a Cortex-M4, from every layout: NumPy's bytes, for any geometry."""

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
from hypothesis.strategies import SearchStrategy
from kernels.cases import Case, conv, fully_connected
from kernels.test_winograd import convolutions
from targets.kernel_calls import run_on_board

LONG = bool(os.environ.get("ARENITE_LONG"))

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


def _collected(strategy: SearchStrategy[Case], use: Callable[[Case], Case]) -> list[Case]:
    cases: list[Case] = []

    @settings(deadline=None, derandomize=True, max_examples=1000 if LONG else 60, database=None)
    @given(strategy)
    def collect(case: Case) -> None:
        cases.append(use(case))

    collect()
    return cases


def _provable(case: Case) -> Case:
    """With constants for which the converter could prove what numerics.md §3.4 and §3.6 ask for."""
    x, weight, bias, multiplier = case.inputs
    taps = weight[0].size
    most = min(127, (1 << 22) // (128 * taps))
    return Case(
        case.op,
        case.variant,
        {**case.record, "shift": 0},
        [x, np.clip(weight, -most, most), np.clip(bias, -(1 << 21), 1 << 21), multiplier],
        case.y,
    )


def _arranged(case: Case, variant: str) -> Case:
    p, (x, *constants) = case.record, case.inputs
    attributes = {"variant": variant}
    if case.op == "Conv":
        attributes |= {"strides": (p["stride_h"], p["stride_w"]), "dilations": (p["dilation_h"], p["dilation_w"]), "group": p["group"]}
        attributes["pads"] = (p["pad_top"], p["pad_left"], 0, 0)
        y_shape = tuple(p[name] for name in ("batch", "out_h", "out_w", "out_c"))
    else:
        y_shape = (p["rows"], p["out_features"])
    node = Node(case.op, "layer", ("x", "w", "b", "m"), ("y",), attributes)
    image = Tensor("x", x.shape, DType.INT8)
    tensors = [Tensor(name, data.shape, DType.of(data), data) for name, data in zip("wbm", constants, strict=True)]
    scratch = OPERATORS[case.op].scratch(node, [image, *tensors], [Tensor("y", y_shape, DType.INT8)])
    return Case(case.op, variant, p, [x, ARRANGEMENTS[case.op, variant](node, tensors, image)], case.y, scratch)


@pytest.mark.parametrize("optimize", ["-O2", pytest.param("-Os", marks=pytest.mark.long)])
def test_same_bytes_as_numpy(optimize: str) -> None:
    plain = [*_collected(conv(), lambda case: case), *_collected(fully_connected(), lambda case: case)]
    provable = [*_collected(conv(sound=True), _provable), *_collected(fully_connected(sound=True), _provable)]
    three_by_three = _collected(convolutions(), _provable)
    arranged = [(case, _arranged(case, "paired")) for case in [*provable, *three_by_three]]
    arranged += [(case, _arranged(case, "paired_row")) for case in provable if case.record.get("rows") == 1]
    arranged += [(case, _arranged(case, variant)) for case in three_by_three for variant in ("winograd_2", "winograd_4")]
    pairs = [*((case, case) for case in plain), *arranged]
    results = run_on_board([given_ for _, given_ in pairs], "cortex-m4", optimize)
    for (case, given_), found in zip(pairs, results, strict=True):
        y = case.y.copy()
        KERNELS[case.op, "int8"](Record(**case.record), *case.inputs, y)
        np.testing.assert_array_equal(found, y, err_msg=f"{given_}")
