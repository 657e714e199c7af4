"""A C compiler, and objects and programs built with it, cached by content."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from arenite.errors import ToolError
from arenite.targets.build_cache import cached, content_key

OUTPUT_LINES = 30
"""Lines of a failed tool's output that an error repeats."""


@dataclass(frozen=True)
class SourceSet:
    """Sources that are compiled alike, and rebuilt together. Every header in `includes`, and beside a source, counts as their input."""

    sources: tuple[Path, ...]
    includes: tuple[Path, ...]
    defines: tuple[str, ...] = ()
    """Macros, "NAME" or "NAME=value"."""


@dataclass(frozen=True)
class Compiler:
    """`command` compiles and links; it holds the flags that select a target. `version` tells one build of the compiler from another."""

    name: str
    command: tuple[str, ...]
    version: str

    def compile(self, sources: SourceSet, flags: Sequence[str]) -> tuple[Path, ...]:
        """One object a source, in order. Raises ToolError with the compiler's messages."""
        files, includes = sources.sources, sources.includes
        folders = [*includes, *sorted({file.parent for file in files})]
        headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]
        flags = (*flags, *(f"-D{define}" for define in sources.defines))
        key = content_key([*self.command, self.version, *flags], [*files, *headers])
        names = [f"{index:02}_{file.stem}.o" for index, file in enumerate(files)]
        include_flags = [f"-I{folder}" for folder in includes]

        def build(folder: Path) -> None:
            def one(file: Path, name: str) -> None:
                run_tool([*self.command, *flags, *include_flags, "-c", str(file), "-o", str(folder / name)], f"compiling {file.name}")

            with ThreadPoolExecutor(os.cpu_count()) as pool:
                for done in [pool.submit(one, file, name) for file, name in zip(files, names, strict=True)]:
                    done.result()

        folder = cached("objects", key, build)
        return tuple(folder / name for name in names)

    def link(self, name: str, objects: Sequence[Path], flags: Sequence[str], scripts: Sequence[Path] = ()) -> Path:
        """The program or library `name` from objects.

        `scripts` are linker scripts that the flags name, and those that they include, which lie in the folder of the last.
        """
        key = content_key([name, *self.command, self.version, *flags], [*objects, *scripts])
        # GNU ld and lld both look for an included script in the current folder; only one of them does so elsewhere.
        current = scripts[-1].parent if scripts else None

        def build(folder: Path) -> None:
            run_tool([*self.command, *map(str, objects), *flags, "-o", str(folder / name)], f"linking {name}", folder=current)

        return cached("programs", key, build) / name


@cache
def tool_version(*command: str) -> str:
    """What a tool says to a question for its version: the first line. Raises ToolError as run_tool does."""
    return run_tool(command, f"asking {command[0]} for its version").partition("\n")[0].strip()


def run_tool(command: Sequence[str], doing: str, *, folder: Path | None = None, timeout: float = 600) -> str:
    """Run a tool to its end and return its standard output. Raises ToolError where it cannot be run or fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)
    except OSError as error:
        raise ToolError(f"{doing}: cannot run {command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{doing}: {command[0]} did not finish within {timeout:.0f} s") from error
    if done.returncode != 0:
        raise ToolError(f"{doing} failed (exit status {done.returncode}):\n{last_lines(done.stderr or done.stdout)}")
    return done.stdout


def last_lines(output: str) -> str:
    lines = output.rstrip().splitlines()
    dropped = len(lines) - OUTPUT_LINES
    kept = "\n".join(lines[-OUTPUT_LINES:])
    return f"… {dropped} lines before\n{kept}" if dropped > 0 else kept
