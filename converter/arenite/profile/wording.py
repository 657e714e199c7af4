"""Numbers and sentences that the text and HTML forms of a profile share."""

from __future__ import annotations

from collections.abc import Iterator

from arenite.profile.contents import LayerProfile, Profile


def number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def unit(profile: Profile) -> str:
    return "cycles" if profile.in_cycles else "instructions"


def operator(layer: LayerProfile) -> str:
    """With its variant, where that says more than the element type; and how often it ran, where that is not once."""
    text = layer.op if layer.form == layer.op else f"{layer.op} ({layer.form})"
    if layer.variant not in ("bytes", "int8"):
        text += f", {layer.variant}"
    return text if layer.executions == 1 else f"{text}, {layer.executions} ×"


def sentences(profile: Profile) -> Iterator[str]:
    """Totals, memory, what measured them, and what is not known."""
    build, total = profile.build, profile.total
    counted = "" if total.instructions is None else f"{number(total.instructions)} instructions"
    about = f" (in steps of {build.resolution})" if build is not None and build.resolution > 1 else ""
    cycles = "" if total.cycles is None else f"{number(total.cycles)} cycles"
    what = ", ".join(text for text in (counted + about, cycles) if text)
    yield f"{profile.model} on {profile.target}, {profile.form}, {profile.input}: {what} an inference."
    if build is not None:
        yield (
            f"RAM: arena {build.arena_bytes:,}, session {build.session_bytes:,}, stack {build.stack_bytes:,} bytes. "
            f"Flash: model {build.model_bytes:,}, code {build.code_bytes:,} bytes."
        )
        yield f"{build.toolchain}, {build.optimize}; {build.emulator}."
    for note in profile.notes:
        yield f"Note: {note}"
