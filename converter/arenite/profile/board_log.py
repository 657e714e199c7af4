"""read_board_log(): a profile from what a board printed (firmware/apps/profile_model)."""

from __future__ import annotations

import re
from pathlib import Path

from arenite.artifact import REPORT, read_artifact
from arenite.errors import ArtifactError
from arenite.profile.contents import Cost, LayerProfile, Profile
from arenite.report import from_json
from arenite.targets.block_counts import NO_LAYER
from arenite.targets.catalogue import target_named
from arenite.targets.emulated import Form

_LAYER = re.compile(r"^\s*layer (-1|\d+) (\d+) (\d+)\s*$", re.MULTILINE)
_CLOCK = re.compile(r"^\s*clock_bits (\d+)\s*$", re.MULTILINE)
_STATUS = re.compile(r"^\s*status (\d+)\s*$", re.MULTILINE)


def read_board_log(folder: Path, log: Path, *, target: str, form: Form) -> Profile:
    """The profile of the artifact in `folder`, from the text in `log`, which may hold other lines, too.

    `target` and `form` are what the board ran; the text does not say. Raises ArtifactError where the text is of another model, of a run
    that failed, or none of such a program; ToolError for an unknown target.
    """
    target_named(target)
    artifact = read_artifact(folder)
    report = from_json(artifact.report, str(folder / REPORT))
    text = _read(log)
    measured = {int(layer): (int(runs), int(cycles)) for layer, runs, cycles in _LAYER.findall(text)}
    status = _STATUS.search(text)
    if not measured or status is None:
        raise ArtifactError(
            f"{log} holds no `layer` and `status` lines, as firmware/apps/profile_model prints them: is it the board's text?"
        )
    if status[1] != "0":
        raise ArtifactError(f"{log}: the inference ended with status {status[1]}")
    if max(measured) >= len(report.layers):
        raise ArtifactError(f"{log} has a layer {max(measured)}, but {report.model} has {len(report.layers)}: it is of another model")
    layers = []
    for step, layer in enumerate(report.layers):
        runs, cycles = measured.get(step, (0, 0))
        layers.append(LayerProfile(layer.name, layer.op, layer.form, layer.variant, layer.macs, runs, Cost(None, cycles), None))
    return Profile(
        model=report.model,
        target=target,
        form=form.value,
        input=f"measured ({log.name})",
        total=Cost(None, sum(cycles for _, cycles in measured.values())),
        layers=tuple(layers),
        rest=Cost(None, measured.get(NO_LAYER, (0, 0))[1]),
        functions=(),
        notes=tuple(_notes(text)),
    )


def _read(log: Path) -> str:
    try:
        return log.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ArtifactError(f"{log} cannot be read: {error.strerror or error}") from error


def _notes(text: str) -> list[str]:
    clock = _CLOCK.search(text)
    if clock is not None and clock[1] != "32":
        return [f"the board's cycle counter has {clock[1]} bits: a layer of {1 << int(clock[1]):,} cycles or more shows with too few."]
    return []
