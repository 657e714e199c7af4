"""Until quantize.to_typed is there: every node gets the variant of its operands' type."""

from arenite.errors import Unsupported, UnsupportedModelError
from arenite.graph import OPERATORS, Graph, Node, Tensor

_VARIANT = {"int8": "plain_int8"}
_MOVES = ("Concat", "Slice", "Transpose", "Pad", "Reshape")


def to_typed(graph: Graph) -> Graph:
    graph = graph.copy()
    nodes, problems = [], []
    for node in graph.nodes:
        if node.op in _MOVES:
            nodes.append(node)
            continue
        for single in _expanded(graph, node):
            if "variant" in single.attributes:
                nodes.append(single)
                continue
            operator = OPERATORS[single.op]
            first = next((graph.tensors[name] for name in single.inputs if name is not None), graph.tensors[single.output])
            variant = _VARIANT.get(first.dtype.value, first.dtype.value)
            if variant not in operator.all_variants:
                problems.append(Unsupported(single.name, single.op, f"no kernel for {first.dtype.value}", ""))
                continue
            nodes.append(single.with_attributes(variant=variant))
    if problems:
        raise UnsupportedModelError(graph.name, problems)
    graph.nodes = nodes
    return graph


def _expanded(graph: Graph, node: Node) -> list[Node]:
    if node.op != "Elementwise":
        return [node]
    steps = node.attributes["expression"].steps
    tensor = graph.tensors[node.output]
    names: list[str] = [node.input]
    nodes = []
    for i, step in enumerate(steps):
        output = node.output if i + 1 == len(steps) else graph.add(Tensor(f"{node.output}/{step.op}", tensor.shape, tensor.dtype)).name
        operands = []
        for operand in step.operands:
            if isinstance(operand, int):
                operands.append(names[operand])
            else:
                import numpy as np

                value = np.full((1,) * len(tensor.shape), operand, tensor.dtype.numpy)
                operands.append(graph.add_constant(f"{node.output}/{step.op}/constant", value).name)
        nodes.append(Node(step.op, node.name, tuple(operands), (output,), dict(step.attributes), node.origins))
        names.append(output)
    return nodes
