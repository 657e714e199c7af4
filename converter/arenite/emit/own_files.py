"""Files of users' own operators in an artifact folder: the C that they bring, and a generated header for each with its codes and record."""

from __future__ import annotations

from arenite.emit.kernels import own_operators
from arenite.emit.program import Program
from arenite.errors import OperatorError
from arenite.own_operators import OwnOperator
from arenite.version import __version__

FOLDER = "operators"
"""Below the artifact folder."""


def own_files(program: Program) -> dict[str, bytes]:
    """Path below the artifact folder → contents. Raises OperatorError where two operators bring different files of one name."""
    files: dict[str, bytes] = {}
    origin: dict[str, str] = {}
    for own in own_operators(program):
        brought = {name: (own.c.folder / name).read_bytes() for name in (own.c.header, *own.c.sources)}
        for name, contents in {**brought, header_name(own): operator_header(own).encode()}.items():
            path = f"{FOLDER}/{name.rpartition('/')[2]}"
            if files.setdefault(path, contents) != contents:
                raise OperatorError(f"own operators {origin[path]} and {own.name} both have a C file {path}: rename one")
            origin.setdefault(path, own.name)
    return files


def header_name(own: OwnOperator) -> str:
    """Of the generated header, which the user's own header includes."""
    return f"{own.stem}_operator.h"


def operator_header(own: OwnOperator) -> str:
    """Codes and record of an operator, for its C."""
    upper = own.stem.upper()
    lines = [
        f"/* {own.name}: what its declaration says, for its C kernels. Written by Arenite {__version__}; do not edit. */",
        f"#ifndef {upper}_OPERATOR_H",
        f"#define {upper}_OPERATOR_H",
        "",
        "#include <stdint.h>",
        "",
        "/* For arn_kernel (arenite_resolver.h): op, variant, and the 32-bit words of the record. */",
        f"#define {upper}_OP {own.kernels.code:#06x}",
        *(f"#define {upper}_{variant.upper()} {number:#06x}" for variant, number in own.kernels.variants.items()),
        f"#define {upper}_WORDS {sum(field.length for field in own.kernels.fields)}",
        "",
        f"typedef struct {own.params_type} {{",
        *(
            f"    {'float' if field.is_float else 'int32_t'} {field.name}{f'[{field.length}]' if field.length > 1 else ''};"
            for field in own.kernels.fields
        ),
        f"}} {own.params_type};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)
