"""Operators that users add from outside: their names, records and NumPy kernels. docs/own-operators.md walks through one.

They are found by entry points of the group `arenite_runtime.operators`, each an OwnOperator or a sequence of them, or given to `add`.

In a file, an operator of one's own has a code from 0x8000 on, made from its name, and the upper byte of its variants is made from name and
record: a kernel that was built for another operator, or another record, is not taken for this one. The file holds the name besides.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.metadata import entry_points
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.errors import OperatorError
from arenite_runtime.kernels import KERNELS
from arenite_runtime.operators import VARIANTS, Field, Operator

GROUP = "arenite_runtime.operators"
"""Of entry points."""
FIRST_CODE = 0x8000
"""Codes from here on are the users'."""
ALLOWED_VARIANTS = ("int8", *(name for name, number in VARIANTS.items() if number >= 16))
"""int8, and those on elements that are not quantized."""

OwnKernel = Callable[..., Any]
"""kernel(record, *operands) → the output, an array of the output tensor's type and shape; a tuple of them where there are several.

`record` has the values of the fields by name (record.Record), an operand that is absent is None, and the others are arrays in the shapes of
their tensors, which the kernel must leave as they are.
"""


@dataclass(frozen=True)
class OwnOperator:
    """A user's operator as this runtime knows it. Raises OperatorError where it cannot be one."""

    name: str
    """domain::OpType, as in the ONNX model."""
    fields: tuple[Field, ...]
    """The record, the same for every variant."""
    kernels: Mapping[str, OwnKernel]
    """By variant: int8 for quantized tensors, float32, int32, … for elements that stand for themselves."""
    outputs: int = 1
    """Number of its outputs."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z_][\w.-]*::[A-Za-z_]\w*", self.name, re.ASCII):
            raise OperatorError(f"own operator {self.name!r}: its name is not of the form domain::OpType")
        if not self.kernels:
            raise OperatorError(f"own operator {self.name}: it has no NumPy kernel")
        for variant in self.kernels:
            if variant not in ALLOWED_VARIANTS:
                raise OperatorError(f"own operator {self.name}: there is no variant {variant!r}, only {', '.join(ALLOWED_VARIANTS)}")
        names = [field.name for field in self.fields]
        wrong = [name for name in names if not re.fullmatch(r"[a-z_]\w*", name, re.ASCII) or names.count(name) > 1]
        if wrong or any(field.length < 1 for field in self.fields):
            raise OperatorError(
                f"own operator {self.name}: {wrong or names}: fields are lower-case C identifiers, each once, of 1 word or more"
            )

    @cached_property
    def code(self) -> int:
        """Its arn_op: 15 bits of the name's CRC-32, from FIRST_CODE on."""
        return FIRST_CODE | crc32(self.name.encode()) & 0x7FFF

    @cached_property
    def variants(self) -> Mapping[str, int]:
        """Number in the file, by variant: that of VARIANTS, with eight bits of the CRC-32 of name and record above it."""
        layout = ",".join(f"{field.name}[{field.length}]{'f' if field.is_float else 'i'}" for field in self.fields)
        return {name: VARIANTS[name] | (crc32(f"{self.name}({layout})".encode()) & 0xFF) << 8 for name in self.kernels}

    @cached_property
    def operator(self) -> Operator:
        """As the built-in ones are described."""
        return Operator(self.name, self.code, tuple(self.kernels), self.fields)

    def variant_name(self, number: int) -> str | None:
        return next((name for name, known in self.variants.items() if known == number), None)

    def call(self, variant: str, record: Any, *arrays: NDArray[Any] | None) -> None:
        """Run the kernel on the operands and store what it returns in the outputs, which come last, as the built-in kernels do.

        Raises OperatorError where the kernel fails, or returns another type, shape or number of arrays than the outputs have.
        """
        kernel = f"own operator {self.name}: its NumPy kernel for {variant}"
        operands, places = arrays[: -self.outputs], arrays[-self.outputs :]
        try:
            returned = self.kernels[variant](record, *operands)
        except Exception as error:  # the user's code
            raise OperatorError(f"{kernel} failed: {type(error).__name__}: {error}") from error
        results = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
        if len(results) != self.outputs:
            raise OperatorError(f"{kernel} returned {len(results)} arrays, not {self.outputs}")
        for place, result in zip(places, results, strict=True):
            assert place is not None
            if not isinstance(result, np.ndarray | np.generic):
                raise OperatorError(f"{kernel} returned {type(result).__name__}, not an array")
            if result.dtype != place.dtype or result.shape != place.shape:
                raise OperatorError(
                    f"{kernel} returned {result.dtype}{list(result.shape)}, but the output is {place.dtype}{list(place.shape)}"
                )
            place[...] = result


OWN_OPERATORS: dict[str, OwnOperator] = {}
"""Those that have been added or found, by name."""


def add(operators: Iterable[OwnOperator]) -> tuple[OwnOperator, ...]:
    """Make operators known, all of them or none, and return those that are new. Raises OperatorError where names or codes clash."""
    known, new = dict(OWN_OPERATORS), []
    for operator in operators:
        there = known.get(operator.name)
        if there is operator:
            continue
        if there is not None:
            raise OperatorError(f"own operator {operator.name}: there are two of this name: rename one, or leave one out")
        clash = next((other for other in known.values() if other.code == operator.code), None)
        if clash is not None:
            raise OperatorError(f"own operators {clash.name} and {operator.name}: both names give the code {operator.code:#x}: rename one")
        known[operator.name] = operator
        new.append(operator)
    for operator in new:
        OWN_OPERATORS[operator.name] = operator
        for variant in operator.kernels:
            KERNELS[operator.name, variant] = partial(operator.call, variant)
    return tuple(new)


def remove(operators: Iterable[OwnOperator]) -> None:
    """Forget operators that were added."""
    for operator in operators:
        if OWN_OPERATORS.get(operator.name) is operator:
            del OWN_OPERATORS[operator.name]
            for variant in operator.kernels:
                del KERNELS[operator.name, variant]


def find(name: str) -> OwnOperator | None:
    """The operator of this name, looking through the entry points where it has not been added. Raises OperatorError where one is broken."""
    if name not in OWN_OPERATORS:
        add(operator for operator in _installed(tuple(sys.path)) if operator.name not in OWN_OPERATORS)
    return OWN_OPERATORS.get(name)


@cache
def _installed(path: tuple[str, ...]) -> tuple[OwnOperator, ...]:
    """What the entry points of GROUP give, packages being looked for in `path`. Raises OperatorError where one is not what it should be."""
    found: list[OwnOperator] = []
    for point in entry_points(group=GROUP):
        source = f"entry point {point.name} = {point.value} ({GROUP})"
        try:
            value = point.load()
        except Exception as error:  # the user's module
            raise OperatorError(f"{source} cannot be loaded: {type(error).__name__}: {error}") from error
        for operator in value if isinstance(value, tuple | list) else (value,):
            if not isinstance(operator, OwnOperator):
                raise OperatorError(f"{source} gives {type(operator).__name__}, not an OwnOperator")
            found.append(operator)
    return tuple(found)
