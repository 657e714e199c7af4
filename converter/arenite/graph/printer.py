"""The text form of a graph: what `--dump-ir` writes and `print(graph)` shows.

graph kws01: 14 nodes, 22,604 parameters
in   input_1  float32[1, 49, 10, 1]
conv_1  conv1:0 float32[1, 25, 5, 64] = Conv(input_1, w[64, 10, 4, 1], b[64])  strides=(2, 2) …
out  Identity
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from arenite.graph.expression import Expression
from arenite.graph.node import Node
from arenite.graph.operators.declaration import UNBOUNDED
from arenite.graph.tensor import DType, Quantization, Tensor

_QUIET: dict[str, tuple[Any, ...]] = {
    "clip": (UNBOUNDED,),
    "dilations": ((1, 1),),
    "group": (1,),
    "overhang": ((0, 0),),
    "pads": ((0, 0, 0, 0),),
    "count_include_pad": (False,),
}
"""Values that say nothing, and are not printed."""


class PersistentState(Protocol):
    """What is printed of a graph.State."""

    @property
    def output(self) -> str: ...
    @property
    def input(self) -> str: ...


class Printable(Protocol):
    """What is printed of a graph.Graph, which itself prints with this module."""

    @property
    def name(self) -> str: ...
    @property
    def tensors(self) -> Mapping[str, Tensor]: ...
    @property
    def nodes(self) -> Sequence[Node]: ...
    @property
    def inputs(self) -> Sequence[str]: ...
    @property
    def outputs(self) -> Sequence[str]: ...
    @property
    def io_dtypes(self) -> Mapping[str, DType]: ...
    @property
    def states(self) -> Sequence[PersistentState]: ...


def format_graph(graph: Printable) -> str:
    """A graph as aligned text: inputs, one line a node, outputs, constants with their ranges."""
    parameters = sum(tensor.elements for tensor in graph.tensors.values() if tensor.is_constant)
    lines = [f"graph {graph.name}: {_count(len(graph.nodes), 'node')}, {_count(parameters, 'parameter')}", "", "inputs"]
    lines += _table([_port(graph, name) for name in graph.inputs])
    lines += ["", "nodes"]
    lines += _table([_node(graph, node) for node in graph.nodes])
    lines += _bodies(graph)
    lines += ["", "outputs"]
    lines += _table([_port(graph, name) for name in graph.outputs])
    if graph.states:
        lines += ["", "states"]
        lines += _table([[state.input, "←", state.output] for state in graph.states])
    constants = [tensor for tensor in graph.tensors.values() if tensor.is_constant]
    if constants:
        lines += ["", "constants"]
        lines += _table(
            [[tensor.name, format_type(tensor), format_quantization(tensor.quantization), _range(tensor)] for tensor in constants]
        )
    return "\n".join(lines) + "\n"


def format_type(tensor: Tensor) -> str:
    """Element type and shape: `int8[1, 25, 5, 64]`."""
    return f"{tensor.dtype.value}{format_shape(tensor.shape)}"


def format_shape(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def format_quantization(quantization: Quantization | None) -> str:
    """`s=0.02353 z=-5`, or per channel `s=0.001…0.014 axis 0`; empty where there is none."""
    if quantization is None:
        return ""
    if quantization.is_per_tensor:
        return f"s={float(quantization.scale):.6g} z={int(quantization.zero_point)}"
    scale = quantization.scale
    zero = "" if not quantization.zero_point.any() else f" z={quantization.zero_point.min()}…{quantization.zero_point.max()}"
    return f"s={float(scale.min()):.4g}…{float(scale.max()):.4g}{zero} axis {quantization.axis}"


def format_attributes(node: Node) -> str:
    """The attributes that say something, sorted as they stand."""
    return "  ".join(
        f"{name}={format_value(value)}"
        for name, value in node.attributes.items()
        if name != "bodies" and not any(value == quiet for quiet in _QUIET.get(name, ()))
    )


def format_value(value: Any) -> str:
    if isinstance(value, Expression):
        return format_expression(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{format_shape(value.shape)}"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(format_value(v) for v in value)})"
    return str(value)


def format_expression(expression: Expression) -> str:
    """Nested calls over x: `Mul(x, Sigmoid(x))`."""
    values = ["x"]
    for step in expression.steps:
        operands = [values[o] if isinstance(o, int) else format_value(o) for o in step.operands]
        operands += [f"{name}={format_value(value)}" for name, value in step.attributes.items()]
        values.append(f"{step.op}({', '.join(operands)})")
    return values[-1]


def _bodies(graph: Printable) -> list[str]:
    """The graphs that nodes hold, indented."""
    texts = [f"{node.name}: {format_graph(body)}" for node in graph.nodes for body in node.bodies]
    return [f"    {line}".rstrip() for text in texts for line in ("", *text.rstrip().split("\n"))]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _port(graph: Printable, name: str) -> list[str]:
    tensor = graph.tensors[name]
    declared = f"ONNX type {graph.io_dtypes[name].value}" if name in graph.io_dtypes else ""
    return [name, format_type(tensor), format_quantization(tensor.quantization), declared]


def _node(graph: Printable, node: Node) -> list[str]:
    outputs = [graph.tensors[name] for name in node.outputs]
    inputs = ", ".join(_operand(graph, name) for name in node.inputs)
    return [
        " + ".join(node.origins or (node.name,)),
        ", ".join(tensor.name for tensor in outputs),
        ", ".join(format_type(tensor) for tensor in outputs),
        ", ".join(format_quantization(tensor.quantization) for tensor in outputs),
        f"= {node.op}({inputs})",
        format_attributes(node),
    ]


def _operand(graph: Printable, name: str | None) -> str:
    if name is None:
        return "–"
    tensor = graph.tensors.get(name)
    return f"{name}{format_shape(tensor.shape)}" if tensor is not None and tensor.is_constant else name


def _range(tensor: Tensor) -> str:
    data = tensor.data
    if data is None or not data.size or data.dtype == np.bool_:
        return ""
    if data.size <= 4:
        return f"= {format_value(data.tolist())}"
    return f"{format_value(data.min().item())} … {format_value(data.max().item())}"


def _table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of cells in aligned columns; a column that is empty everywhere takes no room."""
    rows = list(rows)
    if not rows:
        return ["  (none)"]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)).rstrip() for row in rows]
