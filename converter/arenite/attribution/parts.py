"""Which nodes of the artifact compute which layer of the float network, and how such a part is run by itself."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from arenite_runtime import Model
from arenite_runtime.kernels import KERNELS
from arenite_runtime.kernels.control import KERNELS as CONTROL
from arenite_runtime.structure import Storage, Tensor
from numpy.typing import NDArray

from arenite.graph import Graph
from arenite.quantize.execution import versions

Array = NDArray[Any]


@dataclass(frozen=True)
class Part:
    """Nodes of the artifact, by index in execution order, that make a float node's outputs from tensors that the float graph has."""

    nodes: tuple[int, ...]
    operands: tuple[int, ...]
    """Tensors that they read and the float graph has."""
    results: tuple[int, ...]
    """Of the float node's outputs those that the artifact has."""


@dataclass(frozen=True)
class Held:
    """Which tensors of the artifact hold which activations of the float graph."""

    tensors: Mapping[str, tuple[Tensor, ...]]
    """By activation; the first is its layer's result, a further one its version with 16 bits. None where it was fused away."""
    names: Mapping[int, str]
    """The activation, by index of a tensor."""

    def result(self, name: str) -> Tensor | None:
        return next(iter(self.tensors.get(name, ())), None)


def held(graph: Graph, model: Model) -> Held:
    by_name = {tensor.name: tensor for tensor in model.tensors}
    tensors = {
        name: tuple(by_name[version] for version in versions(name) if version in by_name)
        for name, tensor in graph.tensors.items()
        if not tensor.is_constant
    }
    return Held(tensors, {tensor.index: name for name, found in tensors.items() for tensor in found})


def parts(graph: Graph, model: Model) -> dict[str, Part]:
    """By the name of a float node's first output. Left out is what computes nothing in the artifact, or lies in a loop or a branch."""
    holding = held(graph, model)
    writers: dict[int, list[int]] = {}
    for at, node in enumerate(model.nodes):
        for index in node.outputs:
            writers.setdefault(index, []).append(at)
    found = {}
    for layer in graph.nodes:
        results = tuple(tensor.index for name in layer.outputs if (tensor := holding.result(name)) is not None)
        known = {index for index, name in holding.names.items() if name not in layer.outputs}
        part = _part(model, known, writers, results)
        if part is not None:
            found[layer.output] = part
    return found


def _part(model: Model, known: set[int], writers: Mapping[int, Sequence[int]], results: tuple[int, ...]) -> Part | None:
    nodes: set[int] = set()
    operands: set[int] = set()
    pending = list(results)
    while pending:
        index = pending.pop()
        for at in writers.get(index, ()):
            if at in nodes:
                continue
            nodes.add(at)
            for operand in model.nodes[at].inputs:
                if operand is None or model.tensors[operand].storage is not Storage.REGION or operand in results:
                    continue
                if operand in known:
                    operands.add(operand)
                elif operand in writers:
                    pending.append(operand)
                else:
                    return None  # bytes that a view or a state brings
    if not nodes or any((model.nodes[at].op, model.nodes[at].variant) in CONTROL for at in nodes):
        return None  # what control flow executes depends on what lies before
    return Part(tuple(sorted(nodes)), tuple(sorted(operands)), results)


def run(model: Model, part: Part, values: MutableMapping[int, Array]) -> None:
    """Execute the part. `values`: the stored values of its operands by tensor; those of its results are added."""
    for at in part.nodes:
        node = model.nodes[at]
        operands = [None if index is None else _operand(model, index, values) for index in node.inputs]
        for index in node.outputs:
            if index not in values:
                tensor = model.tensors[index]
                values[index] = np.zeros(tensor.shape, tensor.dtype)
        KERNELS[node.op, node.variant](node.record, *operands, *(values[index] for index in node.outputs))


def _operand(model: Model, index: int, values: Mapping[int, Array]) -> Array:
    tensor = model.tensors[index]
    return values[index] if tensor.storage is Storage.REGION else model.constant(tensor)


def stored(tensor: Tensor, real: Array) -> Array:
    """Real values as the artifact stores them in `tensor`: rounded half to even, limited to its type."""
    real = real.reshape(tensor.shape)
    if tensor.quantization is None:
        return np.asarray(real, tensor.dtype)
    limits = np.iinfo(np.dtype(tensor.dtype).name)
    scale, zero_point = _per_axis(tensor)
    return np.clip(np.rint(real.astype(np.float64) / scale) + zero_point, limits.min, limits.max).astype(tensor.dtype)


def real_values(tensor: Tensor, values: Array) -> NDArray[np.float64]:
    """float64, of the tensor's shape."""
    if tensor.quantization is None:
        return np.asarray(values, np.float64)
    scale, zero_point = _per_axis(tensor)
    return np.asarray((values.astype(np.float64) - zero_point) * scale)


def _per_axis(tensor: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    chosen = tensor.quantization
    assert chosen is not None
    shape = [-1 if i == chosen.axis else 1 for i in range(len(tensor.shape))] if chosen.scale.size > 1 else [1] * len(tensor.shape)
    return chosen.scale.astype(np.float64).reshape(shape), chosen.zero_point.astype(np.float64).reshape(shape)
