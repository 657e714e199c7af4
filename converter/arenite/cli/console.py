"""What every command shares: where output goes, progress, and how a failure ends.

Standard output carries the result, and with --json exactly one object; progress, warnings and errors go to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from arenite.errors import AreniteError, UnsupportedModelError
from arenite.version import __version__

INTERNAL_ERROR = 70
"""EX_SOFTWARE: the fault is ours."""
INTERRUPTED = 130
"""128 + SIGINT."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks, only the result.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")]
Operators = Annotated[
    list[Path],
    typer.Option(metavar="FILE.py", help="Operators of your own, beside those of installed packages; repeatable.", show_default=False),
]


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def error_object(kind: str, message: str, status: int) -> dict[str, Any]:
    """What --json prints of an error; docs/cli.md."""
    return {"error": {"type": kind, "message": message, "exit_code": status}}


@dataclass
class Terminal:
    """A command's standard output and standard error."""

    json: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        self.out = Console(file=sys.stdout, highlight=False, soft_wrap=False)
        self.err = Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def show(self, renderables: Iterable[RenderableType]) -> None:
        """Print the result for a person. Sentences are not broken into lines where the output is no terminal."""
        for renderable in renderables:
            if isinstance(renderable, Text):
                self.out.print(renderable, soft_wrap=True)
            elif self.out.is_terminal:
                self.out.print(renderable)
            else:
                Console(file=sys.stdout, highlight=False, width=200).print(renderable)

    def show_json(self, value: Any) -> None:
        """Print the result for a program: nothing else may go to standard output."""
        print_json(value)

    def remark(self, message: str, style: str = "") -> None:
        if not self.quiet:
            self.err.print(Text(message, style=style))

    @contextmanager
    def progress(self) -> Iterator[None]:
        """Bars on standard error, if that is a terminal, for the `advance` calls inside."""
        if self.quiet or not self.err.is_terminal:
            yield
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.err, transient=True) as progress:
            self._progress = progress
            try:
                yield
            finally:
                self._progress = None
                self._tasks.clear()

    def advance(self, stage: str, done: int, total: int) -> None:
        """`done` of `total` units of `stage` are finished."""
        if self._progress is None:
            return
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._tasks[stage], completed=done, total=total)


@contextmanager
def command(json: bool, quiet: bool, debug: bool) -> Iterator[Terminal]:
    """A command's body. Turns failures into a message and an exit status: a user's mistake into its own, without a traceback."""
    terminal = Terminal(json, quiet)
    try:
        yield terminal
    except AreniteError as error:
        terminal.err.print(Text("error: ", style="bold red").append(Text(str(error), style="default")))
        _json_error(terminal, error, error.exit_code)
        raise typer.Exit(error.exit_code) from error
    except KeyboardInterrupt as error:
        terminal.err.print("interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from error
    except BrokenPipeError as error:
        sys.stderr.close()  # the reader of our output has gone: leave silently, as head(1)'s writers do
        raise typer.Exit(1) from error
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if debug:
            raise
        terminal.err.print(Text(f"internal error: {type(error).__name__}: {error}", style="bold red"))
        terminal.err.print(
            Text(
                f"This is a fault of Arenite {__version__}, not of your input. Please report it with the output of the same command "
                "and --debug, and the model if you can share it."
            )
        )
        _json_error(terminal, error, INTERNAL_ERROR)
        raise typer.Exit(INTERNAL_ERROR) from error


def _json_error(terminal: Terminal, error: Exception, status: int) -> None:
    if not terminal.json:
        return
    value = error_object(type(error).__name__, str(error), status)
    if isinstance(error, UnsupportedModelError):
        value["error"]["problems"] = [
            {"node": problem.node, "operator": problem.operator, "problem": problem.problem, "remedy": problem.remedy}
            for problem in error.problems
        ]
    terminal.show_json(value)
