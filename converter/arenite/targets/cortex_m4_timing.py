"""Cycles of Thumb code on a Cortex-M4, modelled: after the timing tables of its Technical Reference Manual, without wait states.

What is assumed is in docs/profiling.md. The model is static: a block of code, executed from its first instruction to its last, takes what
its instructions take; a branch that is taken costs JUMP_CYCLES more, wherever it leads.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

JUMP_CYCLES = 2
"""A taken branch refills the pipeline in one to three cycles, depending on its target's alignment."""
_DIVISION, _FLOAT_DIVISION, _FLOAT_ACCUMULATE = 7, 14, 3
"""SDIV and UDIV take 2 to 12, as their operands are; VDIV and VSQRT 14; VMLA, VFMA and their kin 3."""


class _Kind(Enum):
    SINGLE = "single"
    """A load or store of one register: it overlaps with one next to it."""
    OTHER = "other"


def is_wide(halfword: int) -> bool:
    """Whether an instruction that begins so has a second halfword (ARMv7-M ARM A5.1)."""
    return halfword >= 0xE800


def instructions_of(code: bytes) -> Iterator[tuple[int, int | None]]:
    """The halfwords of each instruction; the second is None where there is none."""
    halfwords = iter([int.from_bytes(code[at : at + 2], "little") for at in range(0, len(code), 2)])
    for first in halfwords:
        yield first, next(halfwords, 0) if is_wide(first) else None


def block_cycles(code: bytes) -> int:
    """Cycles of executing the instructions in `code` one after another."""
    total = 0
    previous = _Kind.OTHER
    for first, second in instructions_of(code):
        cycles, kind = _narrow(first) if second is None else _wide(first, second)
        overlaps = kind is _Kind.SINGLE and previous is _Kind.SINGLE
        total += 1 if overlaps else cycles
        previous = kind
    return total


def _single(is_load: bool) -> tuple[int, _Kind]:
    """A store goes on in the write buffer while the next instruction begins."""
    return 2 if is_load else 1, _Kind.SINGLE


def _registers(mask: int) -> tuple[int, _Kind]:
    return 1 + mask.bit_count(), _Kind.OTHER


def _narrow(h: int) -> tuple[int, _Kind]:
    """Encodings: ARMv7-M ARM A5.2."""
    if h & 0xF800 == 0x4800:  # LDR (literal)
        return _single(True)
    if h & 0xF000 == 0x5000:  # register offset: STR, STRH, STRB, then the loads
        return _single(h >> 9 & 7 > 2)
    if h & 0xE000 == 0x6000 or h & 0xE000 == 0x8000:  # immediate offset: words, bytes; halfwords, relative to SP
        return _single(bool(h & 0x0800))
    if h & 0xF600 == 0xB400:  # PUSH, POP
        return _registers(h & 0x1FF)
    if h & 0xF000 == 0xC000:  # STM, LDM
        return _registers(h & 0xFF)
    if h & 0xFF00 == 0xBF00 and h & 0xF:  # IT: folded into the instruction in front
        return 0, _Kind.OTHER
    return 1, _Kind.OTHER


def _wide(a: int, b: int) -> tuple[int, _Kind]:
    """Encodings: ARMv7-M ARM A5.3 and A6.4."""
    if a & 0xFE40 == 0xE800:  # LDM, STM, PUSH, POP
        return _registers(b)
    if a & 0xFE40 == 0xE840:  # LDRD, STRD, exclusive, TBB, TBH
        return 3, _Kind.OTHER
    if a & 0xFE00 == 0xF800:
        return _single(bool(a & 0x10))
    if a & 0xFFD0 == 0xFB90 and b & 0xF0 == 0xF0:
        return _DIVISION, _Kind.OTHER
    if a & 0xEC00 == 0xEC00 and b & 0x0E00 == 0x0A00:
        return _float(a, b)
    return 1, _Kind.OTHER


def _float(a: int, b: int) -> tuple[int, _Kind]:
    if a & 0xFE00 == 0xEC00:
        if a & 0xFFE0 == 0xEC40:  # VMOV of two registers
            return 2, _Kind.OTHER
        if a & 0x0F20 == 0x0D00:  # VLDR, VSTR
            return _single(bool(a & 0x10))
        return 1 + (b & 0xFF), _Kind.OTHER  # VLDM, VSTM, VPUSH, VPOP: the number of words
    is_arithmetic = a & 0xFF00 == 0xEE00 and not b & 0x10
    if is_arithmetic and (a & 0xFFB0 == 0xEE80 or (a & 0xFFBF == 0xEEB1 and b & 0xC0 == 0xC0)):
        return _FLOAT_DIVISION, _Kind.OTHER
    if is_arithmetic and a & 0xFFB0 in (0xEE00, 0xEE10, 0xEE90, 0xEEA0):
        return _FLOAT_ACCUMULATE, _Kind.OTHER
    return 1, _Kind.OTHER
