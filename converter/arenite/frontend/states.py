"""Values that persist between invocations: declaring them, and finding pairs of ports that look like one.

A model that works on a stream takes what it has to remember as an input and gives it back as an output: the hidden state of a recurrent
layer, the last samples that a convolution still needs. ONNX has no word for it; the user names the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping

from arenite.errors import PortError
from arenite.graph import DType, Graph, Node, State

MOVEMENT = ("Reshape", "Transpose", "Slice", "Concat", "Expand")
RECURRENT = ("Lstm", "LstmLast", "Gru", "GruLast", "Rnn", "RnnLast")
INITIAL = {5: "h", 6: "c"}
"""Operands of recurrent operators that hold what they start from."""

Source = tuple[str, str]


def declare_states(graph: Graph, file: str, states: Mapping[str, str]) -> Graph:
    """`graph` with a state for each entry of `states`, output name → input name.

    Raises PortError for names that are no ports, and for pairs of different shape, element type or quantization.
    """
    graph = graph.copy()
    taken: dict[str, str] = {}
    for output, target in states.items():
        option = f"{file}: --state {output}={target}"
        for kind, name, ports in (("output", output, graph.outputs), ("input", target, graph.inputs)):
            if name not in ports:
                raise PortError(f"{option}: the model has no {kind} {name}; its {kind}s: {', '.join(ports) or 'none'}")
        if target in taken:
            raise PortError(f"{option}: the input {target} is the state of {taken[target]} already")
        a, b = graph.tensors[output], graph.tensors[target]
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            raise PortError(
                f"{option}: the output is {a.dtype.value}{list(a.shape)}, the input {b.dtype.value}{list(b.shape)}; a state has one shape "
                "and element type"
            )
        if a.is_constant:
            raise PortError(f"{option}: the output is a constant, so that the input would be, too: use --bind {target}=VALUE")
        if a.dtype is DType.INT8 and a.quantization is not None and not a.quantization.same_as(b.quantization):
            raise PortError(f"{option}: output and input are quantized differently; quantize both with one scale and zero point")
        taken[target] = output
        graph.states.append(State(output, target))
    return graph


def likely_states(graph: Graph) -> list[State]:
    """Pairs of ports that could be states but are not declared: of one shape and element type, the input what a recurrent layer starts from
    and the output where it ends, or the output elements of the input and others, moved. `graph` is an optimized one."""
    forward = {name: _starts(graph, name) for name in graph.input_ports}
    found: list[State] = []
    for output in graph.output_ports:
        sources = _sources(graph, output)
        for name in graph.input_ports:
            a, b = graph.tensors[output], graph.tensors[name]
            fits = (a.shape, a.dtype) == (b.shape, b.dtype) and all(state.input != name for state in found)
            carried = bool(forward[name]) and forward[name] == sources
            if fits and (carried or (("input", name) in sources and len(sources) > 1)):
                found.append(State(output, name))
                break
    return found


def _starts(graph: Graph, name: str) -> set[Source]:
    """The recurrent layers, by first output, and which of their states start from elements of this tensor; empty where others read it."""
    found: set[Source] = set()
    reached = {name}
    for node in graph.nodes:
        for position, operand in enumerate(node.inputs):
            if operand not in reached:
                continue
            if node.op in MOVEMENT:
                reached.add(node.output)
            elif node.op in RECURRENT and position in INITIAL:
                found.add((node.output, INITIAL[position]))
            else:
                return set()
    return found


def _sources(graph: Graph, name: str) -> set[Source]:
    """Where the elements of this tensor come from, through operators that only move them."""
    producers = graph.producers()
    found: set[Source] = set()
    pending = [name]
    while pending:
        tensor = pending.pop()
        node = producers.get(tensor)
        if node is None:
            found.add(("input", tensor))
        elif node.op in MOVEMENT:
            pending += [operand for operand in node.inputs if operand is not None and not graph.tensors[operand].is_constant]
        else:
            found.add((node.output, _result(node, tensor)))
    return found


def _result(node: Node, name: str) -> str:
    if node.op not in RECURRENT:
        return ""
    last = node.outputs[0 if node.op.endswith("Last") else 1 :]
    return "hc"[last.index(name)] if name in last else "y"
