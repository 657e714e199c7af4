"""A lowered graph, executed as it is with the NumPy kernels: what the artifact will give, before there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from numpy.typing import NDArray

from arenite.graph import OPERATORS, Graph, Node, Tensor
from arenite.quantize.evaluation import moved
from arenite.quantize.lower_movement import CARRYING

Array = NDArray[Any]

MOVING = (*CARRYING, "Pad")
WIDE = "/int16"
"""Behind the name of a float activation, that of its version with 16 bits, where another version has the name."""


def versions(name: str) -> tuple[str, str]:
    """Names of tensors that may hold an activation of the float graph in a lowered one: of any type, and with 16 bits beside that."""
    return name, f"{name}{WIDE}"


class LoweredGraph:
    """The lowered form of a float graph, ready to be run many times. States persist from call to call, from the real number 0 on."""

    def __init__(self, graph: Graph) -> None:
        """Raises ValueError for a graph with branches or loops."""
        if any(node.bodies for node in graph.nodes):
            raise ValueError(f"{graph.name}: control flow is not executed here")
        self.graph = graph
        self._states = {state.input: stored(graph.tensors[state.input], np.zeros(())) for state in graph.states}

    @property
    def macs(self) -> int:
        tensors = self.graph.tensors
        return sum(
            OPERATORS[node.op].macs([None if name is None else tensors[name] for name in node.inputs], tensors[node.output].shape)
            for node in self.graph.nodes
            if node.op not in MOVING
        )

    def held(self, name: str) -> list[Tensor]:
        """The tensors that hold an activation of the float graph, in the order of versions(); none where it was fused away."""
        found = [self.graph.tensors[version] for version in versions(name) if version in self.graph.tensors]
        return [tensor for tensor in found if not tensor.is_constant]

    def __call__(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """The stored values of all tensors that are computed, by their names in the lowered graph. `feeds`: real values of the inputs."""
        tensors = self.graph.tensors
        values: dict[str, Array] = {name: tensor.data for name, tensor in tensors.items() if tensor.data is not None}
        values.update({name: stored(tensors[name], feeds[name]) for name in self.graph.inputs if name not in self._states})
        values.update(self._states)
        for node in self.graph.nodes:
            operands = [None if name is None else values[name] for name in node.inputs]
            if node.op not in MOVING:
                outputs = [np.zeros(tensors[name].shape, tensors[name].dtype.numpy) for name in node.outputs]
                self._call(node, operands, outputs)
            else:
                outputs = [self._moved(node, [value for value in operands if value is not None])]
            values.update(zip(node.outputs, outputs, strict=True))
        self._states = {state.input: values[state.output] for state in self.graph.states}
        return values

    def _call(self, node: Node, operands: list[Array | None], outputs: list[Array]) -> None:
        if node.attributes["variant"] == "int4":  # the same bytes; what has four bits is how weights are stored, which they are not yet
            node = node.with_attributes(variant="int8")
        form = OPERATORS[node.op].form(node.attributes["variant"])
        if form.record is None:
            raise ValueError(f"{node.name}: {node.op} has no record")
        tensors = self.graph.tensors
        record = form.record(node, [None if name is None else tensors[name] for name in node.inputs], [tensors[n] for n in node.outputs])
        KERNELS[node.op, node.attributes["variant"]](Record(**record), *operands, *outputs)

    def _moved(self, node: Node, operands: list[Array]) -> Array:
        if node.op != "Pad" or len(operands) > 1:
            return moved(node, operands)
        x, pads = operands[0], node.attributes["pads"]
        widths = [(pads[axis], pads[x.ndim + axis]) for axis in range(x.ndim)]
        return np.pad(x, widths, constant_values=node.attributes.get("fill", 0))


def stored(tensor: Tensor, real: Array) -> Array:
    """Real values, of the tensor's shape or one for all elements, in its type: rounded half to even, limited to it."""
    real = np.broadcast_to(np.asarray(real), tensor.shape)
    chosen = tensor.quantization
    if chosen is None:
        return np.asarray(real, tensor.dtype.numpy)
    limits = np.iinfo(np.dtype(tensor.dtype.numpy).name)
    steps = np.rint(real.astype(np.float64) / chosen.scale.astype(np.float64)) + chosen.zero_point
    return np.asarray(np.clip(steps, limits.min, limits.max), tensor.dtype.numpy)


def real_values(tensor: Tensor, values: Array) -> Array:
    """What a tensor that has one scale, or none, stands for: float64 where it is quantized."""
    chosen = tensor.quantization
    if chosen is None:
        return values
    return np.asarray((values.astype(np.float64) - chosen.zero_point) * chosen.scale.astype(np.float64))
