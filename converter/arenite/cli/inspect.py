"""`arenite inspect DIR`."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Annotated

import typer

from arenite.cli.console import Debug, Json, Quiet, command
from arenite.errors import ArtifactError


def inspect(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `convert` wrote.", show_default=False)],
    memory: Annotated[bool, typer.Option("--memory/--no-memory", help="Show the arena map.")] = True,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show a converted model: layers, shapes, scales, multiply-accumulates, the arena map."""
    with command(json, quiet, debug) as terminal:
        from arenite_runtime import Model, ModelError

        from arenite import report
        from arenite.artifact import REPORT, read_artifact

        artifact = read_artifact(folder)
        contents = report.from_json(artifact.report, f"{folder / REPORT}")
        arn = artifact.arn.read_bytes()
        if zlib.crc32(arn) != contents.checksum:
            try:
                Model.load(arn)
            except ModelError as error:
                raise ArtifactError(f"{artifact.arn}: {error}") from error
            raise ArtifactError(f"{artifact.arn} is not the file that {REPORT} describes: convert the model again")
        if json:
            terminal.show_json({**report.to_json(contents), "output": str(folder)})
        else:
            terminal.show(report.render_report(contents, memory=memory))
