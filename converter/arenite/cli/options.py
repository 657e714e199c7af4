"""Values on the command line that are more than a word: NAME=1,2,3 shapes and sizes like 64k."""

from __future__ import annotations

import re

import typer


def parse_shapes(values: list[str]) -> dict[str, tuple[int, ...]]:
    """`input=1,49,10,1` → {"input": (1, 49, 10, 1)}. Raises typer.BadParameter."""
    shapes: dict[str, tuple[int, ...]] = {}
    for value in values:
        name, separator, dimensions = value.rpartition("=")
        if not separator or not name or not re.fullmatch(r"\d+(,\d+)*", dimensions):
            raise typer.BadParameter(f"{value!r} is not NAME=1,2,3: an input's name and its dimensions", param_hint="--shape")
        shape = tuple(int(size) for size in dimensions.split(","))
        if 0 in shape:
            raise typer.BadParameter(f"{value!r}: a dimension is 0", param_hint="--shape")
        if name in shapes:
            raise typer.BadParameter(f"the input {name!r} has two shapes", param_hint="--shape")
        shapes[name] = shape
    return shapes


def parse_values(values: list[str]) -> dict[str, float]:
    """`sr=16000` → {"sr": 16000.0}. Raises typer.BadParameter."""
    numbers: dict[str, float] = {}
    for value in values:
        name, separator, text = value.rpartition("=")
        try:
            number = float(text)
        except ValueError:
            separator = ""
        if not separator or not name:
            raise typer.BadParameter(f"{value!r} is not NAME=NUMBER: an input's name and its value", param_hint="--bind")
        if name in numbers:
            raise typer.BadParameter(f"the input {name!r} has two values", param_hint="--bind")
        numbers[name] = number
    return numbers


def parse_states(values: list[str]) -> dict[str, str]:
    """`stateN=state` → {"stateN": "state"}. Raises typer.BadParameter."""
    states: dict[str, str] = {}
    for value in values:
        output, separator, name = value.partition("=")
        if not separator or not output or not name:
            raise typer.BadParameter(f"{value!r} is not OUTPUT=INPUT: names of an output and of an input", param_hint="--state")
        if output in states:
            raise typer.BadParameter(f"the output {output!r} is in two states", param_hint="--state")
        states[output] = name
    return states


_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}


def parse_size(value: str | None, option: str) -> int | None:
    """`65536`, `64k` (65,536 bytes), `1M` (1,048,576). Raises typer.BadParameter."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+)([kKmM]?)", value)
    if match is None:
        raise typer.BadParameter(f"{value!r} is no size: write bytes, or 64k (65,536 bytes), or 1M", param_hint=option)
    return int(match[1]) * _FACTORS[match[2].lower()]


def parse_count(value: str | None, option: str) -> int | None:
    """`2500000`, `250k` (250,000), `2.5M` (2,500,000). Raises typer.BadParameter."""
    if value is None:
        return None
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kKmM]?)", value)
    if match is None:
        raise typer.BadParameter(f"{value!r} is no count: write 2500000, or 2.5M", param_hint=option)
    return round(float(match[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[match[2].lower()])


BOARD = "board"
"""The value of --memory that stands for the RAMs of --board."""


def parse_memories(value: str | None) -> tuple[tuple[str, int | None], ...]:
    """`dtcm=64k,sram=256k,sdram` → (("dtcm", 65536), ("sram", 262144), ("sdram", None)); `board`: none, for they are the board's.

    Raises typer.BadParameter.
    """
    if value == BOARD:
        return ()
    memories = _named_sizes(value, "--memory")
    unlimited = next((i for i, (_, size) in enumerate(memories[:-1]) if size is None), None)
    if unlimited is not None:
        follows = memories[unlimited + 1][0]
        raise typer.BadParameter(f"only the last memory may have no size, {follows!r} follows one", param_hint="--memory")
    return memories


def parse_rooms(value: str | None) -> tuple[tuple[str, int | None], ...]:
    """`dtcm,sram=32k` → (("dtcm", None), ("sram", 32768)): what is left of a memory, or so much. Raises typer.BadParameter."""
    return _named_sizes(value, "--weights-in")


def _named_sizes(value: str | None, option: str) -> tuple[tuple[str, int | None], ...]:
    sizes: dict[str, int | None] = {}
    for part in value.split(",") if value is not None else ():
        name, separator, size = part.partition("=")
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is None:
            raise typer.BadParameter(f"{part!r} is not NAME=SIZE: a memory's name is letters and digits", param_hint=option)
        if name.lower() in (known.lower() for known in sizes):
            raise typer.BadParameter(f"the memory {name!r} is there twice", param_hint=option)
        sizes[name] = parse_size(size, option) if separator else None
    return tuple(sizes.items())
