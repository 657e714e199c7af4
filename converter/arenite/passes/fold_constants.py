"""fold_constants: nodes all of whose operands are constant are computed now, by the evaluator that tests and calibration use."""

from __future__ import annotations

from arenite.graph.graph import Graph
from arenite.graph.onnx_export import can_evaluate, evaluate
from arenite.graph.tensor import Tensor


def fold_constants(graph: Graph) -> Graph:
    """An output of the graph stays a node, for a graph's outputs are written; so do Quantize and Dequantize, which absorb_qdq turns into
    an annotation of the constant."""
    graph = graph.copy()
    known = {name for name, tensor in graph.tensors.items() if tensor.is_constant}
    folded = []
    for node in graph.nodes:
        fixed = all(name is None or name in known for name in node.inputs) and node.op not in ("Quantize", "Dequantize")
        if fixed and can_evaluate(node) and not any(output in graph.outputs for output in node.outputs):
            known.update(node.outputs)
            folded.append(node)
    if not folded:
        return graph
    constant_part = graph.copy()
    constant_part.nodes, constant_part.inputs, constant_part.io_dtypes = folded, [], {}
    for name, data in evaluate(constant_part, {}, [output for node in folded for output in node.outputs]).items():
        graph.tensors[name] = Tensor.constant(name, data, graph.tensors[name].quantization)
    graph.nodes = [node for node in graph.nodes if not any(node is other for other in folded)]
    graph.prune()
    return graph
