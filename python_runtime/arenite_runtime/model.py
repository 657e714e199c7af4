"""Reads and verifies flat models (.arn files, docs/flat-model.md)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.errors import InputError, ModelError
from arenite_runtime.flat import arenite_generated as flat
from arenite_runtime.kernels.conversion import dequantize_values, quantize_values
from arenite_runtime.operators import Operator
from arenite_runtime.own_operators import FIRST_CODE, find
from arenite_runtime.record import OPERATOR_BY_CODE, decode, variant_name
from arenite_runtime.structure import Node, Port, Quantization, Region, RegionKind, State, Storage, Subgraph, Tensor

IDENTIFIER = b"ARN1"
SCHEMA_VERSION = 1
MAX_RANK = 8
JUMPS = ("SkipUnless", "Skip", "BeginLoop", "RepeatLoop")
"""Operators whose record names other nodes of the list."""
MAX_BYTES = (1 << 31) - 1
DATA_ALIGNMENT = 16

_DTYPES = {
    flat.DType.int8: np.int8,
    flat.DType.uint8: np.uint8,
    flat.DType.int16: np.int16,
    flat.DType.int32: np.int32,
    flat.DType.int64: np.int64,
    flat.DType.float32: np.float32,
    flat.DType.bool: np.bool_,
    flat.DType.uint16: np.uint16,
    flat.DType.uint32: np.uint32,
}
_CHECKSUM_FIELD = 8  # place of Model.checksum in the vtable: 4 + 2 · field number
_T = TypeVar("_T")


@dataclass(frozen=True)
class Model:
    """A flat model, verified: every index, offset and record in it is in bounds."""

    name: str
    producer: str
    version: int
    regions: tuple[Region, ...]
    """[0] is the arena."""
    tensors: tuple[Tensor, ...]
    subgraphs: tuple[Subgraph, ...]
    """[0] is the main one."""
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[State, ...]
    data: NDArray[np.uint8] = field(repr=False)
    """The constants."""

    @classmethod
    def load(cls, source: Path | str | bytes | bytearray | memoryview) -> Model:
        """Read a file, or the bytes of one.

        Raises ModelError where they are no valid flat model, OperatorError where they need an operator of somebody's own and one that is
        installed is broken, and OSError where the file cannot be read.
        """
        return read(bytes(source) if isinstance(source, bytes | bytearray | memoryview) else Path(source).read_bytes())

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the main subgraph, in execution order."""
        return self.subgraphs[0].nodes

    @property
    def arena_bytes(self) -> int:
        return self.regions[0].size

    def constant(self, tensor: Tensor) -> NDArray[Any]:
        """The value of a constant, a read-only view. Raises ValueError for any other tensor, and for one whose bytes are the caller's."""
        data = self.contents(tensor.region) if tensor.storage is Storage.EXTERNAL else self.data
        if tensor.storage is Storage.REGION or data is None:
            raise ValueError(f"{tensor.name} is not a constant of the file")
        return data[tensor.offset : tensor.offset + tensor.bytes].view(tensor.dtype).reshape(tensor.shape)

    def contents(self, region: int) -> NDArray[np.uint8] | None:
        """The constants that an external region holds at first, where the file has them; else they are the caller's."""
        for tensor in self.tensors:
            if tensor.storage is Storage.CONSTANT and tensor.region == region and self._is_external(region):
                if tensor.bytes != self.regions[region].size:
                    raise _corrupt(f"region {region} has {self.regions[region].size} bytes, {tensor.bytes} are to be in it")
                return self.data[tensor.offset : tensor.offset + tensor.bytes]
        return None

    def _is_external(self, region: int) -> bool:
        return 0 < region < len(self.regions) and self.regions[region].kind is RegionKind.EXTERNAL

    def quantize_input(self, index: int, values: NDArray[Any]) -> NDArray[Any]:
        """float32 values of input `index`, of any shape, as the input's own type (numerics §1). A float32 input takes them as they are."""
        return _to_port(self.inputs[index], values)

    def dequantize_output(self, index: int, values: NDArray[Any]) -> NDArray[np.float32]:
        """The values of output `index`, of any shape, as float32 (numerics §1)."""
        return _from_port(self.outputs[index], values)


