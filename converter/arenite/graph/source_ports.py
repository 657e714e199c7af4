"""The model's inputs and outputs as the ONNX file has them, against those of the optimized graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arenite.graph.graph import Graph
from arenite.graph.tensor import DType, Quantization


@dataclass(frozen=True)
class SourcePort:
    """An input or output in the ONNX file."""

    shape: tuple[int, ...]
    dtype: DType
    permutation: tuple[int, ...]
    """Axis i in the graph is this axis in the ONNX file: not the identity where a transpose at the edge was dropped."""
    quantization: Quantization | None = None
    """Of an int8 or uint8 input or output of the ONNX file (int8 values, as everywhere in the IR)."""


def source_ports(source: Graph, before: Graph, graph: Graph) -> dict[str, SourcePort]:
    """Every input and output by name. `source` is the imported graph, `graph` the optimized one; `before` is the one from which
    transposes at the edges were dropped, or `graph` itself where they were kept."""
    permutations: dict[str, tuple[int, ...]] = {}
    for node in before.nodes:
        if node.op != "Transpose":
            continue
        perm = tuple(node.attributes["perm"])
        if node.input in graph.inputs and node.output not in graph.tensors:
            permutations[node.input] = perm
        if node.output in graph.outputs and node.input not in graph.tensors:
            permutations[node.output] = tuple(int(axis) for axis in np.argsort(perm))
    return {
        name: SourcePort(
            source.tensors[name].shape,
            source.io_dtypes.get(name, source.tensors[name].dtype),
            permutations.get(name, tuple(range(len(source.tensors[name].shape)))),
            graph.tensors[name].quantization if name in source.io_dtypes else None,
        )
        for name in (*source.inputs, *source.outputs)
    }
