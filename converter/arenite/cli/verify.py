"""`arenite verify MODEL.onnx DIR --data FILE`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from arenite.cli.console import Debug, Json, Operators, Quiet, Terminal, command
from arenite.cli.run import EngineName
from arenite.cli.verify_layers import show_layers

if TYPE_CHECKING:
    from arenite.attribution import Attribution
    from arenite.verify import EngineResult, Verification

DIFFERENT = 1
"""Exit status where engines do not agree."""


def verify(
    model: Annotated[Path, typer.Argument(metavar="MODEL.onnx", help="The model that was converted.", show_default=False)],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `convert` wrote.", show_default=False)],
    data: Annotated[Path, typer.Option(help="Samples, as for --calibration, and labels `y` for accuracy.", show_default=False)],
    engine: Annotated[list[EngineName], typer.Option(help="Repeatable. Default: all that can run here.", show_default=False)] = [],  # noqa: B006
    target: Annotated[str, typer.Option(help="Core of the emulated engines: cortex-m0, m3, m4, m7, m33 or m55.")] = "cortex-m4",
    samples: Annotated[int | None, typer.Option(min=1, help="Only so many samples.")] = None,
    emulated_samples: Annotated[int, typer.Option(min=1, help="Only so many on the emulated engines.")] = 20,
    layers: Annotated[bool, typer.Option("--layers", help="Where the error of quantization comes from, layer by layer.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="With --layers: write the analysis as a page with charts.", show_default=False)
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="With --layers: write the analysis for a pull request.", show_default=False)
    ] = None,
    operators: Operators = [],  # noqa: B006
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare a converted model with its float original, and every engine with every other: bit for bit, float32 within a tolerance.

    Exit status 1 if engines differ.
    """
    if (html is not None or markdown is not None) and not layers:
        raise typer.BadParameter("--html and --markdown write what --layers finds: give that, too")
    with command(json, quiet, debug) as terminal:
        from arenite.own_operators import used_operators
        from arenite.verify import verify as verify_model

        with used_operators(operators), terminal.progress():
            verification = verify_model(
                model,
                folder,
                data,
                engines=[name.value for name in engine],
                target=target,
                samples=samples,
                emulated_samples=emulated_samples,
                progress=terminal.advance,
            )
            attribution = _attribute(terminal, model, folder, data, samples, html, markdown) if layers else None
        for name, reason in verification.skipped.items():
            terminal.remark(f"Engine {name} was left out: {reason}")
        for note in verification.notes:
            terminal.remark(f"warning: {note}", style="bold red")
        if json:
            terminal.show_json({**verification.to_json(), **({} if attribution is None else {"attribution": attribution.to_json()})})
        else:
            _show(terminal, verification)
            if attribution is not None:
                show_layers(terminal, attribution)
    if not verification.agree:
        raise typer.Exit(DIFFERENT)


def _attribute(
    terminal: Terminal, model: Path, folder: Path, data: Path, samples: int | None, html: Path | None, markdown: Path | None
) -> Attribution:
    from arenite.attribution import attribute, to_html, to_markdown
    from arenite.errors import OutputError

    attribution = attribute(model, folder, data, samples=samples, progress=terminal.advance)
    for option, file, written in (("--html", html, to_html), ("--markdown", markdown, to_markdown)):
        try:
            if file is not None:
                file.write_text(written(attribution), encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{option}: {file} cannot be written: {error.strerror or error}") from error
    return attribution


def _show(terminal: Terminal, verification: Verification) -> None:
    from arenite.verify.execution import measurements

    table = Table(box=None, pad_edge=False)
    table.add_column("engine")
    for title in ("samples", "accuracy", "top-1 agreement", "SQNR, dB", "instructions"):
        table.add_column(title, justify="right")
    accuracy = _percent(verification.float_value) if verification.float_metric == "accuracy" else ""
    table.add_row(f"float ({verification.reference})", str(verification.samples), accuracy, "", "", "")
    for name, result in verification.engines.items():
        table.add_row(name, *_figures(result))
    terminal.show([table])
    for name, result in verification.engines.items():
        if result.info is not None:
            terminal.show(Text(f"{name}: {line}") for line in measurements(result.info))
    if not verification.compared:
        terminal.show([Text("Bit-exactness not checked: only one engine ran.", style="yellow")])
    elif verification.agree:
        counts = ", ".join(f"{name} on {count}" for name, count in verification.compared.items())
        terminal.show([Text(_agreement(verification, f"{counts} samples"), style="bold green")])
    else:
        kind = "DIFFERENT" if verification.bit_exact else "NOT BIT-EXACT"
        terminal.show(Text(f"{kind}: {mismatch}", style="bold red") for mismatch in verification.mismatches)


def _agreement(verification: Verification, counts: str) -> str:
    from arenite.verify import ABSOLUTE, RELATIVE, Criterion

    said = {
        Criterion.TOLERANCE: f"every value of {{}} within {RELATIVE:g} · max |output| + {ABSOLUTE:g}",
        Criterion.STEP: "every value of {} within a step of int8",
        Criterion.BYTES: "every byte of {} the same",
    }
    outputs = {criterion: [name for name, used in verification.criteria.items() if used is criterion] for criterion in said}
    if len(outputs[Criterion.BYTES]) == len(verification.criteria):
        return f"Bit-exact: {counts}, every byte of every output the same."
    return f"Engines agree: {counts}, {', '.join(said[used].format(', '.join(names)) for used, names in outputs.items() if names)}."


def _figures(result: EngineResult) -> list[str]:
    return [
        str(result.samples),
        _percent(result.value) if result.metric == "accuracy" else "",
        _percent(result.top1_agreement),
        _decibels(result.sqnr_db),
        "" if result.info is None else f"{result.info.instructions:,}",
    ]


def _decibels(value: float | None) -> str:
    if value is None:
        return "undefined"  # a reference of zeros has no signal
    return f"{value:.1f}" if math.isfinite(value) else "exact"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.2%}"
