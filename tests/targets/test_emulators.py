"""Choosing an emulator, and what goes wrong with one."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from arenite.errors import ToolError
from arenite.targets import emulator, qemu
from arenite.targets.board import Board, board_named, board_names
from arenite.targets.catalogue import TARGETS, Target
from arenite.targets.compiler import SourceSet
from arenite.targets.image import Image
from arenite.targets.sources import native_root
from arenite.targets.toolchain import build_image

needs_qemu = pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="qemu-system-arm is not installed")
needs_gcc = pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed")


@pytest.fixture
def board() -> Board:
    return board_named("qemu_mps2_an386")


@pytest.fixture
def image(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    """An app that disables the vector table and faults: a lockup, which QEMU does not survive."""
    monkeypatch.setenv("ARENITE_TOOLCHAIN", "gcc")
    source = tmp_path / "lockup.c"
    source.write_text(
        '#include "board.h"\n#include "measure.h"\n'
        "static int nothing(void) { return 0; }\n"
        "int main(void) {\n"
        "    measurement unused;\n"
        "    measure(nothing, &unused);\n"
        '    board_print("about to lock up\\n");\n'
        "    *(volatile unsigned *)0xE000ED08u = 0x60000000u;\n"
        '    __asm volatile("udf #0");\n'
        "    return 0;\n}\n"
    )
    return build_image("lockup", board, [SourceSet((source,), ())])


def fake_qemu(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "qemu-system-arm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(qemu, "_qemu", lambda: str(program))


@needs_qemu
@needs_gcc
@pytest.mark.emulated
def test_crash_of_qemu(image: Image, board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENITE_EMULATOR", "qemu")
    with pytest.raises(ToolError, match=r"QEMU crashed \(exit status -6\) running lockup.elf:\nabout to lock up\n(.*\n)*.*Lockup"):
        emulator.run_image(image, board, (), tmp_path)


@needs_gcc
@pytest.mark.emulated
def test_fault_without_a_handler_under_unicorn(image: Image, board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unicorn knows no vector table offset: the fault is taken to the image's own handler."""
    pytest.importorskip("unicorn")
    monkeypatch.setenv("ARENITE_EMULATOR", "unicorn")
    outcome = emulator.run_image(image, board, (), tmp_path)
    assert outcome.status == 131
    assert outcome.console.startswith("about to lock up\nfault 00000003")


@needs_qemu
@pytest.mark.emulated
def test_plugin_fits_the_installed_qemu() -> None:
    plugin = qemu.counting_plugin()
    assert plugin is not None
    assert qemu._refusal(plugin) is None


@needs_qemu
@pytest.mark.emulated
@pytest.mark.parametrize("interface", [-1, 1000])
def test_another_plugin_interface_is_learnt_from_qemu(interface: int) -> None:
    refused = qemu._refusal(qemu._build_plugin(interface))
    assert refused is not None
    assert qemu._refusal(qemu._build_plugin(int(refused))) is None


@pytest.mark.parametrize(
    ("version", "answer", "interface"),
    [
        ("9.2.0", "", 2),
        ("8.2.1", "", 1),
        ("10.2.0", "", 2),
        ("10.2.50", "requires API version 2, but this QEMU supports only a minimum version of 7", 7),
        ("11.0.0", "requires API version 7, but this QEMU supports only up to version 6", 6),
        ("11.1.1", "", 7),
        ("13.0.0", "requires API version 7, but this QEMU supports only a minimum version of 9", 9),
        ("7.2.22", "", 1),
    ],
)
def test_plugin_interface_by_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, answer: str, interface: int) -> None:
    """A QEMU for which another is right than its version lets expect says so."""
    script = f"""case "$*" in
--version) echo "QEMU emulator version {version}";;
-help) echo "-plugin [file=]<file>";;
*) echo "qemu-system-arm: Could not load plugin x: plugin {answer}" >&2; exit 1;;
esac"""
    fake_qemu(tmp_path, monkeypatch, script)
    built: list[int] = []
    monkeypatch.setattr(qemu, "_build_plugin", lambda number: built.append(number) or Path(f"plugin{number}"))
    qemu.counting_plugin.cache_clear()
    try:
        assert qemu.counting_plugin() == Path(f"plugin{interface}")
    finally:
        qemu.counting_plugin.cache_clear()


def test_qemu_without_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_qemu(tmp_path, monkeypatch, 'echo "-kernel bzImage"')
    qemu.counting_plugin.cache_clear()
    try:
        assert qemu.counting_plugin() is None
    finally:
        qemu.counting_plugin.cache_clear()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("", "no emulator: none is found. `apt install qemu-system-arm`, or `pip install unicorn`"),
        ("qemu", "no emulator: qemu-system-arm is not found."),
        ("unicorn", "no emulator: the unicorn package is not installed."),
        ("renode", "ARENITE_EMULATOR is 'renode': qemu or unicorn"),
    ],
)
def test_no_emulator(board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str, message: str) -> None:
    monkeypatch.setenv("ARENITE_EMULATOR", choice)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(emulator, "find_spec", lambda name: None)
    unread = Image(tmp_path / "x.elf", "", (), {}, ())
    with pytest.raises(ToolError) as raised:
        emulator.run_image(unread, board, (), tmp_path)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_boards(target: Target) -> None:
    assert target.board in board_names()
    board = board_named(target.board)
    assert board.target == target.name
    assert all(path.is_file() for path in (*board.sources, board.linker_script))
    assert all(path.is_dir() for path in board.includes)


def test_every_board_has_a_readme() -> None:
    for name in board_names():
        assert (native_root() / "firmware" / "boards" / name / "README.md").is_file()
        assert board_named(name).name == name


def test_unknown_board() -> None:
    with pytest.raises(ToolError, match=r"there is no board breadboard: choose one of .*qemu_mps2_an386"):
        board_named("breadboard")
