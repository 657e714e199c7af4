"""The two host engines: the C interpreter and the compiled form, as shared libraries of this machine, called through ctypes."""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import ArtifactError, ToolError
from arenite.targets.artifact import ArtifactModel
from arenite.targets.compiler import Compiler, SourceSet, tool_version
from arenite.targets.sources import (
    interpreter_sources,
    kernel_sources,
    native_root,
    own_includes,
    own_sources,
    runtime_includes,
    runtime_root,
)

FLAGS = ("-std=c99", "-O2", "-fPIC", "-ffp-contract=off")
"""Contraction would fuse a float multiply and add: another result than the one that docs/numerics.md defines."""
_SHARED = ("-dynamiclib",) if platform.system() == "Darwin" else ("-shared", "-lm")
_SUFFIX = {"Darwin": "dylib", "Windows": "dll"}.get(platform.system(), "so")


def zig_command() -> tuple[str, ...] | None:
    """`zig`, as far as the ziglang package is installed."""
    return (sys.executable, "-m", "ziglang") if find_spec("ziglang") else None


def host_compiler() -> Compiler:
    """$CC, else the first of cc, gcc, clang, else zig. Raises ToolError where there is none."""
    wanted = shlex.split(os.environ.get("CC", ""))
    for name, *arguments in [wanted] if wanted else [["cc"], ["gcc"], ["clang"]]:
        if path := shutil.which(name):
            return Compiler(name, (path, *arguments), tool_version(path, *arguments, "--version"))
    if wanted:
        raise ToolError(f"the C compiler that CC names, {wanted[0]}, is not found")
    if zig := zig_command():
        return Compiler("zig", (*zig, "cc"), tool_version(*zig, "version"))
    raise ToolError("no C compiler: none of cc, gcc and clang is found. `apt install gcc`, or `pip install ziglang`")


def shared_library(name: str, sources: Sequence[SourceSet], flags: Sequence[str] = ()) -> Path:
    """A shared library of this machine. `name` is its stem. Raises ToolError where there is no compiler or it fails."""
    compiler = host_compiler()
    objects = [object_file for each in sources for object_file in compiler.compile(each, (*FLAGS, *flags))]
    return compiler.link(f"lib{name}.{_SUFFIX}", objects, _SHARED)


@cache
def interpreter_library() -> Path:
    """The C interpreter with every kernel of the installed runtime: loads any .arn."""
    runtime = native_root() / "runtime_c"
    includes = runtime_includes(runtime)
    shim = native_root() / "firmware" / "host" / "interpreter.c"
    sources = (*interpreter_sources(runtime), *kernel_sources(runtime), shim)
    return shared_library("arenite", [SourceSet(sources, includes)])


def own_interpreter_library(model: ArtifactModel) -> Path:
    """The C interpreter for one artifact that has kernels of its own: with the resolver that it brings."""
    runtime = runtime_root(model.folder)
    includes = runtime_includes(runtime)
    shim = native_root() / "firmware" / "host" / "interpreter.c"
    with_own = (model.folder, *own_includes(model.folder), *includes)
    compiler = host_compiler()
    resolver = (*FLAGS, f"-DARN_HOST_RESOLVER={model.name}_resolver")
    objects = [
        *compiler.compile(SourceSet((*interpreter_sources(runtime), *kernel_sources(runtime)), includes), FLAGS),
        *compiler.compile(SourceSet((shim, model.interpreted_source, *own_sources(model.folder)), with_own), resolver),
    ]
    return compiler.link(f"lib{model.name}_interpreted.{_SUFFIX}", objects, _SHARED)


def compiled_library(model: ArtifactModel) -> Path:
    """The compiled form of one artifact, with the kernels that lie beside it."""
    runtime = runtime_root(model.folder)
    includes = runtime_includes(runtime)
    kernels = SourceSet(kernel_sources(runtime), includes)
    generated = SourceSet((model.compiled_source, *own_sources(model.folder)), (model.folder, *own_includes(model.folder), *includes))
    return shared_library(model.name, [kernels, generated])


