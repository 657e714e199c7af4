"""fuse_activation: a Clip (Relu, Relu6, …) becomes the clamp of the operator that writes its operand.

The operand must be read by the Clip alone and be no output. Where it is annotated the Clip's result must have the same
annotation: rounding is monotone, so clamping before it equals clamping after it, and the result is the same byte for byte.
"""

from __future__ import annotations

from dataclasses import replace

from arenite.graph.expression import Expression
from arenite.graph.graph import Graph, Node
from arenite.graph.operators import OPERATORS, UNBOUNDED
from arenite.passes.uses import Uses

_CLIPPING = tuple(name for name, operator in OPERATORS.items() if any(attribute.name == "clip" for attribute in operator.attributes))


def fuse_activation(graph: Graph) -> Graph:
    """Every fusion removes a node."""
    graph = graph.copy()
    while _fuse_one(graph):
        pass
    graph.prune()
    return graph


def clip_bounds(expression: Expression) -> tuple[float, float] | None:
    """The bounds of an expression that only clamps: a chain of Clip, and of Max and Min with a constant."""
    bounds = UNBOUNDED
    for index, step in enumerate(expression.steps):
        if step.op == "Clip":
            own = float(step.attributes["min"]), float(step.attributes["max"])
        elif step.op in ("Max", "Min"):
            constants = [operand for operand in step.operands if isinstance(operand, float)]
            if len(constants) != 1:
                return None
            own = (constants[0], UNBOUNDED[1]) if step.op == "Max" else (UNBOUNDED[0], constants[0])
        else:
            return None
        if [operand for operand in step.operands if isinstance(operand, int)] != [index]:
            return None
        bounds = clamped(bounds, own)
    return bounds if expression.steps else None


def clamped(bounds: tuple[float, float], by: tuple[float, float]) -> tuple[float, float]:
    """First `bounds`, then `by`; ONNX's Clip gives the upper bound where the two cross."""
    low, high = (min(max(bound, by[0]), by[1]) for bound in bounds)
    return low, high


def _fuse_one(graph: Graph) -> bool:
    uses = Uses(graph)
    for node in graph.nodes:
        bounds = clip_bounds(node.attributes["expression"]) if node.op == "Elementwise" else None
        if bounds is None:
            continue
        writer = _clipping_writer(graph, uses, node)
        if writer is None:
            continue
        clip = clamped(tuple(writer.attributes["clip"]), bounds)
        graph.replace_node(writer, [writer.with_attributes(clip=clip).absorbing(node)])
        _bypass(graph, node)
        return True
    return False


def _clipping_writer(graph: Graph, uses: Uses, node: Node) -> Node | None:
    """The operator whose clamp can do it: the operand's writer, views in between."""
    result, name = graph.tensors[node.output].quantization, node.input
    while True:
        annotation = graph.tensors[name].quantization
        if not uses.read_once(name) or (annotation is not None and not annotation.same_as(result)):
            return None
        writer = uses.writer(name)
        if writer is None or writer.op in _CLIPPING:
            return writer
        if writer.op not in ("Reshape", "Transpose"):
            return None
        name = writer.input


def _bypass(graph: Graph, node: Node) -> None:
    """The operand's writer writes the result under its name and with its annotation."""
    graph.nodes = [
        replace(other, outputs=(node.output,)) if other.output == node.input else other for other in graph.nodes if other is not node
    ]
