"""Builds firmware for a board: arm-none-eabi-gcc, or zig where that is absent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from arenite.errors import ToolError
from arenite.targets.board import Board
from arenite.targets.catalogue import Target, target_named
from arenite.targets.compiler import Compiler, SourceSet, tool_version
from arenite.targets.host import zig_command
from arenite.targets.image import Image
from arenite.targets.sources import native_root

FLAGS = (
    "-std=c99",
    "-ffunction-sections",
    "-fdata-sections",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
)
OPTIMIZE = "-Os"
INSTALL = "`apt install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm`, or `pip install ziglang unicorn`"


@dataclass(frozen=True)
class Toolchain:
    """A compiler for one target, and what an image needs besides the board's sources."""

    compiler: Compiler
    link_flags: tuple[str, ...]
    sources: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()


def toolchain_for(target: Target) -> Toolchain:
    """$ARENITE_TOOLCHAIN ("gcc" or "zig"), else the first that is installed. Raises ToolError where there is none."""
    wanted = os.environ.get("ARENITE_TOOLCHAIN", "")
    if wanted not in ("", "gcc", "zig"):
        raise ToolError(f"ARENITE_TOOLCHAIN is {wanted!r}: gcc or zig")
    gcc = shutil.which("arm-none-eabi-gcc")
    # Distributions have newlib in a package of its own; without it the compiler's answer is the name that was asked for.
    has_newlib = gcc is not None and Path(tool_version(gcc, "-print-file-name=libc.a")).is_absolute()
    if gcc and has_newlib and wanted != "zig":
        version = tool_version(gcc, "--version")
        # newlib's memcpy, memset and libm, libgcc's 64-bit divisions; no start files: the board's startup is the whole of it.
        errno = native_root() / "firmware" / "newlib" / "errno.c"
        return Toolchain(Compiler("gcc", (gcc, *target.gcc_flags), version), ("--specs=nano.specs", "-nostartfiles", "-lm"), (errno,))
    zig = zig_command()
    if zig and wanted != "gcc":
        version = "zig " + tool_version(*zig, "version")
        # zig brings compiler-rt, but no libc: firmware/freestanding has what the runtime uses of it.
        freestanding = native_root() / "firmware" / "freestanding"
        return Toolchain(
            Compiler("zig", (*zig, "cc", *target.zig_flags), version),
            ("-nostdlib", "-lcompiler_rt"),
            tuple(sorted(freestanding.glob("*.c"))),
            (freestanding / "include",),
        )
    if gcc and wanted != "zig":
        missing = "arm-none-eabi-gcc has no C library (newlib)"
    else:
        missing = {"gcc": "arm-none-eabi-gcc is not found", "zig": "the ziglang package is not installed", "": "none is found"}[wanted]
    raise ToolError(f"no compiler for {target.name}: {missing}. {INSTALL}")


def build_image(name: str, board: Board, sources: Sequence[SourceSet], *, optimize: str = OPTIMIZE) -> Image:
    """Build an app for a board: `sources`, and whatever the board and the toolchain add. `name` is the stem of the ELF file.

    Sources may include what the board gives. Raises ToolError where there is no compiler or it fails.
    """
    toolchain = toolchain_for(target_named(board.target))
    compiler = toolchain.compiler
    flags = (*FLAGS, optimize)
    given = (*board.includes, *toolchain.includes)
    sets = [SourceSet((*board.sources, *toolchain.sources), given)]
    sets += [replace(each, includes=(*each.includes, *given)) for each in sources]
    objects = [object_file for each in sets for object_file in compiler.compile(each, flags)]
    sections = native_root() / "firmware" / "cortex_m" / "sections.ld"
    link_flags = (*toolchain.link_flags, "-Wl,--gc-sections", f"-T{board.linker_script}")
    path = compiler.link(f"{name}.elf", objects, link_flags, (board.linker_script, sections))
    return Image.read(path, compiler.version)
