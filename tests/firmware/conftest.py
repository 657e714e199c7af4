"""Every toolchain with every emulator, as far as they are installed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from arenite.targets.board import Board, board_named
from arenite.targets.catalogue import TARGETS
from arenite.targets.compiler import SourceSet
from arenite.targets.emulator import run_image
from arenite.targets.image import Image
from arenite.targets.outcome import Outcome
from arenite.targets.toolchain import build_image

Run = Callable[..., Outcome]
SELF_TEST = Path(__file__).with_name("self_test.c")


@pytest.fixture(scope="session", params=[target.board for target in TARGETS.values()])
def board(request: pytest.FixtureRequest) -> Board:
    """Each target's."""
    return board_named(request.param)


@pytest.fixture(params=["gcc", "zig"])
def self_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, board: Board) -> Image:
    """The self-test, built by each toolchain."""
    if not (shutil.which("arm-none-eabi-gcc") if request.param == "gcc" else find_spec("ziglang")):
        pytest.skip(f"the toolchain {request.param} is not installed")
    monkeypatch.setenv("ARENITE_TOOLCHAIN", request.param)
    return build_image("self_test", board, [SourceSet((SELF_TEST,), ())])


@pytest.fixture(params=["qemu", "unicorn"])
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, board: Board, self_test: Image) -> Run:
    """Run the self-test with some arguments in an empty folder, tmp_path, on each emulator."""
    if not (shutil.which("qemu-system-arm") if request.param == "qemu" else find_spec("unicorn")):
        pytest.skip(f"the emulator {request.param} is not installed")
    if request.param == "unicorn" and not TARGETS[board.target].unicorn_cpu:
        pytest.skip(f"unicorn does not know the {board.target}")
    monkeypatch.setenv("ARENITE_EMULATOR", request.param)
    return lambda *arguments, timeout=60.0: run_image(self_test, board, arguments, tmp_path, timeout=timeout)
