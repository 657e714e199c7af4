"""The folder that `convert` writes: all of it or nothing, and never over files that are not Arenite's."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arenite.errors import ArtifactError, OutputError

REPORT = "report.json"
"""Marks a folder as Arenite's: it names its producer and, under "files", every file that `convert` wrote."""


def check_destination(folder: Path, *, force: bool) -> None:
    """Refuse early what `write_folder` would refuse after minutes of work. Raises OutputError."""
    try:
        _check_destination(folder, force)
    except OSError as error:  # a name that is too long, a folder that cannot be read
        raise _unwritable(folder, error) from error


def _check_destination(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file, not a folder: give another --output")
    resolved = folder.resolve()
    if resolved == Path.cwd() or resolved in Path.cwd().parents:
        raise OutputError(
            f"{folder} is the current folder or above it, and cannot be replaced as a whole: give a folder inside it as --output"
        )
    if folder.is_dir() and any(folder.iterdir()) and not force and _manifest(folder) is None:
        raise OutputError(f"{folder} holds files that Arenite did not write: give another --output, or --force to write beside them")
    ancestor = resolved.parent
    while not ancestor.exists():
        ancestor = ancestor.parent
    if not ancestor.is_dir():
        raise OutputError(f"{folder} cannot be written: {ancestor} is not a folder")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} cannot be written: no permission in {ancestor}. Give another --output")


def write_folder(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write `files` (path below the folder → contents) as the folder's contents.

    They are written to a temporary folder beside it, which then takes its place; whatever fails, the old folder stays as it was. Files of
    the old folder that `convert` did not write are kept, unless one of the new files has that name.
    `files` must hold REPORT. Raises OutputError.
    """
    check_destination(folder, force=force)
    target = folder.resolve()
    made: list[Path] = []
    try:
        _make_parents(target.parent, made)
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".new", dir=target.parent))
    except OSError as error:
        _remove_empty(made)
        raise _unwritable(folder, error) from error
    try:
        temporary.chmod(0o777 & ~_umask())  # mkdtemp makes folders private
        for name, contents in files.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)
        with _uninterrupted():
            _replace(target, temporary)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        if temporary.exists():
            shutil.rmtree(temporary, ignore_errors=True)
        if not target.exists():
            _remove_empty(made)


@dataclass(frozen=True)
class Artifact:
    """A folder that `convert` wrote."""

    folder: Path
    arn: Path
    report: dict[str, Any]
    """report.json."""


def read_artifact(folder: Path) -> Artifact:
    """Raises ArtifactError where `folder` is not what `convert` wrote."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise ArtifactError(f"{folder} {what}: give the folder that `convert` wrote")
    report = _manifest(folder)
    if report is None:
        raise ArtifactError(f"{folder} holds no {REPORT} of Arenite: give the folder that `convert` wrote")
    models = sorted(folder.glob("*.arn"))
    if len(models) != 1:
        found = ", ".join(path.name for path in models) or "none"
        raise ArtifactError(f"{folder} should hold one .arn file, but holds {found}: convert the model again")
    return Artifact(folder, models[0], report)


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(report, dict) and str(report.get("producer", "")).startswith("Arenite ") and isinstance(report.get("files"), list)
    return report if ours else None


def _replace(target: Path, new: Path) -> None:
    if not target.exists():
        new.rename(target)
        return
    written = set((_manifest(target) or {}).get("files", ()))
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".old", dir=target.parent))
    old.rmdir()
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise
    try:
        for path in sorted(old.rglob("*")):
            name = path.relative_to(old)
            if (path.is_symlink() or not path.is_dir()) and name.as_posix() not in written and not (target / name).exists():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                path.rename(target / name)
    except OSError as error:
        raise OutputError(
            f"{target} is written, but your own files could not be moved back into it ({error}): they are in {old}"
        ) from error
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C does nothing: between two renames there is no folder, and then files of the user's are on their way."""
    if threading.current_thread() is not threading.main_thread():  # which alone has to do with signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _make_parents(folder: Path, made: list[Path]) -> None:
    if not folder.exists():
        _make_parents(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def _remove_empty(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(folder: Path, error: OSError) -> OutputError:
    return OutputError(f"{folder} cannot be written: {error.strerror or error}. Nothing was changed; give another --output")
