"""`arenite profile DIR`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from arenite.cli.console import Debug, Json, Operators, Quiet, command
from arenite.errors import OutputError


class FormName(Enum):
    compiled = "compiled"
    interpreted = "interpreted"


class Level(Enum):
    """Of the C compiler."""

    s = "s"
    two = "2"
    three = "3"


def profile(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `convert` wrote.", show_default=False)],
    target: Annotated[str, typer.Option(help="The core, as `run --target`.")] = "cortex-m4",
    form: Annotated[FormName, typer.Option(help="The generated C, or the interpreter with the .arn file.")] = FormName.compiled,
    input: Annotated[str, typer.Option(metavar="FILE|random|zeros", help="A data file, of which the first sample runs.")] = "random",
    level: Annotated[Level, typer.Option("--optimization", "-O", help="-O of the C compiler.")] = Level.two,
    measured: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What a board printed: show that, instead of running anything.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with a bar chart.")] = None,
    operators: Operators = [],  # noqa: B006
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show where the time of an inference goes: instructions and cycles of every layer, on an emulated core."""
    with command(json, quiet, debug) as terminal:
        from arenite.own_operators import used_operators
        from arenite.profile import measure_profile, read_board_log, render, to_html, to_json
        from arenite.targets.emulated import Form

        with used_operators(operators):
            if measured is not None:
                found = read_board_log(folder, measured, target=target, form=Form(form.value))
            else:
                found = measure_profile(folder, target=target, form=Form(form.value), input=input, optimize=f"-O{level.value}")
        if html is not None:
            try:
                html.write_text(to_html(found), encoding="utf-8")
            except OSError as error:
                raise OutputError(f"{html} cannot be written: {error.strerror or error}") from error
        if json:
            terminal.show_json({**to_json(found), "output": None if html is None else str(html)})
            return
        terminal.show(render(found))
        if html is not None:
            terminal.remark(f"Wrote {html}")
