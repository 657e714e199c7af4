"""Records: the parameters of a node, as 32-bit words in the file and as named values here.

The fields and their order are those of the C structs arn_<operator>_params (operators.py, generated from the operator schema).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.operators import OPERATORS, VARIANTS, Operator

OPERATOR_BY_CODE: dict[int, Operator] = {operator.code: operator for operator in OPERATORS}
OPERATOR_BY_NAME: dict[str, Operator] = {operator.name: operator for operator in OPERATORS}


class Record(SimpleNamespace):
    """The values of an operator's fields, by name: `p.in_h`, as C writes `p->in_h`. An int, a float, or a tuple of ints."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the record has no field {name}: {', '.join(vars(self))}")


def variant_name(operator: Operator, number: int) -> str | None:
    """The variant of `operator` that has this number in the flat model; None where it has none."""
    return next((name for name in (*operator.variants, *operator.typed_variants) if VARIANTS[name] == number), None)


def words(operator: Operator, variant: str) -> int:
    """Number of 32-bit words of a record."""
    return sum(field.length for field in operator.fields_of(variant))


def decode(operator: Operator, variant: str, params: NDArray[np.int32]) -> Record:
    """Name the words of a record; words beyond those that the operator has are a later version's. Raises ValueError where some lack."""
    if params.size < words(operator, variant):
        raise ValueError(f"{operator.name} has a record of {words(operator, variant)} words, here are {params.size}")
    values: dict[str, int | float | tuple[float, ...]] = {}
    at = 0
    for field in operator.fields_of(variant):
        part = params[at : at + field.length]
        at += field.length
        if field.is_float:
            reals = tuple(float(real) for real in part.view(np.float32))
            values[field.name] = reals[0] if field.length == 1 else reals
        else:
            values[field.name] = int(part[0]) if field.length == 1 else tuple(int(word) for word in part)
    return Record(**values)


def encode(operator: Operator, variant: str, values: Mapping[str, Any]) -> NDArray[np.int32]:
    """The words of a record, the inverse of `decode`. Raises KeyError where a field is missing."""
    parts: list[NDArray[np.int32]] = []
    for field in operator.fields_of(variant):
        dtype = np.float32 if field.is_float else np.int32
        part = np.atleast_1d(np.asarray(values[field.name], dtype))
        if part.size != field.length:
            raise ValueError(f"{operator.name}.{field.name} has {field.length} words, not {part.size}")
        parts.append(part.view(np.int32))
    return np.concatenate(parts)
