"""docs/benchmarks.json holds what was measured: every combination of it, within the limits, and as the documents repeat it."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/benchmarks.json"
MLPERF = ("kws01", "ic01", "vww01", "ad01", "sww01")
CORES = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55")


class Benchmark:
    """The modules of models/benchmark, which is a program and no package."""

    def __getattr__(self, name: str) -> ModuleType:
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def benchmark() -> Iterator[Any]:
    """They have short names: they are importable in these tests alone."""
    before = dict(sys.modules)
    sys.path.insert(0, str(ROOT / "models/benchmark"))
    yield Benchmark()
    sys.path.pop(0)
    for name in set(sys.modules) - set(before):
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(ROOT / "models/benchmark")):
            del sys.modules[name]


@pytest.fixture(scope="module")
def measured(benchmark: Any) -> Any:
    return benchmark.rows.read(FIGURES)


def test_limits(benchmark: Any, measured: Any) -> None:
    """Those of the first table of docs/benchmarks.md."""
    checks = benchmark.limits.checks(measured.rows)
    counts = Counter(check.limit for check in checks)
    assert len(counts) == 14 and counts["Cortex-M4, speed: cycles"] == counts["Cortex-M55, speed: instructions beside TFLM + CMSIS-NN"] == 5
    assert not [(check.limit, check.network, check.measured, check.most) for check in checks if not check.kept]


@pytest.mark.parametrize("network", MLPERF)
def test_every_combination_was_measured(measured: Any, network: str) -> None:
    assert not measured.failures
    found = {(row.target, row.goal, row.form, row.flags) for row in measured.rows if row.network == network}
    goals = [("cortex-m4", goal) for goal in ("balanced", "size")] + [(core, "speed") for core in CORES]
    assert found == {(*goal, form, flags) for goal in goals for form in ("compiled", "interpreted") for flags in ("-O2", "-Os")}


def test_trained_networks_take_as_long_as_those_with_seeded_weights(benchmark: Any, measured: Any) -> None:
    index = benchmark.rows.Index(measured.rows)
    for network in MLPERF:
        seeded, trained = (index.row(name, "cortex-m4", "balanced") for name in (network, f"{network}_trained"))
        assert trained.macs == pytest.approx(seeded.macs, rel=1e-5)
        assert trained.instructions == pytest.approx(seeded.instructions, rel=0.05)


def test_documents_have_these_figures(benchmark: Any, measured: Any) -> None:
    """`python models/benchmark --again` writes them."""
    document = benchmark.document
    assert (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8") == document.document(measured)
    for file, replaced in ((ROOT / "README.md", document.in_readme), (ROOT / "docs/runtime.md", document.in_runtime)):
        text = file.read_text(encoding="utf-8")
        assert replaced(text, measured) == text


def test_a_regression_is_seen(benchmark: Any, measured: Any) -> None:
    """In the limits, and in the list of what other engines are better at."""

    def changed(network: str, **figures: Any) -> list[Any]:
        return [replace(row, **figures) if (row.network, row.target) == (network, "cortex-m4") else row for row in measured.rows]

    slow = changed("ad01", instructions=600_000, cycles=700_000)
    beyond = {(check.limit, check.network) for check in benchmark.limits.checks(slow) if not check.kept}
    assert {("Cortex-M4, speed: instructions", "ad01"), ("Cortex-M4, balanced: cycles", "ad01")} <= beyond
    assert "**missed: ad01**" in benchmark.limit_tables.limits_table(slow)
    ahead = benchmark.peer_tables.ahead_table(slow)
    assert "| instructions, Cortex-M4 | ad01 | TFLM 90b983c2 + CMSIS-NN, -O2 | 583,000 | 600,000 | 1.03 | 600,000 |" in ahead
    assert "| 0.583 / 0.718 ▲ |" in benchmark.peer_tables.speed_table(slow)
    large = changed("kws01", arena=20_000, kernels=50_000)
    assert "| RAM without stack, Cortex-M4, compiled | kws01 | bakeNN | 16,512 | 20,000 | 1.21 |" in benchmark.peer_tables.ahead_table(
        large
    )
    assert ("Cortex-M4, size, -Os: bytes of code", "kws01") in {
        (check.limit, check.network) for check in benchmark.limits.checks(large) if not check.kept
    }


def test_what_is_not_measured_is_no_success(benchmark: Any) -> None:
    checks = benchmark.limits.checks([])
    assert checks and not any(check.kept for check in checks)
    table = benchmark.limit_tables.limits_table([])
    assert "kept" not in table and "not measured: kws01, ic01, vww01, ad01, sww01" in table


def test_files(benchmark: Any, measured: Any, tmp_path: Path) -> None:
    with_failure = replace(measured, failures={'a "network" on a core': "why, with a \\ in it"})
    benchmark.rows.write(with_failure, tmp_path / "figures.json")
    assert benchmark.rows.read(tmp_path / "figures.json") == with_failure
    benchmark.rows.write(measured, tmp_path / "figures.json")
    assert (tmp_path / "figures.json").read_text(encoding="utf-8") == FIGURES.read_text(encoding="utf-8")
    assert '- a "network" on a core: why' in benchmark.document.document(with_failure)


@pytest.mark.parametrize("replaced", ["in_readme", "in_runtime"])
def test_a_document_without_its_table(benchmark: Any, measured: Any, replaced: str) -> None:
    function: Callable[[str, Any], str] = getattr(benchmark.document, replaced)
    with pytest.raises(ValueError, match="is there 0 times"):
        function("# Nothing\n", measured)


@pytest.mark.emulated
@pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="QEMU is not installed")
@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed")
def test_measuring(benchmark: Any, tmp_path: Path) -> None:
    (network,) = benchmark.networks.networks(["digits_cnn"], tmp_path)
    todo = list(benchmark.matrix.jobs([network], list(CORES), tmp_path))
    assert [(job.target, job.goal) for job in todo][:7] == [*((core, "speed") for core in CORES), ("cortex-m4", "balanced")]
    (job,) = [job for job in todo if (job.target, job.goal) == ("cortex-m4", "balanced")]
    outcome = benchmark.matrix.measure(job)
    assert outcome.failure is None and "QEMU" in outcome.tools
    assert [(row.form, row.flags) for row in outcome.rows] == [
        (form, flags) for form in ("compiled", "interpreted") for flags in ("-O2", "-Os")
    ]
    fast, small, read, _ = outcome.rows
    assert fast.instructions < small.instructions and fast.kernels > small.kernels > 1000 < small.runtime < 4000
    assert fast.instructions < read.instructions < 1.1 * fast.instructions and read.runtime > fast.runtime
    assert fast.macs < fast.cycles < 3 * fast.macs and fast.plain <= fast.model
    assert fast.scratch <= fast.arena == fast.ram and read.ram - read.arena == read.session > 0

    shutil.rmtree(job.folder)
    refused = benchmark.matrix.measure(replace(job, network=replace(network, source=tmp_path / "absent.onnx")))
    assert refused.rows == () and "absent.onnx" in refused.failure
