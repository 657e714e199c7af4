"""What `arenite operators` prints: every ONNX operator that is supported, from which opset on, and how far."""

from __future__ import annotations

from dataclasses import dataclass

import onnx.defs

from arenite.frontend.importers import IMPORTERS
from arenite.frontend.model_file import NEWEST_OPSET, OLDEST_OPSET
from arenite.graph import OPERATORS
from arenite.graph.expression import UNARY


@dataclass(frozen=True)
class SupportedOperator:
    name: str
    first_opset: int
    last_opset: int
    becomes: tuple[str, ...]
    """Operators of the IR."""
    notes: str


FOLDED = "where every operand is constant, or a shape: evaluated at conversion"
"""Said of every other operator of ONNX."""

_ELEMENTWISE = frozenset(UNARY) | {"Relu", "Pow", "Min", "Max"}
_NOTHING = frozenset({"Constant", "Identity", "Dropout", "Cast"})


def supported_operators() -> list[SupportedOperator]:
    """One row for each importer, sorted by name."""
    return [_row(name) for name in sorted(IMPORTERS)]


def _row(name: str) -> SupportedOperator:
    since = min(schema.since_version for schema in onnx.defs.get_all_schemas_with_history() if schema.name == name and schema.domain == "")
    return SupportedOperator(name, max(since, OLDEST_OPSET), NEWEST_OPSET, _becomes(name), IMPORTERS[name].notes)


def _becomes(name: str) -> tuple[str, ...]:
    if name in _ELEMENTWISE:
        return ("Elementwise",)
    if name in _NOTHING:
        return ()
    return tuple(operator.name for operator in OPERATORS.values() if name in operator.onnx)
