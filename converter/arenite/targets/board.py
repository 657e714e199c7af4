"""Boards: folders of firmware/boards, described by their board.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from arenite.errors import ToolError
from arenite.targets.sources import native_root


@dataclass(frozen=True)
class Board:
    """How to build for a board and run on it. Paths are absolute."""

    name: str
    title: str
    target: str
    """Name of its processor in the catalogue."""
    sources: tuple[Path, ...]
    includes: tuple[Path, ...]
    linker_script: Path
    qemu_machine: str
    instructions_per_tick: int
    """Instructions in a tick of SysTick, under QEMU's `-icount shift=0`."""
    memories: tuple[tuple[int, int], ...]
    """(address, bytes) of what unicorn shall map."""
    flash_bytes: int | None = None
    """What a model and its firmware may take; None: not stated."""
    rams: tuple[tuple[str, int, int], ...] = ()
    """Name, bytes and relative cost of an access of each; chips.py."""


def board_named(name: str) -> Board:
    """The board in firmware/boards/NAME. Raises ToolError where there is none, or its board.toml lacks something."""
    firmware = native_root() / "firmware"
    file = firmware / "boards" / name / "board.toml"
    if not file.is_file():
        raise ToolError(f"there is no board {name}: choose one of {', '.join(board_names())}")
    try:
        text = tomllib.loads(file.read_text(encoding="utf-8"))
        emulator = text["emulator"]
        return Board(
            name=name,
            title=text["title"],
            target=text["target"],
            sources=tuple(firmware / path for path in text["sources"]),
            includes=tuple(firmware / path for path in text["includes"]),
            linker_script=firmware / text["linker_script"],
            qemu_machine=emulator["qemu_machine"],
            instructions_per_tick=emulator["instructions_per_tick"],
            memories=tuple((address, size) for address, size in emulator["memories"]),
            flash_bytes=text.get("flash_bytes"),
            rams=tuple((ram["name"], ram["bytes"], ram["cost"]) for ram in text.get("ram", ())),
        )
    except tomllib.TOMLDecodeError as error:
        raise ToolError(f"{file}: {error}") from error
    except KeyError as error:
        raise ToolError(f"{file} does not say {error.args[0]!r}: see firmware/boards/qemu_mps2_an386/board.toml") from error


def board_names() -> list[str]:
    return sorted(file.parent.name for file in (native_root() / "firmware" / "boards").glob("*/board.toml"))
