"""A cache of built things, by the content they are built from. Safe for parallel processes; it may be deleted at any time."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from arenite.errors import ToolError

UNUSED_DAYS = 14
"""An entry that was not used for so long is removed when another is made."""


def cache_root() -> Path:
    """$ARENITE_CACHE, or `arenite` in $XDG_CACHE_HOME (~/.cache)."""
    if own := os.environ.get("ARENITE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arenite"


def content_key(words: Iterable[str], files: Iterable[Path]) -> str:
    """A name for the outcome of a build: hash of its words (commands, versions, flags) and of names and contents of its files."""
    digest = hashlib.sha256()
    for word in words:
        digest.update(word.encode() + b"\0")
    for file in files:
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:32]


def cached(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """The folder of the entry `key`; `build` fills a new one.

    The folder appears complete or not at all: it is filled under another name and renamed. Where two processes build the same entry, the
    first to finish wins and the other's work is thrown away. Raises ToolError where the cache cannot be written.
    """
    folder = cache_root() / kind
    entry = folder / key
    if not entry.is_dir():
        temporary = _new_folder(folder)
        try:
            build(temporary)
            try:
                temporary.rename(entry)
            except OSError:
                if not entry.is_dir():
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    with suppress(OSError):  # a cache that may only be read still serves
        os.utime(entry)
    return entry


def _new_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _remove_unused(folder)
        return Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
    except OSError as error:
        raise ToolError(f"{folder} cannot be written ({error.strerror}): set ARENITE_CACHE to a folder for what is built") from error


def _remove_unused(folder: Path) -> None:
    oldest = time.time() - UNUSED_DAYS * 86400
    for entry in folder.iterdir():
        try:
            unused = entry.stat().st_mtime < oldest
        except OSError:  # removed by another process meanwhile
            continue
        if unused:
            shutil.rmtree(entry, ignore_errors=True)
