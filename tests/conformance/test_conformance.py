"""Every case of ONNX's backend tests that passed passes, and no other does: passing.txt. `run.py --write` renews the list."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import onnx
import pytest
from conformance.execution import PASSED, run_case
from conformance.suite import Case, cases
from onnx import helper, numpy_helper

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


def computed(case: Case, name: str) -> Case:
    """The case with a bound input that reaches the runtime instead."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    value = next(tensor for tensor in model.graph.initializer if tensor.name == name)
    model.graph.initializer.remove(value)
    model.graph.input.append(helper.make_tensor_value_info(name, value.data_type, value.dims))
    data = tuple(({**inputs, name: numpy_helper.to_array(value)}, outputs) for inputs, outputs in case.data)
    return replace(case, model=model, bound=tuple(each for each in case.bound if each != name), data=data)


@pytest.mark.long
def test_every_bound_input_has_to_be_bound() -> None:
    bound = [case for case in cases() if case.kind == "node" and case.bound and "_expanded" not in case.name]
    needless = [f"{case.name}: {name}" for case in bound for name in case.bound if run_case(computed(case, name)).status == PASSED]
    assert len(bound) > 200
    assert not needless


def test_the_list_names_cases_of_the_suite() -> None:
    names = PASSING.read_text().split()
    assert names == sorted(set(names))
    assert set(names) <= {case.name for case in cases()}
    assert all(case.operator[0] in LETTERS for case in cases())


def test_the_document_has_the_counts_of_the_list() -> None:
    counts = dict(re.findall(r"^\| (\S+) \| \d+ \| (\d+) \|$", DOCUMENT.read_text().partition("## By operator")[0], re.M))
    assert sum(map(int, counts.values())) == len(PASSING.read_text().split())
