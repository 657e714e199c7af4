"""`arenite operators`."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from arenite.cli.console import Debug, Json, Quiet, command


def operators(json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """List the ONNX operators that are supported, and the kernels that execute them."""
    with command(json, quiet, debug) as terminal:
        from arenite.report.supported import supported_kernels, supported_operators

        rows, kernels = supported_operators(), supported_kernels()
        if json:
            value: dict[str, Any] = {
                "operators": [
                    {"onnx": row.onnx, "becomes": list(row.becomes), "supported": row.supported, "execution": row.execution} for row in rows
                ],
                "kernels": [{"name": k.name, "code": k.code, "variants": list(k.variants), "summary": k.summary} for k in kernels],
            }
            terminal.show_json(value)
            return
        table = Table(title=f"{len(rows)} ONNX operators", title_justify="left", box=None, pad_edge=False)
        for title in ("ONNX", "supported", "becomes", "execution"):
            table.add_column(title, overflow="fold")
        for row in rows:
            table.add_row(row.onnx, Text(row.supported), ", ".join(row.becomes), Text(row.execution))
        below = Table(title=f"{len(kernels)} kernels", title_justify="left", box=None, pad_edge=False)
        for title in ("code", "kernel", "variants", ""):
            below.add_column(title, overflow="fold")
        for kernel in kernels:
            below.add_row(str(kernel.code), kernel.name, ", ".join(kernel.variants), Text(kernel.summary))
        terminal.show([table, Text(""), below])