def _to_port(port: Port, values: NDArray[Any]) -> NDArray[Any]:
    values = np.asarray(values, np.float32)
    if port.dtype == np.float32:
        return values
    if port.dtype == np.uint8 and port.scale:  # the same values with the top bit inverted
        return quantize_values(values, port.scale, port.zero_point - 128).view(np.uint8) ^ np.uint8(0x80)
    if port.dtype == np.int8 and port.scale:
        return quantize_values(values, port.scale, port.zero_point)
    raise InputError(f"{port.name}: {port.dtype} without a scale has no conversion from float32")


def _from_port(port: Port, values: NDArray[Any]) -> NDArray[np.float32]:
    if port.dtype == np.float32:
        return np.asarray(values, np.float32)
    if port.dtype not in (np.int8, np.uint8) or not port.scale:
        raise InputError(f"{port.name}: {port.dtype} without a scale has no conversion to float32")
    return dequantize_values(np.asarray(values), port.scale, port.zero_point)


def read(data: bytes) -> Model:
    """The model in `data`, which may be longer than it. Raises ModelError where it is not valid."""
    if len(data) < 8:
        raise ModelError("ARN_ERROR_TRUNCATED", f"the file is truncated: {len(data)} bytes, and no flat model is so short")
    if data[4:8] != IDENTIFIER:
        raise ModelError("ARN_ERROR_FORMAT", "not an Arenite flat model: the identifier ARN1 is missing")
    if int.from_bytes(data[:4], "little") > len(data) - 4:
        raise ModelError("ARN_ERROR_TRUNCATED", f"the file is truncated: {len(data):,} bytes, and its header is not among them")
    try:
        root = flat.Model.GetRootAs(data, 0)
        _verify_envelope(root, data)
        return _Reader(root).model()
    except ModelError:
        raise
    except struct.error as error:
        raise ModelError(
            "ARN_ERROR_CORRUPT", f"the file is truncated or damaged: an offset leads out of its {len(data):,} bytes"
        ) from error
    except (IndexError, ValueError, OverflowError, TypeError, AttributeError) as error:
        # The accessors check nothing: an offset that leads out of the file shows as one of these.
        raise ModelError("ARN_ERROR_CORRUPT", f"the file is damaged: {error}") from error


def _verify_envelope(root: Any, data: bytes) -> None:
    if root.Version() != SCHEMA_VERSION:
        raise ModelError("ARN_ERROR_VERSION", f"schema version {root.Version()}; this runtime knows {SCHEMA_VERSION}")
    size = root.FileSize()
    if size > len(data):
        raise ModelError("ARN_ERROR_TRUNCATED", f"the file is truncated: {len(data):,} bytes, and it says that it has {size:,}")
    place = root._tab.Offset(_CHECKSUM_FIELD)
    if not place:
        raise ModelError("ARN_ERROR_CORRUPT", "the file has no checksum")
    place += root._tab.Pos
    zeroed = data[:place] + bytes(4) + data[place + 4 : size]
    if len(zeroed) != size or zlib.crc32(zeroed) != root.Checksum():
        raise ModelError("ARN_ERROR_CHECKSUM", "the file is damaged: its bytes do not have the checksum that it states")


def _corrupt(message: str) -> ModelError:
    return ModelError("ARN_ERROR_CORRUPT", message)


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode()


def _interval(low: float | None, high: float | None) -> tuple[float, float] | None:
    """Absent, like one of numbers that make none, means that nothing is known."""
    return (float(low), float(high)) if low is not None and high is not None and low <= high else None


def _numbers(vector: NDArray[Any] | int) -> list[int]:
    """A vector of int32 as the accessors' …AsNumpy gives it: 0 where it is absent."""
    return [] if isinstance(vector, int) else [int(value) for value in vector]


