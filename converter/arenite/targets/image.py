"""A firmware image: its ELF file, symbols and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_ALLOCATED = 0x2
"""SHF_ALLOC."""


@dataclass(frozen=True)
class Symbol:
    name: str
    address: int
    size: int
    kind: str
    """"FUNC", "OBJECT", …"""
    file: str
    """The source file of a local symbol; "" for a global one."""


@dataclass(frozen=True)
class Image:
    """What the linker made, read from the ELF file."""

    path: Path
    toolchain: str
    """Name and version of the compiler."""
    symbols: tuple[Symbol, ...] = field(repr=False)
    sections: dict[str, int]
    """Bytes of each section that takes memory on the target."""
    segments: tuple[tuple[int, bytes], ...] = field(repr=False)
    """(physical address, contents) of what a loader writes."""

    @classmethod
    def read(cls, path: Path, toolchain: str) -> Image:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            sections = {section.name: int(section["sh_size"]) for section in elf.iter_sections() if section["sh_flags"] & _ALLOCATED}
            segments = tuple(
                (int(segment["p_paddr"]), bytes(segment.data())) for segment in elf.iter_segments("PT_LOAD") if segment["p_filesz"] > 0
            )
            return cls(path, toolchain, tuple(_symbols(elf)), sections, segments)

    def address(self, name: str) -> int:
        """Address of a symbol, without the Thumb bit. Raises KeyError where there is none."""
        for symbol in self.symbols:
            if symbol.name == name:
                return symbol.address & ~1
        raise KeyError(name)

    def bytes_at(self, address: int, size: int) -> bytes:
        """Of what lies in flash. Raises KeyError for other addresses."""
        for begin, contents in self.segments:
            if begin <= address and address + size <= begin + len(contents):
                return contents[address - begin : address - begin + size]
        raise KeyError(f"{address:#x}")

    @property
    def flash_bytes(self) -> int:
        """Everything that lies in flash: .text with the constants, and the initial values of .data."""
        return self.sections.get(".text", 0) + self.sections.get(".data", 0)

    def model_bytes(self, is_model: Callable[[Symbol], bool]) -> int:
        """Bytes in flash of the objects that are the model. Every byte of flash that is not among them is code."""
        return sum({(symbol.address, symbol.size): symbol.size for symbol in self.symbols if is_model(symbol)}.values())

    @property
    def arena_bytes(self) -> int:
        """With the further memories of a model that uses some."""
        return self.sections.get(".arena", 0) + self.sections.get(".memories", 0)

    @property
    def session_bytes(self) -> int:
        """RAM outside arena and stack: everything in .data and .bss."""
        return self.sections.get(".data", 0) + self.sections.get(".bss", 0)


def _symbols(elf: ELFFile) -> Iterator[Symbol]:
    for section in elf.iter_sections():
        if not isinstance(section, SymbolTableSection):
            continue
        file = ""
        for symbol in section.iter_symbols():
            info = symbol["st_info"]
            if info["type"] == "STT_FILE":
                file = symbol.name
            elif symbol["st_shndx"] != "SHN_UNDEF" and symbol.name:
                local = info["bind"] == "STB_LOCAL"
                kind = str(info["type"]).removeprefix("STT_")
                yield Symbol(symbol.name, int(symbol["st_value"]), int(symbol["st_size"]), kind, file if local else "")
