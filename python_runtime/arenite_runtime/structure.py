"""What a flat model consists of, as immutable data. docs/flat-model.md explains the file; model.py reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import prod

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.record import Record


class Storage(Enum):
    """Where a tensor's bytes are; the values are those of the file."""

    REGION = 0
    CONSTANT = 1
    EXTERNAL = 2


class RegionKind(Enum):
    """Whose a memory is; the values are those of the file."""

    ARENA = 0
    BOUND = 1
    EXTERNAL = 2


@dataclass(frozen=True)
class Region:
    """A memory of the plan. `size` and `alignment` are bytes."""

    size: int
    alignment: int
    kind: RegionKind


@dataclass(frozen=True)
class Quantization:
    """Real value = scale · (q − zero_point). One element for the whole tensor, or one a channel along `axis`."""

    scale: NDArray[np.float32]
    zero_point: NDArray[np.int32]
    axis: int = -1


@dataclass(frozen=True)
class Tensor:
    """A tensor with a place: `offset` bytes from the start of its region, or of the model's constants."""

    index: int
    name: str
    """`#index` where the name was stripped."""
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    storage: Storage
    region: int
    offset: int
    quantization: Quantization | None = None

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True)
class Node:
    """One kernel call. `inputs`, `outputs` and `scratch` index Model.tensors; an absent optional input is None."""

    op: str
    variant: str
    name: str
    """`#index` where the name was stripped."""
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    scratch: int | None
    record: Record


@dataclass(frozen=True)
class Subgraph:
    """Nodes in execution order."""

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """A tensor that persists between invocations: after one, the bytes of `output` are copied to `input`.

    `initial` is a constant tensor; None: every byte of an int8 tensor is its zero point, of others 0.
    """

    output: int
    input: int
    initial: int | None


@dataclass(frozen=True)
class Port:
    """An input or output of the model, as a caller sees it, in the order of the ONNX graph."""

    name: str
    """"" where it was stripped."""
    tensor: int
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    scale: float
    """0.0 where the tensor is not quantized."""
    zero_point: int
    labels: tuple[str, ...] = field(default=())
    """What the values along the last axis mean; empty where the model does not say."""
    expected: tuple[float, float] | None = None
    """Of an input: the least and the greatest real value that calibration has seen; None where the model does not say."""
