"""`arenite run DIR --input FILE`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from arenite.cli.console import Debug, Json, Operators, Quiet, command
from arenite.errors import OutputError


class EngineName(Enum):
    numpy = "numpy"
    c = "c"
    compiled = "compiled"
    emulated = "emulated"
    emulated_compiled = "emulated-compiled"


def run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that `convert` wrote.", show_default=False)],
    input: Annotated[Path, typer.Option(help="Samples: .npz with an array for each model input (or `x`), or .npy.", show_default=False)],
    engine: Annotated[EngineName, typer.Option(help="What executes the model.")] = EngineName.numpy,
    target: Annotated[str, typer.Option(help="Core of the emulated engines: cortex-m0, m3, m4, m7, m33 or m55.")] = "cortex-m4",
    output: Annotated[Path | None, typer.Option(metavar="FILE.npz", help="Write the outputs, by name, as the engine gives them.")] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="Only so many samples.")] = None,
    operators: Operators = [],  # noqa: B006
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a converted model on data and show its outputs; on an emulated engine instructions and stack as well."""
    with command(json, quiet, debug) as terminal:
        from arenite.own_operators import used_operators
        from arenite.verify.execution import execute, measurements

        with used_operators(operators), terminal.progress():
            execution = execute(folder, input, engine.value, target=target, samples=samples, progress=terminal.advance)
        for check in execution.inputs:
            for warning in check.warnings:
                terminal.remark(f"warning: {warning}", style="bold red")
        if output is not None:
            try:
                execution.save(output)
            except OSError as error:
                raise OutputError(f"{output} cannot be written: {error.strerror or error}") from error
        if json:
            terminal.show_json({**execution.to_json(), "output": None if output is None else str(output)})
            return
        table = Table(box=None, pad_edge=False)
        for title in ("output", "shape", "first sample"):
            table.add_column(title, overflow="fold")
        for port, values in zip(execution.outputs, execution.values, strict=True):
            table.add_row(Text(port.name), "×".join(map(str, port.shape)), _some(values[0].reshape(-1).tolist()))
        terminal.show([table])
        if execution.info is not None:
            terminal.show(Text(line) for line in measurements(execution.info))
        if output is not None:
            terminal.remark(f"Wrote {output}")


def _some(values: list[Any]) -> Text:
    shown = " ".join(f"{value:.4g}" for value in values[:16])
    return Text(shown + (f" … ({len(values)} values)" if len(values) > 16 else ""))
