"""If and Loop as ONNX nodes. See onnx_export.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from arenite.graph.graph import Graph
from arenite.graph.node import Node
from arenite.graph.operators.control import UNLIMITED, loop_operands


def renamed(graph: Graph, prefix: str, outside: Mapping[str, str]) -> Graph:
    """A body whose names begin with `prefix`, so that none is one of the graph around it; its inputs in `outside` have those names."""

    def name(old: str) -> str:
        return outside.get(old, f"{prefix}{old}")

    inner = graph.copy()
    inner.tensors = {name(old): replace(tensor, name=name(old)) for old, tensor in graph.tensors.items()}
    inner.nodes = [
        replace(
            node, inputs=tuple(None if old is None else name(old) for old in node.inputs), outputs=tuple(name(old) for old in node.outputs)
        )
        for node in graph.nodes
    ]
    inner.inputs, inner.outputs = [name(old) for old in graph.inputs], [name(old) for old in graph.outputs]
    return inner


def _if(export: Any, node: Node) -> list[str]:
    branches = {}
    for which, body in zip(("then_branch", "else_branch"), node.bodies, strict=True):
        outside = dict(zip(body.inputs, (str(name) for name in node.inputs[1:]), strict=True))
        branches[which] = _graph(export, renamed(body, f"{node.output}/{which}/", outside), [])
    return list(export.emit_all("If", [node.input], len(node.outputs), **branches))


def _loop(export: Any, node: Node) -> list[str]:
    a = node.attributes
    (body,) = node.bodies
    trips, condition, first = loop_operands(a)
    operands = [str(name) for name in node.inputs]
    carried = a["carried"]
    outside = dict(zip(body.inputs[1 + carried :], operands[first + carried :], strict=True))
    inner = renamed(body, f"{node.output}/body/", outside)
    graph = _graph(export, inner, inner.inputs[: 1 + carried], stops=bool(a["stops"]), loop=True)
    scalar = export.constant(np.zeros(0), np.int64)
    counts = [] if a["limit"] == UNLIMITED else [export.constant(a["limit"], np.int64)]
    counts += [] if trips is None else [export.emit("Reshape", [operands[trips], scalar])]
    count = export.emit("Min", counts) if counts else ""
    goes_on = "" if condition is None else operands[condition]
    results = list(export.emit_all("Loop", [count, goes_on, *operands[first : first + carried]], len(node.outputs), body=graph))
    for index, backwards in enumerate(a["reversed"]):
        if backwards:
            at = carried + index
            ends = [export.constant([value], np.int64) for value in (-1, -(1 << 62), 0, -1)]
            results[at] = export.emit("Slice", [results[at], *ends])
    return results


def _graph(export: Any, body: Graph, inputs: list[str], stops: bool = False, loop: bool = False) -> onnx.GraphProto:
    """The body as ONNX has it. Its outputs are copies: an output must be computed in the graph that it is of."""
    inner = export.nested(body)
    formal = [inner.value(name, body.tensors[name]) for name in inputs]
    if loop:
        given = inner.fresh("condition")
        formal.insert(1, onnx.helper.make_tensor_value_info(given, onnx.TensorProto.BOOL, []))
    for name in inputs:
        inner.quantize(name, body.tensors[name])
    for node in body.nodes:
        inner.node(node)
    outputs = list(body.outputs)
    results = []
    if loop:
        goes_on = outputs.pop(0) if stops else given
        results.append(
            onnx.helper.make_tensor_value_info(
                inner.emit("Reshape", [goes_on, inner.constant(np.zeros(0), np.int64)]), onnx.TensorProto.BOOL, []
            )
        )
    results += [export.value(inner.emit("Identity", [name]), body.tensors[name]) for name in outputs]
    needed = {name for node in inner.nodes for name in node.input} | read_within(inner.nodes)
    constants = [
        onnx.numpy_helper.from_array(np.asarray(tensor.data, order="C"), name)
        for name, tensor in body.tensors.items()
        if tensor.data is not None and name in needed
    ]
    constants += [onnx.numpy_helper.from_array(np.asarray(data, order="C"), name) for name, data in inner.constants.items()]
    return onnx.helper.make_graph(inner.nodes, body.name or "body", formal, results, constants)


def read_within(nodes: list[onnx.NodeProto]) -> set[str]:
    """What the bodies of nodes read."""
    graphs = [attribute.g for node in nodes for attribute in node.attribute if attribute.HasField("g")]
    names = {name for graph in graphs for node in graph.node for name in node.input}
    return names.union(*(read_within(list(graph.node)) for graph in graphs)) if graphs else names


EXPORTERS: dict[str, Callable[[Any, Node], str | list[str]]] = {"If": _if, "Loop": _loop}
