"""QDQ graphs in float64, in which the sums of 8-bit products are exact: who is right where onnxruntime and Arenite differ.

onnx.reference.ReferenceEvaluator with a DequantizeLinear that gives float64, a QuantizeLinear that takes it, and a Conv that is fast
enough.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

Array = NDArray[Any]


def _spread(values: Array, x: Array, axis: int) -> Array:
    return values.reshape(()) if values.size == 1 else values.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


class DequantizeLinear(OpRun):  # type: ignore[misc]
    def _run(self, x: Array, scale: Array, zero_point: Array | None = None, axis: int | None = None, **_: Any) -> tuple[Array]:
        zero = np.zeros(scale.shape) if zero_point is None else zero_point.astype(np.float64)
        along = 1 if axis is None else axis % max(x.ndim, 1)
        return ((x.astype(np.float64) - _spread(zero, x, along)) * _spread(scale.astype(np.float64), x, along),)


class QuantizeLinear(OpRun):  # type: ignore[misc]
    def _run(self, x: Array, scale: Array, zero_point: Array, **_: Any) -> tuple[Array]:
        limits = np.iinfo(zero_point.dtype)
        steps = np.rint(x.astype(np.float64) / np.float64(scale.reshape(()))) + int(zero_point.reshape(()))
        return (np.clip(steps, limits.min, limits.max).astype(zero_point.dtype),)


class Conv(OpRun):  # type: ignore[misc]
    def _run(
        self,
        x: Array,
        w: Array,
        b: Array | None = None,
        auto_pad: str | None = None,
        dilations: Any = None,
        group: int | None = None,
        kernel_shape: Any = None,
        pads: Any = None,
        strides: Any = None,
    ) -> tuple[Array]:
        rank = x.ndim - 2
        groups, strides = group or 1, tuple(strides or (1,) * rank)
        dilations, ends = tuple(dilations or (1,) * rank), _pads(auto_pad, pads, x.shape[2:], w.shape[2:], strides)
        x = np.pad(x, ((0, 0), (0, 0), *ends))
        reach = tuple((size - 1) * d + 1 for size, d in zip(w.shape[2:], dilations, strict=True))
        windows = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(range(2, 2 + rank)))
        windows = windows[(slice(None), slice(None), *(slice(None, None, s) for s in strides), *(slice(None, None, d) for d in dilations))]
        places = windows.shape[2 : 2 + rank]
        taps = windows.reshape(len(x), groups, -1, *places, int(np.prod(w.shape[2:])))
        filters = w.reshape(groups, w.shape[0] // groups, w.shape[1], -1)
        y = np.einsum("ngcpk,gock->ngop", taps.reshape(*taps.shape[:3], -1, taps.shape[-1]), filters, optimize=True)
        y = y.reshape(len(x), w.shape[0], *places)
        return (y if b is None else y + b.reshape(1, -1, *(1,) * rank),)


def _pads(auto_pad: str | None, pads: Any, sizes: Any, kernel: Any, strides: Any) -> list[tuple[int, int]]:
    rank = len(sizes)
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        whole = [max((-(-n // s) - 1) * s + k - n, 0) for n, s, k in zip(sizes, strides, kernel, strict=True)]
        return [(w // 2, w - w // 2) if auto_pad == "SAME_UPPER" else (w - w // 2, w // 2) for w in whole]
    given = list(pads or (0,) * 2 * rank)
    return list(zip(given[:rank], given[rank:], strict=True))


class Exact:
    """Calls take a sample and give the first output."""

    def __init__(self, path: Path) -> None:
        self.model = onnx.load(path)
        self._evaluator = ReferenceEvaluator(self.model, new_ops=[DequantizeLinear, QuantizeLinear, Conv])

    def __call__(self, x: Array) -> Array:
        return np.asarray(self._evaluator.run(None, {self.model.graph.input[0].name: x})[0])