class _Reader:
    """Turns the accessors' tables into structure.py's, verifying each; later parts rely on earlier ones."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.size = root.FileSize()
        if not root.TensorsLength():
            raise _corrupt("there is no tensor")
        self.data: NDArray[np.uint8] = root.DataAsNumpy() if root.DataLength() else np.zeros(0, np.uint8)
        if self.data.size and (self.data.ctypes.data - np.frombuffer(root._tab.Bytes, np.uint8).ctypes.data) % DATA_ALIGNMENT:
            raise _corrupt(f"the constants are not aligned to {DATA_ALIGNMENT} bytes")
        self.regions = tuple(self._region(region) for region in self._each(root.Regions, root.RegionsLength()))
        if not self.regions or self.regions[0].kind is not RegionKind.ARENA:
            raise _corrupt("region 0 is no arena")
        self.own_names = {own.Op(): _text(own.Name()) for own in self._each(root.Operators, root.OperatorsLength())}
        """Of users' own operators, by code."""
        self.tensors = tuple(self._tensor(i, tensor) for i, tensor in enumerate(self._each(root.Tensors, root.TensorsLength())))

    def _each(self, get: Callable[[int], _T | None], length: int) -> list[_T]:
        """The tables or structs of a vector; each takes four bytes at least."""
        if length > self.size // 4:
            raise _corrupt(f"a vector of {length} elements reaches beyond the file")
        items = [get(i) for i in range(length)]
        return [item for item in items if item is not None]

    def model(self) -> Model:
        root = self.root
        if root.CallDepth() != 1:
            raise ModelError("ARN_ERROR_UNSUPPORTED", f"the model calls subgraphs to a depth of {root.CallDepth()}")
        subgraphs = tuple(self._subgraph(i, graph) for i, graph in enumerate(self._each(root.Subgraphs, root.SubgraphsLength())))
        if not subgraphs:
            raise _corrupt("there is no subgraph")
        return Model(
            name=_text(root.Name()),
            producer=_text(root.Producer()),
            version=root.Version(),
            regions=self.regions,
            tensors=self.tensors,
            subgraphs=subgraphs,
            inputs=tuple(self._input(port) for port in self._each(root.Inputs, root.InputsLength())),
            outputs=tuple(self._port(port) for port in self._each(root.Outputs, root.OutputsLength())),
            states=tuple(self._state(state) for state in self._each(root.States, root.StatesLength())),
            data=self.data,
        )

    def _region(self, region: Any) -> Region:
        if region.Kind() not in {kind.value for kind in RegionKind}:
            raise ModelError("ARN_ERROR_UNSUPPORTED", f"region kind {region.Kind()} is unknown")
        alignment = region.Alignment()
        if alignment <= 0 or alignment & (alignment - 1):
            raise _corrupt(f"a region's alignment is {alignment}, no power of two")
        if region.Size() > MAX_BYTES:
            raise _corrupt(f"a region has {region.Size()} bytes, more than {MAX_BYTES}")
        return Region(region.Size(), alignment, RegionKind(region.Kind()))

    def _tensor(self, index: int, tensor: Any) -> Tensor:
        name = _text(tensor.Name()) or f"#{index}"
        if tensor.ShapeLength() > MAX_RANK:
            raise _corrupt(f"tensor {name} has {tensor.ShapeLength()} dimensions, more than {MAX_RANK}")
        shape = tuple(_numbers(tensor.ShapeAsNumpy()))
        if any(size <= 0 for size in shape):
            raise _corrupt(f"tensor {name} has the shape {shape}")
        if tensor.Dtype() not in _DTYPES:
            raise ModelError("ARN_ERROR_UNSUPPORTED", f"tensor {name} has element type {tensor.Dtype()}, which this runtime does not know")
        if tensor.Layout() != flat.Layout.plain:
            raise ModelError("ARN_ERROR_UNSUPPORTED", f"tensor {name} has layout {tensor.Layout()}, which this runtime does not know")
        if tensor.Storage() not in {storage.value for storage in Storage}:
            raise ModelError("ARN_ERROR_UNSUPPORTED", f"tensor {name} has storage {tensor.Storage()}, which this runtime does not know")
        result = Tensor(
            index=index,
            name=name,
            shape=shape,
            dtype=np.dtype(_DTYPES[tensor.Dtype()]),
            storage=Storage(tensor.Storage()),
            region=tensor.Region(),
            offset=tensor.Offset(),
            quantization=self._quantization(name, shape, tensor.Quantization()),
        )
        self._verify_place(result)
        return result

    def _verify_place(self, tensor: Tensor) -> None:
        if tensor.storage is Storage.CONSTANT:
            size, where = self.data.size, "the constants"
        elif tensor.region < len(self.regions):
            region = self.regions[tensor.region]
            if (region.kind is RegionKind.EXTERNAL) != (tensor.storage is Storage.EXTERNAL):
                raise _corrupt(f"tensor {tensor.name} is {tensor.storage.name}, its region {region.kind.name}")
            if tensor.dtype.itemsize > region.alignment:
                raise _corrupt(f"tensor {tensor.name} is {tensor.dtype}, its region is aligned to {region.alignment} bytes only")
            size, where = region.size, f"region {tensor.region}"
        else:
            raise _corrupt(f"tensor {tensor.name} is in region {tensor.region} of {len(self.regions)}")
        if tensor.offset + tensor.bytes > size:
            raise _corrupt(f"tensor {tensor.name} ends at {tensor.offset + tensor.bytes}, {where} at {size}")
        if tensor.offset % tensor.dtype.itemsize:
            raise _corrupt(f"tensor {tensor.name} at {tensor.offset} is not aligned for {tensor.dtype}")

    def _quantization(self, name: str, shape: tuple[int, ...], quantization: Any) -> Quantization | None:
        if quantization is None or not quantization.ScaleLength():
            return None
        count, axis = quantization.ScaleLength(), quantization.Axis()
        scale = np.array(quantization.ScaleAsNumpy(), np.float32)
        zero_point = np.array(_numbers(quantization.ZeroPointAsNumpy()), np.int32)
        if axis < -1 or axis >= len(shape) or count != (1 if axis == -1 else shape[axis]) or zero_point.size != count:
            raise _corrupt(f"tensor {name} has {count} scales and {zero_point.size} zero points along axis {axis} of {shape}")
        if not (np.isfinite(scale).all() and (scale > 0).all()):
            raise _corrupt(f"tensor {name} has the scale {scale}")
        return Quantization(scale, zero_point, axis)

    def _index(self, index: int, what: str) -> int:
        if not 0 <= index < len(self.tensors):
            raise _corrupt(f"{what} is tensor {index} of {len(self.tensors)}")
        return index

    def _subgraph(self, index: int, graph: Any) -> Subgraph:
        name = _text(graph.Name())
        return Subgraph(
            name=name,
            nodes=tuple(self._nodes(self._each(graph.Nodes, graph.NodesLength()))),
            inputs=tuple(self._index(t, f"input {i} of subgraph {index}") for i, t in enumerate(_numbers(graph.InputsAsNumpy()))),
            outputs=tuple(self._index(t, f"output {i} of subgraph {index}") for i, t in enumerate(_numbers(graph.OutputsAsNumpy()))),
        )

    def _nodes(self, nodes: list[Any]) -> list[Node]:
        read = [self._node(i, node) for i, node in enumerate(nodes)]
        for index, node in enumerate(read):
            if node.op not in JUMPS:
                continue
            skip, back, limit = (int(getattr(node.record, name, usual)) for name, usual in (("skip", 0), ("back", 1), ("limit", 0)))
            if not (0 <= skip <= len(read) - 1 - index and 1 <= back <= index + 1):
                raise _corrupt(f"node {node.name} ({node.op}) leads out of the {len(read)} nodes")
            if limit < 0:
                raise _corrupt(f"node {node.name} ({node.op}) has the limit {limit}")
        return read

    def _node(self, index: int, node: Any) -> Node:
        name = _text(node.Name()) or f"#{index}"
        operator, variant = self._kernel(node.Op(), node.Variant(), name)
        if node.SubgraphsLength():
            raise ModelError("ARN_ERROR_UNSUPPORTED", f"node {name} ({operator.name}) has subgraphs")
        params = np.array(_numbers(node.ParamsAsNumpy()), np.int32)
        try:
            record = decode(operator, variant, params)
        except ValueError as error:
            raise _corrupt(f"node {name}: {error}") from error
        scratch = node.Scratch()
        outputs = tuple(self._index(t, f"output {i} of node {name}") for i, t in enumerate(_numbers(node.OutputsAsNumpy())))
        for i in outputs:
            if self.tensors[i].storage is not Storage.REGION:
                raise _corrupt(f"node {name} writes the constant {self.tensors[i].name}")
        return Node(
            op=operator.name,
            variant=variant,
            name=name,
            inputs=tuple(
                None if t == -1 else self._index(t, f"input {i} of node {name}") for i, t in enumerate(_numbers(node.InputsAsNumpy()))
            ),
            outputs=outputs,
            scratch=None if scratch == -1 else self._index(scratch, f"the scratch of node {name}"),
            record=record,
        )

    def _kernel(self, code: int, number: int, node: str) -> tuple[Operator, str]:
        """The operator and the variant that a node needs. Raises ModelError where one is not known here."""
        if code >= FIRST_CODE:
            return self._own_kernel(code, number, node)
        operator = OPERATOR_BY_CODE.get(code)
        variant = None if operator is None else variant_name(operator, number)
        if operator is None or variant is None:
            known = f"operator {code}" if operator is None else f"variant {number} of {operator.name}"
            raise ModelError("ARN_ERROR_OPERATOR", f"node {node} needs {known}, which this runtime does not know")
        return operator, variant

    def _own_kernel(self, code: int, number: int, node: str) -> tuple[Operator, str]:
        named = self.own_names.get(code)
        needed = f"node {node} needs the operator {named or f'{code:#x}'} of somebody's own"
        own = None if named is None else find(named)
        if own is None or own.code != code:
            raise ModelError(
                "ARN_ERROR_OPERATOR",
                f"{needed}, which is not known here: install the package that has it, or name its file (--operators)",
            )
        variant = own.variant_name(number)
        if variant is None:
            raise ModelError(
                "ARN_ERROR_OPERATOR",
                f"{needed}, but in a variant ({number:#x}) or with a record that the one known here does not have: convert the model again",
            )
        return own.operator, variant

    def _input(self, port: Any) -> Port:
        result = self._port(port)
        if self.tensors[result.tensor].storage is not Storage.REGION:
            raise _corrupt(f"input {result.name} is a constant")
        return result

    def _port(self, port: Any) -> Port:
        name = _text(port.Name())
        tensor = self.tensors[self._index(port.Tensor(), f"port {name}")]
        quantization = tensor.quantization
        scalar = quantization is not None and quantization.scale.size == 1
        return Port(
            name=name,
            tensor=tensor.index,
            shape=tensor.shape,
            dtype=tensor.dtype,
            scale=float(quantization.scale[0]) if quantization is not None and scalar else 0.0,
            zero_point=int(quantization.zero_point[0]) if quantization is not None and scalar else 0,
            labels=tuple(_text(label) for label in self._each(port.Labels, port.LabelsLength())),
            expected=_interval(port.ExpectedMin(), port.ExpectedMax()),
        )

    def _state(self, state: Any) -> State:
        output = self.tensors[self._index(state.Output(), "a state's output")]
        into = self.tensors[self._index(state.Input(), "a state's input")]
        initial = None if state.Initial() == -1 else self._index(state.Initial(), "a state's initial value")
        apart = output.storage is not Storage.REGION or output.region != into.region
        apart = apart or output.offset + output.bytes <= into.offset or into.offset + into.bytes <= output.offset
        if into.storage is not Storage.REGION or output.bytes != into.bytes or not apart:
            raise _corrupt(f"state {into.name} does not fit {output.name}")
        if initial is not None and (self.tensors[initial].storage is Storage.REGION or self.tensors[initial].bytes != into.bytes):
            raise _corrupt(f"{self.tensors[initial].name} is no initial value for state {into.name}")
        return State(output.index, into.index, initial)
