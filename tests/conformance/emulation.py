"""Passing node cases on emulated cores: which, and their outcomes, all of them in one emulation."""

from __future__ import annotations

import random
import shutil
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from arenite.targets.artifact import ArtifactModel
from arenite.targets.many_models import run_models
from conformance.execution import WRONG, Outcome, compare, convert_case
from conformance.suite import Case

SAMPLE = 360
"""Cases that every run of the tests takes; the long ones take all."""
CORES = {"cortex-m4": "Cortex-M4 (hard float)", "cortex-m3": "Cortex-M3 (soft float)"}
"""Targets, and how the document calls them."""
MOST_ELEMENTS = 20_000
"""In inputs and outputs together. Cases beyond are left out: they take the time of many others and show nothing more."""
_SEED = 385


def sample(cases: Iterable[Case], passing: Iterable[str], count: int | None = None) -> list[Case]:
    """`count` of the node cases that pass: one of each operator in turn, then a second of each, …; the same in every run.

    Without a count all of them, but never those beyond MOST_ELEMENTS.
    """
    names = set(passing)
    of_operator: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.kind == "node" and case.name in names and _elements(case) <= MOST_ELEMENTS:
            of_operator[case.operator].append(case)
    for operator, found in of_operator.items():
        random.Random(f"{_SEED} {operator}").shuffle(found)  # of one operator: another's new cases change nothing here
    rounds = range(max(map(len, of_operator.values()), default=0))
    in_turn = [of_operator[operator][each] for each in rounds for operator in sorted(of_operator) if each < len(of_operator[operator])]
    return in_turn[:count]


def convert_cases(cases: Iterable[Case]) -> list[tuple[Case, ArtifactModel]]:
    """Their models. Raises what the converter raises."""
    folder = Path(tempfile.mkdtemp(prefix="conformance-"))
    try:
        return [(case, _convert(case, folder / case.name)) for case in cases]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_on_core(converted: Sequence[tuple[Case, ArtifactModel]], target: str) -> list[Outcome]:
    """Run the cases on a target's emulated board. Raises ToolError where there are no tools for it."""
    jobs = [(model, [list(inputs.values()) for inputs, _ in case.data]) for case, model in converted]
    return [
        Outcome(case, WRONG, f"arn_status {run.status}") if run.status else Outcome(case, *compare(case, run.outputs))
        for (case, _), run in zip(converted, run_models(jobs, target), strict=True)
    ]


def _convert(case: Case, folder: Path) -> ArtifactModel:
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        convert_case(case, folder)
    return ArtifactModel.read(folder)


def _elements(case: Case) -> int:
    return max(sum(array.size for array in (*inputs.values(), *outputs)) for inputs, outputs in case.data)
