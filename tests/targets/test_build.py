"""The cache, the compilers and their choice."""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from arenite.errors import ToolError
from arenite.targets import host, toolchain
from arenite.targets.build_cache import UNUSED_DAYS, cache_root, cached, content_key
from arenite.targets.catalogue import CORTEX_M4, target_named
from arenite.targets.compiler import OUTPUT_LINES, SourceSet, last_lines, run_tool


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ARENITE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_cache_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENITE_CACHE", "/own")
    assert cache_root() == Path("/own")
    monkeypatch.delenv("ARENITE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_root() == Path("/xdg/arenite")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "arenite"


def test_entries_are_built_once(cache: Path) -> None:
    built = []

    def build(folder: Path) -> None:
        built.append(folder)
        (folder / "result").write_text("done")

    first, second = cached("things", "k", build), cached("things", "k", build)
    assert first == second == cache / "things" / "k"
    assert (first / "result").read_text() == "done"
    assert len(built) == 1


def test_failed_build_leaves_nothing(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "half").write_text("")
        raise ToolError("no")

    with pytest.raises(ToolError):
        cached("things", "k", build)
    assert list((cache / "things").iterdir()) == []


def test_parallel_builders_agree(cache: Path) -> None:
    def build(folder: Path) -> None:
        (folder / "result").write_text(folder.name)
        time.sleep(0.05)

    with ThreadPoolExecutor(4) as pool:
        entries = list(pool.map(lambda _: cached("things", "k", build), range(4)))
    assert set(entries) == {cache / "things" / "k"}
    assert [path.name for path in (cache / "things").iterdir()] == ["k"]


def test_unused_entries_go_when_another_is_made(cache: Path) -> None:
    for key in ("old", "recent"):
        cached("things", key, lambda folder: None)
    long_ago = time.time() - (UNUSED_DAYS + 1) * 86400
    os.utime(cache / "things" / "old", (long_ago, long_ago))
    cached("things", "new", lambda folder: None)
    assert sorted(path.name for path in (cache / "things").iterdir()) == ["new", "recent"]


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ARENITE_CACHE", str(tmp_path / "file"))
    with pytest.raises(ToolError, match="set ARENITE_CACHE to a folder"):
        cached("things", "k", lambda folder: None)


def test_key_tells_contents_apart(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("x")
    b.write_text("x")
    keys = {content_key(["w"], [a]), content_key(["w"], [b]), content_key(["v"], [a]), content_key(["w"], [a, b]), content_key([], [a])}
    a.write_text("y")
    assert content_key(["w"], [a]) not in keys
    assert len(keys) == 5


def test_header_change_rebuilds(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "answer.c").write_text('#include "answer.h"\nint answer(void) { return ANSWER; }\n')
    compiler, sources = host.host_compiler(), SourceSet((folder / "answer.c",), ())
    (folder / "answer.h").write_text("#define ANSWER 1\nint answer(void);\n")
    one = compiler.compile(sources, ())
    (folder / "answer.h").write_text("#define ANSWER 2\nint answer(void);\n")
    assert compiler.compile(sources, ()) != one
    (folder / "answer.h").write_text("#define ANSWER 1\nint answer(void);\n")
    assert compiler.compile(sources, ()) == one


def test_compiler_messages_reach_the_user(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("int f(void) { return undeclared_name; }\n")
    with pytest.raises(ToolError, match=r"compiling broken\.c failed \(exit status 1\):\n(.*\n)*.*undeclared_name"):
        host.host_compiler().compile(SourceSet((tmp_path / "broken.c",), ()), ())


def test_tools_that_fail() -> None:
    with pytest.raises(ToolError, match="trying: cannot run /nonexistent/tool: No such file"):
        run_tool(["/nonexistent/tool"], "trying")
    with pytest.raises(ToolError, match="sleep did not finish within 0 s"):
        run_tool(["sleep", "5"], "trying", timeout=0.1)


def test_last_lines() -> None:
    assert last_lines("a\nb\n") == "a\nb"
    text = last_lines("\n".join(map(str, range(OUTPUT_LINES + 7))))
    assert text.startswith("… 7 lines before\n7\n8\n")
    assert text.endswith(f"\n{OUTPUT_LINES + 6}")


def without(monkeypatch: pytest.MonkeyPatch, *, tools: bool = True, zig: bool = True) -> None:
    """A machine on which compilers, or the ziglang package, are not installed."""
    if tools:
        monkeypatch.setattr(shutil, "which", lambda name: None)
    if zig:
        monkeypatch.setattr(host, "find_spec", lambda name: None)


def test_no_host_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    without(monkeypatch)
    with pytest.raises(ToolError, match=r"no C compiler: .* `apt install gcc`, or `pip install ziglang`"):
        host.host_compiler()
    monkeypatch.setenv("CC", "mycc -m32")
    with pytest.raises(ToolError, match="the C compiler that CC names, mycc, is not found"):
        host.host_compiler()


def test_no_arm_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENITE_TOOLCHAIN", raising=False)
    without(monkeypatch)
    with pytest.raises(
        ToolError,
        match=r"no compiler for cortex-m4: none is found. `apt install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm`",
    ):
        toolchain.toolchain_for(CORTEX_M4)
    monkeypatch.setenv("ARENITE_TOOLCHAIN", "zig")
    with pytest.raises(ToolError, match="the ziglang package is not installed"):
        toolchain.toolchain_for(CORTEX_M4)
    monkeypatch.setenv("ARENITE_TOOLCHAIN", "gcc")
    with pytest.raises(ToolError, match="arm-none-eabi-gcc is not found"):
        toolchain.toolchain_for(CORTEX_M4)
    monkeypatch.setenv("ARENITE_TOOLCHAIN", "armcc")
    with pytest.raises(ToolError, match="ARENITE_TOOLCHAIN is 'armcc': gcc or zig"):
        toolchain.toolchain_for(CORTEX_M4)


def test_an_arm_compiler_without_a_c_library_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gcc = tmp_path / "arm-none-eabi-gcc"
    gcc.write_text("#!/bin/sh\necho libc.a\n")
    gcc.chmod(0o755)
    monkeypatch.delenv("ARENITE_TOOLCHAIN", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: str(gcc) if name == gcc.name else None)
    monkeypatch.setattr(host, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match=r"arm-none-eabi-gcc has no C library \(newlib\). `apt install .* libnewlib-arm-none-eabi"):
        toolchain.toolchain_for(CORTEX_M4)


def test_unknown_target() -> None:
    with pytest.raises(ToolError, match="there is no target z80: choose one of cortex-m4, cortex-m3"):
        target_named("z80")
