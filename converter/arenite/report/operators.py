"""What `arenite operators` prints: every operator that is supported, in which element types, and how far.

Nothing here is a list of its own: rows follow from the importers, element types from the operators of the IR that a row becomes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from arenite.emit.lower_movement import MOVEMENT_OPERATORS
from arenite.frontend.control_flow import CONTROL_FLOW
from arenite.frontend.standard_functions import FUNCTIONS
from arenite.frontend.supported import SupportedOperator, supported_operators
from arenite.graph import OPERATORS
from arenite.graph.operators import Operator
from arenite.quantize.lower import lowering_of
from arenite.quantize.to_typed import TYPE_VARIANTS

YES, TABLE, MOVED, INTEGERS, PARTLY, FREE, NO = "yes", "table", "moved", "integers", "in part", "free", ""
MEANING = {
    YES: "kernels of this type",
    TABLE: "a table of 256 bytes, together with its elementwise neighbours",
    MOVED: "bytes of any type are moved",
    INTEGERS: "integers that stand for themselves",
    PARTLY: "some of what it becomes",
    FREE: "nothing is left of it at run time",
}
"""Of the columns' words."""
DOMAINS = ("ai.onnx", "ai.onnx.ml")
"""ONNX's own, which are counted first."""
_FOLDED = {"BatchNormalization": ("Mul", "Add")}
"""Operators that no kernel executes: what passes make of them at worst."""


@dataclass(frozen=True)
class OperatorRow:
    operator: str
    domain: str
    first_opset: int
    last_opset: int
    float32: str
    """A word of MEANING, or nothing."""
    int8: str
    int16: str
    notes: str
    becomes: tuple[str, ...]
    """Operators of the IR."""
    types: tuple[str, ...]
    """Element types that need no quantization, as far as they follow from what it becomes."""

    @property
    def opsets(self) -> str:
        return f"{self.first_opset}" if self.first_opset == self.last_opset else f"{self.first_opset}–{self.last_opset}"


def operator_rows() -> tuple[OperatorRow, ...]:
    """Sorted by domain, ONNX's own first, and name."""
    rows = [_row(supported) for supported in supported_operators()]
    return tuple(sorted(rows, key=lambda row: (row.domain not in DOMAINS, row.domain, row.operator)))


def find_operator(name: str, rows: Sequence[OperatorRow]) -> tuple[list[OperatorRow], list[str]]:
    """Rows of this name in any case, with or without domain (`Gelu`, `com.microsoft.gelu`, `com.example::MedianFilter`); where there are
    none, names that are alike."""
    wanted = name.replace("::", ".").lower()
    found = [row for row in rows if wanted in (row.operator.lower(), f"{row.domain}.{row.operator}".lower())]
    by_lower = {row.operator.lower(): row.operator for row in rows}
    return found, [] if found else [by_lower[near] for near in get_close_matches(wanted.rpartition(".")[2], by_lower)]


def count_text(rows: Sequence[OperatorRow]) -> str:
    """`200 operators: 170 of ai.onnx, …`."""
    counts = Counter(row.domain for row in rows)
    return f"{len(rows)} operators: " + ", ".join(f"{count} of {domain}" for domain, count in counts.items())


def standard_count(rows: Sequence[OperatorRow]) -> int:
    """Operators of ONNX and ai.onnx.ml."""
    return sum(row.domain in DOMAINS for row in rows)


def _row(supported: SupportedOperator) -> OperatorRow:
    parts = [OPERATORS[name] for becomes in supported.becomes for name in _FOLDED.get(becomes, (becomes,))]
    written_out = supported.name in FUNCTIONS or supported.name in CONTROL_FLOW
    words = (_column(parts, of, supported.is_composed) for of in (_float32, _int8, _int16))
    float32, int8, int16 = (YES, PARTLY, NO) if written_out else words
    types = () if written_out else _types(parts)
    return OperatorRow(
        operator=supported.op_type,
        domain=supported.domain,
        first_opset=supported.first_opset,
        last_opset=supported.last_opset,
        float32=float32,
        int8=int8,
        int16=int16,
        notes=supported.notes if float32 or int8 or int16 else "; ".join(filter(None, (", ".join(types), supported.notes))),
        becomes=supported.becomes,
        types=types,
    )


