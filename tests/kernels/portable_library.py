"""runtime_c/kernels/portable as one shared library, called with ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.emit.kernels import kernel_function
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import OPERATOR_BY_NAME, encode
from kernels.cases import Array, Case

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c99", "-O1", "-fPIC", "-shared", "-ffp-contract=off"]
SANITIZE = ["-fsanitize=undefined", "-fno-sanitize=alignment"]
GUARD = 64
"""Bytes around every output, which must stay as they are."""

SYMBOLS = {kernel: kernel_function(*kernel) for kernel in KERNELS}
"""C names, by operator and variant."""


class Rows(ctypes.Structure):
    """arn_rows."""

    _fields_ = [("base", ctypes.c_void_p), ("pitch", ctypes.c_int32), ("rows", ctypes.c_int32)]


def _pointer(array: Array | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(None if array is None else array.ctypes.data)


def _compile(compiler: str, library: Path, flags: list[str]) -> None:
    sources = [*sorted((ROOT / "runtime_c/kernels/portable").glob("*.c")), Path(__file__).with_name("sanitizer.c")]
    includes = [f"-I{ROOT / 'runtime_c' / folder}" for folder in ("include", "kernels")]
    subprocess.run([compiler, *FLAGS, *flags, *includes, *sources, "-lm", "-o", library], check=True, capture_output=True)


class PortableLibrary:
    def __init__(self, library: Path, log: Path) -> None:
        self._library, self._log = ctypes.CDLL(str(library)), log
        self.sanitized = hasattr(self._library, "__ubsan_handle_add_overflow")

    @classmethod
    def build(cls, folder: Path) -> PortableLibrary:
        """Compile into `folder`, with the sanitizer if the compiler has it as a library. Skips the test where there is no compiler."""
        compiler = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
        if compiler is None:
            pytest.skip("there is no C compiler")
        log = folder / "ubsan"
        define = f'-DUBSAN_LOG="{log}"'
        try:
            _compile(compiler, folder / "sanitized.so", [define, *SANITIZE])
            return cls(folder / "sanitized.so", log)
        except (subprocess.CalledProcessError, OSError):
            _compile(compiler, folder / "kernels.so", [define])
            return cls(folder / "kernels.so", log)

    def has(self, symbol: str) -> bool:
        return hasattr(self._library, symbol)

    def function(self, symbol: str) -> Any:
        """A kernel, to be called with pointers."""
        function = self._library[symbol]
        function.restype = None
        return function

    def overflow(self) -> None:
        """Undefined behaviour, on purpose."""
        self._library.overflow(ctypes.c_int(2**31 - 1))

    def reports(self) -> str:
        """What the sanitizer has written since the last call."""
        text = ""
        for path in self._log.parent.glob(f"{self._log.name}.*"):
            text += path.read_text()
            path.write_text("")  # the sanitizer goes on writing into it
        return text

    def run(self, case: Case) -> Array:
        """The output of the C kernel, in a buffer of its own."""
        buffer = np.full(case.y.nbytes + 2 * GUARD, 0x5A, np.uint8)
        y = buffer[GUARD:-GUARD].view(case.y.dtype).reshape(case.y.shape)
        y[...] = case.y
        self.call(SYMBOLS[case.op, case.variant], case, [_pointer(array) for array in case.inputs], _pointer(y))
        assert (buffer[:GUARD] == 0x5A).all() and (buffer[-GUARD:] == 0x5A).all(), f"{case.op} wrote outside its output: {case}"
        return y

    def run_in_place(self, case: Case, operand: int = 0) -> Array:
        """The same with input `operand` and output in one buffer."""
        size = max(case.y.nbytes, case.inputs[operand].nbytes)
        buffer = np.zeros(size, np.uint8)
        buffer[: case.inputs[operand].nbytes] = case.inputs[operand].reshape(-1).view(np.uint8)
        pointers = [_pointer(buffer if i == operand else array) for i, array in enumerate(case.inputs)]
        self.call(SYMBOLS[case.op, case.variant], case, pointers, _pointer(buffer))
        return buffer[: case.y.nbytes].view(case.y.dtype).reshape(case.y.shape)

    def call(self, symbol: str, case: Case, *arguments: Any) -> None:
        """Call `symbol` with the record in front; lists are spliced in."""
        words = encode(OPERATOR_BY_NAME[case.op], case.variant, case.record)
        flat = [a for argument in arguments for a in (argument if isinstance(argument, list) else [argument])]
        function = self._library[symbol]
        function.restype = None
        function(_pointer(words), *flat)

    def call_rows(self, case: Case, x: Rows, constants: list[Any], y: Rows, begin: int, end: int) -> None:
        """The form of the kernel that computes output rows [begin, end)."""
        pointers = [_pointer(array) for array in constants]
        rows = [ctypes.c_int32(begin), ctypes.c_int32(end)]
        self.call(f"{SYMBOLS[case.op, case.variant]}_rows", case, ctypes.byref(x), pointers, ctypes.byref(y), rows)
