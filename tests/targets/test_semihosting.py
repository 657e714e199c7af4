"""The host's side of semihosting, as unicorn uses it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from arenite.targets.semihosting import SemihostingHost

OPEN, CLOSE, WRITE0, WRITE, READ, FLEN, CMDLINE, EXIT_EXTENDED = 0x01, 0x02, 0x04, 0x05, 0x06, 0x0C, 0x15, 0x20
BLOCK, TEXT, DATA = 0x100, 0x200, 0x400


class Target:
    """1 kB of memory, and calls with an argument block in it."""

    def __init__(self, folder: Path) -> None:
        self.memory = bytearray(2048)
        self.host = SemihostingHost(folder, "app one two", self.read, self.write)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory[address : address + size])

    def write(self, address: int, data: bytes) -> None:
        self.memory[address : address + len(data)] = data

    def call(self, operation: int, *words: int) -> int:
        self.write(BLOCK, struct.pack(f"<{len(words)}I", *words))
        return self.host.call(operation, BLOCK)

    def open(self, name: str, mode: int) -> int:
        self.write(TEXT, name.encode() + b"\0")
        return self.call(OPEN, TEXT, mode, len(name))


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path)


def test_read(target: Target, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\r\n0123456789")
    handle = target.open("f", 1)
    assert target.call(FLEN, handle) == 12
    assert target.call(READ, handle, DATA, 5) == 0
    assert target.read(DATA, 6) == b"\r\n012\0"
    assert target.call(FLEN, handle) == 12
    assert target.call(READ, handle, DATA, 10) == 3
    assert target.read(DATA, 7) == b"3456789"
    assert target.call(CLOSE, handle) == 0
    assert target.call(READ, handle, DATA, 1) == 1


def test_write(target: Target, tmp_path: Path) -> None:
    handle = target.open("out", 5)
    target.write(DATA, b"a\nb")
    assert target.call(WRITE, handle, DATA, 3) == 0
    target.host.close()
    assert (tmp_path / "out").read_bytes() == b"a\nb"


def test_files_that_cannot_be_opened(target: Target) -> None:
    assert target.open("absent", 1) == 0xFFFFFFFF
    assert target.open("folder/absent", 5) == 0xFFFFFFFF
    assert target.open("f", 12) == 0xFFFFFFFF
    assert target.call(FLEN, 77) == 0xFFFFFFFF
    assert target.call(CLOSE, 77) == 0xFFFFFFFF
    assert target.call(WRITE, 77, DATA, 4) == 4


def test_handles_are_not_reused(target: Target) -> None:
    first = target.open("a", 5)
    target.call(CLOSE, first)
    assert target.open("b", 5) != first


def test_console(target: Target) -> None:
    target.write(TEXT, b"one \0two\0")
    target.host.call(WRITE0, TEXT)
    target.host.call(WRITE0, TEXT + 5)
    assert target.host.console == "one two"


def test_command_line(target: Target) -> None:
    assert target.call(CMDLINE, DATA, 64) == 0
    assert target.read(DATA, 12) == b"app one two\0"
    assert struct.unpack("<I", target.read(BLOCK + 4, 4)) == (11,)
    assert target.call(CMDLINE, DATA, 11) == 0xFFFFFFFF


def test_exit(target: Target) -> None:
    assert target.host.status is None
    target.call(EXIT_EXTENDED, 0x20026, 300)
    assert target.host.status == 300 - 256


def test_unknown_operation(target: Target) -> None:
    with pytest.raises(ValueError, match="operation 0x99 is not served"):
        target.call(0x99, 0)
