"""`arenite inspect DIR`."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from arenite.cli.console import Debug, Json, Quiet, Terminal, command
from arenite.errors import ArtifactError, OutputError


def inspect(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `convert` wrote.", show_default=False)],
    memory: Annotated[
        bool | None, typer.Option("--memory/--no-memory", help="Show the memory over time, and nothing else; or leave the arena map out.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Compare samples with what calibration has seen, and nothing else.", show_default=False),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the memory over time as an HTML page.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the picture of the arena over time.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the memory over time as a table, a line a step.")] = None,
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
        if data is not None:
            _show_data(terminal, folder, data, json)
            return
        for file, page in ((html, report.memory_to_html), (svg, report.memory_to_svg), (csv, report.memory_to_csv)):
            if file is not None:
                _write(file, page(contents))
                terminal.remark(f"Wrote {file}")
        if json and memory:
            terminal.show_json({**report.memory_to_json(contents), "output": str(folder)})
        elif json:
            terminal.show_json({**report.to_json(contents), "output": str(folder)})
        else:
            shown = report.render_memory_use(contents) if memory else report.render_report(contents, memory=memory is None)
            terminal.show(shown)


def _show_data(terminal: Terminal, folder: Path, data: Path, json: bool) -> None:
    """Is the data prepared as that of calibration was?"""
    from arenite.verify.input_check import check_inputs, sentence
    from arenite.verify.ports import Ports

    ports = Ports.read(folder)
    checks = check_inputs(ports.inputs, ports.load(data).inputs)
    for check in checks:
        for warning in check.warnings:
            terminal.remark(f"warning: {warning}", style="bold red")
    if json:
        terminal.show_json({"inputs": [check.to_json() for check in checks], "output": str(folder)})
    else:
        terminal.show([Text(sentence(check, port)) for check in checks for port in ports.inputs if port.name == check.name])


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror or error}") from error
