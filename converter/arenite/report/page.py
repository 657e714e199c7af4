"""render_page(): an HTML page from a template, for reports and profiles alike."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render_page(template: Path, **values: object) -> str:
    """The page that `template` makes of `values`. Text is escaped; a name that the template uses and nobody gives raises UndefinedError."""
    return _environment(template.parent).get_template(template.name).render(values)


@cache
def _environment(folder: Path) -> Environment:
    return Environment(loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
