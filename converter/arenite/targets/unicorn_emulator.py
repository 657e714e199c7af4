"""The same image in process, under unicorn: where QEMU is not installed.

Unicorn executes instructions and nothing else: no exceptions, no SysTick, no private peripheral bus. Memory stands in for the latter, a
fault is taken to the image's own handler here, and instructions are counted by a hook in C.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import unicorn
from unicorn import arm_const, unicorn_const

from arenite.errors import ToolError
from arenite.targets.board import Board
from arenite.targets.catalogue import target_named
from arenite.targets.compiler import SourceSet, last_lines
from arenite.targets.host import shared_library
from arenite.targets.image import Image
from arenite.targets.outcome import Outcome
from arenite.targets.semihosting import SemihostingHost
from arenite.targets.sources import native_root

_BREAKPOINT = b"\xab\xbe"
"""BKPT 0xAB."""
_HARD_FAULT = 3
_MOST_CALLS = 1 << 17


class _Counter(ctypes.Structure):
    """struct arn_counter of unicorn_count.c."""

    _fields_ = (
        ("call_address", ctypes.c_uint64),
        ("return_address", ctypes.c_uint64),
        ("code", ctypes.c_char_p),
        ("code_begin", ctypes.c_uint64),
        ("code_end", ctypes.c_uint64),
        ("counts", ctypes.POINTER(ctypes.c_uint64)),
        ("capacity", ctypes.c_uint64),
        ("calls", ctypes.c_uint64),
        ("instructions", ctypes.c_uint64),
        ("counting", ctypes.c_uint32),
        ("elsewhere", ctypes.c_uint32),
    )


@cache
def counting_hook() -> Any:
    """The C function that unicorn calls before every block."""
    source = native_root() / "firmware" / "emulation" / "unicorn_count.c"
    library = ctypes.CDLL(str(shared_library("unicorn_count", [SourceSet((source,), ())])))
    return library.arn_count_block


def run_unicorn(image: Image, board: Board, arguments: Sequence[str], folder: Path, *, timeout: float) -> Outcome:
    """Run an image under unicorn. See run_image. Raises ToolError where unicorn has not the board's core."""
    if not target_named(board.target).unicorn_cpu:
        raise ToolError(f"unicorn does not know the {board.target}: `apt install qemu-system-arm`")
    machine = _Machine(image, board, arguments, folder)
    machine.run(timeout)
    host = machine.host
    if host.status is None:
        raise ToolError(f"the image did not end within {timeout:.0f} s under unicorn. Its last output:\n{last_lines(host.console)}")
    return Outcome(host.status, host.console, machine.instructions(), f"unicorn {version('unicorn')}, instructions by hook")


class _Machine:
    def __init__(self, image: Image, board: Board, arguments: Sequence[str], folder: Path) -> None:
        self._image = image
        self._uc = unicorn.Uc(unicorn_const.UC_ARCH_ARM, unicorn_const.UC_MODE_THUMB | unicorn_const.UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(getattr(arm_const, f"UC_CPU_ARM_{target_named(board.target).unicorn_cpu}"))
        for address, size in board.memories:
            self._uc.mem_map(address, size)
        for address, contents in image.segments:
            self._uc.mem_write(address, contents)
        self.host = SemihostingHost(folder, " ".join((image.path.stem, *arguments)), self._read, self._uc.mem_write)
        self._failure: Exception | None = None
        self._uc.hook_add(unicorn_const.UC_HOOK_INTR, self._on_interrupt)
        self._storage = (ctypes.c_uint64 * _MOST_CALLS)()
        code_begin, code = image.segments[0]
        self._counter = _Counter(
            code=code,
            code_begin=code_begin,
            code_end=code_begin + len(code),
            call_address=image.address("measured_call"),
            return_address=image.address("measured_return"),
            counts=ctypes.cast(self._storage, ctypes.POINTER(ctypes.c_uint64)),
            capacity=_MOST_CALLS,
        )
        self._add_counting_hook()

    def run(self, timeout: float) -> None:
        """To the exit, or until `timeout` seconds have passed."""
        vectors = self._image.segments[0][0]
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, self._word(vectors))
        start = self._word(vectors + 4)
        try:
            try:
                self._start(start, timeout)
            except unicorn.UcError:
                if self._failure is None:
                    self._fault(vectors, timeout)
        finally:
            self.host.close()
        if self._failure is not None:
            raise ToolError(f"unicorn stopped at {self._pc():#x}: {self._failure}") from self._failure

    def instructions(self) -> tuple[int, ...]:
        """Of every measured call. Raises ToolError where they are not known."""
        if self._counter.elsewhere:
            raise ToolError(f"{self._image.path.name} executes code outside its flash: its instructions cannot be counted under unicorn")
        if self._counter.calls > _MOST_CALLS:
            raise ToolError(f"{self._image.path.name} runs more than {_MOST_CALLS} samples: give fewer at a time")
        return tuple(self._storage[: self._counter.calls])

    def _fault(self, vectors: int, timeout: float) -> None:
        """What the processor does: stack a frame where that is possible, and continue in the handler."""
        pc, sp = self._pc(), self._uc.reg_read(arm_const.UC_ARM_REG_SP)
        frame = sp - 32
        try:
            self._uc.mem_write(frame + 24, pc.to_bytes(4, "little"))
        except unicorn.UcError:
            frame = sp  # the stack itself is what failed
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, frame)
        self._uc.reg_write(arm_const.UC_ARM_REG_IPSR, _HARD_FAULT)
        try:
            self._start(self._word(vectors + 4 * _HARD_FAULT), timeout)
        except unicorn.UcError as error:
            raise ToolError(f"unicorn: {error} at {self._pc():#x}, after a fault at {pc:#x}:\n{last_lines(self.host.console)}") from error

    def _start(self, address: int, timeout: float) -> None:
        self._uc.emu_start(address | 1, 0xFFFFFFFF, timeout=int(timeout * 1e6))

    def _on_interrupt(self, uc: unicorn.Uc, number: int, user: object) -> None:
        pc = self._pc()
        if self._read(pc, 2) != _BREAKPOINT:
            uc.emu_stop()
            return
        try:
            result = self.host.call(uc.reg_read(arm_const.UC_ARM_REG_R0), uc.reg_read(arm_const.UC_ARM_REG_R1))
        except Exception as error:  # an exception must not pass through unicorn's C code
            self._failure = error
            uc.emu_stop()
            return
        uc.reg_write(arm_const.UC_ARM_REG_R0, result)
        uc.reg_write(arm_const.UC_ARM_REG_PC, (pc + len(_BREAKPOINT)) | 1)
        if self.host.status is not None:
            uc.emu_stop()

    def _add_counting_hook(self) -> None:
        """Through unicorn's C interface: its Python one takes only Python functions."""
        handle = ctypes.c_size_t()
        from unicorn.unicorn_py3.unicorn import uclib

        uclib.uc_hook_add(
            self._uc._uch,
            ctypes.byref(handle),
            unicorn_const.UC_HOOK_BLOCK,
            ctypes.cast(counting_hook(), ctypes.c_void_p),
            ctypes.byref(self._counter),
            ctypes.c_uint64(1),
            ctypes.c_uint64(0),  # begin above end: everywhere
        )

    def _pc(self) -> int:
        return int(self._uc.reg_read(arm_const.UC_ARM_REG_PC)) & ~1

    def _read(self, address: int, size: int) -> bytes:
        return bytes(self._uc.mem_read(address, size))

    def _word(self, address: int) -> int:
        return int.from_bytes(self._read(address, 4), "little")
