"""The figures that the README and docs/runtime.md give are those of docs/benchmarks.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")


def rows(text: str, start: str, columns: int) -> dict[tuple[str, str], tuple[str, ...]]:
    """Of a table whose rows begin with `start` and another cell: the cells behind those."""
    cells = [
        tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in text.splitlines() if line.startswith(f"| {start}")
    ]
    return {(row[0], row[1]): row[2:] for row in cells if len(row) == columns}


@pytest.mark.parametrize("network", ["kws01", "ic01", "vww01", "ad01", "sww01"])
def test_comparison_in_the_readme(network: str) -> None:
    measured = rows(BENCHMARKS, network, 5)
    told = rows((ROOT / "README.md").read_text(encoding="utf-8"), network, 5)
    assert len(measured) == 6 and len(told) >= 3
    for label, figures in told.items():
        assert measured.get(label) == figures, label


def test_figures_of_the_runtime() -> None:
    """Rounded, of kws01 with the default kernels at -Os."""
    measured = rows(BENCHMARKS, "kws01", 5)
    text = (ROOT / "docs/runtime.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"^\| instructions an inference \| ([\d,]+) \| ([\d,]+) \|$", text, re.MULTILINE)
    exact = [int(cell.replace(",", "")) for cell in measured["kws01", "instructions an inference, -Os"][:2]]
    assert [int(cell.replace(",", "")) for cell in told] == [round(value, -3) for value in exact]


def test_everything_that_is_promised_is_there() -> None:
    for heading in (
        "Beside other engines, Cortex-M4",
        "Memory, Cortex-M4",
        "Beside TensorFlow Lite Micro, Cortex-M4",
        "Everything that was measured",
    ):
        assert f"## {heading}" in BENCHMARKS
    for goal in ("speed", "balanced", "size"):
        for form in ("compiled", "interpreted"):
            for flags in ("-O2", "-Os"):
                assert re.search(rf"^\| kws01 \| cortex-m4 \| {goal} \| {form} \| {flags} \|", BENCHMARKS, re.MULTILINE)
