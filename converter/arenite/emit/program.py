"""The program: what runs on the target, as data. Both emitters (.arn and C) write exactly this, and nothing else.

A quantized graph and its memory plan become a list of kernel calls over placed tensors. Nodes that only move elements (Concat, Slice,
Transpose, Pad) become StridedCopy and Fill calls here; a Reshape that the planner aliased becomes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Band, DType, Quantization
from arenite.graph.operators import Record
from arenite.plan.memory_plan import Memory


class Storage(Enum):
    """As in the flat model."""

    REGION = "region"
    CONSTANT = "constant"
    EXTERNAL = "external"
    """A constant in a memory of its own (constants_in_ram.py)."""


@dataclass(frozen=True)
class ProgramTensor:
    """A tensor with a place. For constants `offset` counts from the start of the model's data, for others from that of the memory.

    A constant whose memory is of kind external is what that holds at first; of any other constant `memory` is 0.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    storage: Storage
    memory: int
    offset: int
    data: NDArray[np.generic] | None = field(default=None, compare=False)
    quantization: Quantization | None = field(default=None, compare=False)

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True)
class Call:
    """One kernel call. `inputs`, `outputs` and `scratch` index Program.tensors; `record` fits the operator's params."""

    op: str
    variant: str
    name: str
    """The user's layer."""
    record: Record
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    scratch: int | None
    macs: int
    node: int
    """Index into the quantized graph's nodes; of a call in a body, the node that the body is part of."""
    form: str = ""
    """The operator of the graph's node, where that is in a body, or the call is control flow."""
    origins: tuple[str, ...] = ()
    """The user's layers that a node in a body stands for."""
    band: Band | None = None
    """Of a layer that is executed in parts."""


@dataclass(frozen=True)
class Port:
    """An input or output of the model."""

    name: str
    tensor: int
    labels: tuple[str, ...] = ()
    expected: tuple[float, float] | None = None
    """Of an input: the least and the greatest real value that calibration has seen; None: not known."""


@dataclass(frozen=True)
class ProgramState:
    """After the last call, the bytes of tensor `output` are copied to tensor `input`; these begin as the real number 0."""

    output: int
    input: int


@dataclass(frozen=True)
class Program:
    name: str
    """A C identifier."""
    tensors: tuple[ProgramTensor, ...]
    calls: tuple[Call, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    memories: tuple[Memory, ...]
    memory_bytes: tuple[int, ...]
    calibrated: bool
    """False: ranges were measured on synthetic inputs; accuracy is unknown."""
    precision: str = "int8"
    """int8, float32, or mixed: int8 with layers that are not quantized."""
    states: tuple[ProgramState, ...] = ()
    """Copied one after another."""

    @property
    def arena_bytes(self) -> int:
        return self.memory_bytes[0]

    @property
    def weight_bytes(self) -> int:
        """Bytes of all constants, in RAM or not; those that share bytes count once."""
        return sum({tensor.offset: tensor.bytes for tensor in self.tensors if tensor.storage is Storage.CONSTANT}.values())

    @property
    def macs(self) -> int:
        return sum(call.macs for call in self.calls)
