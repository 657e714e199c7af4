"""Which tensors are int16: the states of recurrent layers in int8, and what is only moved between them and the ends of the graph. Of those
with 16-bit activations, what they read and the states of every step as well.

Such a tensor has no int8 form; where an int8 layer reads it, or a recurrent layer starts from something else, a Reshape of the same shape
is put between, which lowering turns into a conversion. A port that is int16 inside is float32 outside (edges.py).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from arenite.graph import DType, Graph, Node, Tensor
from arenite.graph.operators.recurrent import cell_of
from arenite.quantize.lower_movement import CARRYING
from arenite.quantize.lower_recurrent import initial_states, last_states


@dataclass(frozen=True)
class StateTensors:
    """`graph` has the conversions; `names` are its int16 tensors, `inputs` those of them that are what a recurrent layer reads."""

    graph: Graph
    names: frozenset[str]
    inputs: frozenset[str] = frozenset()
    wide: frozenset[str] = frozenset()
    """The recurrent layers with 16-bit activations, by first output."""

    def observed(self, nodes: list[Node]) -> list[str]:
        """Those of which calibration must tell the range: what recurrent layers read and start from."""
        current = {node.output: node for node in self.graph.nodes}
        states = [name for node in nodes for name in initial_states(current[node.output]) if not self.graph.tensors[name].is_constant]
        return [*self.inputs, *states]


def recurrent_nodes(graph: Graph, typed: frozenset[str]) -> list[Node]:
    """Recurrent layers in an integer form."""
    return [node for node in graph.nodes if cell_of(node.op) is not None and node.output not in typed]


def find_state_tensors(
    graph: Graph, typed: frozenset[str], coarse: Set[str] = frozenset(), wide: Set[str] = frozenset(), able: Set[str] = frozenset()
) -> StateTensors:
    """`graph` as it is where no recurrent layer is quantized.

    Nodes by their first output: `typed` are not quantized, `able` are those of them that can move int16 all the same, `wide` recurrent
    layers with 16-bit activations. `coarse`: tensors that have no int8 form, of which recurrent layers read an int16 one.
    """
    nodes = recurrent_nodes(graph, typed)
    if not nodes:
        return StateTensors(graph, frozenset())
    names = _consistent(graph, nodes, typed - able)
    every = {node.output for node in nodes if node.output in wide and node.output not in last_states(node)}
    names |= every | _between(graph, nodes, typed - able, every, wide)
    typed -= names
    graph = graph.copy()
    names |= _convert_operands(graph, nodes, names)
    inputs = _convert_inputs(graph, [n for n in nodes if n.input not in names and (n.input in coarse or n.output in wide)])
    _convert_readers(graph, names, typed, wide)
    return StateTensors(graph, frozenset(names | inputs), frozenset(inputs), frozenset(wide))


def _between(graph: Graph, nodes: list[Node], typed: Set[str], every: set[str], wide: Set[str]) -> set[str]:
    """What movement makes of the states of every step for the next layer with 16-bit activations."""
    movement = [node for node in graph.nodes if node.op in CARRYING and node.output not in typed]
    wanted = {node.input for node in nodes if node.output in wide}
    found: set[str] = set()
    for node in reversed(_reached(graph, movement, every)):
        if node.output in wanted:
            found.add(node.output)
            wanted.update(_activations(graph, node))
    return found


def _consistent(graph: Graph, nodes: list[Node], typed: frozenset[str]) -> set[str]:
    """States are int16 at both ends or at none."""
    refused: set[str] = set()
    while True:
        names = _moved(graph, nodes, typed, refused)
        broken = {end for s in graph.states if (s.input in names) != (s.output in names) for end in (s.input, s.output)} - refused
        if not broken:
            return names
        refused |= broken


def _moved(graph: Graph, nodes: list[Node], typed: frozenset[str], refused: set[str]) -> set[str]:
    """The last states, and what movement takes from inputs to initial states, and from either to outputs."""
    consumers = graph.consumers()
    operands = {name for node in nodes for name in initial_states(node) if not graph.tensors[name].is_constant}
    inputs = {name for name in graph.inputs if graph.tensors[name].dtype is DType.FLOAT32 and name not in refused}
    inputs -= set(graph.outputs)
    movement = [node for node in graph.nodes if node.op in CARRYING and node.output not in typed and node.output not in refused]
    from_inputs = _reached(graph, movement, inputs)
    wanted = set(operands)
    for node in reversed(from_inputs):
        if node.output in wanted:
            wanted.update(_activations(graph, node))
    beginnings = {name for name in wanted if name in inputs or any(name == node.output for node in from_inputs)}
    names = beginnings | {name for node in nodes for name in last_states(node)}
    ends = set(graph.outputs) - refused
    to_outputs = _reached(graph, movement, names)
    for node in reversed(to_outputs):
        if node.output in ends or any(reader.output in ends for reader in consumers[node.output] if reader in to_outputs):
            ends.add(node.output)
            names.add(node.output)
    return names


def _reached(graph: Graph, movement: list[Node], sources: set[str]) -> list[Node]:
    """Movement of nothing but `sources`, in order."""
    known, found = set(sources), []
    for node in movement:
        read = _activations(graph, node)
        if read and known.issuperset(read):
            known.add(node.output)
            found.append(node)
    return found


def _activations(graph: Graph, node: Node) -> list[str]:
    return [name for name in node.inputs if name is not None and not graph.tensors[name].is_constant]


def _convert_operands(graph: Graph, nodes: list[Node], names: set[str]) -> set[str]:
    """Give recurrent layers int16 versions of what they start from. Returns the new names."""
    versions: dict[str, str] = {}
    for node in nodes:
        for name in initial_states(node):
            if name not in names and name not in versions and not graph.tensors[name].is_constant:
                versions[name] = _copy(graph, name, f"{name}/int16", node)
    for node in nodes:
        old = next(n for n in graph.nodes if n.output == node.output)
        inputs = tuple(versions.get(name, name) if i in (5, 6) and name is not None else name for i, name in enumerate(old.inputs))
        graph.replace_node(old, [replace(old, inputs=inputs)])
    return set(versions.values())


def _convert_inputs(graph: Graph, nodes: list[Node]) -> set[str]:
    """Give recurrent layers int16 versions of what they read. Returns the new names."""
    versions: dict[str, str] = {}
    for node in nodes:
        if node.input not in versions:
            versions[node.input] = _copy(graph, node.input, f"{node.input}/int16", node)
        old = next(n for n in graph.nodes if n.output == node.output)
        graph.replace_node(old, [replace(old, inputs=(versions[node.input], *old.inputs[1:]))])
    return set(versions.values())


def _convert_readers(graph: Graph, names: set[str], typed: Set[str], wide: Set[str]) -> None:
    """Give int8 layers int8 versions of int16 tensors. Layers that are not quantized read either."""
    for name in sorted(names):
        readers = [node for node in graph.consumers()[name] if not _takes(node, name, names, typed, wide)]
        if not readers:
            continue
        version = _copy(graph, name, f"{name}/int8", readers[0])
        for node in readers:
            inputs = tuple(version if n == name else n for n in node.inputs)
            graph.replace_node(next(n for n in graph.nodes if n is node), [replace(node, inputs=inputs)])


def _takes(node: Node, name: str, names: set[str], typed: Set[str], wide: Set[str]) -> bool:
    """Whether a reader of an int16 tensor wants it as it is."""
    if node.output in typed or node.output in wide or (node.op in CARRYING and node.output in names):
        return True
    return cell_of(node.op) is not None and name in node.inputs[5:7] and name != node.inputs[0]


def is_copy(graph: Graph, node: Node) -> bool:
    """Whether a node only stands for a conversion."""
    return node.op == "Reshape" and graph.tensor(node.inputs[0]).shape == graph.tensors[node.output].shape


def _copy(graph: Graph, name: str, version: str, reader: Node) -> str:
    """A Reshape of `name` before `reader`."""
    tensor = graph.tensors[name]
    version = graph.add(Tensor(version, tensor.shape, tensor.dtype)).name
    node = Node("Reshape", reader.name, (name,), (version,), {"shape": tensor.shape})
    at = next(i for i, n in enumerate(graph.nodes) if n is reader or n.output == reader.output)
    graph.nodes.insert(at, node)
    return version
