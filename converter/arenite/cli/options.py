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


_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}


def parse_size(value: str | None, option: str) -> int | None:
    """`65536`, `64k` (65,536 bytes), `1M` (1,048,576). Raises typer.BadParameter."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)([kKmM]?)", value)
    if match is None:
        raise typer.BadParameter(f"{value!r} is no size: write bytes, or 64k (65,536 bytes), or 1M", param_hint=option)
    return int(match[1]) * _FACTORS[match[2].lower()]
