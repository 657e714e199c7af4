"""What a user's own operator consists of: name, record and NumPy kernels (arenite_runtime.OwnOperator), an importer, rules, C."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import arenite_runtime
import numpy as np

from arenite.errors import OperatorError
from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Form, Inputs, Operand, Operator, Param, Record, Shape
from arenite.graph.tensor import DType, Tensor

NEWEST = 1 << 31
_INT32 = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class CKernels:
    """The C of an operator: files that become part of every firmware with a model that needs it."""

    folder: Path
    """Where the files are."""
    header: str
    """A file of `folder` that declares the functions and the kernels below."""
    sources: tuple[str, ...]
    """Files of `folder` that define them, and headers that these include. All files come to lie in one folder; what is not static must have
    a name that no other C of the firmware has."""
    functions: Mapping[str, str]
    """By variant: the function that the compiled form calls with the record, the stored operands, the outputs, and scratch memory
    where there is some. Operands that are absent are null."""
    kernels: Mapping[str, str]
    """By variant: the arn_kernel object (arenite_resolver.h) that the interpreter's resolver names."""


@dataclass(frozen=True)
class OwnOperator:
    """A user's operator. `kernels` names it; the rules are those of a built-in declaration (graph/operators/declaration.py)."""

    kernels: arenite_runtime.OwnOperator
    """Name, record, NumPy kernels by variant."""
    c: CKernels
    summary: str
    """What it computes, in a line."""
    inputs: tuple[Operand, ...]
    """Operands of the float form."""
    importer: Callable[[Any], Sequence[Any]]
    """A node of the ONNX model (frontend.node_import.NodeImport) → its outputs, emitted as nodes of this or of built-in operators."""
    record: Callable[[Node, Inputs, Sequence[Tensor]], Record]
    """The values of the record's fields for a node; node.attributes["variant"] is its variant."""
    shape: Callable[[Inputs, Attributes], Shape] | None = None
    """The shape rule. Raises ValueError, naming the numbers, where the inputs do not fit. Not needed with `results`."""
    results: Callable[[Inputs, Attributes], tuple[tuple[Shape, DType], ...]] | None = None
    """Shape and element type of every output, for operators with several, or with one that is not of the first operand's type."""
    attributes: tuple[Attribute, ...] = ()
    opsets: tuple[int, int] = (1, NEWEST)
    """First and last version of its domain that the importer follows."""
    stored: tuple[Operand, ...] | None = None
    """Operands of the int8 form. None: those of the float form."""
    keeps_scale: bool = False
    """The int8 form computes on the stored integers alone, as a maximum or a movement does: one quantization in and out."""
    lower: Callable[[Any, Node], None] | None = None
    """To the int8 form (quantize.lowering.Lowering, the float node), for an operator that does not keep the scale."""
    macs: Callable[[Inputs, Shape], int] = lambda inputs, output: 0
    scratch: Callable[[Node, Inputs, Sequence[Tensor]], int] = lambda node, inputs, outputs: 0
    """Bytes of working memory, 16-byte aligned."""
    in_place: tuple[int, ...] = ()
    """Inputs whose memory the output may take: the kernel reads element i before it writes element i, and never again."""

    @property
    def name(self) -> str:
        """domain::OpType."""
        return self.kernels.name

    @property
    def domain(self) -> str:
        return self.name.partition("::")[0]

    @property
    def onnx(self) -> str:
        """As importers are listed: domain.OpType."""
        return self.name.replace("::", ".")

    @property
    def stem(self) -> str:
        """In C names: com.example::MedianFilter, median_filter."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name.partition("::")[2]).lower()

    @property
    def params_type(self) -> str:
        """The C structure of the record."""
        return f"{self.stem}_params"

    @property
    def has_int8(self) -> bool:
        return "int8" in self.kernels.kernels

    @cached_property
    def operator(self) -> Operator:
        """As the built-in ones are declared."""
        params = tuple(Param(field.name, "", field.length, field.is_float) for field in self.kernels.fields)
        typed = Form(tuple(name for name in self.kernels.kernels if name != "int8"), self.inputs, params, self._record)
        int8 = Form(("int8",), self.inputs if self.stored is None else self.stored, params, self._record)
        first = int8 if self.has_int8 else typed
        return Operator(
            name=self.name,
            summary=self.summary,
            inputs=self.inputs,
            attributes=self.attributes,
            onnx=(self.onnx,),
            shape=self._shape,
            results=None if self.results is None else self._results,
            code=self.kernels.code,
            variants=first.variants,
            stored=first.stored,
            params=params,
            record=self._record,
            typed=typed if self.has_int8 and typed.variants else None,
            macs=self.macs,
            scratch=self._scratch,
            in_place=self.in_place,
        )

    # The user's rules, whose failures name them

    def _shape(self, inputs: Inputs, attributes: Attributes) -> Shape:
        if self.shape is None:
            raise OperatorError(f"own operator {self.name} has neither a shape rule nor results")
        shape = self._call("shape rule", self.shape, inputs, attributes)
        return self._checked_shape(shape)

    def _results(self, inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
        assert self.results is not None
        results = self._call("rule `results`", self.results, inputs, attributes)
        if len(results) != self.kernels.outputs:
            raise OperatorError(f"own operator {self.name}: its rule `results` gives {len(results)} outputs, not {self.kernels.outputs}")
        return tuple((self._checked_shape(shape), DType(dtype)) for shape, dtype in results)

    def _record(self, node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
        record: Record = self._call(f"record of node {node.name}", self.record, node, inputs, outputs)
        names = [field.name for field in self.kernels.fields]
        if not isinstance(record, Mapping):
            raise OperatorError(f"own operator {self.name}: its record rule gives {record!r}, not a mapping from {', '.join(names)}")
        if sorted(record) != sorted(names):
            raise OperatorError(f"own operator {self.name}: its record rule gives {sorted(record)}, its fields are {sorted(names)}")
        for field in self.kernels.fields:
            wrong = _mismatch(field, record[field.name])
            if wrong:
                raise OperatorError(
                    f"own operator {self.name}: its record rule gives {field.name} = {record[field.name]!r} for node {node.name}: {wrong}"
                )
        return record

    def _scratch(self, node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
        return int(self._call(f"scratch rule for node {node.name}", self.scratch, node, inputs, outputs))

    def _call(self, rule: str, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (ValueError, OperatorError):
            raise  # inputs that do not fit: the caller names the node
        except Exception as error:
            raise OperatorError(f"own operator {self.name}: its {rule} failed: {type(error).__name__}: {error}") from error

    def _checked_shape(self, shape: Any) -> Shape:
        try:
            sizes = tuple(int(size) for size in shape)
        except (TypeError, ValueError):
            raise OperatorError(f"own operator {self.name}: its shape rule gives {shape!r}, not a tuple of integers") from None
        if any(size < 0 for size in sizes):
            raise OperatorError(f"own operator {self.name}: its shape rule gives {shape!r}, and no size is negative")
        return sizes


def _mismatch(field: arenite_runtime.Field, value: Any) -> str | None:
    """Why `value` is none of the field's; the C structure has no room for anything else."""
    numbers = np.asarray(value).reshape(-1)
    if numbers.dtype.kind not in "biuf":
        return "no number"
    if numbers.size != field.length:
        return f"{numbers.size} numbers, the field holds {field.length}"
    if field.is_float:
        return None
    if not all(float(number).is_integer() for number in numbers):
        return "the field is an integer; is_float=True makes it a float32"
    if any(not _INT32[0] <= int(number) <= _INT32[1] for number in numbers):
        return f"the field is an integer of 32 bits, from {_INT32[0]} to {_INT32[1]}"
    return None


OWN_OPERATORS: dict[str, OwnOperator] = {}
"""Those in use, by name, which is also that of their nodes in the graph (loading.used_operators)."""


def own_operator(domain: str, op_type: str) -> OwnOperator | None:
    """The one in use for an operator of an ONNX model."""
    return OWN_OPERATORS.get(f"{domain}::{op_type}")
