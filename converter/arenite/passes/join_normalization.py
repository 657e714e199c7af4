"""join_normalization: arithmetic that spells a LayerNormalization, or without the mean an RMSNormalization, becomes one.

Before opset 17 the standard has no such operator, and some exporters still write its parts: the mean, what differs from it, the mean
of the squares of that, epsilon, a root, a quotient. As one node the statistics are exact (the int8 form of the parts would round
each of them), and intermediate tensors and most of the time are saved. A product and a sum with constants behind it stay for
fuse_normalization.

Spellings: d/√v, d·(1/√v), d·v^−½, x·s + (β − µ·s) with s = γ/√v (Keras), squares as d·d, d², or d as written twice; v = mean(d²), or
mean(x²) − µ². Any reduced axes: those that are not last are transposed to the end and back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from arenite.graph.expression import Expression
from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import DType, Tensor
from arenite.passes.uses import Uses


def join_normalization(graph: Graph) -> Graph:
    """Runs after expand_reductions, which gives every ReduceMean the form that is looked for here, and after common subexpressions
    are merged. Annotated intermediate values are rounded, and then it is not the same function: those graphs stay."""
    graph = graph.copy()
    while _join_one(graph):
        graph.prune()
    return graph


def _join_one(graph: Graph) -> bool:
    look = _Look(graph)
    for node in graph.nodes:
        for spelling in (_whole, _keras):
            found = spelling(look, node)
            if found is not None and look.is_private(found, node):
                graph.replace_node(node, _emit(graph, node, found))
                return True
    return False


@dataclass(frozen=True)
class _Found:
    """A normalization of x along `axes`, and what Keras folds into it."""

    x: str
    axes: tuple[int, ...]
    centred: bool
    epsilon: float
    inside: frozenset[str]
    """Values in between, which go."""
    scale: str | None = None
    bias: str | None = None


class _Look:
    """What a value is, as far as the pattern asks."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.uses = graph, Uses(graph)

    def writer(self, name: str | None, op: str) -> Node | None:
        node = self.uses.writer(name) if name is not None else None
        if node is None or node.op != op or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
            return None
        return node

    def scalar(self, name: str | None) -> float | None:
        data = None if name is None else self.graph.tensors[name].data
        return float(data.flat[0]) if data is not None and data.size and np.all(data == data.flat[0]) else None

    def operands(self, name: str | None, op: str) -> tuple[str, str] | None:
        node = self.writer(name, op)
        if node is None or len(node.inputs) != 2 or node.inputs[0] is None or node.inputs[1] is None:
            return None
        return node.inputs[0], node.inputs[1]

    def steps(self, name: str | None) -> tuple[str, Expression] | None:
        node = self.writer(name, "Elementwise")
        return None if node is None else (node.input, node.attributes["expression"])

    def mean(self, name: str | None) -> tuple[str, tuple[int, ...]] | None:
        """(x, axes) where the value is the mean of x along them, as ReduceMean(x) with its dimensions kept would be: Transposes
        and Reshapes around the mean may take it elsewhere and back."""
        views: list[Node] = []
        value = name
        while (view := self.writer(value, "Reshape") or self.writer(value, "Transpose")) is not None:
            views.append(view)
            value = view.input
        node = self.writer(value, "ReduceMean")
        if node is None or name is None or not node.attributes["keepdims"]:
            return None
        x, axes = node.input, tuple(sorted(node.attributes["axes"]))
        turn = self.writer(x, "Transpose")
        if turn is not None and (found := self._mean_of(turn.input, turn.attributes["perm"], axes, views, name)) is not None:
            return found
        return self._mean_of(x, tuple(range(len(self.graph.tensors[x].shape))), axes, views, name)

    def _mean_of(
        self, x: str, perm: tuple[int, ...], axes: tuple[int, ...], views: list[Node], name: str
    ) -> tuple[str, tuple[int, ...]] | None:
        """(x, its axes) where `views`, the last first, bring the mean of the transposed x along `axes` into the order of x."""
        own = tuple(sorted(perm[axis] for axis in axes))
        kept = tuple(1 if axis in own else size for axis, size in enumerate(self.graph.tensors[x].shape))
        if self.graph.tensors[name].shape != kept:
            return None
        places = np.arange(prod(kept)).reshape(kept)
        moved = places.transpose(perm)
        for view in reversed(views):
            moved = moved.transpose(view.attributes["perm"]) if view.op == "Transpose" else moved.reshape(view.attributes["shape"])
        return (x, own) if np.array_equal(moved, places) else None

    def plus_number(self, name: str) -> tuple[str, float] | None:
        """(v, c) where the value is v + c."""
        if (operands := self.operands(name, "Add")) is not None:
            for v, c in (operands, operands[::-1]):
                if (number := self.scalar(c)) is not None and self.graph.tensors[v].data is None:
                    return v, number
        if (found := self.steps(name)) is not None and len(found[1].steps) == 1 and found[1].steps[0].op == "Add":
            number = next((o for o in found[1].steps[0].operands if isinstance(o, float)), None)
            return None if number is None else (found[0], number)
        return None

    def square(self, name: str) -> str | None:
        """v where the value is v²."""
        if (operands := self.operands(name, "Mul")) is not None:
            return operands[0] if operands[0] == operands[1] else None
        found = self.steps(name)
        if found is None or len(found[1].steps) != 1:
            return None
        step = found[1].steps[0]
        return found[0] if (step.op == "Pow" and step.operands == (0, 2.0)) or (step.op == "Mul" and step.operands == (0, 0)) else None

    def negated(self, name: str) -> str | None:
        """v where the value is −v."""
        found = self.steps(name)
        return found[0] if found is not None and [step.op for step in found[1].steps] == ["Neg"] else None

    def is_function(self, name: str | None, of: Callable[[np.ndarray], np.ndarray]) -> str | None:
        """v where the value is that function of v, as one step or several."""
        inside: list[Expression] = []
        value = name
        while (found := self.steps(value)) is not None and len(inside) < 3:
            value = found[0]
            inside.append(found[1])
            whole = Expression(())
            for expression in reversed(inside):
                whole = whole.then(expression)
            points = np.geomspace(1e-6, 1e6, 25)
            if whole.steps and np.allclose(whole(points), of(points), rtol=1e-9, atol=0):
                return value
        return None

    def is_private(self, found: _Found, last: Node) -> bool:
        """Nobody but the pattern reads what is in between, and none of it is rounded."""
        for name in found.inside:
            tensor = self.graph.tensors[name]
            if tensor.quantization is not None or name in self.uses.outputs:
                return False
            if any(reader is not last and not found.inside.intersection(reader.outputs) for reader in self.uses.readers[name]):
                return False
        return True


