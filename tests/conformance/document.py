"""docs/conformance.md, from the outcomes of a run."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import onnx
from conformance.emulation import CORES, MOST_ELEMENTS, SAMPLE
from conformance.execution import CONSTANT, PASSED, Outcome
from conformance.suite import BOUND, KINDS

_COMMAND = "python tests/conformance/run.py --write"


def document(outcomes: Sequence[Outcome], on_cores: Mapping[str, Sequence[Outcome]]) -> str:
    """Counts by operator, and one reason for each case that does not pass. `on_cores`: outcomes on emulated cores, by target."""
    failing = [outcome for outcome in outcomes if outcome.status != PASSED]
    lines = [
        "# ONNX's backend tests",
        "",
        f"Written by `{_COMMAND}` (onnx {onnx.__version__}); do not edit. The cases of `onnx.backend.test` whose inputs and",
        "outputs are tensors of float32, int8 to int64, uint8 to uint32 and bool are converted with precision float32, run by the C",
        "runtime on the host, and compared with the tolerances of the suite. Inputs that determine a shape or an attribute are bound to",
        "the test's value at conversion ([which](#bound-inputs)); every other input, weights included, reaches the runtime. A case that",
        "folds to a constant does not count as passed. Where the number of results depends on data (NonMaxSuppression, NonZero), the",
        "−1 that follow them are taken off first.",
        "",
        "| Set | Cases | Passed |",
        "| --- | ---: | ---: |",
        *(_count(kind, [outcome for outcome in outcomes if outcome.case.kind == kind]) for kind in KINDS),
        "",
        *cores(on_cores),
        "",
        "## By operator",
        "",
        "Node tests, those of an operator's definition by other operators (`_expanded`) included.",
        "",
        "| Operator | Cases | Passed |",
        "| --- | ---: | ---: |",
    ]
    of_nodes = [outcome for outcome in outcomes if outcome.case.kind == "node"]
    lines += [
        _count(operator, [outcome for outcome in of_nodes if outcome.case.operator == operator])
        for operator in sorted({outcome.case.operator for outcome in of_nodes})
    ]
    lines += ["", "## What does not pass, and why", "", "| Operator | Cases | Reason |", "| --- | --- | --- |", *_reasons(failing)]
    bound = Counter(each.case.operator for each in of_nodes if each.case.bound and "_expanded" not in each.case.name)
    lines += [
        "",
        "## Bound inputs",
        "",
        f"In {bound.total()} of the node tests, expansions not counted. No other input is bound, and each of these has to be: where it is",
        "computed, the converter refuses the case.",
        "",
        "| Operator | Inputs | Cases |",
        "| --- | --- | ---: |",
    ]
    for operator, inputs in sorted(BOUND.items()):
        lines.append(f"| {operator} | {', '.join(f'{i}: {what}' for i, what in inputs.items())} | {bound[operator]} |")
    return "\n".join([*lines, ""])


def cores(on_cores: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """How many run on emulated cores."""
    return [
        f"Of the passing node cases, those of at most {MOST_ELEMENTS} elements also run in firmware on emulated cores. The test suite",
        f"runs {SAMPLE} of them each time, drawn evenly over the operators; `make test-long` runs all.",
        "",
        "| Core | Cases | Passed |",
        "| --- | ---: | ---: |",
        *(_count(CORES[target], outcomes) for target, outcomes in on_cores.items()),
    ]


def _count(name: str, outcomes: Sequence[Outcome]) -> str:
    return f"| {name} | {len(outcomes)} | {Counter(outcome.status for outcome in outcomes)[PASSED]} |"


def _reasons(failing: Iterable[Outcome]) -> list[str]:
    """A row for each operator and reason."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for outcome in failing:
        reason = "it folds to a constant" if outcome.status == CONSTANT else _plain(outcome.reason)
        rows[outcome.case.operator, reason].append(outcome.case.name.removeprefix("test_"))
    return [f"| {operator} | {', '.join(f'`{name}`' for name in names)} | {reason} |" for (operator, reason), names in sorted(rows.items())]


def _plain(reason: str) -> str:
    """In one cell of a table, the same on every machine."""
    reason = re.sub(r"/\S*/case\.arn", "case.arn", reason)
    return reason.replace("|", "\\|").replace("`", "'")[:240]
