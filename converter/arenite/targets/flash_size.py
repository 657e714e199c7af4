"""Flash that a model needs on a target: measured on images that are linked for it, not estimated."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arenite.targets.artifact import ArtifactModel
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.emulated import Form, build_run_model, is_model


@dataclass(frozen=True)
class FlashSize:
    """Of one form of the model on the target, in bytes."""

    model_bytes: int
    """The .arn, or the constants of the compiled form."""
    code_bytes: int
    """All else: kernels, runtime, and the start-up code and test app around them (about 1 kB)."""

    @property
    def total(self) -> int:
        return self.model_bytes + self.code_bytes


def measure_flash(files: Mapping[str, bytes], target: str) -> dict[Form, FlashSize]:
    """Build firmware/apps/run_model with each form of the model for the target's board, optimized for size.

    `files`: an artifact folder's, path → contents. Raises ToolError where there is no compiler for the target, or it fails.
    """
    with tempfile.TemporaryDirectory(prefix="arenite-size-") as scratch:
        folder = Path(scratch)
        for name, contents in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        model = ArtifactModel.read(folder)
        board = board_named(target_named(target).board)
        sizes = {}
        for form in Form:
            image = build_run_model(model, form, board)
            model_bytes = image.model_bytes(lambda symbol, form=form: is_model(symbol, model, form))  # type: ignore[misc]
            sizes[form] = FlashSize(model_bytes, image.flash_bytes - model_bytes)
        return sizes
