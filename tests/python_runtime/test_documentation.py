"""docs/flat-model.md lists the operators and records that the schema declares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from arenite.graph import OPERATORS as DECLARED
from arenite_runtime.operators import OPERATORS, Operator

TEXT = (Path(__file__).resolve().parents[2] / "docs/flat-model.md").read_text()
ROWS = {row[0]: row[1:] for row in re.findall(r"^\| `(\w+)` \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", TEXT, re.M)}


def fields(name: str) -> list[str]:
    """The words that IMAGE or CLAMP stands for."""
    match = re.search(rf"`{name}`\s(?:stands\s)?for\s\w+(?:\swords)?: ([^;.]+)", TEXT)
    assert match is not None
    return re.findall(r"`(\w+)`", match[1])


def expected(operator: Operator) -> list[str]:
    return [f.name + (f"[{f.length}]" if f.length > 1 else "") + (" (float)" if f.is_float else "") for f in operator.fields]


def test_no_other_operators() -> None:
    assert set(ROWS) == {operator.name for operator in OPERATORS}


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_operator(operator: Operator) -> None:
    code, variants, inputs, record = ROWS[operator.name]
    assert int(code) == operator.code
    assert tuple(variants.split(", ")) == operator.variants
    assert [name for name in inputs.split(", ") if name != "—"] == [operand.name for operand in DECLARED[operator.name].stored]
    written: list[str] = []
    for part in record.replace("`", "").split(", "):
        written += fields(part) if part in ("IMAGE", "CLAMP") else [part]
    assert written == expected(operator)


def test_element_types() -> None:
    from arenite_runtime.flat.arenite_generated import DType

    listed = dict(re.findall(r"(\d) (int8|uint8|int16|int32|int64|float32|bool)\b", TEXT))
    assert listed == {str(code): name for name, code in vars(DType).items() if name in listed.values()}
    assert len(listed) == 7
