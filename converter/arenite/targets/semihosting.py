"""The host's side of Arm semihosting, for an emulator without it: the operations that firmware/semihosting uses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

_OPEN, _CLOSE, _WRITE0, _WRITE, _READ, _FLEN, _GET_CMDLINE, _EXIT_EXTENDED = 0x01, 0x02, 0x04, 0x05, 0x06, 0x0C, 0x15, 0x20
_FAILED = 0xFFFFFFFF
_MODES = ("r", "rb", "r+", "r+b", "w", "wb", "w+", "w+b", "a", "ab", "a+", "a+b")


class SemihostingHost:
    """Files in one folder, a console that is kept, a command line, an exit status.

    `read(address, size)` and `write(address, data)` access the target's memory.
    """

    def __init__(self, folder: Path, command_line: str, read: Callable[[int, int], bytes], write: Callable[[int, bytes], None]) -> None:
        self._folder = folder
        self._command_line = command_line.encode() + b"\0"
        self._read = read
        self._write = write
        self._files: dict[int, IO[bytes]] = {}
        self._handles = 0
        self._console = bytearray()
        self.status: int | None = None
        """The exit status, once the target has exited."""

    @property
    def console(self) -> str:
        return self._console.decode(errors="replace")

    def call(self, operation: int, argument: int) -> int:
        """Serve one call and return what goes into r0. Raises ValueError for an operation that is not served."""
        if operation == _WRITE0:
            self._console += self._text(argument)
            return 0
        if operation == _OPEN:
            path, mode, length = self._words(argument, 3)
            return self._open(self._read(path, length).decode(errors="replace"), mode)
        if operation == _CLOSE:
            file = self._files.pop(self._words(argument, 1)[0], None)
            if file is None:
                return _FAILED
            file.close()
            return 0
        if operation in (_READ, _WRITE):
            handle, address, size = self._words(argument, 3)
            return self._transfer(operation, handle, address, size)
        if operation == _FLEN:
            file = self._files.get(self._words(argument, 1)[0])
            return _FAILED if file is None else self._length(file)
        if operation == _GET_CMDLINE:
            address, size = self._words(argument, 2)
            if len(self._command_line) > size:
                return _FAILED
            self._write(address, self._command_line)
            self._write(argument + 4, (len(self._command_line) - 1).to_bytes(4, "little"))
            return 0
        if operation == _EXIT_EXTENDED:
            self.status = self._words(argument, 2)[1] & 0xFF  # as a process's exit status
            return 0
        raise ValueError(f"semihosting operation {operation:#x} is not served")

    def close(self) -> None:
        """Close whatever the target left open."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _words(self, address: int, count: int) -> list[int]:
        data = self._read(address, 4 * count)
        return [int.from_bytes(data[i : i + 4], "little") for i in range(0, 4 * count, 4)]

    def _text(self, address: int) -> bytes:
        text = bytearray()
        while (byte := self._read(address + len(text), 1)) != b"\0":
            text += byte
        return bytes(text)

    def _open(self, name: str, mode: int) -> int:
        if mode >= len(_MODES):
            return _FAILED
        try:
            file = open(self._folder / name, _MODES[mode].replace("b", "") + "b")  # noqa: PTH123, SIM115  (stays open beyond this call)
        except OSError:
            return _FAILED
        self._handles += 1
        self._files[self._handles] = file
        return self._handles

    def _transfer(self, operation: int, handle: int, address: int, size: int) -> int:
        """Bytes that were not transferred."""
        file = self._files.get(handle)
        if file is None:
            return size
        if operation == _WRITE:
            file.write(self._read(address, size))
            return 0
        data = file.read(size)
        self._write(address, data)
        return size - len(data)

    @staticmethod
    def _length(file: IO[bytes]) -> int:
        position = file.tell()
        length = file.seek(0, 2)
        file.seek(position)
        return length
