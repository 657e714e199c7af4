"""QDQ models with some of their QuantizeLinear/DequantizeLinear pairs taken out."""

from __future__ import annotations

from collections.abc import Callable

import onnx

Chosen = Callable[[str, str], bool]
"""(operator that writes the tensor, "input" for an input; name of the tensor) → whether its pair goes."""


def without_pairs(model: onnx.ModelProto, chosen: Chosen) -> tuple[onnx.ModelProto, list[str]]:
    """The model without these pairs on activations, and the tensors that had them."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    constants = {initializer.name for initializer in graph.initializer}
    writers = {output: node.op_type for node in graph.node for output in node.output}
    same: dict[str, str] = {}
    taken: list[str] = []
    kept = []
    for node in graph.node:
        first = node.input[0] if node.input else ""
        if node.op_type == "QuantizeLinear" and first not in constants and chosen(writers.get(first, "input"), first):
            taken.append(first)
            same[node.output[0]] = same.get(first, first)
        elif node.op_type == "DequantizeLinear" and first in same:
            same[node.output[0]] = same[first]
        else:
            kept.append(node)
    outputs = {same[value.name]: value.name for value in graph.output if value.name in same}
    for node in kept:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                name = same.get(name, name)
                names[i] = outputs.get(name, name)
    del graph.node[:]
    graph.node.extend(kept)
    return model, [outputs.get(name, name) for name in taken]
