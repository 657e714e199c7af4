"""The IR: an SSA graph of nodes over tensors, in a fixed topological order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from arenite.graph.node import Node
from arenite.graph.printer import format_graph
from arenite.graph.tensor import DType, Quantization, Tensor

__all__ = ["Graph", "Node", "State"]


@dataclass(frozen=True)
class State:
    """A value that persists between invocations: what one invocation computes as `output`, the next reads as `input`.

    Both are tensors of one shape and element type (and, int8, one quantization). The first invocation reads the real number 0.
    """

    output: str
    input: str


@dataclass
class Graph:
    """A model. `nodes` is in topological order; `tensors` holds every tensor by name, constants included.

    Passes take a graph and return another: they work on `copy()`, which shares the immutable nodes and tensors.
    """

    name: str
    tensors: dict[str, Tensor] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    io_dtypes: dict[str, DType] = field(default_factory=dict)
    """The element type that the ONNX file declares for an input or output that is not float32 (int8 or uint8)."""
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)
    """Their ends are among `inputs` and `outputs`, so that every pass keeps them, but a caller does not see them: see `ports`."""
    remarks: list[str] = field(default_factory=list)
    """What the report should say of how the model was read."""

    def copy(self) -> Graph:
        return Graph(
            self.name,
            dict(self.tensors),
            list(self.nodes),
            list(self.inputs),
            list(self.outputs),
            dict(self.io_dtypes),
            dict(self.labels),
            list(self.states),
            list(self.remarks),
        )

    def __str__(self) -> str:
        return format_graph(self)

    # Reading

    @property
    def input_ports(self) -> list[str]:
        """The inputs that a caller gives: those that are no states."""
        states = {state.input for state in self.states}
        return [name for name in self.inputs if name not in states]

    @property
    def output_ports(self) -> list[str]:
        """The outputs that a caller gets: those that are no states."""
        states = {state.output for state in self.states}
        return [name for name in self.outputs if name not in states]

    def tensor(self, name: str | None) -> Tensor:
        if name is None:
            raise ValueError("an absent optional input has no tensor")
        return self.tensors[name]

    def producer(self, name: str) -> Node | None:
        """The node that writes `name`; None for inputs and constants. Linear: use `producers()` in loops."""
        return next((node for node in self.nodes if name in node.outputs), None)

    def producers(self) -> dict[str, Node]:
        return {output: node for node in self.nodes for output in node.outputs}

    def consumers(self) -> dict[str, list[Node]]:
        """The nodes that read each tensor, in order, a node once a use; every tensor has an entry."""
        readers: dict[str, list[Node]] = {name: [] for name in self.tensors}
        for node in self.nodes:
            for name in node.inputs:
                if name is not None:
                    readers[name].append(node)
        return readers

    # Changing (a pass's own copy)

    def add(self, tensor: Tensor) -> Tensor:
        """Add a tensor under a name that is still free: `tensor.name`, or that with a number behind it."""
        name = self.fresh(tensor.name)
        tensor = replace(tensor, name=name)
        self.tensors[name] = tensor
        return tensor

    def add_constant(self, name: str, data: Any, quantization: Quantization | None = None) -> Tensor:
        return self.add(Tensor.constant(name, data, quantization))

    def fresh(self, name: str) -> str:
        if name not in self.tensors:
            return name
        number = 2
        while f"{name}_{number}" in self.tensors:
            number += 1
        return f"{name}_{number}"

    def replace_node(self, old: Node, new: Iterable[Node]) -> None:
        """Put `new` where `old` is (compared by identity)."""
        at = next(i for i, node in enumerate(self.nodes) if node is old)
        self.nodes[at : at + 1] = list(new)

    def replace_uses(self, old: str, new: str) -> None:
        """Every reader of `old`, the graph's outputs included, reads `new`. (Renaming an output changes the model's interface:
        a pass that must keep it renames the producer instead.)"""
        self.nodes = [
            replace(node, inputs=tuple(new if name == old else name for name in node.inputs)) if old in node.inputs else node
            for node in self.nodes
        ]
        self.outputs = [new if name == old else name for name in self.outputs]

    def rename_value(self, old: str, new: str) -> None:
        """The node that writes `old` and those that read it use `new`, a tensor that is there. The graph's inputs and outputs stay."""
        self.nodes = [
            replace(
                node,
                inputs=tuple(new if name == old else name for name in node.inputs),
                outputs=tuple(new if name == old else name for name in node.outputs),
            )
            for node in self.nodes
        ]

    def prune(self) -> None:
        """Drop nodes whose outputs nobody reads and tensors that no node uses; inputs and outputs stay."""
        wanted = set(self.outputs)
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if wanted.intersection(node.outputs):
                kept.append(node)
                wanted.update(name for name in node.inputs if name is not None)
        self.nodes = kept[::-1]
        wanted.update(self.inputs, *(node.outputs for node in self.nodes))
        self.tensors = {name: tensor for name, tensor in self.tensors.items() if name in wanted}
