"""A node of the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arenite.graph.graph import Graph


@dataclass(frozen=True)
class Band:
    """What a node does for a layer that is executed in parts: rows of its result."""

    tensor: str
    """The whole result."""
    rows: tuple[int, int]
    """First, and behind the last."""


@dataclass(frozen=True)
class Node:
    """One operator applied to tensors, which it refers to by name. Immutable: a rewrite replaces it.

    `name` is that of the ONNX node it came from, kept through every rewrite; a node made of several (a convolution with its
    batch normalization and activation) has the name of the first and lists all in `origins`. Names need not be unique.
    Optional inputs that are absent are None.
    """

    op: str
    name: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origins: tuple[str, ...] = ()
    band: Band | None = None
    """None: the node is the whole layer."""

    def with_attributes(self, **changes: Any) -> Node:
        return replace(self, attributes={**self.attributes, **changes})

    def absorbing(self, *others: Node) -> Node:
        """This node, also standing for `others` in messages and reports."""
        names = (*(self.origins or (self.name,)), *(n for o in others for n in (o.origins or (o.name,))))
        return replace(self, origins=tuple(dict.fromkeys(names)))

    @property
    def input(self) -> str:
        """The first input. Raises ValueError where it is absent."""
        if not self.inputs or self.inputs[0] is None:
            raise ValueError(f"{self.name} ({self.op}) has no first input")
        return self.inputs[0]

    @property
    def output(self) -> str:
        return self.outputs[0]

    @property
    def bodies(self) -> tuple[Graph, ...]:
        """The graphs that a control-flow node holds."""
        bodies: tuple[Graph, ...] = self.attributes.get("bodies", ())
        return bodies
