"""Flash that a model needs on a target: measured on images that are linked for it, not estimated."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from arenite.report import FlashSize
from arenite.targets.artifact import ArtifactModel
from arenite.targets.board import board_named
from arenite.targets.catalogue import target_named
from arenite.targets.emulated import Form, build_run_model, is_model


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
