"""Measures the zoo on emulated cores and writes docs/benchmarks.md: `make bench`.

    python models/benchmark [--output FILE] [--target CORE …] [--jobs N] [NAME …]

Every figure is counted, none is timed: instructions and cycles of one inference by the emulator, RAM by the plan and the stack's high-water
mark, flash from the ELF file. The architectures of MLPerf Tiny are built with seeded weights (models/mlperf_shapes); the real
networks, of $ARENITE_DATA, are measured where they are there.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from arenite.targets.catalogue import TARGETS
from document import document, matrix
from matrix import Network, Outcome, jobs, measure
from peers import NETWORKS
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

ZOO = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ARENITE_DATA") or ZOO.parents[1] / "shared" / "data")
DIGITS = "digits_cnn"
console = Console(stderr=True)


def networks(names: list[str], folder: Path) -> list[Network]:
    """The zoo's, or those named; then their real counterparts."""
    found = []
    if not names or DIGITS in names:
        found.append(Network(DIGITS, ZOO / DIGITS / f"{DIGITS}.onnx", ZOO / DIGITS / "digits_calibration.npz"))
    wanted = [name for name in NETWORKS if not names or name in names]
    if wanted:
        console.print("building the architectures of MLPerf Tiny")
        subprocess.run([sys.executable, ZOO / "mlperf_shapes" / "build.py", folder, *wanted], check=True, stdout=subprocess.DEVNULL)
    found += [Network(name, folder / f"{name}.onnx", folder / f"{name}_calibration.npz") for name in wanted]
    for name in wanted:
        real = DATA / "models" / "mlperf" / f"{name}_fp32.onnx"
        if real.is_file():
            found.append(Network(f"{name}, real", real, None, real=True))  # ranges from synthetic inputs: they do not matter to speed
    return found


def measure_all(found: list[Network], targets: list[str], folder: Path, workers: int) -> list[Outcome]:
    """In the order of the jobs, on several cores."""
    todo = list(jobs(found, targets, folder))
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the zoo on emulated cores.")
    parser.add_argument("--output", type=Path, help="write the document here (default: print the table)")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this core; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="measurements at a time (default: one a core)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these networks: {DIGITS}, {', '.join(NETWORKS)}")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {DIGITS, *NETWORKS}
    if unknown:
        parser.error(f"no network {', '.join(sorted(unknown))}: there are {DIGITS}, {', '.join(NETWORKS)}")
    with tempfile.TemporaryDirectory(prefix="arenite-bench-") as scratch:
        found = networks(arguments.names, Path(scratch))
        outcomes = measure_all(found, arguments.target or list(TARGETS), Path(scratch), arguments.jobs)
    rows = [row for outcome in outcomes for row in outcome.rows]
    failed = [outcome for outcome in outcomes if outcome.failure is not None]
    if not rows:
        sys.exit("nothing could be measured")
    print(matrix(rows))
    if arguments.output is not None:
        chosen = [*(f"--target {target}" for target in arguments.target or ()), *map(shlex.quote, arguments.names)]
        command = " ".join(["python models/benchmark --output docs/benchmarks.md", *chosen]) if chosen else "make bench"
        arguments.output.write_text(document(rows, failed, command), encoding="utf-8")
        console.print(f"wrote {os.path.relpath(arguments.output)}")


if __name__ == "__main__":
    main()
