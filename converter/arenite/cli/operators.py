"""`arenite operators [NAME]`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from arenite.cli.console import Debug, Json, Operators, Quiet, command
from arenite.errors import OperatorError

WIDTH = 140
"""Of the table where the output is no terminal."""


def operators(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One operator, in detail.", show_default=False)] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
    header: Annotated[bool, typer.Option("--header", help="Print the C header of an operator of your own: its codes and record.")] = False,
    operators: Operators = [],  # noqa: B006
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the operators that are supported, in which element types, from which opset on, and how far."""
    with command(json, quiet, debug) as terminal:
        from arenite.emit.own_files import operator_header
        from arenite.own_operators import OWN_OPERATORS, used_operators
        from arenite.report.operators import count_text, detail_lines, find_operator, legend, operator_rows, operators_to_json
        from arenite.report.operators import operators_to_markdown as to_markdown

        with used_operators(operators):
            rows = operator_rows()
            if name is not None:
                found, near = find_operator(name, rows)
                if not found:
                    hint = f"; there is {', '.join(near)}" if near else ""
                    raise OperatorError(f"{name} is not supported{hint}. `arenite operators` lists what is")
                rows = tuple(found)
            if header:
                own = [own for own in OWN_OPERATORS.values() if name is not None and any(row.becomes == (own.name,) for row in rows)]
                if len(own) != 1:
                    raise OperatorError(f"--header: name one operator of your own: {', '.join(OWN_OPERATORS) or 'there is none'}")
                typer.echo(operator_header(own[0]), nl=False)
            elif json:
                terminal.show_json(operators_to_json(rows))
            elif markdown:
                typer.echo(to_markdown(rows), nl=False)
            elif name is not None:
                terminal.show(Text(line) for row in rows for line in detail_lines(row))
            else:
                table = Table(box=None, pad_edge=False, width=None if terminal.out.is_terminal else WIDTH)
                for title in ("operator", "domain", "opset", "float32", "int8", "int16", "notes"):
                    table.add_column(title, overflow="fold", no_wrap=title in ("operator", "opset", "float32", "int8", "int16"))
                for row in rows:
                    table.add_row(row.operator, row.domain, row.opsets, row.float32, row.int8, row.int16, Text(row.notes))
                terminal.show([table, Text(""), Text(f"{count_text(rows)}."), Text(legend())])
