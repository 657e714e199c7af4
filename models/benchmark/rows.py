"""What a measurement gives, and docs/benchmarks.json, which holds all of them for programs to read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final


@final
@dataclass(frozen=True)
class Row:
    """One image: a network in a form, for a core, built with a compiler's flag. Sizes in bytes."""

    network: str
    real: bool
    """From the data folder."""
    target: str
    board: str
    goal: str
    """What kernels were chosen for: --optimize."""
    form: str
    """"compiled" or "interpreted"."""
    flags: str
    """-O2 or -Os."""
    macs: int
    instructions: int
    """Of an inference; so are cycles."""
    cycles: int | None
    """Modelled; None for cores without a model."""
    open_instructions: int
    arena: int
    scratch: int
    """The largest of a layer; it lies in the arena."""
    session: int
    """RAM besides arena and stack."""
    stack: int
    """High-water mark of an inference."""
    model: int
    """Flash of the model: the .arn, or the constants of the compiled form."""
    kernels: int
    """Flash of what comes from runtime_c/kernels."""
    runtime: int
    """Flash of all other code: the interpreter or the calls, start-up, test app, C library."""
    plain: int
    """`model`, if every layer had its constants in the plain INT8 layout."""

    @property
    def ram(self) -> int:
        """Without the stack."""
        return self.arena + self.session

    @property
    def code(self) -> int:
        """Flash without the model."""
        return self.kernels + self.runtime


@dataclass(frozen=True)
class Measurements:
    """All rows of a run, and what made them."""

    command: str
    tools: str
    """Compiler and emulator."""
    rows: tuple[Row, ...]
    failures: Mapping[str, str]
    """By what was to be measured: why it was not."""


def write(measured: Measurements, file: Path) -> None:
    """A row a line, so that a difference of two runs is one of lines."""
    head = {"command": measured.command, "tools": measured.tools, "failures": dict(measured.failures)}
    lines = ",\n".join(json.dumps(asdict(row)) for row in measured.rows)
    file.write_text(f'{json.dumps(head, indent=1)[:-2]},\n "rows": [\n{lines}\n]}}\n', encoding="utf-8")


def read(file: Path) -> Measurements:
    text: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return Measurements(text["command"], text["tools"], tuple(Row(**row) for row in text["rows"]), text["failures"])


class Index:
    """Rows by what they are of."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._found = {(row.network, row.target, row.goal, row.form, row.flags): row for row in rows}

    def row(self, network: str, target: str, goal: str, form: str = "compiled", flags: str = "-O2") -> Row | None:
        return self._found.get((network, target, goal, form, flags))
