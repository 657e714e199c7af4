"""How many bytes kernels read and write in an inference, by tensor: what a memory's speed matters for.

An estimate that ranks tensors. A result is written once; an operand is read once by each node, but where products are computed, as often
as windows of it are gathered. What is gathered goes to scratch memory, if a kernel has any, and is read from there for the outputs, about
two of them at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arenite.graph import OPERATORS, Graph, Node, Tensor
from arenite.plan.aliasing import is_view


@dataclass(frozen=True)
class Traffic:
    """Bytes read and written in one inference."""

    tensors: Mapping[str, int]
    """By name; views count for themselves."""
    scratch: Mapping[int, int]
    """By index into graph.nodes, of nodes that may have scratch memory."""


def traffic(graph: Graph) -> Traffic:
    """Of every tensor that is not constant, and of scratch memory."""
    tensors = {name: 0 for name, tensor in graph.tensors.items() if not tensor.is_constant}
    scratch = {}
    for port in (*graph.inputs, *graph.outputs):
        tensors[port] += graph.tensors[port].bytes  # the application writes and reads them
    for index, node in enumerate(graph.nodes):
        if is_view(graph, node):
            continue
        operands = [None if name is None else graph.tensors[name] for name in node.inputs]
        macs = OPERATORS[node.op].macs(operands, graph.tensors[node.output].shape)
        for result in node.outputs:
            tensors[result] += graph.tensors[result].bytes
        gathered = 0
        for position, (name, operand) in enumerate(zip(node.inputs, operands, strict=True)):
            if name is not None and operand is not None and name in tensors:
                read = _gathered(graph, node, operand, macs) if position == 0 else operand.bytes
                gathered = max(gathered, read)
                tensors[name] += read
        scratch[index] = gathered + max(gathered, macs // 2)
    return Traffic(tensors, scratch)


def _gathered(graph: Graph, node: Node, operand: Tensor, macs: int) -> int:
    """Bytes of the first operand that are read: each product of a channel's outputs reads an element for all channels together, those of
    depthwise convolutions for their own."""
    result = graph.tensors[node.output].shape
    if not macs or not result or not operand.shape:
        return operand.bytes
    sharing = max(1, result[-1] // operand.shape[-1]) if node.op == "DepthwiseConv" else max(1, result[-1])
    return max(operand.bytes, macs // sharing * operand.dtype.itemsize)
