"""The float model with as many results as the converted one has: −1 behind those of operators whose number depends on data.

The nodes behind such an operator then compute the same rows in onnxruntime, and everything can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from arenite.frontend.filled_rows import FILLED

_NARROW = {
    getattr(TensorProto, name)
    for name in ("INT4", "UINT4", "INT2", "UINT2")
    if hasattr(TensorProto, name)  # onnx has had them for longer and shorter
}
_LEAST_OPSET = 13
"""From which on the nodes that fill are what is written here."""


def runnable(path: Path) -> str | bytes:
    """What onnxruntime is to load: the file, or the model of the file with its results filled up."""
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception:  # onnxruntime says better what is wrong with the file
        return str(path)
    if not any(_is_filled(node) for node in model.graph.node):
        return str(path)
    if any(entry.domain in ("", "ai.onnx") and entry.version < _LEAST_OPSET for entry in model.opset_import):
        return str(path)
    return bytes(fill(onnx.load(str(path))).SerializeToString())


def has_narrow_integers(path: Path) -> bool:
    """Whether a constant has fewer than eight bits: weights, or the zero points of activations."""
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception:  # see runnable()
        return False
    return any(constant.data_type in _NARROW for graph in _graphs(model.graph) for constant in _constants(graph))


def _constants(graph: GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    yield from (attribute.t for node in graph.node if node.op_type == "Constant" for attribute in node.attribute)


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *((attribute.g,) if attribute.HasField("g") else ())):
                yield from _graphs(inner)


def fill(model: ModelProto) -> ModelProto:
    """A copy where every output of FILLED has room for the greatest number of results."""
    filled = ModelProto()
    filled.CopyFrom(model)
    nodes: list[NodeProto] = []
    for index, node in enumerate(filled.graph.node):
        nodes.append(node)
        if _is_filled(node):
            nodes += _filling(filled, node, f"filled_{index}")
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del filled.graph.node[:]
    filled.graph.node.extend(copies)
    return filled


def _is_filled(node: NodeProto) -> bool:
    return node.op_type in FILLED and node.domain in ("", "ai.onnx")


def _filling(model: ModelProto, node: NodeProto, stem: str) -> list[NodeProto]:
    """Nodes that take the results of `node`, which gets another output, and give them filled up."""
    nodes: list[NodeProto] = []

    def constant(*values: int) -> str:
        name = f"{stem}/constant{len(model.graph.initializer)}"
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def add(op: str, *inputs: str, output: str | None = None, **attributes: int) -> str:
        name = output or f"{stem}/{op}{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def size(value: str, axis: int) -> str:
        return add("Gather", add("Shape", value), constant(axis))

    wanted, found = node.output[0], f"{stem}/found"
    node.output[0] = found
    if node.op_type == "NonZero":
        most = add("Reshape", add("Size", node.input[0]), constant(-1))
    else:
        limit = add("Min", add("Reshape", node.input[2], constant(-1)), size(node.input[0], 1))
        most = add("Mul", add("Mul", size(node.input[1], 0), size(node.input[1], 1)), limit)
    axis = 1 if node.op_type == "NonZero" else 0
    missing = add("Sub", most, size(found, axis))
    behind = (constant(0), missing) if axis else (missing, constant(0))
    nothing = f"{stem}/nothing"
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(-1, np.int64), nothing))
    add("Pad", found, add("Concat", constant(0, 0), *behind, axis=0), nothing, output=wanted)
    return nodes
