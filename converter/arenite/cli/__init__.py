"""The command line: argument parsing and printing, nothing else. One file a command."""

from __future__ import annotations

from typing import Annotated

import typer

from arenite.cli.convert import convert
from arenite.cli.inspect import inspect
from arenite.cli.operators import operators
from arenite.cli.profile import profile
from arenite.cli.run import run
from arenite.cli.usage import OutermostCommand, OutermostGroup
from arenite.cli.verify import verify
from arenite.version import __version__


def _application() -> typer.Typer:
    return typer.Typer(
        cls=OutermostGroup,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = _application()
"""`arenite`."""
convert_app = _application()
"""`convert`, which is `arenite convert`."""

for _command in (convert, run, verify, inspect, profile, operators):
    app.command()(_command)
convert_app.command(cls=OutermostCommand)(convert)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arenite {__version__}")
        raise typer.Exit


@app.callback()
def _arenite(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """TinyML: ONNX models to INT8 code that runs on microcontrollers, bit for bit the same everywhere."""


def main() -> None:
    app(prog_name="arenite")


def convert_main() -> None:
    convert_app(prog_name="convert")
