"""C source text: literals, arrays, comments, laid out as the repository's clang-format style would."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from arenite.emit.identifiers import ascii_text
from arenite.graph import DType

COLUMNS = 140
INDENT = "    "

C_TYPES = {
    DType.INT8: "int8_t",
    DType.UINT8: "uint8_t",
    DType.INT16: "int16_t",
    DType.INT32: "int32_t",
    DType.INT64: "int64_t",
    DType.FLOAT32: "float",
    DType.BOOL: "uint8_t",
    DType.UINT16: "uint16_t",
    DType.UINT32: "uint32_t",
}


def comment(text: str) -> str:
    """`text`, which may be anything that a user named a layer, as the inside of a block comment."""
    plain = ascii_text(text)
    for hostile, harmless in (("*/", "* /"), ("/*", "/ *"), ("??", "? ?")):  # the last begins a trigraph
        while hostile in plain:
            plain = plain.replace(hostile, harmless)
    return plain


def integer(value: int) -> str:
    """A literal that has type int, long or long long in C99 without a warning."""
    if value == -(1 << 31):
        return "(-2147483647 - 1)"
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    return f"{value}LL" if not -(1 << 31) <= value < 1 << 31 else str(value)


def real(value: float) -> str:
    """The shortest float literal that is exactly this float32, or a macro of <math.h> where it is not finite."""
    number = np.float32(value)
    if np.isnan(number):
        return "NAN"
    if np.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    text = str(number)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def needs_math(text: str) -> bool:
    """Whether it has macros of <math.h> that `real` gives."""
    return re.search(r"\b(INFINITY|NAN)\b", text) is not None


def literals(data: NDArray[np.generic]) -> list[str]:
    if data.dtype.kind == "f":
        return [real(float(v)) for v in data.reshape(-1)]
    return [integer(int(v)) for v in data.reshape(-1)]


def columns(items: list[str]) -> str:
    """Array elements in right-aligned columns, as many a line as fit."""
    width = max(map(len, items))
    per_line = max(1, (COLUMNS - len(INDENT) + 1) // (width + 2))
    lines = [", ".join(item.rjust(width) for item in items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return ",\n".join(INDENT + line for line in lines)


def array(declaration: str, items: list[str]) -> str:
    """A definition: on one line where it fits, else in columns."""
    line = f"{declaration} = {{{', '.join(items)}}};"
    return line if len(line) <= COLUMNS and len(items) <= 8 else f"{declaration} = {{\n{columns(items)}\n}};"


def call(function: str, arguments: list[str]) -> str:
    """A call statement inside a function, broken behind arguments like clang-format does."""
    start = f"{INDENT}{function}("
    lines, line = [], start
    for i, argument in enumerate(arguments):
        piece = argument + (");" if i + 1 == len(arguments) else ",")
        spaced = piece if line.endswith("(") or not line.strip() else f" {piece}"
        if len(line) + len(spaced) > COLUMNS:
            lines.append(line)
            line, spaced = " " * len(start), piece
        line += spaced
    return "\n".join([*lines, line])


def wrapped(text: str, indent: str = INDENT) -> str:
    """A block comment on one line, or on several where it is too long."""
    limit = COLUMNS - len(indent) - len("/*  */")
    if len(text) <= limit:
        return f"{indent}/* {text} */"
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > limit:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    lines.append(line)
    return f"\n{indent} * ".join([f"{indent}/* {lines[0]}", *lines[1:]]) + " */"
