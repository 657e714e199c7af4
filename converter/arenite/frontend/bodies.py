"""Bodies of control flow, on their way into a graph: that of the node, or one of their own."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import onnx
from onnx import helper

from arenite.frontend.node_import import NodeImport, Refused
from arenite.frontend.values import Constant, Operand, Unknown, Value
from arenite.graph import DType, Quantization, Tensor

if TYPE_CHECKING:
    from arenite.frontend.walk import Walk


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def call_of(walk: Walk, node: onnx.NodeProto, name: str, operands: Sequence[Operand | None] = ()) -> NodeImport:
    """For emitting nodes that belong to `node`."""
    outputs = tuple(output + walk.suffix if output else "" for output in node.output)
    opset = walk.opsets.get("", 1)
    return NodeImport(
        walk.file,
        walk.graph,
        name + walk.suffix,
        node.op_type,
        opset,
        tuple(operands),
        attributes_of(node),
        outputs,
        walk.used,
        (),
        walk.problems,
    )


def known_types(walk: Walk, body: onnx.GraphProto) -> None:
    """Note what shape inference knows of a body's values."""
    for info in (*body.value_info, *body.input, *body.output):
        walk.types.setdefault(info.name, info.type.tensor_type.elem_type)


def run_body(walk: Walk, body: onnx.GraphProto, bound: Mapping[str, Value], suffix: str) -> list[Value]:
    """Import a body's nodes into the graph of `walk`; tensors and nodes get `suffix` behind their names. Raises Refused."""
    values, outer = walk.values, walk.suffix
    problems = len(walk.problems)
    walk.values, walk.suffix = ChainMap(dict(bound), cast("dict[str, Operand]", values)), outer + suffix
    try:
        walk.constants(body.initializer)
        outputs = [output.name for output in body.output]
        walk.nodes(body.node, outputs)
        results = [walk.lookup(output) for output in outputs]
    finally:
        walk.values, walk.suffix = values, outer
    if len(walk.problems) > problems or any(isinstance(value, Unknown) for value in results):
        raise Refused
    return cast("list[Value]", results)


def as_float(call: NodeImport, value: Value) -> tuple[str, Quantization | None]:
    """A value as a tensor that is not quantized, and the quantization that it had."""
    if isinstance(value, Constant):
        if 0 in value.array.shape:
            call.refuse(f"{value.name} has the shape {list(value.array.shape)}: no elements", "start from a value that has elements")
        return call.add_constant(call.typed(Constant(value.name, value.array))), None
    tensor = call.graph.tensors[value]
    if tensor.dtype is DType.INT8 and tensor.quantization is not None:
        return call.emit("Dequantize", [value]), tensor.quantization
    return value, None


def as_before(call: NodeImport, name: str, quantization: Quantization | None) -> str:
    return name if quantization is None else call.emit("Quantize", [name], dtype=DType.INT8, quantization=quantization)


@dataclass(frozen=True)
class State:
    """What importing a part has to restore where it turns out to be the wrong way."""

    walk: Walk
    nodes: int
    tensors: dict[str, Tensor]
    inputs: list[str]
    captures: dict[str, str]
    problems: int

    @classmethod
    def of(cls, walk: Walk) -> State:
        graph = walk.graph
        return cls(walk, len(graph.nodes), dict(graph.tensors), list(graph.inputs), dict(walk.captures), len(walk.problems))

    def restore(self) -> None:
        graph = self.walk.graph
        del graph.nodes[self.nodes :]
        del self.walk.problems[self.problems :]
        graph.tensors, graph.inputs, self.walk.captures = dict(self.tensors), list(self.inputs), dict(self.captures)
