"""Relayouts: how an operator that does not care about the order of its axes is rewritten for operands in another layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import Quantization, Tensor
from arenite.passes.uses import put_constant
from arenite.passes.view import Shape, View, split_factors

BINARY = ("Add", "Sub", "Mul", "Div")
_WITH_AXES = (*BINARY, "PRelu", "Concat", "MatMul")
"""Operators whose constant operands have the activations' axes (others have weights or vectors)."""
_EACH = ("Elementwise", "Cast")
"""Operators of one operand that treat every element alike."""
_FLEXIBLE = (*_WITH_AXES, *_EACH, "Softmax", "BatchNormalization", "FullyConnected", "Pad", "Slice", "Expand", "Resample")


class Relayout(Protocol):
    """A change of layout of all activations of an operator."""

    def view(self, shape: Shape) -> View | None:
        """From a tensor of this shape to the same tensor in the new layout; None where the change does not apply to it."""
        ...

    def attributes(self, graph: Graph, node: Node) -> dict[str, Any] | None:
        """What changes in the node's attributes; None where the operator cannot work in the new layout."""
        ...

    def constant(self, constant: Tensor) -> Tensor:
        """A constant operand in the new layout."""
        ...


@dataclass(frozen=True)
class AxisMap:
    """Axes in another order, with dimensions of 1 put in or left out.

    `axes[i]` is the old axis that becomes axis i, None for a new dimension of 1; old axes that do not appear must be 1. `rank` is
    the old rank.
    """

    axes: tuple[int | None, ...]
    rank: int

    def view(self, shape: Shape) -> View | None:
        kept = [axis for axis in self.axes if axis is not None]
        dropped = [axis for axis in range(self.rank) if axis not in kept]
        if len(shape) != self.rank or any(shape[axis] != 1 for axis in dropped):
            return None
        moved = View.identity(shape).transpose([*dropped, *kept])
        return None if moved is None else moved.reshape(self._mapped(shape, 1))

    def constant(self, constant: Tensor) -> Tensor:
        assert constant.data is not None
        if len(constant.shape) != self.rank:
            return constant  # a vector over the last axis, which stays last
        kept = [axis for axis in self.axes if axis is not None]
        dropped = [axis for axis in range(self.rank) if axis not in kept]
        data = np.transpose(constant.data, [*dropped, *kept]).reshape(self._mapped(constant.shape, 1))
        q = constant.quantization
        if q is not None and q.axis is not None:
            q = Quantization(q.scale, q.zero_point, self.axes.index(q.axis), q.bits)
        return Tensor.constant(constant.name, data, q)

    def attributes(self, graph: Graph, node: Node) -> dict[str, Any] | None:
        shapes = [
            graph.tensors[name].shape for name in (*node.inputs, *node.outputs) if name is not None and self._has_axes(graph, node, name)
        ]
        if any(self.view(shape) is None for shape in shapes):
            return None
        a = node.attributes
        if node.op in _EACH or node.op in BINARY:
            return {}
        if node.op in ("Softmax", "BatchNormalization"):
            return {} if self._keeps_last(1) else None
        if node.op in ("FullyConnected", "MatMul"):
            rows = 1 if node.op == "FullyConnected" else 2
            return {} if self._keeps_last(rows) and len(self.axes) == self.rank else None
        if node.op == "PRelu":
            whole = len(graph.tensors[node.inputs[1] or ""].shape) in (0, self.rank)
            return {} if whole or self._keeps_last(1) else None
        if node.op in ("Concat", "Resample"):
            return {"axis": self.axes.index(a["axis"])} if a["axis"] in self.axes else None
        if node.op == "Pad":
            before, after = a["pads"][: self.rank], a["pads"][self.rank :]
            if any(before[axis] or after[axis] for axis in range(self.rank) if axis not in self.axes):
                return None
            return {"pads": (*self._mapped(before, 0), *self._mapped(after, 0))}
        if node.op == "Expand":
            return {"shape": self._mapped(a["shape"], 1)}
        if node.op == "Slice":
            return {"starts": self._mapped(a["starts"], 0), "steps": self._mapped(a["steps"], 1), "sizes": self._mapped(a["sizes"], 1)}
        if node.op == "ReduceMean" and a["keepdims"]:
            axes = tuple(i for i, axis in enumerate(self.axes) if axis in a["axes"])
            return {"axes": axes} if axes else None
        return None

    def _has_axes(self, graph: Graph, node: Node, name: str) -> bool:
        """Whether the operand is an activation or a constant that is broadcast against it (not weights, not a vector)."""
        tensor = graph.tensors[name]
        return not tensor.is_constant or (node.op in _WITH_AXES and not (node.op == "PRelu" and len(tensor.shape) < self.rank))

    def _mapped(self, values: tuple[int, ...], new: int) -> tuple[int, ...]:
        return tuple(new if axis is None else values[axis] for axis in self.axes)

    def _keeps_last(self, count: int) -> bool:
        return self.axes[-count:] == tuple(range(self.rank - count, self.rank))


def axis_map_to(view: View) -> AxisMap | None:
    """The change of layout from the view's target back to its source; None where axes are split or joined between them."""
    groups = split_factors(view.factors, view.target)
    if groups is None or any(len(group) > 1 for group in groups):
        return None
    stride, source_axes = 1, {}
    for axis in reversed(range(len(view.source))):
        source_axes[view.source[axis], stride] = axis  # where sizes are 1 the entry is not asked for
        stride *= view.source[axis]
    axes: list[int | None] = [None] * len(view.source)
    for axis, group in enumerate(groups):
        if group and group[0] not in source_axes:
            return None
        if group:
            axes[source_axes[group[0]]] = axis
    ones = [axis for axis, size in enumerate(view.target) if size == 1]
    for position, size in enumerate(view.source):
        if size == 1 and ones:
            axes[position] = ones.pop(0)
    return AxisMap(tuple(axes), len(view.target))


@dataclass(frozen=True)
class AnyView:
    """A view of any kind; only operators that treat every element alike can follow."""

    change: View

    def view(self, shape: Shape) -> View | None:
        return self.change if shape == self.change.source else None

    def attributes(self, graph: Graph, node: Node) -> dict[str, Any] | None:
        return {} if node.op in _EACH and graph.tensors[node.input].shape == self.change.source else None

    def constant(self, constant: Tensor) -> Tensor:
        raise AssertionError("what treats every element alike has no constants")


def flexible(node: Node) -> bool:
    """Whether some relayout may apply."""
    return node.op in _FLEXIBLE or (node.op == "ReduceMean" and bool(node.attributes["keepdims"]))


def relaid_constants(graph: Graph, node: Node, relayout: Relayout) -> dict[str, str]:
    """The names of the node's constants in the new layout, which are added to the graph where they differ."""
    result = {}
    for name in node.inputs:
        if name is not None and node.op in _WITH_AXES and graph.tensors[name].is_constant:
            moved = relayout.constant(graph.tensors[name])
            result[name] = name if moved is graph.tensors[name] else put_constant(graph, name, moved)
    return result
