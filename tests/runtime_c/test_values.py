"""arn_quantize_input and arn_dequantize_output, docs/numerics.md §1."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from arenite_runtime.flat import arenite_generated as schema

INT8, UINT8, INT32, FLOAT32 = schema.DType.int8, schema.DType.uint8, schema.DType.int32, schema.DType.float32


@pytest.fixture
def convert(runtime: Any, c_types: Any) -> Any:
    """(status, result) of either function on a tensor of its own."""

    def run(
        function: str, dtype: int, data: np.ndarray, values: np.ndarray, scale: float, zero_point: int, count: int | None = None
    ) -> str:
        shape = (ctypes.c_int32 * 1)(data.size)
        tensor = c_types["tensor"](data.ctypes.data, data.nbytes, shape, 1, dtype, scale, zero_point)
        length = ctypes.c_size_t(values.size if count is None else count)
        return runtime.name(getattr(runtime.library, function)(ctypes.byref(tensor), ctypes.c_void_p(values.ctypes.data), length))

    return run


@pytest.mark.parametrize(("scale", "zero_point"), [(0.5, 0), (0.1, -128), (3.7e-5, 127), (1e30, 5), (1e-38, -7), (2.0**-149, 1)])
def test_quantize_rounds_half_to_even(scale: float, zero_point: int, convert: Any, rng: np.random.Generator) -> None:
    s = np.float32(scale)
    steps = np.concatenate([np.arange(-600, 600) / 2, rng.uniform(-300, 300, 1000), rng.uniform(-2, 2, 1000)])
    with np.errstate(over="ignore", under="ignore"):
        x = (steps.astype(np.float32) * s).astype(np.float32)
        near = np.concatenate([x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, np.float32(-np.inf))])
        special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45])
        x = np.concatenate([near, special]).astype(np.float32)
        ratio = x / s
    expected = np.where(np.isnan(ratio), zero_point, np.clip(np.rint(np.clip(ratio.astype(np.float64), -1e9, 1e9)) + zero_point, -128, 127))
    q = np.zeros(x.size, np.int8)
    assert convert("arn_quantize_input", INT8, q, x, scale, zero_point) == "OK"
    np.testing.assert_array_equal(q, expected.astype(np.int8))
    u = np.zeros(x.size, np.uint8)
    assert convert("arn_quantize_input", UINT8, u, x, scale, zero_point + 128) == "OK"
    np.testing.assert_array_equal(u.astype(int) - 128, q)


@pytest.mark.parametrize(("dtype", "shift"), [(INT8, 0), (UINT8, 128)])
def test_dequantize(dtype: int, shift: int, convert: Any) -> None:
    q = (np.arange(-128, 128) + shift).astype(np.uint8 if shift else np.int8)
    values = np.zeros(256, np.float32)
    assert convert("arn_dequantize_output", dtype, q, values, 0.3, 7 + shift) == "OK"
    np.testing.assert_array_equal(values, np.float32(0.3) * (np.arange(-128, 128) - 7).astype(np.float32))


def test_float_is_copied(convert: Any, rng: np.random.Generator) -> None:
    x, data = rng.normal(size=9).astype(np.float32), np.zeros(9, np.float32)
    assert convert("arn_quantize_input", FLOAT32, data, x, 0, 0) == "OK"
    np.testing.assert_array_equal(data, x)
    back = np.zeros(9, np.float32)
    assert convert("arn_dequantize_output", FLOAT32, data, back, 0, 0) == "OK"
    np.testing.assert_array_equal(back, x)


def test_refusals(convert: Any) -> None:
    q, x = np.zeros(4, np.int8), np.zeros(8, np.float32)
    for function in ("arn_quantize_input", "arn_dequantize_output"):
        assert convert(function, INT8, q, x, 0.5, 0, 5) == "ARGUMENT"
        assert convert(function, INT8, q, x, 0.5, 0, 1 << 40) == "ARGUMENT"
        assert convert(function, FLOAT32, q, x, 0.5, 0, 2) == "ARGUMENT"
        for scale in (0.0, -1.0, np.inf, np.nan):
            assert convert(function, INT8, q, x, scale, 0, 4) == "UNSUPPORTED"
        assert convert(function, INT8, q, x, 0.5, 128, 4) == "UNSUPPORTED"
        assert convert(function, UINT8, q, x, 0.5, -1, 4) == "UNSUPPORTED"
        assert convert(function, INT32, q, x, 0.5, 0, 1) == "UNSUPPORTED"
