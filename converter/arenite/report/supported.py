"""What is supported: the importers joined with the operator schema. Nothing here is a list of its own that could go stale."""

from __future__ import annotations

from dataclasses import dataclass

from arenite.frontend.importers import IMPORTERS
from arenite.graph import OPERATORS
from arenite.graph.expression import UNARY
from arenite.graph.operators import Operator


@dataclass(frozen=True)
class SupportedOperator:
    onnx: str
    becomes: tuple[str, ...]
    """Operators of the IR."""
    supported: str
    """Which of its forms, in words."""
    execution: str
    """What it does on the target, in words."""


def supported_operators() -> tuple[SupportedOperator, ...]:
    """Every ONNX operator that the frontend imports, by name."""
    return tuple(_supported(name) for name in sorted(IMPORTERS))


def supported_kernels() -> tuple[Operator, ...]:
    """The operators of the flat model, by code."""
    return tuple(sorted((o for o in OPERATORS.values() if o.code is not None), key=lambda operator: operator.code or 0))


def _supported(name: str) -> SupportedOperator:
    support = IMPORTERS[name].notes
    found = tuple(operator for operator in OPERATORS.values() if name in operator.onnx)
    if found:
        return SupportedOperator(name, tuple(o.name for o in found), support, "; ".join(dict.fromkeys(o.summary for o in found)))
    if name in ("Relu", "Clip"):
        return SupportedOperator(name, ("Elementwise",), support, "fused into the layer before it, else a table of 256 bytes")
    if name in UNARY or name in ("Pow", "Max", "Min"):
        return SupportedOperator(name, ("Elementwise",), support, "a table of 256 bytes, together with its elementwise neighbours")
    return SupportedOperator(name, (), support, "evaluated at conversion")
