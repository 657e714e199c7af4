"""Runs an image on an emulated board: QEMU, or unicorn where that is absent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from arenite.errors import ToolError
from arenite.targets.board import Board
from arenite.targets.image import Image
from arenite.targets.outcome import Outcome
from arenite.targets.qemu import QEMU, run_qemu

TIMEOUT = 1800.0
"""Seconds for a run; an inference of the largest MLPerf Tiny network takes about one."""


def run_image(image: Image, board: Board, arguments: Sequence[str], folder: Path, *, timeout: float = TIMEOUT, layers: str = "") -> Outcome:
    """Run an image to its exit. `arguments` are those after the program's name; files that the app names are relative to `folder`.

    `layers`: what a layer is, for counting by layer (targets/layer_calls.py); only QEMU with plugins does.
    $ARENITE_EMULATOR ("qemu" or "unicorn") chooses, else QEMU where it is installed. Raises ToolError where there is no emulator,
    it crashes or the image does not end within `timeout` seconds.
    """
    wanted = os.environ.get("ARENITE_EMULATOR", "")
    if wanted not in ("", "qemu", "unicorn"):
        raise ToolError(f"ARENITE_EMULATOR is {wanted!r}: qemu or unicorn")
    if wanted != "unicorn" and shutil.which(QEMU):
        return run_qemu(image, board, arguments, folder, timeout=timeout, layers=layers)
    if wanted != "qemu" and find_spec("unicorn"):
        from arenite.targets.unicorn_emulator import run_unicorn  # imports the optional package

        return run_unicorn(image, board, arguments, folder, timeout=timeout)
    missing = f"{QEMU} is not found" if wanted == "qemu" else "the unicorn package is not installed" if wanted else "none is found"
    raise ToolError(f"no emulator: {missing}. `apt install qemu-system-arm`, or `pip install unicorn`")
