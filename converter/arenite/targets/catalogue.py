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
    """Suffix of unicorn's UC_CPU_ARM_ constant; "" where unicorn does not know the core."""
    features: frozenset[str]
    """Of the instruction set: "dsp", "fpu", "mve"."""
    board: str
    """A folder of firmware/boards."""
    small_board: str = ""
    """Another one, that a model runs on where its image fits there. Empty: none."""


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

CORTEX_M55 = Target(
    name="cortex-m55",
    gcc_flags=("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"),
    zig_flags=("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m55"),
    unicorn_cpu="",
    features=frozenset({"dsp", "fpu", "mve"}),
    board="qemu_mps3_an547",
)

CORTEX_M0 = Target(
    name="cortex-m0",
    gcc_flags=("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft"),
    zig_flags=("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m0"),
    unicorn_cpu="CORTEX_M0",
    features=frozenset(),
    board="qemu_mps2_an385_m0",
    small_board="qemu_microbit",
)

CORTEX_M7 = Target(
    name="cortex-m7",
    gcc_flags=("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
    zig_flags=("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m7+fp_armv8d16sp"),
    unicorn_cpu="CORTEX_M7",
    features=frozenset({"dsp", "fpu"}),
    board="qemu_mps2_an500",
)

CORTEX_M33 = Target(
    name="cortex-m33",
    gcc_flags=("-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
    zig_flags=("-target", "thumb-freestanding-eabihf", "-mcpu=cortex_m33"),
    unicorn_cpu="CORTEX_M33",
    features=frozenset({"dsp", "fpu"}),
    board="qemu_mps2_an505",
)

TARGETS: dict[str, Target] = {target.name: target for target in (CORTEX_M4, CORTEX_M3, CORTEX_M0, CORTEX_M7, CORTEX_M33, CORTEX_M55)}


def target_named(name: str) -> Target:
    """Raises ToolError where there is none of that name."""
    if name not in TARGETS:
        raise ToolError(f"there is no target {name}: choose one of {', '.join(TARGETS)}")
    return TARGETS[name]
