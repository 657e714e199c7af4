"""The types of a model's inputs and outputs: the quantized graph's own int8, or conversions at the edge.

`io` is one of
- "int8": every input and output is int8, in the graph's quantization. For one that the ONNX file declares uint8 these are the same
  values with the top bit flipped (u − 128).
- "float32": a Quantize behind every input and a Dequantize before every output.
- "model": as the ONNX file declares each: float32 as above, int8 as it is, uint8 with a table that flips the top bit.

One that is int16 inside, a recurrent layer's state that the caller carries, is float32 whatever `io` is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph import DType, Graph, Node, Quantization, Tensor

IO = ("int8", "float32", "model")


def with_edges(graph: Graph, io: str) -> Graph:
    """`graph`, whose inputs and outputs are int8 where they are quantized, with inputs and outputs of the types that `io` says, under the
    same names."""
    graph = graph.copy()
    types = {name: _port_type(graph, name, io) for name in (*graph.inputs, *graph.outputs)}
    for name in dict.fromkeys(graph.inputs):
        if types[name] is not graph.tensors[name].dtype:
            inner = _rename_inner(graph, name)
            graph.nodes.insert(0, _conversion(graph, types[name], name, inner, name, into=True))
    for name in dict.fromkeys(graph.outputs):
        if types[name] is not graph.tensors[name].dtype:
            inner = _rename_inner(graph, name)
            graph.nodes.append(_conversion(graph, types[name], inner, name, name, into=False))
    return graph


def _port_type(graph: Graph, name: str, io: str) -> DType:
    if io not in IO:
        raise ValueError(f"io is {io!r}, not one of {IO}")
    if graph.tensors[name].quantization is None or any(name in (state.input, state.output) for state in graph.states):
        return graph.tensors[name].dtype
    if graph.tensors[name].dtype is DType.INT16:
        return DType.FLOAT32
    if io == "model":
        return graph.io_dtypes.get(name, DType.FLOAT32)
    return DType.FLOAT32 if io == "float32" else DType.INT8


def _rename_inner(graph: Graph, name: str) -> str:
    """Give every node that touches the int8 tensor `name` another name for it, so that the port can have this one."""
    inner = graph.add(replace(graph.tensors[name], name=f"{name}_int8")).name

    def new(names: tuple[str | None, ...]) -> tuple[str | None, ...]:
        return tuple(inner if n == name else n for n in names)

    graph.nodes = [
        replace(node, inputs=new(node.inputs), outputs=tuple(inner if n == name else n for n in node.outputs)) for node in graph.nodes
    ]
    return inner


def _conversion(graph: Graph, port: DType, source: str, target: str, name: str, into: bool) -> Node:
    """The node between the port tensor `name`, which it declares, and its int8 twin."""
    twin = graph.tensors[target if into else source]
    assert twin.quantization is not None
    if port is DType.FLOAT32:
        graph.tensors[name] = Tensor(name, twin.shape, DType.FLOAT32)
        variant = "int16_steps" if twin.dtype is DType.INT16 else "int8"
        return Node("Quantize" if into else "Dequantize", name, (source,), (target,), {"variant": variant})
    if port is DType.UINT8:
        zero_point = int(twin.quantization.zero_point) + 128
        graph.tensors[name] = Tensor(
            name, twin.shape, DType.UINT8, None, Quantization.per_tensor(float(twin.quantization.scale), zero_point)
        )
        table = graph.add_constant(f"{name}/flip", np.arange(256, dtype=np.uint8).view(np.int8)).name
        return Node("Lookup", name, (source, table), (target,), {"variant": "int8", "function": "flip the top bit"})
    raise ValueError(f"{name}: a model's input or output cannot be {port.value}")
