"""Single-input elementwise expressions: small straight-line programs over one variable.

A chain or DAG of ONNX elementwise nodes that depends on one tensor (x·sigmoid(x), Clip, a decomposed GELU, …) is one Expression,
and in the int8 form one table of 256 bytes. Functions follow the ONNX operator specifications and are evaluated in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import erf
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Attributes = Mapping[str, Any]

_erf = np.vectorize(erf, otypes=[np.float64])


def _sigmoid(x: Values) -> Values:
    small = np.exp(-np.abs(x))  # never overflows
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small))


def _softplus(x: Values) -> Values:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _gelu(x: Values, a: Attributes) -> Values:
    if a.get("approximate", "none") == "tanh":
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + _erf(x / np.sqrt(2))))


def _elu(x: Values, alpha: float) -> Values:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _shrink(x: Values, lambd: float, bias: float) -> Values:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, np.where(np.isnan(x), x, 0.0)))


SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875

UNARY: dict[str, Callable[[Values, Attributes], Values]] = {
    "Abs": lambda x, a: np.abs(x),
    "Ceil": lambda x, a: np.ceil(x),
    "Celu": lambda x, a: np.maximum(x, 0) + np.minimum(0, a.get("alpha", 1.0) * np.expm1(np.minimum(x, 0) / a.get("alpha", 1.0))),
    "Clip": lambda x, a: np.minimum(np.maximum(x, a["min"]), a["max"]),  # ONNX: min > max gives max
    "Cos": lambda x, a: np.cos(x),
    "Elu": lambda x, a: _elu(x, a.get("alpha", 1.0)),
    "Erf": lambda x, a: _erf(x),
    "Exp": lambda x, a: np.exp(x),
    "Floor": lambda x, a: np.floor(x),
    "Gelu": _gelu,
    "HardSigmoid": lambda x, a: np.clip(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0, 1),
    "HardSwish": lambda x, a: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda x, a: np.where(x >= 0, x, a.get("alpha", 0.01) * x),
    "Log": lambda x, a: np.log(x),
    "Mish": lambda x, a: x * np.tanh(_softplus(x)),
    "Neg": lambda x, a: -x,
    "Reciprocal": lambda x, a: 1 / x,
    "Round": lambda x, a: np.rint(x),
    "Selu": lambda x, a: a.get("gamma", SELU_GAMMA) * _elu(x, a.get("alpha", SELU_ALPHA)),
    "Sigmoid": lambda x, a: _sigmoid(x),
    "Sign": lambda x, a: np.sign(x),
    "Sin": lambda x, a: np.sin(x),
    "Softplus": lambda x, a: _softplus(x),
    "Softsign": lambda x, a: x / (1 + np.abs(x)),
    "Sqrt": lambda x, a: np.sqrt(x),
    "Swish": lambda x, a: x * _sigmoid(a.get("alpha", 1.0) * x),
    "Tanh": lambda x, a: np.tanh(x),
    "ThresholdedRelu": lambda x, a: np.where(x > a.get("alpha", 1.0), x, 0.0),
    "Acos": lambda x, a: np.arccos(x),
    "Acosh": lambda x, a: np.arccosh(x),
    "Asin": lambda x, a: np.arcsin(x),
    "Asinh": lambda x, a: np.arcsinh(x),
    "Atan": lambda x, a: np.arctan(x),
    "Atanh": lambda x, a: np.arctanh(x),
    "Cosh": lambda x, a: np.cosh(x),
    "Sinh": lambda x, a: np.sinh(x),
    "Tan": lambda x, a: np.tan(x),
    "Shrink": lambda x, a: _shrink(x, a.get("lambd", 0.5), a.get("bias", 0.0)),
}
"""ONNX operators of one tensor, with their attributes (Relu and Relu6 are Clip; Clip's bounds are always given)."""

BINARY: dict[str, Callable[[Values, Values], Values]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "Pow": lambda a, b: np.power(a, b),
    "Max": lambda a, b: np.maximum(a, b),
    "Min": lambda a, b: np.minimum(a, b),
}
"""ONNX operators that may stand in an expression with a scalar constant or with another value of it."""


@dataclass(frozen=True)
class Step:
    """One ONNX operator. An operand is the index of an earlier value (0: the variable, i: the result of step i), or a
    float: a scalar constant."""

    op: str
    operands: tuple[int | float, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Expression:
    """The value of the last step."""

    steps: tuple[Step, ...]

    def __call__(self, x: NDArray[np.floating]) -> Values:
        """Evaluate in float64. Not finite where the function is not (the caller decides what that means)."""
        values: list[Values] = [np.asarray(x, np.float64)]
        with np.errstate(all="ignore"):
            for step in self.steps:
                operands = [values[o] if isinstance(o, int) else np.asarray(o, np.float64) for o in step.operands]
                if step.op in UNARY:
                    values.append(UNARY[step.op](operands[0], step.attributes))
                else:
                    values.append(BINARY[step.op](operands[0], operands[1]))
        return np.broadcast_to(values[-1], values[0].shape)

    def __str__(self) -> str:
        return "·".join(step.op for step in self.steps) or "Identity"

    @property
    def clip(self) -> tuple[float, float] | None:
        """(lo, hi) where the expression is a single Clip, else None."""
        if len(self.steps) == 1 and self.steps[0].op == "Clip":
            return float(self.steps[0].attributes["min"]), float(self.steps[0].attributes["max"])
        return None

    @classmethod
    def single(cls, op: str, **attributes: Any) -> Expression:
        return cls((Step(op, (0,), attributes),))

    @classmethod
    def binary(cls, op: str, constant: float, constant_first: bool = False) -> Expression:
        return cls((Step(op, (float(constant), 0) if constant_first else (0, float(constant))),))

    def then(self, other: Expression) -> Expression:
        """other(self(x))."""
        shift = len(self.steps)
        moved = tuple(Step(s.op, tuple(o + shift if isinstance(o, int) else o for o in s.operands), s.attributes) for s in other.steps)
        return Expression(self.steps + moved)
