"""What can share bytes: reshapes always, outputs of in-place operators with an operand that dies."""

from __future__ import annotations

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.movement import VIEWS


def views(graph: Graph) -> dict[str, str]:
    """For every tensor that is not constant, the tensor whose bytes it is: its reshape's input, followed to the root, or itself.

    A reshape of a constant is none: its output is an activation of its own.
    """
    roots = {name: name for name, tensor in graph.tensors.items() if not tensor.is_constant}
    for node in graph.nodes:
        if is_view(graph, node):
            roots[node.output] = roots[node.input]
    return roots


def is_view(graph: Graph, node: Node) -> bool:
    """The node does nothing: its output is its input's bytes."""
    return node.op in VIEWS and not graph.tensors[node.input].is_constant


def takeable(graph: Graph, node: Node, roots: dict[str, str]) -> tuple[str, ...]:
    """Operands of `node` whose bytes its output may take, should they die here, in the operator's order of preference.

    The kernel reads element i before it writes element i and never again, so that an operand must have as many elements as the output
    (not be broadcast), elements no smaller, and every other operand with the same bytes must be read just so as well.
    """
    output = graph.tensors[node.output]
    allowed = OPERATORS[node.op].in_place
    if not allowed or node.op in VIEWS:
        return ()

    def walks_along(position: int) -> bool:
        tensor = graph.tensor(node.inputs[position])
        return position in allowed and tensor.elements == output.elements and tensor.dtype.itemsize >= output.dtype.itemsize

    chosen = []
    for position in allowed:
        name = node.inputs[position] if position < len(node.inputs) else None
        if name is None or name not in roots:
            continue
        same_bytes = [i for i, other in enumerate(node.inputs) if other is not None and roots.get(other) == roots[name]]
        if all(walks_along(i) for i in same_bytes):
            chosen.append(name)
    return tuple(dict.fromkeys(chosen))
