"""The portable kernels with shadow memory (shadow.c): which distances between operand and result a call would survive."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from arenite.emit.kernels import kernel_function
from arenite_runtime.record import OPERATOR_BY_NAME, encode
from kernels.cases import Array, Case
from numpy.typing import NDArray

RUNTIME = Path(__file__).resolve().parents[2] / "runtime_c"
HOOKS = ["-fsanitize=kernel-address", "-Dmemcpy=shadow_memcpy", "-Dmemmove=shadow_memmove", "-Dmemset=shadow_memset"]
GCC = ["--param", "asan-instrumentation-with-call-threshold=0", "--param", "asan-stack=0", "--param", "asan-globals=0"]
CLANG = ["-mllvm", "-asan-instrumentation-with-call-threshold=0", "-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=0"]
NEVER = np.iinfo(np.uint32).max


@dataclass(frozen=True)
class Trace:
    """What a call has done to one operand and to its result, in a common time."""

    last_read: NDArray[np.uint32]
    """By byte of the operand; 0 where it is never read."""
    first_write: NDArray[np.uint32]
    """By byte of the result; NEVER where it is not written."""

    def survives(self, delta: int) -> bool:
        """No byte of the operand is read after the result has been written there, the operand `delta` bytes behind it."""
        begin, end = max(0, delta), min(len(self.first_write), len(self.last_read) + delta)
        return end <= begin or bool(np.all(self.last_read[begin - delta : end - delta] <= self.first_write[begin:end]))

    def least(self, step: int) -> int:
        """The least multiple of `step`, not negative, from which on every one survives."""
        delta = -(-len(self.first_write) // step) * step
        while delta >= step and self.survives(delta - step):
            delta -= step
        return delta


class ShadowLibrary:
    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))

    @classmethod
    def build(cls, folder: Path) -> ShadowLibrary:
        """Compile into `folder`. Skips the test where no compiler has the hooks."""
        for compiler, options in (("gcc", GCC), ("clang", CLANG)):
            if shutil.which(compiler) and cls._compile(compiler, options, folder):
                return cls(folder / "shadow.so")
        pytest.skip("there is no C compiler with -fsanitize=kernel-address")

    @staticmethod
    def _compile(compiler: str, options: list[str], folder: Path) -> bool:
        # Without optimization, every access of the source is one of the program, in that order.
        common = [compiler, "-std=c99", "-O0", "-fPIC", "-ffp-contract=off", *(f"-I{RUNTIME / part}" for part in ("include", "kernels"))]
        kernels = [str(path) for path in sorted((RUNTIME / "kernels/portable").glob("*.c"))]
        shadow = Path(__file__).with_name("shadow.c")
        try:
            subprocess.run([*common, *HOOKS, *options, "-c", *kernels], check=True, capture_output=True, cwd=folder)
            objects = [str(path) for path in folder.glob("*.o")]
            subprocess.run([*common, "-O2", "-shared", *objects, str(shadow), "-lm", "-o", "shadow.so"], check=True, cwd=folder)
        except subprocess.CalledProcessError:
            return False
        return True

    def trace(self, case: Case, operand: int) -> Trace:
        """Of a call with everything in memory of its own."""
        inputs = [None if array is None else np.ascontiguousarray(array) for array in case.inputs]
        y, scratch = case.y.copy(), np.zeros(case.scratch + 16, np.uint8)
        x = inputs[operand]
        last_read, first_write = np.zeros(x.nbytes, np.uint32), np.zeros(y.nbytes, np.uint32)
        words = encode(OPERATOR_BY_NAME[case.op], case.variant, case.record)
        function = self._library[kernel_function(case.op, case.variant)]
        function.restype = None
        self._library.shadow_watch(_at(x), _size(x), _at(last_read), _at(y), _size(y), _at(first_write))
        function(*(_at(array) for array in (words, *inputs, y, *([scratch] if case.scratch else []))))
        assert self._library.shadow_end() == 0, f"{case} wrote into its operand"
        assert first_write.any() or y.size == 0, f"{case} wrote nothing that was seen"
        return Trace(last_read, np.where(first_write == 0, NEVER, first_write))


def _at(array: Array | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def _size(array: Array) -> ctypes.c_size_t:
    return ctypes.c_size_t(array.nbytes)
