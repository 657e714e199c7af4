"""What an engine needs to know of an artifact folder: its model's ports, and the names and places of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from arenite_runtime import Model, ModelError
from arenite_runtime.structure import RegionKind
from numpy.typing import NDArray

from arenite.errors import ArtifactError


@dataclass(frozen=True)
class Port:
    """An input or output: what its bytes mean."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def array(self, data: bytes) -> NDArray[Any]:
        """The port's bytes as an array of its own shape."""
        return np.frombuffer(data, self.dtype).reshape(self.shape)


@dataclass(frozen=True)
class ArtifactModel:
    """The model of an artifact folder."""

    folder: Path
    name: str
    """The C identifier that generated names begin with, and the stem of the files."""
    arn: bytes = field(repr=False)
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    arena_bytes: int
    further_memories: tuple[int, ...]
    """Bytes of each region of the plan besides the arena."""
    constant_memories: frozenset[int]
    """Those of them that constants are copied to, by the region's number. The compiled form has arrays instead."""

    @property
    def tensor_memories(self) -> dict[int, int]:
        """By number, bytes of those of them that hold tensors: the compiled form takes a pointer for each."""
        return {i: size for i, size in enumerate(self.further_memories, 1) if size and i not in self.constant_memories}

    @classmethod
    def read(cls, folder: Path) -> ArtifactModel:
        """Read the one .arn file in `folder`. Raises ArtifactError where there is not one, or it is not valid."""
        found = sorted(folder.glob("*.arn"))
        if len(found) != 1:
            names = ", ".join(path.name for path in found) or "none"
            raise ArtifactError(f"{folder} should hold one .arn file, but holds {names}: give the folder that `convert` wrote")
        arn = found[0].read_bytes()
        try:
            model = Model.load(arn)
        except ModelError as error:
            raise ArtifactError(f"{found[0]}: {error}") from error
        return cls(
            folder=folder,
            name=found[0].stem,
            arn=arn,
            inputs=tuple(Port(port.name, port.shape, np.dtype(port.dtype)) for port in model.inputs),
            outputs=tuple(Port(port.name, port.shape, np.dtype(port.dtype)) for port in model.outputs),
            arena_bytes=model.arena_bytes,
            further_memories=tuple(region.size for region in model.regions[1:]),
            constant_memories=frozenset(i for i, region in enumerate(model.regions) if region.kind is RegionKind.EXTERNAL),
        )

    @property
    def arn_path(self) -> Path:
        return self.folder / f"{self.name}.arn"

    @cached_property
    def interpreted_source(self) -> Path:
        """NAME_model.c. Raises ArtifactError where it is missing."""
        return self._source(f"{self.name}_model.c")

    @cached_property
    def compiled_source(self) -> Path:
        """NAME.c. Raises ArtifactError where it is missing."""
        return self._source(f"{self.name}.c")

    def _source(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise ArtifactError(f"{self.folder} holds no {name}: convert the model again")
        return path

    def input_bytes(self, sample: Sequence[NDArray[Any]]) -> list[bytes]:
        """The bytes of each input. Raises ValueError where an array does not have its port's dtype and number of elements."""
        if len(sample) != len(self.inputs):
            raise ValueError(f"{self.name} has {len(self.inputs)} inputs, a sample {len(sample)}")
        for port, array in zip(self.inputs, sample, strict=True):
            if array.dtype != port.dtype or array.nbytes != port.nbytes:
                raise ValueError(f"input {port.name} is {port.dtype}{port.shape}, the array {array.dtype}{array.shape}")
        return [np.ascontiguousarray(array).tobytes() for array in sample]

    def input_arrays(self, sample: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Each input in its port's shape. Raises ValueError as `input_bytes` does."""
        return [port.array(data) for port, data in zip(self.inputs, self.input_bytes(sample), strict=True)]