def _root(v: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(v))


def _inverse_root(v: np.ndarray) -> np.ndarray:
    return np.asarray(1 / np.sqrt(v))


def _between(look: _Look, last: str, *ends: str | None) -> frozenset[str]:
    """Values that `last` is computed from, up to `ends` and constants, `last` excluded."""
    inside, pending = set[str](), [last]
    while pending:
        writer = look.uses.writer(pending.pop())
        for name in writer.inputs if writer is not None else ():
            if name is not None and name not in inside and name not in ends and look.graph.tensors[name].data is None:
                inside.add(name)
                pending.append(name)
    return frozenset(inside)


def _inverse_deviation(look: _Look, name: str) -> str | None:
    """variance + ε where the value is 1/√ of it."""
    inner = look.is_function(name, _inverse_root)
    if inner is not None:
        return inner
    quotient = look.operands(name, "Div")
    if quotient is not None and look.scalar(quotient[0]) == 1.0:
        return look.is_function(quotient[1], _root)
    return None


def _variance(look: _Look, name: str) -> tuple[str, str | None, tuple[int, ...], float] | None:
    """(x, its mean, axes, ε) where the value is the variance of x plus ε; without a mean, the mean of its squares."""
    sum_ = look.plus_number(name)
    if sum_ is None or sum_[1] < 0:
        return None
    variance, epsilon = sum_
    mean = look.mean(variance)
    if mean is not None:
        squared = look.square(mean[0])
        if squared is None:
            return None
        centred = _centred(look, squared, mean[1])
        return (squared, None, mean[1], epsilon) if centred is None else (*centred, mean[1], epsilon)
    difference = look.operands(_positive(look, variance), "Sub")
    if difference is None:
        return None
    first, second = look.mean(difference[0]), look.square(difference[1])
    of_mean = None if second is None else look.mean(second)
    if first is None or second is None or of_mean is None or look.square(first[0]) != of_mean[0] or first[1] != of_mean[1]:
        return None
    return of_mean[0], second, first[1], epsilon


def _positive(look: _Look, name: str) -> str:
    """Without a Relu around it, which keeps mean(x²) − µ² from being rounded below 0."""
    found = look.steps(name)
    if found is not None and found[1].clip is not None and found[1].clip[0] == 0 and np.isinf(found[1].clip[1]):
        return found[0]
    return name


def _centred(look: _Look, name: str, axes: tuple[int, ...]) -> tuple[str, str] | None:
    """(x, its mean) where the value is x − mean(x) along `axes`."""
    operands = look.operands(name, "Sub")
    if operands is None:
        return None
    mean = look.mean(operands[1])
    return (operands[0], operands[1]) if mean == (operands[0], axes) else None


def _whole(look: _Look, node: Node) -> _Found | None:
    """d/√(v + ε) or d·(v + ε)^−½ with d = x − µ; of x itself an RMSNormalization."""
    if node.op not in ("Div", "Mul") or len(node.inputs) != 2 or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
        return None
    first, second = node.inputs
    for d, deviation in ((first, second), (second, first)) if node.op == "Mul" else ((first, second),):
        if d is None or deviation is None or look.graph.tensors[d].data is not None or look.graph.tensors[deviation].data is not None:
            continue
        inner = look.is_function(deviation, _root) if node.op == "Div" else _inverse_deviation(look, deviation)
        variance = None if inner is None else _variance(look, inner)
        if variance is None:
            continue
        x, mean, axes, epsilon = variance
        if mean is None and d == x:
            return _Found(x, axes, False, epsilon, _between(look, node.output, x))
        if mean is not None and (_centred(look, d, axes) or (None,))[0] == x:
            return _Found(x, axes, True, epsilon, _between(look, node.output, x))
    return None


