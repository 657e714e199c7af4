"""The processors that Arenite builds for."""

from __future__ import annotations

from dataclasses import dataclass

from arenite.errors import ToolError


@dataclass(frozen=True)
class Target:
    """A processor: how compilers and emulators call it, and the board that stands for it by default."""

    name: str
    gcc_flags: tuple[str, ...]
    """Of arm-none-eabi-gcc."""
    zig_flags: tuple[str, ...]
    """Of `zig cc`."""
    unicorn_cpu: str
    """Suffix of unicorn's UC_CPU_ARM_ constant."""
    features: frozenset[str]
    """Of the instruction set: "dsp", "fpu"."""
    board: str
    """A folder of firmware/boards."""


CORTEX_M4 = Target(
    name="cortex-m4",
    gcc_flags=("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    zig_flags=("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m4+vfp4d16sp"),
    unicorn_cpu="CORTEX_M4",
    features=frozenset({"dsp", "fpu"}),
    board="qemu_mps2_an386",
)

CORTEX_M3 = Target(
    name="cortex-m3",
    gcc_flags=("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft"),
    zig_flags=("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m3"),
    unicorn_cpu="CORTEX_M3",
    features=frozenset(),
    board="qemu_mps2_an385",
)

TARGETS: dict[str, Target] = {target.name: target for target in (CORTEX_M4, CORTEX_M3)}


def target_named(name: str) -> Target:
    """Raises ToolError where there is none of that name."""
    if name not in TARGETS:
        raise ToolError(f"there is no target {name}: choose one of {', '.join(TARGETS)}")
    return TARGETS[name]
