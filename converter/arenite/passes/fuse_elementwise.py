"""fuse_elementwise: a subgraph of elementwise nodes that depends on one tensor becomes one Elementwise node: one table on the target.

Its nodes are Elementwise, and Add, Sub, Mul, Div, Max, Min of two of its values or of one and a constant of one value. Like x·sigmoid(x) it
may be any acyclic graph. From each result it grows back to the farthest tensor through which everything goes (a dominator), provided
that the values in between are read by nothing else, are no outputs, and have no annotation: an annotated value is rounded, and
the function of a rounded value is another.
"""

from __future__ import annotations

import numpy as np

from arenite.graph.expression import Expression, Step
from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import DType
from arenite.passes.uses import Uses

_BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")


def fuse_elementwise(graph: Graph) -> Graph:
    graph = graph.copy()
    done: set[str] = set()
    while _fuse_one(graph, done):
        graph.prune()
    return graph


def _scalar(graph: Graph, name: str) -> float | None:
    """The value of a constant all of whose elements are equal."""
    data = graph.tensors[name].data
    if data is None or not np.all(data == data.flat[0]):
        return None
    return float(data.flat[0])


def _variables(graph: Graph, node: Node) -> list[str] | None:
    """The activations that an elementwise node reads; None where it is no elementwise node of floats, or broadcasts."""
    if graph.tensors[node.output].dtype is not DType.FLOAT32:
        return None  # expressions are of real numbers: integers divide and overflow differently
    if node.op == "Elementwise":
        return [node.input]
    if node.op not in _BINARY:
        return None
    names = [name for name in node.inputs if name is not None and _scalar(graph, name) is None]
    shape = graph.tensors[node.output].shape
    if not names or any(graph.tensors[name].is_constant or graph.tensors[name].shape != shape for name in names):
        return None
    return list(dict.fromkeys(names))


def dominators(graph: Graph) -> dict[str, str]:
    """For each elementwise result the nearest tensor of which it is a function."""
    parents: dict[str, str] = {}
    for node in graph.nodes:
        variables = _variables(graph, node)
        if variables is None:
            continue
        chains = [chain(parents, name) for name in variables]
        common = next((name for name in chains[0] if all(name in other for other in chains[1:])), None)
        if common is not None:
            parents[node.output] = common
    return parents


def chain(parents: dict[str, str], name: str) -> list[str]:
    """`name` and the tensors that it is a function of, the nearest first."""
    names = [name]
    while names[-1] in parents:
        names.append(parents[names[-1]])
    return names


def _fuse_one(graph: Graph, done: set[str]) -> bool:
    """Fuse the last result that is not done. Each is fused once, so this ends."""
    uses = Uses(graph)
    parents = dominators(graph)
    for node in reversed(graph.nodes):
        if node.output not in parents or node.output in done:
            continue
        done.add(node.output)
        for root in reversed(chain(parents, node.output)[1:]):
            inner = between(uses, root, node)
            if inner is not None and (len(inner) > 1 or node.op != "Elementwise"):
                replace_by_elementwise(graph, root, inner, expression_of(graph, root, inner))
                return True
    return False


def replace_by_elementwise(graph: Graph, root: str, inner: list[Node], expression: Expression) -> None:
    """One node, named after the first of `inner`, that computes `expression` of `root` in the place of the last of them."""
    first, last = inner[0], inner[-1]
    fused = Node("Elementwise", first.name, (root,), last.outputs, {"expression": expression}, first.origins)
    graph.replace_node(last, [fused.absorbing(*inner[1:])])
    graph.nodes = [node for node in graph.nodes if not any(node is gone for gone in inner[:-1])]


def between(uses: Uses, root: str, last: Node) -> list[Node] | None:
    """The nodes from `root` to `last`, in order; None where a value in between is seen from outside or annotated."""
    graph = uses.graph
    inside: dict[str, Node] = {}
    pending = [last]
    while pending:
        node = pending.pop()
        if node.output in inside:
            continue
        inside[node.output] = node
        for name in _variables(graph, node) or []:
            if name != root:
                writer = uses.writer(name)
                if writer is None or _variables(graph, writer) is None:
                    return None
                pending.append(writer)
    for name in inside:
        if name == last.output:
            continue
        if name in uses.outputs or graph.tensors[name].quantization is not None:
            return None
        if any(reader.output not in inside for reader in uses.readers[name]):
            return None
    return [node for node in graph.nodes if node.output in inside]


def expression_of(graph: Graph, root: str, nodes: list[Node]) -> Expression:
    """What `nodes` compute from `root`."""
    index, steps = {root: 0}, list[Step]()
    for node in nodes:
        if node.op == "Elementwise":
            offset, at = len(steps), index[node.input]
            for step in node.attributes["expression"].steps:
                operands = tuple(o if isinstance(o, float) else at if o == 0 else o + offset for o in step.operands)
                steps.append(Step(step.op, operands, step.attributes))
            if len(steps) == offset:  # the identity
                index[node.output] = at
                continue
        else:
            values: list[int | float] = []
            for name in node.inputs:
                assert name is not None
                scalar = _scalar(graph, name)
                values.append(index[name] if scalar is None else scalar)
            steps.append(Step(node.op, tuple(values)))
            low, high = node.attributes.get("clip", UNBOUNDED)
            if (low, high) != UNBOUNDED:
                steps.append(Step("Clip", (len(steps),), {"min": low, "max": high}))
        index[node.output] = len(steps)
    return Expression(tuple(steps))
