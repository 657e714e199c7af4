"""Where the native sources are, in a checkout and in a wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from arenite.errors import ToolError
from arenite.targets import sources


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where the package might be installed, without native sources."""
    package = tmp_path / "site-packages" / "arenite"
    (package / "targets").mkdir(parents=True)
    monkeypatch.setattr(sources, "__file__", str(package / "targets" / "sources.py"))
    sources.native_root.cache_clear()
    yield package
    sources.native_root.cache_clear()


def test_checkout() -> None:
    root = sources.native_root()
    assert (root / "runtime_c" / "schema" / "arenite.fbs").is_file()
    assert (root / "firmware" / "boards" / "board.h").is_file()


def test_wheel(installed: Path) -> None:
    native = installed / "_native"
    (native / "firmware").mkdir(parents=True)
    (native / "runtime_c" / "include").mkdir(parents=True)
    (native / "runtime_c" / "include" / "arenite.h").write_text("")
    assert sources.native_root() == native


def test_damaged_installation(installed: Path) -> None:
    with pytest.raises(ToolError, match=r"no runtime_c/ and firmware/ in .*_native or .*test_damaged"):
        sources.native_root()


def test_artifact_brings_its_own_runtime(tmp_path: Path) -> None:
    own = sources.native_root() / "runtime_c"
    assert sources.runtime_root(tmp_path) == sources.runtime_root() == own
    shutil.copytree(own / "include", tmp_path / "runtime_c" / "include")
    assert sources.runtime_root(tmp_path) == tmp_path / "runtime_c"


def test_lists() -> None:
    runtime = sources.runtime_root()
    names = {path.name for path in sources.kernel_sources(runtime)}
    assert {"conv.c", "softmax.c", "add.c"} <= names
    assert {"model_open.c", "session.c"} <= {path.name for path in sources.interpreter_sources(runtime)}
    assert not names & {path.name for path in sources.interpreter_sources(runtime)}
