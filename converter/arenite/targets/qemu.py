"""QEMU as a board: semihosting for files and exit status, a TCG plugin for instruction counts."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from arenite.errors import ToolError
from arenite.targets.block_counts import parse_counts
from arenite.targets.board import Board
from arenite.targets.compiler import SourceSet, last_lines, run_tool, tool_version
from arenite.targets.host import shared_library
from arenite.targets.image import Image
from arenite.targets.outcome import Outcome
from arenite.targets.sources import native_root

QEMU = "qemu-system-arm"
_FATAL = re.compile(r"^qemu(?!\S*: warning:)", re.MULTILINE)
"""QEMU's own messages begin with its name; those of the app are in a file of their own."""
_OTHER_INTERFACE = re.compile(r"API version -?\d+, but this QEMU supports only (?:a minimum version of|up to version) (\d+)")


def run_qemu(image: Image, board: Board, arguments: Sequence[str], folder: Path, *, timeout: float, layers: str = "") -> Outcome:
    """Run an image under QEMU. See run_image."""
    version = qemu_version()
    plugin = counting_plugin()
    with tempfile.TemporaryDirectory(prefix="arenite-qemu-") as scratch:
        console, counts = Path(scratch) / "console", Path(scratch) / "counts"
        words = ",".join(f"arg={_escaped(word)}" for word in (image.path.stem, *arguments))
        command = [
            *(QEMU, "-machine", board.qemu_machine, "-display", "none", "-serial", "none", "-monitor", "none"),
            *("-chardev", f"file,id=console,path={_escaped(str(console))}"),
            *("-semihosting-config", f"enable=on,target=native,chardev=console,{words}"),
            *("-kernel", str(image.path)),
        ]
        if plugin:
            call, end = image.address("measured_call"), image.address("measured_return")
            begin, contents = image.segments[0]
            code = Path(scratch) / "code"
            code.write_bytes(contents)
            option = f"{_escaped(str(plugin))},call={call:#x},return={end:#x},output={_escaped(str(counts))}"
            option += f",code={_escaped(str(code))},begin={begin:#x}"
            if layers:
                description = Path(scratch) / "layers"
                description.write_text(layers, encoding="ascii")
                option += f",layers={_escaped(str(description))}"
            command += ["-plugin", option]
        else:
            # Instructions then take a known time, and SysTick counts them, in steps.
            command += ["-icount", "shift=0"]
        status, errors = _run(command, folder, console, timeout)
        text = _read(console)
        if status < 0 or _FATAL.search(errors):
            raise ToolError(f"QEMU crashed (exit status {status}) running {image.path.name}:\n{last_lines(text + errors)}")
        how = f"QEMU {version}, " + ("instructions by plugin" if plugin else "instructions by SysTick")
        if not plugin:
            return Outcome(status, text, None, how)
        calls = parse_counts(_read(counts))
        return Outcome(status, text, tuple(call.instructions for call in calls), how, calls)


def qemu_version() -> str:
    """Raises ToolError where QEMU is missing or does not say."""
    found = re.search(r"version (\d+(\.\d+)*)", tool_version(_qemu(), "--version"))
    if not found:
        raise ToolError(f"{QEMU} --version does not say its version")
    return found.group(1)


@cache
def counting_plugin() -> Path | None:
    """The plugin of firmware/emulation/qemu_count.c for the installed QEMU; None where this QEMU was built without plugins."""
    if "-plugin" not in run_tool([_qemu(), "-help"], "asking QEMU for its options"):
        return None
    release = int(qemu_version().split(".")[0])
    interface = 1 if release < 9 else 2 if release < 11 else 7
    refused = _refusal(_build_plugin(interface))
    # A QEMU for which the guess is wrong says which version it takes.
    return _build_plugin(int(refused) if refused else interface)


def _build_plugin(interface: int) -> Path:
    source = native_root() / "firmware" / "emulation" / "qemu_count.c"
    return shared_library("qemu_count", [SourceSet((source,), ())], [f"-DARN_QEMU_PLUGIN_VERSION={interface}", "-fvisibility=hidden"])


def _refusal(plugin: Path) -> str | None:
    """Load the plugin into a machine without a CPU; the interface version that QEMU wants instead, if it wants another."""
    with tempfile.NamedTemporaryFile(prefix="arenite-qemu-") as unused:
        option = f"{_escaped(str(plugin))},call=2,return=2,output={_escaped(unused.name)}"
        command = [_qemu(), "-machine", "none", "-display", "none", "-serial", "none", "-monitor", "stdio", "-S", "-plugin", option]
        done = subprocess.run(command, input="quit\n", capture_output=True, text=True, errors="replace", timeout=60, check=False)
    found = _OTHER_INTERFACE.search(done.stderr)
    return found.group(1) if found else None


def _run(command: Sequence[str], folder: Path, console: Path, timeout: float) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(
            f"the image did not end within {timeout:.0f} s under QEMU. Its last output:\n{last_lines(_read(console))}"
        ) from error
    return done.returncode, done.stderr + done.stdout


def _qemu() -> str:
    path = shutil.which(QEMU)
    if not path:
        raise ToolError(f"{QEMU} is not found: `apt install qemu-system-arm`, or `pip install unicorn`")
    return path


def _escaped(value: str) -> str:
    """As a value in an option of QEMU, where a comma ends it."""
    return value.replace(",", ",,")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
