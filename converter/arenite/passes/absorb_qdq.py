"""absorb_qdq: Quantize and Dequantize nodes become annotations of float tensors.

An int8 tensor and the floats it stands for are one value. So every int8 activation is turned into a float tensor that is annotated with its
quantization; movement between Quantize and Dequantize (tf2onnx: int8 input → Reshape → Dequantize, Quantize → Reshape → Dequantize) is then
movement of float tensors; a Dequantize does nothing; and a Quantize marks its operand:

    operand without annotation    it gets this one: the value exists only rounded. If several Quantize nodes disagree, it gets
                                  the finest scale, and the others requantize from there.
    the same annotation           nothing to do
    another annotation            an Elementwise node with the identity expression (on the target a requantizing table)
    constant                      its data is rounded (weights that a training framework fake-quantizes)

int8 and uint8 inputs and outputs become annotated float tensors; `io_dtypes` keeps the type that the file declares.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.errors import Unsupported, UnsupportedModelError
from arenite.graph.graph import Graph
from arenite.graph.tensor import DType, Quantization, Tensor
from arenite.passes.propagate_annotations import propagate_annotations, quantized_values, requantization

_MOVEMENT = ("Reshape", "Transpose", "Slice", "Expand", "MaxPool", "Pad", "Concat")


def absorb_qdq(graph: Graph) -> Graph:
    """Raises UnsupportedModelError listing int8 operators that are not movement, and activations quantized per channel."""
    graph = graph.copy()
    _refuse_others(graph)
    _float_activations(graph)
    _drop_dequantize(graph)
    _absorb_quantize(graph)
    graph.prune()
    return propagate_annotations(graph)


def _is_int8(tensor: Tensor) -> bool:
    """Whether it holds quantized values. Integers without a scale stand for themselves."""
    return tensor.dtype is DType.INT8 and tensor.quantization is not None


def _refuse_others(graph: Graph) -> None:
    problems = []
    fixed = {name for name, tensor in graph.tensors.items() if tensor.is_constant}
    for node in graph.nodes:
        fixed.update(node.outputs if fixed.issuperset(node.inputs) else ())
        y = graph.tensors[node.output]
        quantization = y.quantization if node.op == "Quantize" else graph.tensors[node.input].quantization
        if node.op in ("Quantize", "Dequantize"):
            if quantization is None or not (quantization.is_per_tensor or node.output in fixed):
                problems.append(
                    Unsupported(
                        node.name, node.op, "an activation has a scale for each channel", "quantize activations with one scale a tensor"
                    )
                )
        elif _is_int8(y) and node.op not in _MOVEMENT:
            problems.append(
                Unsupported(
                    node.name,
                    node.op,
                    "computes on int8 values without a scale",
                    "put DequantizeLinear before and QuantizeLinear behind it (QDQ format)",
                )
            )
    if problems:
        raise UnsupportedModelError(graph.name, problems)


def _float_activations(graph: Graph) -> None:
    """int8 tensors become float tensors of the same name, annotated."""
    for name in (*graph.inputs, *graph.outputs):
        if _is_int8(graph.tensors[name]):
            graph.io_dtypes.setdefault(name, graph.tensors[name].dtype)
    for name, tensor in graph.tensors.items():
        if _is_int8(tensor):
            data = None if tensor.data is None or tensor.quantization is None else _dequantized(tensor, tensor.quantization)
            graph.tensors[name] = replace(tensor, dtype=DType.FLOAT32, data=data)


def _dequantized(tensor: Tensor, q: Quantization) -> np.ndarray:
    assert tensor.data is not None
    shape = [1] * tensor.data.ndim
    if q.axis is not None:
        shape[q.axis] = -1
    return (q.scale.reshape(shape) * (tensor.data.astype(np.int32) - q.zero_point.reshape(shape)).astype(np.float32)).astype(np.float32)


def _drop_dequantize(graph: Graph) -> None:
    for node in [node for node in graph.nodes if node.op == "Dequantize"]:
        x, y = node.input, node.output
        if y not in graph.outputs:
            graph.nodes = [other for other in graph.nodes if other is not node]
            graph.replace_uses(y, x)
        elif graph.producer(x) is not None and x not in graph.outputs:
            # The output keeps its name: the writer of x writes it.
            graph.nodes = [other for other in graph.nodes if other is not node]
            graph.tensors[y] = replace(graph.tensors[y], quantization=graph.tensors[x].quantization)
            graph.rename_value(x, y)
        else:
            graph.tensors[y] = replace(graph.tensors[y], quantization=graph.tensors[x].quantization)
            graph.replace_node(node, [requantization(node, x, y)])


def _absorb_quantize(graph: Graph) -> None:
    for name, annotation in _finest(graph).items():
        graph.tensors[name] = replace(graph.tensors[name], quantization=annotation)
    for node in [node for node in graph.nodes if node.op == "Quantize"]:
        node = next(other for other in graph.nodes if other.output == node.output)  # its operand may have been renamed
        x, q = graph.tensors[node.input], graph.tensors[node.output]
        assert q.quantization is not None
        if x.is_constant:
            assert x.data is not None
            constant = graph.add(
                replace(x, data=quantized_values(np.asarray(x.data, np.float32), q.quantization), quantization=q.quantization)
            )
            if q.name in graph.outputs:
                graph.replace_node(node, [requantization(node, constant.name, q.name)])
                continue
            graph.nodes = [other for other in graph.nodes if other is not node]
            graph.replace_uses(q.name, constant.name)
        elif not q.quantization.same_as(x.quantization):
            graph.replace_node(node, [requantization(node, x.name, q.name)])
        elif q.name not in graph.outputs:
            graph.nodes = [other for other in graph.nodes if other is not node]
            graph.replace_uses(q.name, x.name)
        elif graph.producer(x.name) is not None and x.name not in graph.outputs:
            graph.nodes = [other for other in graph.nodes if other is not node]
            graph.rename_value(x.name, q.name)
        else:
            graph.replace_node(node, [requantization(node, x.name, q.name)])


def _finest(graph: Graph) -> dict[str, Quantization]:
    """The annotation for each activation without one that some Quantize reads: that of the smallest scale."""
    result: dict[str, Quantization] = {}
    for node in graph.nodes:
        x, q = graph.tensors[node.input], graph.tensors[node.output].quantization
        if node.op == "Quantize" and q is not None and x.quantization is None and not x.is_constant:
            best = result.get(x.name)
            result[x.name] = q if best is None or q.scale < best.scale else best
    return result
