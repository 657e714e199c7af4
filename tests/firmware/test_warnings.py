"""Firmware and host-side C compile without a warning."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from arenite.targets.board import Board
from arenite.targets.catalogue import target_named
from arenite.targets.compiler import Compiler, SourceSet, tool_version
from arenite.targets.host import FLAGS as HOST_FLAGS
from arenite.targets.sources import native_root
from arenite.targets.toolchain import FLAGS

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
FIRMWARE = native_root() / "firmware"
RUNTIME = native_root() / "runtime_c"


def compiler(name: str, *flags: str) -> Compiler:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return Compiler(name, (path, *flags), tool_version(path, "--version"))


@pytest.mark.parametrize("optimize", ["-Os", "-O2"])
def test_firmware(board: Board, optimize: str) -> None:
    arm = compiler("arm-none-eabi-gcc", *target_named(board.target).gcc_flags)
    apps = (FIRMWARE / "apps" / "run_model" / "main.c", FIRMWARE / "apps" / "run_models" / "main.c")
    profiling = (FIRMWARE / "apps" / "profile_model" / "main.c", FIRMWARE / "cortex_m" / "layer_cycles.c")
    includes = (*board.includes, RUNTIME / "include", FIRMWARE / "apps" / "run_model")
    sources = SourceSet((*board.sources, *apps, *profiling, Path(__file__).with_name("self_test.c")), includes)
    assert arm.compile(sources, (*FLAGS, *STRICT, optimize))


@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_host_side(name: str) -> None:
    host = compiler(name)
    assert host.compile(SourceSet((FIRMWARE / "host" / "interpreter.c",), (RUNTIME / "include",)), (*HOST_FLAGS, *STRICT))
    plugin = SourceSet((FIRMWARE / "emulation" / "qemu_count.c",), ())
    for interface in (1, 2, 7):
        assert host.compile(plugin, (*HOST_FLAGS, *STRICT, f"-DARN_QEMU_PLUGIN_VERSION={interface}"))
    assert host.compile(SourceSet((FIRMWARE / "emulation" / "unicorn_count.c",), ()), (*HOST_FLAGS, *STRICT))
