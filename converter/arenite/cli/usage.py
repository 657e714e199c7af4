"""Command lines that are wrong: the parser's message on standard error, and with --json the error object on standard output."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from arenite.cli.console import error_object, print_json

_UsageError: type[Any] = typer.BadParameter.__mro__[1]
"""click.UsageError. Typer keeps a click of its own from some version on, and has no name for this class."""
_JSON = "arenite.json"
"""In Context.meta: --json is among the words, whether or not parsing got so far."""


@contextmanager
def _usage_errors(json: bool) -> Iterator[None]:
    """The parser prints what leaves here on standard error, and exits with its `exit_code`, 2."""
    try:
        yield
    except _UsageError as error:
        error.message = error.message.removeprefix("Value error, ")  # how pydantic, behind newer typers, begins
        if json:
            print_json(error_object("UsageError", error.format_message(), error.exit_code))
        raise


class _ReportsUsageErrors:
    """For the outermost command, through which every usage error passes: while words are parsed, or from a command's body."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        json = "--json" in args
        with _usage_errors(json):
            context = super().make_context(info_name, args, parent, **extra)  # type: ignore[misc]
        context.meta[_JSON] = json
        return context

    def invoke(self, ctx: Any) -> Any:
        with _usage_errors(ctx.meta[_JSON]):
            return super().invoke(ctx)  # type: ignore[misc]


class OutermostGroup(_ReportsUsageErrors, TyperGroup):
    """`arenite`."""


class OutermostCommand(_ReportsUsageErrors, TyperCommand):
    """`convert`."""
