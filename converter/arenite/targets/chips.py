"""Microcontrollers whose memories are known: what `convert --board` takes besides the emulated boards of firmware/boards.

Sizes are those of the vendors' documents, named beside each; banks that follow one another in the memory map and are equally fast are one
RAM. Backup RAM, RAM of other cores and instruction RAM are left out. `cost` ranks the RAMs of a chip for its core: 1 is a RAM that answers
at once, more what has a bus, a bridge or another clock in between. It is an estimate: what an access really costs depends on clocks
and caches, and only the order decides where tensors go.
"""

from __future__ import annotations

from dataclasses import dataclass

from arenite.errors import ToolError
from arenite.targets.board import board_named, board_names

K = 1024


@dataclass(frozen=True)
class Ram:
    name: str
    bytes: int
    cost: int
    """Of an access, relative to the fastest."""


@dataclass(frozen=True)
class Chip:
    """A microcontroller or a board."""

    name: str
    title: str
    target: str
    """Name of its processor in the catalogue."""
    flash_bytes: int | None
    """On the chip, of its largest version; None: there is none."""
    rams: tuple[Ram, ...]
    """The fastest first."""
    document: str
    """Where the sizes are from."""

    @property
    def largest(self) -> Ram:
        return max(self.rams, key=lambda ram: ram.bytes)


_CHIPS = (
    Chip(
        "stm32f407",
        "STMicroelectronics STM32F405/407",
        "cortex-m4",
        1024 * K,
        # SRAM1 (112 kB) and SRAM2 (16 kB) follow one another. The CCM RAM is out of reach of DMA.
        (Ram("ccm", 64 * K, 1), Ram("sram", 128 * K, 1)),
        "ST RM0090, 2.1",
    ),
    Chip(
        "stm32l476",
        "STMicroelectronics STM32L476",
        "cortex-m4",
        1024 * K,
        (Ram("sram1", 96 * K, 1), Ram("sram2", 32 * K, 1)),
        "ST RM0351, 2.1; flash: DS10198",
    ),
    Chip("nrf52840", "Nordic nRF52840", "cortex-m4", 1024 * K, (Ram("ram", 256 * K, 1),), "Nordic nRF52840 Product Specification, Memory"),
    Chip(
        "stm32f746",
        "STMicroelectronics STM32F745/746",
        "cortex-m7",
        1024 * K,
        # SRAM1 (240 kB) and SRAM2 (16 kB) follow one another.
        (Ram("dtcm", 64 * K, 1), Ram("sram", 256 * K, 2)),
        "ST RM0385, 2.1",
    ),
    Chip(
        "stm32f767",
        "STMicroelectronics STM32F765/767/769",
        "cortex-m7",
        2048 * K,
        # SRAM1 (368 kB) and SRAM2 (16 kB) follow one another.
        (Ram("dtcm", 128 * K, 1), Ram("sram", 384 * K, 2)),
        "ST RM0410, 2.1",
    ),
    Chip(
        "stm32h743",
        "STMicroelectronics STM32H743/753",
        "cortex-m7",
        2048 * K,
        # SRAM1, 2 and 3 (128, 128 and 32 kB) of domain 2 follow one another; SRAM4 is in domain 3.
        (Ram("dtcm", 128 * K, 1), Ram("axi", 512 * K, 2), Ram("sram_d2", 288 * K, 3), Ram("sram_d3", 64 * K, 4)),
        "ST RM0433, memory map",
    ),
    Chip(
        "imxrt1062",
        "NXP i.MX RT1060",
        "cortex-m7",
        None,
        # FlexRAM as its fuses divide it: 128 kB each for ITCM and DTCM, 256 kB OCRAM, which follow the 512 kB of OCRAM2.
        (Ram("dtcm", 128 * K, 1), Ram("ocram", 768 * K, 2)),
        "NXP IMXRT1060RM, memory map; AN12077, FlexRAM",
    ),
    Chip(
        "stm32u585",
        "STMicroelectronics STM32U575/585",
        "cortex-m33",
        2048 * K,
        # SRAM1, 2 and 3 (192, 64 and 512 kB) follow one another.
        (Ram("sram", 768 * K, 1),),
        "ST RM0456, memory map",
    ),
    Chip(
        "alif_e7_hp",
        "Alif Ensemble E7, high-performance Cortex-M55",
        "cortex-m55",
        0x580000,
        (Ram("dtcm", 1024 * K, 1), Ram("sram0", 4096 * K, 2), Ram("sram1", 2560 * K, 2)),
        "Alif's device pack (Ensemble, AE722F80F55D5LS, M55_HP): memory regions; flash is MRAM",
    ),
)
CHIPS: dict[str, Chip] = {chip.name: chip for chip in _CHIPS}


def chip_named(name: str) -> Chip:
    """A microcontroller of CHIPS, or a board of firmware/boards. Raises ToolError where there is none of that name, or its RAMs are not
    known."""
    if name in CHIPS:
        return CHIPS[name]
    if name not in board_names():
        raise ToolError(f"there is no board {name}: choose one of {', '.join((*CHIPS, *board_names()))}")
    board = board_named(name)
    if not board.rams:
        raise ToolError(f"firmware/boards/{name}/board.toml has no [[ram]]: add name, bytes and cost of each")
    rams = tuple(sorted((Ram(*ram) for ram in board.rams), key=lambda ram: ram.cost))
    return Chip(name, board.title, board.target, board.flash_bytes, rams, f"firmware/boards/{name}/board.toml")
