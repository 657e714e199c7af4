"""write_folder: all or nothing, and other people's files are safe."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from arenite.artifact import REPORT, check_destination, read_artifact, write_folder
from arenite.errors import ArtifactError, OutputError
from hypothesis import given, settings
from hypothesis import strategies as st


def files_named(*names: str, mark: str = "") -> dict[str, bytes]:
    listing = {"producer": "Arenite 1", "files": [*names, REPORT]}
    return {**{name: (name + mark).encode() for name in names}, REPORT: json.dumps(listing).encode()}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_new_folder_with_its_parents(tmp_path):
    files = files_named("m.arn", "runtime_c/src/a.c")
    write_folder(tmp_path / "a" / "b" / "out", files, force=False)
    assert contents(tmp_path / "a" / "b" / "out") == files
    assert (tmp_path / "a" / "b" / "out").stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_replacing_drops_stale_files_and_keeps_the_users(tmp_path):
    out = tmp_path / "out"
    write_folder(out, files_named("m.arn", "old.c", "runtime_c/kernels/old.c"), force=False)
    (out / "main.c").write_text("mine")
    (out / "build" / "deep").mkdir(parents=True)
    (out / "build" / "deep" / "main.o").write_bytes(b"object")
    (out / "link").symlink_to("main.c")
    new = files_named("m.arn", "new.c", mark=" 2")
    write_folder(out, new, force=False)
    assert contents(out) == {**new, "main.c": b"mine", "build/deep/main.o": b"object", "link": b"mine"}
    assert (out / "link").is_symlink()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_symlink_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    write_folder(tmp_path / "out", files_named("m.arn"), force=False)
    assert (tmp_path / "out").is_symlink() and (tmp_path / "real" / "m.arn").is_file()


def test_the_current_folder_is_refused(tmp_path, monkeypatch):
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    for folder in (Path(), Path(".."), tmp_path):
        with pytest.raises(OutputError, match="current folder"):
            check_destination(folder, force=True)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(fail_at=st.integers(0, 12), existing=st.booleans())
def test_whatever_call_fails_the_folder_is_old_or_new(tmp_path_factory, fail_at, existing):
    """The n-th system call that changes something fails; afterwards the folder is entirely the old one, or entirely the new one."""
    parent = tmp_path_factory.mktemp("case")
    out = parent / "sub" / "out"
    old = files_named("m.arn", "a.c") if existing else {}
    if existing:
        write_folder(out, old, force=False)
        (out / "own.txt").write_bytes(b"own")
        old = {**old, "own.txt": b"own"}
    new = files_named("m.arn", "b.c", "d/e.c", mark=" 2")
    count = 0

    def failing(original):
        def call(*args, **options):
            nonlocal count
            count += 1
            if count == fail_at + 1:
                raise OSError(5, "Input/output error")
            return original(*args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("write_bytes", "rename", "mkdir"):
            patch.setattr(Path, name, failing(getattr(Path, name)))
        try:
            write_folder(out, new, force=False)
            failed = False
        except OutputError as error:
            assert "Input/output error" in str(error)
            failed = True
    found = contents(out) if out.exists() else {}
    if not failed:
        assert found == {**new, **({"own.txt": b"own"} if existing else {})}
        assert [path.name for path in out.parent.iterdir()] == ["out"]
    elif "own.txt" in found or not existing:
        assert found == old
        assert not out.parent.exists() or [path.name for path in out.parent.iterdir()] == (["out"] if existing else [])
    else:  # the new folder is in place, only the user's file could not be moved: it is where the message says
        assert found == new
        (kept,) = (path for path in out.parent.iterdir() if path != out)
        assert (kept / "own.txt").read_bytes() == b"own"


@pytest.mark.parametrize("report", ["", "{", "[]", '{"producer": "Arenite 1"}', '{"producer": "someone", "files": []}', '{"files": []}'])
def test_folders_of_others_are_not_taken_for_ours(tmp_path, report):
    (tmp_path / REPORT).write_text(report)
    (tmp_path / "m.arn").write_bytes(b"")
    with pytest.raises(ArtifactError, match=REPORT):
        read_artifact(tmp_path)
    with pytest.raises(OutputError, match="--force"):
        check_destination(tmp_path, force=False)


def test_two_models_in_a_folder(tmp_path):
    write_folder(tmp_path / "out", files_named("a.arn", "b.arn"), force=False)
    with pytest.raises(ArtifactError, match=r"a\.arn, b\.arn"):
        read_artifact(tmp_path / "out")


def test_ctrl_c_between_two_renames(tmp_path, monkeypatch):
    """Whenever it comes while the folder is being replaced: the new one is there, with the user's files, and nothing beside it."""
    out = tmp_path / "out"
    write_folder(out, files_named("m.arn", mark="old"), force=False)
    (out / "mine.txt").write_text("mine")
    rename = Path.rename

    def interrupted(self: Path, to: Path) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", interrupted)
    new = files_named("m.arn", mark="new")
    write_folder(out, new, force=False)
    assert contents(out) == {**new, "mine.txt": b"mine"} and list(tmp_path.iterdir()) == [out]
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
