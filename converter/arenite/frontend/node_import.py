"""One ONNX node on its way into the graph: what its importer reads, emits and refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from arenite.errors import ModelFileError, Unsupported
from arenite.frontend.dimensions import LARGEST
from arenite.frontend.values import Constant, Operand, TensorList, Unknown, Value
from arenite.graph import OPERATORS, DType, Expression, Graph, Node, Quantization, Tensor


class Refused(Exception):
    """The node cannot be imported; its `problems` say why."""


class ContradictionError(ModelFileError):
    """A node does not go with its operands: the file is wrong, or the shape that a user gave an input with open dimensions."""


@dataclass
class NodeImport:
    """An ONNX node, its attributes and operands, and the graph that its importer appends to.

    An importer returns the values of the node's outputs, in order (a name for an activation); the names of the ONNX outputs are
    given to them afterwards. It calls `refuse` for what is not supported: the node is then listed with all others that are refused.
    """

    file: str
    graph: Graph
    name: str
    operator: str
    """With the domain where it is not ONNX's own."""
    opset: int
    inputs: tuple[Operand | None, ...]
    attributes: Mapping[str, Any]
    outputs: tuple[str, ...]
    """Names of the ONNX outputs; empty for an absent one."""
    used: frozenset[str]
    """Those that something reads."""
    input_types: tuple[int, ...]
    """TensorProto.DataType of the operands in the ONNX graph, UNDEFINED where inference does not know it."""
    problems: list[Unsupported] = field(default_factory=list)

    # Refusing

    def problem(self, problem: str, remedy: str) -> None:
        """Note a reason for refusal and go on looking for others."""
        self.problems.append(Unsupported(self.name, self.operator, problem, remedy))

    def remark(self, text: str) -> None:
        """Something for the report."""
        if text not in self.graph.remarks:
            self.graph.remarks.append(text)

    def refuse(self, problem: str, remedy: str) -> NoReturn:
        self.problem(problem, remedy)
        raise Refused

    def check_size(self, shape: Sequence[int], dtype: DType) -> None:
        """Refuse a result without elements, and one that a flat model cannot hold."""
        if 0 in shape:
            self.refuse(f"a result has the shape {list(shape)}: no elements", "remove the node, or choose a size that leaves elements")
        size = math.prod(int(n) for n in shape) * dtype.itemsize
        if size > LARGEST:
            self.refuse(
                f"a result has the shape {list(shape)}: {size:,} bytes of {dtype.value}, a tensor can have {LARGEST:,} at most",
                "choose smaller sizes: those of the node's attributes and constant inputs, or the input's with --shape",
            )

    def malformed(self, message: str) -> NoReturn:
        """The file contradicts itself or the ONNX standard."""
        raise ContradictionError(f"{self.file}: node {self.name} ({self.operator}): {message}")

    # Reading

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def ints(self, name: str, default: Sequence[int]) -> tuple[int, ...]:
        return tuple(int(v) for v in self.attributes.get(name, default))

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def value(self, index: int) -> Value:
        """Operand `index`, which must be there."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None or isinstance(value, Unknown):
            self.malformed(f"input {index} is missing")
        if isinstance(value, TensorList):
            self.malformed(f"input {index} is a sequence of tensors")
        return value

    def activation(self, index: int) -> str:
        """Operand `index` as a float32 tensor of the graph, a constant one too."""
        value = self.value(index)
        if isinstance(value, Constant):
            return self.add_constant(self.finite(value))
        tensor = self.graph.tensors[value]
        if tensor.dtype is not DType.FLOAT32:
            self.refuse(
                f"input {index}, {tensor.name}, is {tensor.dtype.value} and has no DequantizeLinear in front of this node",
                "export the model in QDQ format, where every operator computes in float between DequantizeLinear and QuantizeLinear",
            )
        return value

    def tensor(self, index: int) -> str:
        """Operand `index` as a tensor of the graph of any element type, a constant one too. Quantized elements are refused."""
        value = self.value(index)
        if isinstance(value, Constant):
            return self.add_constant(self.typed(value))
        tensor = self.graph.tensors[value]
        if tensor.quantization is not None and tensor.dtype is DType.INT8:
            self.activation(index)
        return value

    def typed(self, value: Constant) -> Constant:
        """With elements of a type that the IR has: every float becomes float32."""
        array = np.asarray(value.array)
        if array.dtype.name not in _PLAIN:
            with np.errstate(over="ignore"):
                array = array.astype(np.float32)
        return Constant(value.name, array, value.quantization)

    def dtype(self, value: Value) -> DType:
        """The element type that a value has, or gets, in the graph."""
        return DType.of(self.typed(value).array) if isinstance(value, Constant) else self.graph.tensors[value].dtype

    def constant(self, index: int, what: str, remedy: str = "") -> Constant | None:
        """Operand `index`, which must be known at conversion; None where it is absent."""
        if not self.has(index):
            return None
        value = self.value(index)
        if not isinstance(value, Constant):
            self.refuse(f"{what} (input {index}, {value}) is computed at run time", remedy or f"make {what} a constant and export again")
        return value

    def weights(self, index: int, what: str) -> Constant:
        """Operand `index` as a finite float32 constant."""
        value = self.constant(index, what)
        if value is None:
            self.malformed(f"{what} (input {index}) is missing")
        return self.finite(value)

    def finite(self, value: Constant) -> Constant:
        """As float32. Raises ModelFileError where an element is NaN or infinite, or leaves the range of float32."""
        array = np.asarray(value.array)
        if array.dtype.kind in "iub" and value.quantization is None:
            self.malformed(f"{value.name} is {array.dtype} where float values belong")
        with np.errstate(over="ignore"):
            data = np.ascontiguousarray(array, np.float32).reshape(array.shape)
        if not np.isfinite(data).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(data))[0])
            bad = int((~np.isfinite(data)).sum())
            what = f"{float(array[at])}" + ("" if np.isfinite(np.float64(array[at])) else " (not finite)")
            raise ModelFileError(
                f"{self.file}: initializer {value.name}{list(data.shape)}, used by node {self.name} ({self.operator}), holds {what} "
                f"at index {list(at)} ({bad} of {data.size} values are not finite float32 numbers): train or export the model again"
            )
        return Constant(value.name, data, value.quantization)

    def integers(self, index: int, what: str) -> tuple[int, ...] | None:
        """Operand `index` as constant integers (axes, pads, a shape, …); None where it is absent."""
        value = self.constant(index, what, f"give {what} as a constant: export with fixed shapes, or bind dynamic dimensions with --shape")
        return None if value is None else tuple(int(v) for v in np.asarray(value.array).reshape(-1))

    def scalar(self, index: int, what: str) -> float | None:
        value = self.constant(index, what)
        if value is None:
            return None
        if value.array.size != 1:
            self.refuse(f"{what} has {value.array.size} values", f"use one value for {what}")
        return float(np.asarray(value.array, np.float64).reshape(()))

    def shape(self, value: Value) -> tuple[int, ...]:
        return value.array.shape if isinstance(value, Constant) else self.graph.tensors[value].shape

    def axis(self, axis: int, rank: int) -> int:
        """Not negative. Outside of the tensor it is an error in the file."""
        if not -rank <= axis < rank:
            self.malformed(f"axis {axis} is outside of a tensor of {rank} dimensions")
        return axis % rank

    # Emitting

    def emit(
        self,
        op: str,
        inputs: Sequence[str | None],
        dtype: DType | None = None,
        quantization: Quantization | None = None,
        **attributes: Any,
    ) -> str:
        """Append a node of the IR under this node's name; its output gets the shape, and without `dtype` the element type, that the
        operator's rule gives."""
        tensors = [None if name is None else self.graph.tensors[name] for name in inputs]
        try:
            ((shape, usual),) = OPERATORS[op].outputs(tensors, attributes)
            usual = DType.FLOAT32 if op == "Dequantize" else usual
        except ValueError as error:
            self.malformed(f"{error}")
        self.check_size(shape, dtype or usual)
        stem = next((name for name in self.outputs if name), self.name)
        output = self.graph.add(Tensor(f"{stem}/{op}", tuple(int(n) for n in shape), dtype or usual, None, quantization))
        self.graph.nodes.append(Node(op, self.name, tuple(inputs), (output.name,), attributes))
        return output.name

    def results(self, op: str, inputs: Sequence[str | None], **attributes: Any) -> tuple[str, ...]:
        """Append a node; its outputs get the shapes and element types that the operator's rule gives."""
        tensors = [None if name is None else self.graph.tensors[name] for name in inputs]
        try:
            outputs = OPERATORS[op].outputs(tensors, attributes)
        except ValueError as error:
            self.malformed(f"{error}")
        stem = next((name for name in self.outputs if name), self.name)
        names = []
        for shape, dtype in outputs:
            self.check_size(shape, dtype)
            names.append(self.graph.add(Tensor(f"{stem}/{op}", tuple(int(n) for n in shape), dtype)).name)
        self.graph.nodes.append(Node(op, self.name, tuple(inputs), tuple(names), attributes))
        return tuple(names)

    def add_constant(self, value: Constant) -> str:
        """A constant as a tensor of the graph. One that several nodes use alike is added once."""
        there = self.graph.tensors.get(value.name)
        if there is not None and there.data is not None and _alike(there, value):
            return there.name
        return self.graph.add_constant(value.name, np.ascontiguousarray(value.array).reshape(value.array.shape), value.quantization).name

    def elementwise(self, x: str, expression: Expression) -> str:
        return self.emit("Elementwise", [x], expression=expression)

    def transpose(self, x: str, perm: Sequence[int]) -> str:
        """x itself where nothing moves."""
        perm = tuple(int(p) for p in perm)
        return x if perm == tuple(range(len(perm))) else self.emit("Transpose", [x], perm=perm)

    def reshape(self, x: str, shape: Sequence[int]) -> str:
        """x itself where it has this shape."""
        shape = tuple(int(n) for n in shape)
        return x if self.graph.tensors[x].shape == shape else self.emit("Reshape", [x], shape=shape)

    def to_rank(self, value: Value, rank: int) -> str:
        """An operand of a broadcast, with dimensions of 1 in front up to `rank`."""
        shape = self.shape(value)
        shape = (1,) * (rank - len(shape)) + shape
        if isinstance(value, Constant):
            return self.add_constant(self.typed(value).reshaped(shape))
        return self.reshape(value, shape)


_PLAIN = frozenset(dtype.value for dtype in DType)
"""Names of numpy's types that the IR has."""


def _alike(tensor: Tensor, value: Constant) -> bool:
    same = tensor.quantization is value.quantization is None or (
        tensor.quantization is not None and tensor.quantization.same_as(value.quantization)
    )
    data = tensor.data
    return same and data is not None and data.dtype == value.array.dtype and np.array_equal(data, value.array)


@dataclass(frozen=True)
class Importer:
    """How one ONNX operator is imported."""

    convert: Callable[[NodeImport], Sequence[Value | TensorList]]
    notes: str = ""
    """What is supported, for `arenite operators`."""