def _column(parts: Sequence[Operator], of: Callable[[Operator], str], is_composed: bool) -> str:
    """Of an operator that becomes these, or one of them: the strongest word; of a composed one if all of them have one."""
    if not parts:
        return FREE
    words = [of(part) for part in parts]
    if not any(words):
        return NO
    if is_composed and not all(words):
        return PARTLY if YES in words or TABLE in words else NO
    return next(word for word in (YES, TABLE, INTEGERS, MOVED) if word in words)


def moves_bytes(operator: Operator) -> bool:
    """Whether elements of any type pass it as they are."""
    return operator.name in MOVEMENT_OPERATORS or (operator.variants == ("bytes",) and lowering_of(operator.name) is not None)


def _float32(operator: Operator) -> str:
    if operator.name == "Elementwise" or "float32" in operator.all_variants or moves_bytes(operator):
        return YES
    is_conversion = operator.code is not None and "int8" in operator.all_variants and operator.typed is None
    return YES if is_conversion else NO


def _int8(operator: Operator) -> str:
    if operator.name == "Elementwise":
        return TABLE
    if moves_bytes(operator):
        return MOVED
    if lowering_of(operator.name) is not None or (operator.code is not None and "int8" in operator.all_variants):
        return YES
    return INTEGERS if "plain_int8" in operator.all_variants or operator.variants == ("bytes",) else NO


def _int16(operator: Operator) -> str:
    if "int16_steps" in operator.all_variants:
        return YES
    if moves_bytes(operator):
        return MOVED
    return INTEGERS if "int16" in operator.all_variants else NO


def _types(parts: Sequence[Operator]) -> tuple[str, ...]:
    names = {variant: dtype.value for dtype, variant in TYPE_VARIANTS.items()}
    every = tuple(dict.fromkeys(names.values()))
    if not parts:
        return every
    found = [set(every) if moves_bytes(part) else {names[v] for v in part.all_variants if v in names} for part in parts]
    found = [{"float32"} if part.name == "Elementwise" else types for part, types in zip(parts, found, strict=True)]
    together = set.union(*found)
    return tuple(dtype for dtype in every if dtype in together)


def operators_to_json(rows: Sequence[OperatorRow]) -> dict[str, Any]:
    """What `arenite operators --json` prints; docs/cli.md."""
    used = {name for row in rows for name in row.becomes}
    kernels = sorted((o for o in OPERATORS.values() if o.code is not None), key=lambda operator: operator.code or 0)
    return {
        "count": len(rows),
        "operators": [
            {
                "operator": row.operator,
                "domain": row.domain,
                "first_opset": row.first_opset,
                "last_opset": row.last_opset,
                "float32": row.float32,
                "int8": row.int8,
                "int16": row.int16,
                "types": list(row.types),
                "becomes": list(row.becomes),
                "notes": row.notes,
            }
            for row in rows
        ],
        "kernels": [
            {"name": k.name, "code": k.code, "variants": list(k.all_variants), "summary": k.summary}
            for k in kernels
            if len(rows) > 1 or k.name in used
        ],
    }


def operators_to_markdown(rows: Sequence[OperatorRow]) -> str:
    """A table, and what its words mean."""
    lines = [f"{count_text(rows)}.", "", "| Operator | Domain | Opset | float32 | int8 | int16 | Notes |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        cells = (row.operator, row.domain, row.opsets, row.float32, row.int8, row.int16, row.notes.replace("|", r"\|"))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", f"{legend()}", ""])


def legend() -> str:
    return "; ".join(f"{word}: {meaning}" for word, meaning in MEANING.items()) + "."


def detail_lines(row: OperatorRow) -> list[str]:
    """All that is known of one operator, for a person."""
    lines = [f"{row.operator} ({row.domain}), opset {row.opsets}"]
    lines += [f"  {title}: {text}" for title, text in (("notes", row.notes), ("types", ", ".join(row.types))) if text]
    for title, word in (("float32", row.float32), ("int8", row.int8), ("int16", row.int16)):
        lines.append(f"  {title}: {f'{word}: {MEANING[word]}' if word else 'no'}")
    lines += [f"  becomes {name}: {_described(OPERATORS[name])}" for name in row.becomes]
    return lines


def _described(operator: Operator) -> str:
    code = "" if operator.code is None else f" (code {operator.code}; {', '.join(operator.all_variants)})"
    return f"{operator.summary}{code}"
