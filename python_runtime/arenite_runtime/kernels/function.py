"""Functions of every element of a float32 tensor, under their ONNX names: evaluated in float64, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from math import erf, pi
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import Float64, real, store_real

Function = Callable[[Float64, Any], Array]
"""Of the elements and the record, whose alpha and beta are the function's parameters."""

_erf = np.vectorize(erf, otypes=[np.float64])


def _sigmoid(x: Float64) -> Float64:
    small = np.exp(-np.abs(x))  # never overflows
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small))


def _softplus(x: Float64) -> Float64:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _elu(x: Float64, alpha: float) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _gelu(x: Float64, p: Any) -> Array:
    if p.alpha:
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + _erf(x / np.sqrt(2))))


def _shrink(x: Float64, lambd: float, bias: float) -> Array:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, np.where(np.isnan(x), x, 0.0)))


FUNCTIONS: dict[str, Function] = {
    "Acos": lambda x, p: np.arccos(x),
    "Acosh": lambda x, p: np.arccosh(x),
    "Asin": lambda x, p: np.arcsin(x),
    "Asinh": lambda x, p: np.arcsinh(x),
    "Atan": lambda x, p: np.arctan(x),
    "Atanh": lambda x, p: np.arctanh(x),
    "Cosh": lambda x, p: np.cosh(x),
    "Sinh": lambda x, p: np.sinh(x),
    "Tan": lambda x, p: np.tan(x),
    "Shrink": lambda x, p: _shrink(x, p.alpha, p.beta),
    "Abs": lambda x, p: np.abs(x),
    "Ceil": lambda x, p: np.ceil(x),
    "Celu": lambda x, p: np.maximum(x, 0) + np.minimum(0, p.alpha * np.expm1(np.minimum(x, 0) / p.alpha)),
    "Clip": lambda x, p: np.minimum(np.maximum(x, p.alpha), p.beta),
    "Cos": lambda x, p: np.cos(x),
    "Elu": lambda x, p: _elu(x, p.alpha),
    "Erf": lambda x, p: _erf(x),
    "Exp": lambda x, p: np.exp(x),
    "Floor": lambda x, p: np.floor(x),
    "Gelu": _gelu,
    "HardSigmoid": lambda x, p: np.clip(p.alpha * x + p.beta, 0, 1),
    "HardSwish": lambda x, p: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda x, p: np.where(x >= 0, x, p.alpha * x),
    "Log": lambda x, p: np.log(x),
    "Mish": lambda x, p: x * np.tanh(_softplus(x)),
    "Neg": lambda x, p: -x,
    "Reciprocal": lambda x, p: 1 / x,
    "Round": lambda x, p: np.rint(x),
    "Selu": lambda x, p: p.beta * _elu(x, p.alpha),
    "Sigmoid": lambda x, p: _sigmoid(x),
    "Sign": lambda x, p: np.sign(x),
    "Sin": lambda x, p: np.sin(x),
    "Softplus": lambda x, p: _softplus(x),
    "Softsign": lambda x, p: x / (1 + np.abs(x)),
    "Sqrt": lambda x, p: np.sqrt(x),
    "Swish": lambda x, p: x * _sigmoid(p.alpha * x),
    "Tanh": lambda x, p: np.tanh(x),
    "ThresholdedRelu": lambda x, p: np.where((x > p.alpha) | np.isnan(x), x, 0.0),
}


def _kernel(function: Function) -> Callable[..., None]:
    def run(p: Any, x: Array, y: Array) -> None:
        with np.errstate(all="ignore"):
            store_real(y, function(real(x), p))

    return run


KERNELS = {name: _kernel(function) for name, function in FUNCTIONS.items()}
