"""annotate_int16: QuantizeLinear to 16 bits and DequantizeLinear behind it become the annotation of the tensor that they round.

The importer leaves 16 bits as operators on integers. Where only DequantizeLinear of the same constant scale and zero point reads these,
they say what a tensor is to be quantized to, as absorb_qdq reads it of 8 bits. uint16 values are int16 values with the zero point 32768
less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import DType, Quantization

BITS = 16
LISTED = 4
"""Tensors that a remark names."""
TYPES = (DType.INT16, DType.UINT16)


def annotate_int16(graph: Graph) -> Graph:
    """Every pair that goes removes nodes. A tensor with pairs of different steps keeps all but the first."""
    graph = graph.copy()
    for node in [node for node in graph.nodes if node.op == "QuantizeLinear"]:
        node = next(other for other in graph.nodes if other.output == node.output)  # its operand may have been renamed
        annotation = _annotation(graph, node)
        readers = graph.consumers()[node.output]
        if annotation is None or not readers or node.output in graph.outputs:
            continue
        if not all(reader.op == "DequantizeLinear" and reader.inputs[1:] == node.inputs[1:] for reader in readers):
            continue
        x = graph.tensors[node.input]
        if x.is_constant or not (x.quantization is None or x.quantization.same_as(annotation)):
            continue
        given = [reader.output for reader in readers if reader.output in graph.outputs]
        if given and (len(given) > 1 or x.name in graph.outputs or graph.producer(x.name) is None):
            continue
        graph.tensors[x.name] = replace(x, quantization=annotation)
        graph.nodes = [other for other in graph.nodes if other is not node and other not in readers]
        for reader in readers:
            if reader.output not in given:
                graph.replace_uses(reader.output, x.name)
        for name in given:  # the output keeps its name: the writer of x writes it
            graph.tensors[name] = replace(graph.tensors[name], quantization=annotation)
            graph.rename_value(x.name, name)
    _remark(graph)
    graph.prune()
    return graph


def _remark(graph: Graph) -> None:
    """What kernels without zero points make of one."""
    given = [(tensor.name, tensor.quantization) for tensor in graph.tensors.values() if not tensor.is_constant]
    names = [name for name, q in given if q is not None and q.bits == BITS and q.is_one_sided]
    if names:
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        graph.remarks.append(
            f"16 bits with a zero point become int16 with zero point 0 and steps of twice the size (one bit of 16 is lost): "
            f"{', '.join(names[:LISTED])}{more}"
        )


def _annotation(graph: Graph, node: Node) -> Quantization | None:
    """Of one constant scale and zero point, to 16 bits."""
    y, scale = graph.tensors[node.output], graph.tensor(node.inputs[1])
    zero = graph.tensors[node.inputs[2]] if len(node.inputs) > 2 and node.inputs[2] is not None else None
    if y.dtype not in TYPES or node.attributes["block"] or scale.data is None or scale.elements != 1:
        return None
    if zero is not None and zero.data is None:
        return None
    value = 0 if zero is None or zero.data is None else int(np.asarray(zero.data).reshape(-1)[0])
    offset = 1 << (BITS - 1) if y.dtype is DType.UINT16 else 0
    found = Quantization.per_tensor(np.asarray(scale.data, np.float32).reshape(-1)[0], value - offset)
    return replace(found, bits=BITS)
