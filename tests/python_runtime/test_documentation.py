"""docs/flat-model.md lists the operators and records that the schema declares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from arenite.graph import OPERATORS as DECLARED
from arenite_runtime.operators import OPERATORS, Operator

TEXT = (Path(__file__).resolve().parents[2] / "docs/flat-model.md").read_text()
ROW = re.compile(r"^\| `(\w+)`(, typed)? \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M)
ROWS = {(name, bool(typed)): tuple(rest) for name, typed, *rest in ROW.findall(TEXT)}
FORMS = [(operator, typed) for operator in OPERATORS for typed in (False, True) if not typed or operator.typed_variants]


def fields(name: str) -> list[str]:
    """The words that IMAGE, CLAMP or CLIP stands for."""
    match = re.search(rf"`{name}`\s(?:stands\s)?for\s\w+(?:\s(?:words|floats))?: ([^;.]+)", TEXT)
    assert match is not None
    return [word + (" (float)" if name == "CLIP" else "") for word in re.findall(r"`(\w+)`", match[1])]


def test_no_other_operators() -> None:
    assert set(ROWS) == {(operator.name, typed) for operator, typed in FORMS}


@pytest.mark.parametrize(("operator", "typed"), FORMS, ids=lambda value: getattr(value, "name", str(value)))
def test_operator(operator: Operator, typed: bool) -> None:
    code, variants, inputs, record = ROWS[operator.name, typed]
    declared = DECLARED[operator.name].forms[-1 if typed else 0]
    assert int(code) == operator.code
    assert tuple(variants.split(", ")) == (operator.typed_variants if typed else operator.variants)
    assert [name for name in inputs.split(", ") if name != "—"] == [operand.name for operand in declared.stored]
    written: list[str] = []
    for part in record.replace("`", "").split(", "):
        written += fields(part) if part in ("IMAGE", "CLAMP", "CLIP") else [part]
    chosen = operator.typed_fields if typed else operator.fields
    assert written == [f.name + (f"[{f.length}]" if f.length > 1 else "") + (" (float)" if f.is_float else "") for f in chosen]


def test_element_types() -> None:
    from arenite_runtime.flat.arenite_generated import DType

    listed = dict(re.findall(r"(\d) (int8|uint8|int16|int32|int64|float32|bool)\b", TEXT))
    assert listed == {str(code): name for name, code in vars(DType).items() if name in listed.values()}
    assert len(listed) == 7