def _keras(look: _Look, node: Node) -> _Found | None:
    """x·s + (β − µ·s), s = γ·(v + ε)^−½; γ and β may be absent."""
    if node.op not in ("Add", "Sub") or len(node.inputs) != 2 or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
        return None
    for product, rest in (tuple(node.inputs), tuple(node.inputs[::-1]))[: 1 if node.op == "Sub" else 2]:
        factors = look.operands(product, "Mul")
        if factors is None or rest is None:
            continue
        for x, s in (factors, factors[::-1]):
            scale, inverse = _scaled(look, s)
            inner = None if inverse is None else _inverse_deviation(look, inverse)
            variance = None if inner is None else _variance(look, inner)
            if variance is None or variance[0] != x or variance[1] is None:
                continue
            bias = _offset(look, rest, variance[1], s, node.op)
            if bias is not None:
                return _Found(x, variance[2], True, variance[3], _between(look, node.output, x), scale, bias or None)
    return None


def _scaled(look: _Look, s: str) -> tuple[str | None, str | None]:
    """(γ, 1/√v) where s is their product; (None, s) else."""
    factors = look.operands(s, "Mul")
    if factors is not None:
        for inverse, gamma in (factors, factors[::-1]):
            if look.graph.tensors[gamma].data is not None and look.graph.tensors[inverse].data is None:
                return gamma, inverse
    return None, s


def _offset(look: _Look, rest: str, mean: str, s: str, op: str) -> str | None:
    """β where `rest` is β − µ·s (of a Sub: where it is µ·s); "" where there is no β; None where it is something else."""
    if op == "Sub":
        return "" if _is_product(look, rest, mean, s) else None
    if _is_negative_product(look, rest, mean, s):
        return ""
    difference, total = look.operands(rest, "Sub"), look.operands(rest, "Add")
    if difference is not None and look.graph.tensors[difference[0]].data is not None and _is_product(look, difference[1], mean, s):
        return difference[0]
    for beta, product in (total, total[::-1]) if total is not None else ():
        if look.graph.tensors[beta].data is not None and _is_negative_product(look, product, mean, s):
            return beta
    return None


def _is_product(look: _Look, name: str, a: str, b: str) -> bool:
    return sorted(look.operands(name, "Mul") or ()) == sorted((a, b))


def _is_negative_product(look: _Look, name: str, mean: str, s: str) -> bool:
    """−(µ·s) or (−µ)·s."""
    negated = look.negated(name)
    if negated is not None:
        return _is_product(look, negated, mean, s)
    factors = look.operands(name, "Mul")
    return factors is not None and any(other == s and look.negated(one) == mean for one, other in (factors, factors[::-1]))


# Writing


def _emit(graph: Graph, node: Node, found: _Found) -> list[Node]:
    """LayerNormalization of rows, between transposes where the axes are not last, and scale and bias as a product and a sum."""
    x, y = graph.tensors[found.x], graph.tensors[node.output]
    rank = len(x.shape)
    kept = tuple(axis for axis in range(rank) if axis not in found.axes)
    perm = (*kept, *found.axes)
    length = prod(x.shape[axis] for axis in found.axes)
    nodes: list[Node] = []
    source = x.name
    if perm != tuple(range(rank)):
        source = graph.add(Tensor(f"{y.name}_rows", tuple(x.shape[axis] for axis in perm), x.dtype)).name
        nodes.append(Node("Transpose", node.name, (x.name,), (source,), {"perm": perm}, node.origins))
    shape = graph.tensors[source].shape
    behind = [(op, operand) for op, operand in (("Mul", found.scale), ("Add", found.bias)) if operand is not None]
    moves = perm != tuple(range(rank))
    normal = y.name if not behind and not moves else graph.add(Tensor(f"{y.name}_normal", shape, DType.FLOAT32)).name
    attributes = {"length": length, "centred": found.centred, "epsilon": found.epsilon}
    inside = [other for other in graph.nodes if found.inside.intersection(other.outputs)]
    whole = Node("LayerNormalization", node.name, (source, None, None), (normal,), attributes, node.origins)
    nodes.append(whole.absorbing(*inside, node))
    if moves:
        back = tuple(int(axis) for axis in np.argsort(perm))
        turned = y.name if not behind else graph.add(Tensor(f"{y.name}_turned", x.shape, DType.FLOAT32)).name
        nodes.append(Node("Transpose", node.name, (normal,), (turned,), {"perm": back}, node.origins))
        normal = turned
    for index, (op, operand) in enumerate(behind):
        result = y.name if index + 1 == len(behind) else graph.add(Tensor(f"{y.name}_scaled", x.shape, DType.FLOAT32)).name
        nodes.append(Node(op, node.name, (normal, operand), (result,), {"clip": UNBOUNDED}, node.origins))
        normal = result
    return nodes
