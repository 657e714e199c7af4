"""The attribution as Markdown, for a pull request or an issue."""

from __future__ import annotations

from arenite.attribution import wording
from arenite.attribution.figures import Attribution


def to_markdown(attribution: Attribution) -> str:
    """Sentences, suggestions, a table of all layers."""
    labelled = attribution.lost is not None
    lines = [f"### {attribution.model}: where the error comes from", "", wording.summary(attribution)]
    lines += ["", f"- {wording.diverging(attribution)}", f"- {wording.worst(attribution)}"]
    title = wording.suggestions_title(attribution)
    lines += ["", title] if title else []
    lines += ["", *(f"- {_code(line)}" for line in wording.suggestion_lines(attribution))] if attribution.suggestions else []
    lines += ["", "<details><summary>Every layer</summary>", ""]
    lines += [_row(wording.TITLES), _row(["---:" if side == "right" else "---" for side in wording.JUSTIFY])]
    lines += [_row([_plain(cell) for cell in wording.row(at, layer, labelled=labelled)]) for at, layer in enumerate(attribution.layers)]
    lines += ["", *wording.EXPLANATIONS, "", "</details>", ""]
    return "\n".join(lines)


def _code(line: str) -> str:
    """The options as code."""
    options, behind, reason = line.partition(": ")
    return f"`{options}`{behind}{_plain(reason)}"


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Names may hold what Markdown gives a meaning to."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("_", "\\_").replace("*", "\\*").replace("<", "&lt;")
