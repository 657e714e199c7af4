"""Which nodes of a quantized model run on int8, and which on elements that are not quantized."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from arenite.errors import QuantizationError
from arenite.graph import DType, Graph, Node
from arenite.quantize.lower import LOWERINGS

CONSTANT_OPERANDS = {"Conv": (1, 2), "DepthwiseConv": (1, 2), "FullyConnected": (1, 2), "PRelu": (1,)}
"""The int8 forms need them at conversion."""
LIGHT = ("Reshape", "Transpose", "Slice", "Concat", "Pad", "Expand", "Elementwise", "Add", "Sub", "Mul", "Div", "PRelu")
"""Not worth two conversions."""
CARRYING = ("Reshape", "Transpose", "Slice", "Concat", "Expand")
"""Operators that only move elements."""


def typed_nodes(graph: Graph, float_layers: Sequence[str] = ()) -> frozenset[str]:
    """The nodes, by their first output, that run on elements that are not quantized.

    Those are the ones that have no int8 form, the user's `float_layers` (names of ONNX nodes), and light ones that lie between such nodes
    only. Raises QuantizationError for a name that no node has.
    """
    typed = {node.output for node in graph.nodes if not has_int8_form(graph, node)}
    for name in float_layers:
        named = [node.output for node in graph.nodes if name in (node.name, *node.origins)]
        if not named:
            names = {n for node in graph.nodes for n in (node.name, *node.origins)}
            near = ", ".join(get_close_matches(name, names)) or "those that the report lists"
            raise QuantizationError(f"{graph.name}: --float-layer {name}: no layer has this name. There are: {near}.")
        typed.update(named)
    return _with_islands(graph, typed | _moving_states(graph, typed))


def has_int8_form(graph: Graph, node: Node) -> bool:
    if node.op not in LOWERINGS or (node.op == "Pad" and len(node.inputs) > 1):
        return False
    names = [name for name in (*node.inputs, *node.outputs) if name is not None]
    if any(graph.tensors[name].dtype is not DType.FLOAT32 for name in names):
        return False
    operands = [node.inputs[i] for i in CONSTANT_OPERANDS.get(node.op, ()) if i < len(node.inputs)]
    return all(name is None or graph.tensors[name].is_constant for name in operands)


def _moving_states(graph: Graph, typed: set[str]) -> set[str]:
    """What only moves the elements of a state between two nodes that are not quantized: rounding what is carried on from invocation to
    invocation would add up."""
    producers, consumers = graph.producers(), graph.consumers()
    found: set[str] = set()
    for state in graph.states:
        moving: set[str] = set()
        users: set[str] = set()
        pending = [node for end in (state.input, state.output) for node in consumers[end]]
        while pending:
            node = pending.pop()
            if node.op in CARRYING and node.output not in moving:
                moving.add(node.output)
                pending += consumers[node.output]
            elif node.op not in CARRYING:
                users.add(node.output)
        before: list[str | None] = [state.output]
        while before:
            name = before.pop()
            if name is None or graph.tensors[name].is_constant or name == state.input:
                continue
            source = producers.get(name)
            if source is not None and source.op in CARRYING:
                moving.add(source.output)
                before += source.inputs
            else:
                users.add(name if source is None else source.output)
        if users and users <= typed:
            found |= moving
    return found


def _with_islands(graph: Graph, typed: set[str]) -> frozenset[str]:
    producers, consumers = graph.producers(), graph.consumers()

    def surrounded(node: Node) -> bool:
        sources = [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant]
        before = [name in producers and producers[name].output in typed for name in sources]
        after = [reader.output in typed for name in node.outputs for reader in consumers[name]]
        return bool(after) and all(before) and all(after) and not set(node.outputs).intersection(graph.outputs)

    while found := {node.output for node in graph.nodes if node.op in LIGHT and node.output not in typed and surrounded(node)}:
        typed |= found
    return frozenset(typed)
