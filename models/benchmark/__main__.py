"""Measures the zoo on emulated cores and writes docs/benchmarks.md: `make bench`.

    python models/benchmark [--write] [--target CORE …] [--jobs N] [NAME …]
    python models/benchmark --again

Every figure is counted, none is timed: instructions and cycles of one inference by the emulator, RAM by the plan and the stack's high-water
mark, flash from the ELF file. The architectures of MLPerf Tiny are built with seeded weights (models/mlperf_shapes); the real
networks, of $ARENITE_DATA, are measured where they are there. `--again` writes the documents anew from docs/benchmarks.json.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

from arenite.targets.catalogue import TARGETS
from core_tables import everything_table
from document import document, in_readme, in_runtime
from matrix import Job, Outcome, jobs, measure
from networks import NAMES, networks
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rows import Measurements, read, write

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "benchmarks.json"
COMMAND = "make bench"
console = Console(stderr=True)


def measure_all(todo: list[Job], workers: int) -> list[Outcome]:
    """In the order of the jobs, on several cores of this machine."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    outcomes: dict[str, Outcome] = {}
    with multiprocessing.Pool(workers) as pool, Progress(*columns, console=console) as progress:
        task = progress.add_task("measuring", total=len(todo))
        for outcome in pool.imap_unordered(measure, todo):
            outcomes[outcome.job.text] = outcome
            progress.update(task, advance=1, description=outcome.job.text)
            if not console.is_terminal:
                console.print(f"{len(outcomes)} of {len(todo)}: {outcome.job.text}")
            if outcome.failure is not None:
                console.print(f"{outcome.job.text}: {outcome.failure}", style="red")
    return [outcomes[job.text] for job in todo]


def measurements(names: list[str], targets: list[str], workers: int) -> Measurements:
    with tempfile.TemporaryDirectory(prefix="arenite-bench-") as scratch:
        console.print("building the architectures of MLPerf Tiny")
        found = networks(names, Path(scratch))
        outcomes = measure_all(list(jobs(found, targets, Path(scratch))), workers)
    order = {network.name: at for at, network in enumerate(found)}
    rows = sorted((row for each in outcomes for row in each.rows), key=lambda row: (order[row.network], targets.index(row.target)))
    tools = " / ".join(sorted({each.tools for each in outcomes if each.tools}))
    failures = {each.job.text: each.failure for each in outcomes if each.failure is not None}
    return Measurements(COMMAND, tools, tuple(rows), failures)


def documents(measured: Measurements) -> dict[Path, str]:
    """What the files that hold figures should say."""
    readme, runtime = ROOT / "README.md", ROOT / "docs" / "runtime.md"
    return {
        ROOT / "docs" / "benchmarks.md": document(measured),
        readme: in_readme(readme.read_text(encoding="utf-8"), measured),
        runtime: in_runtime(runtime.read_text(encoding="utf-8"), measured),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the zoo on emulated cores.")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and .json, and the figures of README.md")
    parser.add_argument("--again", action="store_true", help="measure nothing: write the documents from docs/benchmarks.json")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this core; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="measurements at a time (default: one a core)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these networks: {', '.join(NAMES)}")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"no network {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    if arguments.write and (arguments.names or arguments.target):
        parser.error("--write is for all networks and cores: what it writes holds all of them")
    if arguments.again:
        measured = read(FIGURES)
    else:
        measured = measurements(arguments.names, arguments.target or list(TARGETS), arguments.jobs)
        if not measured.rows:
            sys.exit("nothing could be measured")
    if arguments.write:
        write(measured, FIGURES)
    if not (arguments.write or arguments.again):
        print(everything_table(measured.rows))
        return
    for file, text in documents(measured).items():
        file.write_text(text, encoding="utf-8")
        console.print(f"wrote {os.path.relpath(file)}")


if __name__ == "__main__":
    main()
