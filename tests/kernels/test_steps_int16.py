"""Layers of 16-bit activations: NumPy and portable C equal, whatever the constants; and the formulas of docs/numerics.md §16."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from kernels.cases import Array, Case, average_pool, binary, conv, depthwise_conv, fully_connected, generator, max_pool, reduce_mean

Agree = Callable[[Case], None]
LINEAR = {"Conv": conv, "DepthwiseConv": depthwise_conv, "FullyConnected": fully_connected}
OUTPUT_AXIS = {"Conv": 0, "DepthwiseConv": -1, "FullyConnected": 0}


def steps(draw: DrawFn, *shape: int) -> Array:
    """int16: all of it, or only its ends."""
    rng = generator(draw)
    values = draw(st.sampled_from([np.arange(-(1 << 15), 1 << 15), np.array([-(1 << 15), (1 << 15) - 1])]))
    return rng.choice(values, shape).astype(np.int16)


def clamp(draw: DrawFn) -> dict[str, int]:
    low, high = sorted(draw(st.integers(-(1 << 15), (1 << 15) - 1)) for _ in range(2))
    return {"activation_min": low, "activation_max": high} if draw(st.booleans()) else {"activation_min": -32768, "activation_max": 32767}


@st.composite
def linear(draw: DrawFn, op: str, variant: str) -> Case:
    """Any biases and multipliers: a damaged model computes something, and the same everywhere. Shifts as the file has them."""
    case = draw(LINEAR[op]())
    x, weight = case.inputs[:2]
    channels = weight.shape[OUTPUT_AXIS[op]]
    rng = generator(draw)
    sound = draw(st.booleans())
    limit = np.iinfo(np.int64).max if not sound else 1 << 46
    bias = rng.integers(-limit, limit, channels, np.int64)
    pairs = np.stack([rng.integers(1 << 14, 1 << 15, channels), rng.integers(1, 63, channels)], axis=1).astype(np.int32)
    if not sound:
        pairs[:, 0] = rng.integers(-(1 << 31), 1 << 31, channels)
    if variant == "int16_weights":
        weight = steps(draw, *weight.shape)
    record = {**case.record, "input_zero_point": 0, "output_zero_point": 0, "shift": 0, **clamp(draw)}
    if op == "FullyConnected":
        del record["input_zero_point"]
    inputs = [steps(draw, *x.shape), weight, bias, pairs]
    return replace(case, variant=variant, record=record, inputs=inputs, y=np.full(case.y.size, 0x3333, np.int16))


@st.composite
def of_two(draw: DrawFn, op: str) -> Case:
    case = draw(binary(op))
    record = {**case.record, "a_zero_point": 0, "b_zero_point": 0, "output_zero_point": 0, **clamp(draw)}
    if op == "Mul":
        record |= {"multiplier": draw(st.integers(0, (1 << 22) - 1)), "shift": draw(st.integers(1, 62))}
    inputs = [steps(draw, *array.shape) for array in case.inputs]
    return replace(case, variant="int16_steps", record=record, inputs=inputs, y=np.full(case.y.size, 0x3333, np.int16))


@st.composite
def mean(draw: DrawFn) -> Case:
    case = draw(reduce_mean())
    record = {
        **case.record,
        "input_zero_point": 0,
        "output_zero_point": 0,
        "multiplier": draw(st.integers(1, (1 << 22) - 1)),
        **clamp(draw),
    }
    return replace(
        case, variant="int16_steps", record=record, inputs=[steps(draw, *case.inputs[0].shape)], y=np.full(case.y.size, 0x3333, np.int16)
    )


@st.composite
def pool(draw: DrawFn, op: str) -> Case:
    case = draw(max_pool() if op == "MaxPool" else average_pool())
    record = {**case.record, **clamp(draw)}
    if op == "AveragePool":
        record |= {"input_zero_point": 0, "output_zero_point": 0, "multiplier": draw(st.integers(1, (1 << 22) - 1))}
    return replace(
        case, variant="int16_steps", record=record, inputs=[steps(draw, *case.inputs[0].shape)], y=np.full(case.y.size, 0x3333, np.int16)
    )


@st.composite
def table(draw: DrawFn) -> Case:
    count = draw(st.integers(1, 300))
    return Case("Lookup", "int16_steps", {"count": count}, [steps(draw, count), steps(draw, 513)], np.full(count, 0x3333, np.int16))


KERNELS: dict[str, Any] = {
    **{f"{op} {variant}": linear(op, variant) for op in LINEAR for variant in ("int16_steps", "int16_weights")},
    "Add": of_two("Add"),
    "Mul": of_two("Mul"),
    "ReduceMean": mean(),
    "MaxPool": pool("MaxPool"),
    "AveragePool": pool("AveragePool"),
    "Lookup": table(),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_same_bytes(agree: Agree, kernel: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(KERNELS[kernel])
    def check(case: Case) -> None:
        agree(case)

    check()


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=20_000)
@given(st.one_of(list(KERNELS.values())))
def test_same_bytes_many(agree: Agree, case: Case) -> None:
    agree(case)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(linear("FullyConnected", "int16_weights"))
def test_the_formula_of_layers(numpy_result: Callable[[Case], Array], case: Case) -> None:
    """In unbounded integers, for constants within the proof."""
    x, weight, bias, pairs = case.inputs
    bias, pairs = np.clip(bias, -(1 << 40), 1 << 40), np.stack([np.clip(pairs[:, 0], 1 << 14, (1 << 15) - 1), pairs[:, 1]], axis=1)
    got = numpy_result(replace(case, inputs=[x, weight, bias, pairs])).reshape(-1, len(weight))
    p = case.record
    for r, row in enumerate(x.reshape(p["rows"], -1)):
        for o, filter_ in enumerate(weight):
            acc = int(bias[o]) + sum(int(a) * int(b) for a, b in zip(row, filter_, strict=True))
            m, shift = (int(v) for v in pairs[o])
            assert got[r, o] == min(max((acc * m + (1 << (shift - 1))) >> shift, p["activation_min"]), p["activation_max"])


def test_lines_between_points(numpy_result: Callable[[Case], Array]) -> None:
    points = np.linspace(-8, 8, 513)
    entries = np.clip(np.rint(np.tanh(points) * 32767), -32768, 32767).astype(np.int16)
    x = np.arange(-32768, 32768).astype(np.int16)
    got = numpy_result(Case("Lookup", "int16_steps", {"count": len(x)}, [x, entries], np.zeros(len(x), np.int16)))
    assert np.abs(got / 32767 - np.tanh(x / 4096)).max() < 2**-13
