"""Reductions, ArgMax and ArgMin, cumulative sums and products, TopK: docs/numerics.md §11. Their int8 forms are in integer_reduction.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import store_real
from arenite_runtime.kernels.movement import strided

NUMBERS = ("float32", "int32", "int64")
ORDERED = (*NUMBERS, "uint8", "bool", "plain_int8")


def _reduced(p: Any, x: Array) -> Array:
    """[kept indices, reduced indices]; float32 as float64."""
    view = strided(x, (*p.kept, *p.reduced), (*p.kept_stride, *p.reduced_stride))
    rows = view.reshape(int(np.prod(p.kept)), -1)
    return rows.astype(np.float64) if x.dtype == np.float32 else rows


def _reduction(function: Callable[[Array], Array]) -> Callable[[Any, Array, Array], None]:
    """A kernel of a function of rows. Integers are computed in their own type and wrap."""

    def kernel(p: Any, x: Array, y: Array) -> None:
        with np.errstate(all="ignore"):
            value = function(_reduced(p, x))
        if y.dtype == np.float32:
            store_real(y, value)
        else:
            y[...] = value.reshape(y.shape)

    return kernel


reduce_sum = _reduction(lambda x: x.sum(axis=1, dtype=x.dtype))
reduce_max = _reduction(lambda x: x.max(axis=1))
reduce_min = _reduction(lambda x: x.min(axis=1))
reduce_prod = _reduction(lambda x: x.prod(axis=1, dtype=x.dtype))
reduce_l1 = _reduction(lambda x: np.abs(x).sum(axis=1, dtype=x.dtype))
reduce_l2 = _reduction(lambda x: np.sqrt((x * x).sum(axis=1)))
reduce_sum_square = _reduction(lambda x: (x * x).sum(axis=1, dtype=x.dtype))


def _log_sum_exp(x: Array) -> Array:
    greatest = x.max(axis=1, keepdims=True)
    value = greatest + np.log(np.exp(x - greatest).sum(axis=1, keepdims=True))
    return np.asarray(np.where(np.isinf(greatest), greatest, value))


reduce_log_sum_exp = _reduction(_log_sum_exp)


def _along_axis(p: Any, x: Array) -> Array:
    return x.reshape(p.outer, p.count, p.inner)


def _arg(function: Callable[..., Any]) -> Callable[[Any, Array, Array], None]:
    def kernel(p: Any, x: Array, y: Array) -> None:
        x = _along_axis(p, x)
        y[...] = (p.count - 1 - function(x[:, ::-1], axis=1) if p.last else function(x, axis=1)).reshape(y.shape)

    return kernel


arg_max, arg_min = _arg(np.argmax), _arg(np.argmin)


def _cumulative(function: Callable[..., Any], first: int) -> Callable[[Any, Array, Array], None]:
    def kernel(p: Any, x: Array, y: Array) -> None:
        x = _along_axis(p, x)
        x = x[:, ::-1] if p.reverse else x
        if p.exclusive:
            x = np.concatenate([np.full_like(x[:, :1], first), x[:, :-1]], axis=1)
        with np.errstate(all="ignore"):
            value = function(x, axis=1, dtype=x.dtype)
        y[...] = (value[:, ::-1] if p.reverse else value).reshape(y.shape)

    return kernel


cum_sum, cum_prod = _cumulative(np.cumsum, 0), _cumulative(np.cumprod, 1)


def top_k(p: Any, x: Array, y: Array, indices: Array) -> None:
    x = _along_axis(p, x)
    if p.largest:  # stable from the back, then turned round: of equals the first is in front
        x = x[:, ::-1]
    order = np.argsort(x, axis=1, kind="stable")
    order = order[:, ::-1][:, : p.k] if p.largest else order[:, : p.k]
    y[...] = np.take_along_axis(x, order, axis=1).reshape(y.shape)
    indices[...] = (p.count - 1 - order if p.largest else order).reshape(indices.shape)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    **{
        (op, variant): kernel
        for op, kernel in (
            ("ReduceSum", reduce_sum),
            ("ReduceProd", reduce_prod),
            ("ReduceL1", reduce_l1),
            ("ReduceSumSquare", reduce_sum_square),
            ("CumSum", cum_sum),
            ("CumProd", cum_prod),
        )
        for variant in NUMBERS
    },
    **{
        (op, variant): kernel
        for op, kernel in (
            ("ReduceMax", reduce_max),
            ("ReduceMin", reduce_min),
            ("ArgMax", arg_max),
            ("ArgMin", arg_min),
            ("TopK", top_k),
        )
        for variant in ORDERED
    },
    ("ReduceL2", "float32"): reduce_l2,
    ("ReduceLogSumExp", "float32"): reduce_log_sum_exp,
}
"""By operator and variant."""
