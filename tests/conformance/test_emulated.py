"""Passing cases pass on emulated cores too: with an FPU and without."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from arenite.targets.artifact import ArtifactModel
from arenite.targets.many_models import run_models
from conformance.emulation import CORES, SAMPLE, convert_cases, run_on_core, sample
from conformance.execution import PASSED
from conformance.suite import Case, cases

PASSING = Path(__file__).with_name("passing.txt")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs/conformance.md"


@cache
def chosen(count: int | None) -> Sequence[Case]:
    return sample(cases(), PASSING.read_text().split(), count)


@cache
def converted(count: int | None) -> Sequence[tuple[Case, ArtifactModel]]:
    return convert_cases(chosen(count))


def require_tools() -> None:
    if not (shutil.which("arm-none-eabi-gcc") or find_spec("ziglang")):
        pytest.skip("no compiler for Cortex-M is installed")
    if not (shutil.which("qemu-system-arm") or find_spec("unicorn")):
        pytest.skip("no emulator is installed")


@pytest.mark.emulated
@pytest.mark.parametrize("target", CORES)
@pytest.mark.parametrize("count", [SAMPLE, pytest.param(None, marks=pytest.mark.long)], ids=["sample", "all"])
def test_core(target: str, count: int | None) -> None:
    require_tools()
    wrong = [f"{o.case.name}: {o.status} {o.reason}" for o in run_on_core(converted(count), target) if o.status != PASSED]
    assert not wrong, "\n".join(wrong)


def test_the_sample_has_every_operator() -> None:
    names = [case.name for case in chosen(SAMPLE)]
    assert len(set(names)) == len(names) == SAMPLE
    assert {case.operator for case in chosen(SAMPLE)} == {case.operator for case in chosen(None)}
    assert set(names) <= set(PASSING.read_text().split())


def test_the_document_has_the_counts_of_the_cores() -> None:
    rows = dict(re.findall(r"^\| (Cortex.*?) \| (\d+ \| \d+) \|$", DOCUMENT.read_text(), re.M))
    count = len(chosen(None))
    assert rows == dict.fromkeys(CORES.values(), f"{count} | {count}")


@pytest.mark.emulated
@pytest.mark.parametrize("target", CORES)
def test_what_the_app_refuses_hinders_no_other(target: str) -> None:
    """A file that is no model, one that is too large, and a good one behind them."""
    require_tools()
    (case, model), *_ = converted(SAMPLE)
    samples = [list(inputs.values()) for inputs, _ in case.data]
    broken = bytes(len(model.arn))
    damaged, large = (
        ArtifactModel(model.folder, model.name, arn, model.inputs, model.outputs, 0, (), frozenset()) for arn in (broken, bytes(4 << 20))
    )
    found = run_models([(damaged, samples), (large, samples), (model, [*samples, *samples])], target)
    assert [run.status for run in found] == [3, 9, 0]  # ARN_ERROR_FORMAT, ARN_ERROR_MEMORY
    assert [len(run.outputs) for run in found] == [0, 0, 2 * len(samples)]
    assert found[0].stack_bytes == 0 < found[2].stack_bytes < 2000