class CEngine:
    """The C interpreter on this machine."""

    name = "c"
    info = None

    def __init__(self, folder: Path) -> None:
        self._model = ArtifactModel.read(folder)
        own = bool(own_sources(folder))
        self._library = ctypes.CDLL(str(own_interpreter_library(self._model) if own else interpreter_library()))
        self._library.arn_host_open.restype = ctypes.c_void_p
        self._library.arn_host_port.restype = ctypes.c_void_p

    def run(self, samples: Sequence[Sequence[NDArray[Any]]]) -> list[list[NDArray[Any]]]:
        """See Engine.run."""
        call = self._library
        status = ctypes.c_int(0)
        data = self._model.arn
        handle = call.arn_host_open(data, ctypes.c_size_t(len(data)), ctypes.byref(status))
        if not handle:
            raise ArtifactError(f"{self._model.arn_path}: the C runtime refuses it: {self._status_name(status.value)}")
        session = ctypes.c_void_p(handle)
        try:
            return [self._run_one(session, sample) for sample in samples]
        finally:
            call.arn_host_close(session)

    def _run_one(self, session: ctypes.c_void_p, sample: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        for index, data in enumerate(self._model.input_bytes(sample)):
            ctypes.memmove(self._port(session, 0, index, len(data)), data, len(data))
        status = self._library.arn_host_invoke(session)
        if status != 0:
            raise ToolError(f"{self._model.arn_path}: arn_invoke: {self._status_name(status)}")
        return [
            port.array(ctypes.string_at(self._port(session, 1, index, port.nbytes), port.nbytes))
            for index, port in enumerate(self._model.outputs)
        ]

    def _port(self, session: ctypes.c_void_p, is_output: int, index: int, expected: int) -> int:
        found = ctypes.c_size_t(0)
        address = self._library.arn_host_port(session, is_output, index, ctypes.byref(found))
        if not address or found.value != expected:
            raise ArtifactError(f"{self._model.arn_path}: the C runtime sees {found.value} bytes at a port of {expected}")
        return int(address)

    def _status_name(self, status: int) -> str:
        self._library.arn_status_name.restype = ctypes.c_char_p
        return str(self._library.arn_status_name(status).decode())


class CompiledEngine:
    """The compiled form on this machine."""

    name = "compiled"
    info = None

    def __init__(self, folder: Path) -> None:
        self._model = ArtifactModel.read(folder)
        library = ctypes.CDLL(str(compiled_library(self._model)))
        name = self._model.name
        self._reset, self._invoke = getattr(library, f"{name}_reset"), getattr(library, f"{name}_invoke")
        self._input, self._output = getattr(library, f"{name}_input"), getattr(library, f"{name}_output")
        self._input.restype = self._output.restype = ctypes.c_void_p
        self._library = library

    def run(self, samples: Sequence[Sequence[NDArray[Any]]]) -> list[list[NDArray[Any]]]:
        """See Engine.run."""
        sizes = (self._model.arena_bytes, *self._model.tensor_memories.values())
        storage = [np.zeros(size + 16, np.uint8) for size in sizes]
        memories = [ctypes.c_void_p(each.ctypes.data + -each.ctypes.data % 16) for each in storage]
        self._reset(*memories)
        results = []
        for sample in samples:
            for index, data in enumerate(self._model.input_bytes(sample)):
                ctypes.memmove(self._input(*memories, index), data, len(data))
            status = self._invoke(*memories)
            if self._model.constant_memories and status != 0:
                raise ArtifactError(f"{self._model.folder}: constants that lie in RAM are not there (status {status})")
            results.append(
                [
                    port.array(ctypes.string_at(self._output(*memories, index), port.nbytes))
                    for index, port in enumerate(self._model.outputs)
                ]
            )
        return results
