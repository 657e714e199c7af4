"""render_page(): an HTML page from a template, for reports and profiles alike."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render_page(template: Path, **values: object) -> str:
    """The page that `template` makes of `values`. Text is escaped; a name that the template uses and nobody gives raises UndefinedError."""
    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(values)
