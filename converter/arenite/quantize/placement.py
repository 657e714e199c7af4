"""Which nodes of a quantized model run on int8, and which on elements that are not quantized."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from arenite.graph import DType, Graph, Node
from arenite.quantize.lower import lowering_of
from arenite.quantize.lower_indexing import keeps_order
from arenite.quantize.lower_movement import CARRYING
from arenite.quantize.lower_normalization import fits_normalization
from arenite.quantize.lower_recurrent import fits_recurrent, reads_int16
from arenite.quantize.lower_reduction import LARGEST_COUNT, fits_reduction
from arenite.quantize.lower_resample import is_resampled
from arenite.quantize.named_layers import named_layers
from arenite.quantize.value_operands import DECIDING, VALUES, index_operands, value_operands

CONSTANT_OPERANDS = {"Conv": (1, 2), "DepthwiseConv": (1, 2), "FullyConnected": (1, 2), "PRelu": (1,)}
"""The int8 forms need them at conversion."""
LIGHT = (
    "Reshape",
    "Transpose",
    "Slice",
    "Concat",
    "Pad",
    "Expand",
    "Elementwise",
    "Add",
    "Sub",
    "Mul",
    "Div",
    "PRelu",
    *VALUES,
    "Max",
    "Min",
)
"""Not worth two conversions."""
CONDITIONS: dict[str, Callable[[Graph, Node], bool]] = {
    "Resample": is_resampled,
    "ScatterElementsReduce": keeps_order,
    "ScatterNdReduce": keeps_order,
    "LayerNormalization": fits_normalization,
    **dict.fromkeys(LARGEST_COUNT, fits_reduction),
    **dict.fromkeys(("Lstm", "LstmLast", "Gru", "GruLast", "Rnn", "RnnLast"), fits_recurrent),
}
"""Of the int8 forms that not every node fits."""


def typed_nodes(
    graph: Graph, float_layers: Sequence[str] = (), unbounded: Set[str] = frozenset(), coarse: Set[str] = frozenset()
) -> frozenset[str]:
    """The nodes, by their first output, that run on elements that are not quantized.

    Those are the ones that have no int8 form, the user's `float_layers` (names of ONNX nodes), those of `unbounded` (by their first
    outputs), those that write or read a tensor of `coarse` (coarse.py; recurrent layers read it as int16), and light ones that lie between
    such nodes only. Raises QuantizationError for a name that no node has.
    """
    typed = {node.output for node in graph.nodes if node.output in unbounded or not has_int8_form(graph, node)}
    for name in float_layers:
        typed.update(named_layers(graph, name, "--float-layer"))
    beside = typed_beside(graph, coarse)
    typed.update(node.output for node in graph.nodes if node.output in beside and not reads_int16(node, coarse))
    return _with_islands(graph, typed | _moving_states(graph, typed))


def typed_beside(graph: Graph, tensors: Set[str]) -> frozenset[str]:
    """The nodes, by their first output, that write or read one of `tensors`, whose values have no range."""
    return frozenset(node.output for node in graph.nodes if not tensors.isdisjoint((*node.inputs, *node.outputs)))


def has_int8_form(graph: Graph, node: Node) -> bool:
    if lowering_of(node.op) is None or not CONDITIONS.get(node.op, _always)(graph, node):
        return False
    results = () if node.op in DECIDING else node.outputs[:1] if node.op in VALUES else node.outputs
    values = [*value_operands(node), *results]
    if any(graph.tensors[name].dtype is not DType.FLOAT32 for name in values):
        return False
    if any(graph.tensors[name].dtype is DType.FLOAT32 for name in index_operands(node)):
        return False
    operands = [node.inputs[i] for i in CONSTANT_OPERANDS.get(node.op, ()) if i < len(node.inputs)]
    return all(name is None or graph.tensors[name].is_constant for name in operands)


def _always(graph: Graph, node: Node) -> bool:
    return True


def _moving_states(graph: Graph, typed: set[str]) -> set[str]:
    """What moves the elements of a state from and to nodes that are not quantized: rounding what is carried on from invocation to
    invocation would add up."""
    producers, consumers = graph.producers(), graph.consumers()
    found: set[str] = set()
    for state in graph.states:
        readers = consumers[state.input]
        first = {node.output for node in readers if node.op in CARRYING}
        reached, pending = set(), list(readers)
        while pending:
            node = pending.pop()
            if node.output not in reached:
                reached.add(node.output)
                pending += [reader for name in node.outputs for reader in consumers[name]] if node.op in CARRYING else []
        before, last, sources = [state.output], set(), set()
        while before:
            source = producers.get(before.pop())
            if source is None:
                sources.add("")  # an input
            elif source.op in CARRYING:
                last.add(source.output)
                before += [name for name in source.inputs if name is not None and not graph.tensors[name].is_constant]
            else:
                sources.add(source.output)
        if sources <= typed and reached & typed and {node.output for node in readers} <= typed | first:
            found |= first | last
    return found


def _with_islands(graph: Graph, typed: set[str]) -> frozenset[str]:
    producers, consumers = graph.producers(), graph.consumers()

    def surrounded(node: Node) -> bool:
        sources = [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant]
        before = [name in producers and producers[name].output in typed for name in sources]
        after = [reader.output in typed for name in node.outputs for reader in consumers[name]]
        if node.op in DECIDING:  # a score that has just been computed in float is not rounded for it
            return bool(before) and all(before)
        return bool(after) and all(before) and all(after) and not set(node.outputs).intersection(graph.outputs)

    while found := {
        node.output for node in graph.nodes if node.op in (*LIGHT, *DECIDING) and node.output not in typed and surrounded(node)
    }:
        typed |= found
    return frozenset(typed)
