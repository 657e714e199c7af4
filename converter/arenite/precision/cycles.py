"""Estimated cycles of layers in any precision.

Layers that have a choice of kernels cost what variants/cost.py says. All others cost so many cycles a multiply-accumulate or an element, as
the cycle model of `arenite profile` counts them on a Cortex-M4 (-O2, no wait states). Without an FPU float32 is computed by library
calls. The figures compare precisions; they are no measurement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arenite.emit.lower_movement import MOVEMENT_OPERATORS
from arenite.graph import OPERATORS, DType, Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.variants import Offer

KINDS = ("int8", "int16", "float32")
PER_MAC: Mapping[str, Mapping[str, float]] = {
    "Conv": {"int8": 3.6, "int16": 15.0, "float32": 5.5},
    "DepthwiseConv": {"int8": 9.0, "int16": 30.0, "float32": 13.7},
    "FullyConnected": {"int8": 4.0, "int16": 8.7, "float32": 4.8},
    **{op: {"int8": 10.0, "int16": 10.6, "float32": 16.0} for op in ("Lstm", "LstmLast")},
    **{op: {"int8": 10.6, "int16": 12.0, "float32": 16.5} for op in ("Gru", "GruLast")},
}
"""By operator and kind of variant: kws01, mnist_lenet, har_lstm, har_gru2."""
DSP_INT16: Mapping[str, tuple[float, float]] = {"Conv": (1.3, 150.0), "DepthwiseConv": (4.0, 85.0), "FullyConnected": (1.3, 145.0)}
"""Of int16 with the DSP extension: of a multiply-accumulate, and of an output besides. kws01, pulsevad."""
OTHER_MAC = {"int8": 4.0, "int16": 10.0, "float32": 6.0}
PER_ELEMENT = {"int8": 8.0, "int16": 20.0, "float32": 14.0}
"""Of the larger one of first operand and result, where there are no multiply-accumulates."""
PER_FUNCTION = {"int8": 8.0, "int16": 20.0, "float32": 80.0}
"""Of a function of one tensor, and of an element of Softmax."""
FUNCTIONS = ("Elementwise", "Lookup", "Softmax", "LogSoftmax", "Exp", "Tanh", "Sigmoid")
PER_MOVED = 5.0
PER_CONVERSION = 12.0
CONVERSIONS = ("Quantize", "Dequantize", "Requantize")
UNPACKING = 1.3
"""What weights of four bits take, as a factor of int8."""
LIBRARY_FLOAT = 8.0
"""What float32 takes without an FPU, as a factor."""


def kind_of(node: Node) -> str:
    """Of the elements that a node of the quantized graph computes with."""
    variant = str(node.attributes.get("variant", "int8"))
    if variant.startswith("int16"):
        return "int16"
    return "float32" if variant in ("float32", "typed") else "int8"


def node_cycles(graph: Graph, node: Node, features: frozenset[str]) -> float:
    """Of a node that has no choice of kernels."""
    if node.op in VIEWS:
        return 0.0
    output = graph.tensors[node.output].elements
    if node.op in MOVEMENT_OPERATORS:
        return PER_MOVED * output
    return operator_cycles(graph, node, kind_of(node), features)


def operator_cycles(graph: Graph, node: Node, kind: str, features: frozenset[str]) -> float:
    """Of a node of a float or a quantized graph, were it of this kind."""
    if kind == "int4":
        return UNPACKING * operator_cycles(graph, node, "int8", features)
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    output = graph.tensors[node.output]
    soft = LIBRARY_FLOAT if kind == "float32" and "fpu" not in features else 1.0
    if node.op in CONVERSIONS:
        return PER_CONVERSION * output.elements * (1.0 if "fpu" in features or kind != "float32" else LIBRARY_FLOAT)
    macs = OPERATORS[node.op].macs(operands, output.shape) if node.op in OPERATORS else 0
    if macs and kind == "int16" and "dsp" in features and node.op in DSP_INT16:
        of_mac, of_output = DSP_INT16[node.op]
        return macs * of_mac + output.elements * of_output
    if macs:
        return macs * PER_MAC.get(node.op, OTHER_MAC)[kind] * soft
    elements = max(output.elements, *(tensor.elements for tensor in operands[:1] if tensor is not None), 1)
    return elements * (PER_FUNCTION if node.op in FUNCTIONS else PER_ELEMENT)[kind] * soft


def graph_cycles(graph: Graph, offers: Mapping[int, Sequence[Offer]], features: frozenset[str]) -> float:
    """Of one inference of a graph whose kernels are chosen. `offers`, by index, have what layers with a choice cost."""
    total = 0.0
    for index, node in enumerate(graph.nodes):
        taken = next((offer for offer in offers.get(index, ()) if offer.variant == node.attributes.get("variant")), None)
        total += node_cycles(graph, node, features) if taken is None else taken.cycles
    return total


def weight_bytes(graph: Graph, node: Node, kind: str) -> float:
    """Of the float constants of a node, were it of this kind: weights and what goes with every channel."""
    size = {"int4": 0.5, "int8": 1, "int16": 2, "float32": 4}[kind]
    floats = [t for name in node.inputs if name is not None and (t := graph.tensors[name]).is_constant and t.dtype is DType.FLOAT32]
    return sum(tensor.elements * size for tensor in floats)
