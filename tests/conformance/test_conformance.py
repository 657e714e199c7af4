"""Every case of ONNX's backend tests that passed passes, and no other does: passing.txt. `run.py --write` renews the list."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from conformance.execution import PASSED, run_case
from conformance.suite import Case, cases

PASSING = Path(__file__).with_name("passing.txt")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/conformance.md"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def by_letter() -> dict[str, list[Case]]:
    found = defaultdict(list)
    for case in cases():
        found[case.operator[0]].append(case)
    return found


@pytest.mark.parametrize("letter", LETTERS)
def test_operators(letter: str) -> None:
    """Those whose names begin with this letter. (To know all of them takes seconds: not at collection.)"""
    passing = set(PASSING.read_text().split())
    wrong = []
    for case in by_letter()[letter]:
        outcome = run_case(case)
        if (outcome.status == PASSED) != (case.name in passing):
            wrong.append(f"{case.name}: {outcome.status} {outcome.reason}" if case.name in passing else f"{case.name} passes: list it")
    assert not wrong, "\n".join(wrong)


def test_the_list_names_cases_of_the_suite() -> None:
    names = PASSING.read_text().split()
    assert names == sorted(set(names))
    assert set(names) <= {case.name for case in cases()}
    assert all(case.operator[0] in LETTERS for case in cases())


def test_the_document_has_the_counts_of_the_list() -> None:
    counts = dict(re.findall(r"^\| (\S+) \| \d+ \| (\d+) \|$", DOCUMENT.read_text().partition("## By operator")[0], re.M))
    assert sum(map(int, counts.values())) == len(PASSING.read_text().split())
