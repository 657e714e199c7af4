"""Steps of optimizers (ai.onnx.preview.training): Adagrad, Adam, Momentum, written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arenite.frontend.arithmetic import binary, broadcast, cast, scalar
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Value
from arenite.graph import DType, Expression


class _Step:
    """The common part of an iteration: R, T, then X, G and the `states` accumulated tensors of every variable, by kind."""

    def __init__(self, node: NodeImport, states: int) -> None:
        kinds = 2 + states
        if len(node.inputs) < 2 + kinds or (len(node.inputs) - 2) % kinds:
            node.malformed(f"{len(node.inputs)} inputs are not R, T and {kinds} tensors for every variable")
        self.node, self.count = node, (len(node.inputs) - 2) // kinds
        self.rate = node.activation(0)
        self.iteration = str(cast(node, node.tensor(1), DType.FLOAT32))

    def operand(self, kind: int, variable: int) -> str:
        return self.node.activation(2 + kind * self.count + variable)

    def attribute(self, name: str, default: float | None = None) -> float:
        value = self.node.attribute(name, default)
        if value is None:
            self.node.malformed(f"the attribute {name} is missing")
        return float(value)

    def of(self, op: str, a: Value | float, b: Value | float) -> str:
        x, y = (scalar(self.node, v, DType.FLOAT32) if isinstance(v, float) else v for v in (a, b))
        return binary(self.node, op, x, y)

    def plus(self, x: Value, factor: float, y: Value) -> str:
        """x + factor · y."""
        return str(x) if factor == 0 else self.of("Add", x, self.of("Mul", y, factor))

    def later(self, value: Value, first: Value) -> str:
        """`value` where an iteration came before this one, else `first`."""
        started = self.of("Less", 0.0, self.iteration)
        return self.node.emit("Where", broadcast(self.node, [started, value, first]))

    def gradient(self, variable: int) -> str:
        """With that of the norm of X."""
        return self.plus(self.operand(1, variable), self.attribute("norm_coefficient", 0.0), self.operand(0, variable))

    def root(self, x: str, epsilon: float) -> str:
        return self.node.elementwise(x, Expression.single("Sqrt").then(Expression.binary("Add", epsilon)))

    def results(self, of_variable: Callable[[int], Sequence[str]]) -> Sequence[Value]:
        """By kind: every new X, then every new first state, …"""
        return [value for kind in zip(*(of_variable(v) for v in range(self.count)), strict=True) for value in kind]


def adagrad(node: NodeImport) -> Sequence[Value]:
    step = _Step(node, 1)
    decay, epsilon = step.attribute("decay_factor", 0.0), step.attribute("epsilon", 1e-6)
    rate = step.of("Div", step.rate, step.of("Add", step.of("Mul", step.iteration, decay), 1.0))

    def updated(variable: int) -> Sequence[str]:
        gradient = step.gradient(variable)
        squares = step.of("Add", step.operand(2, variable), step.of("Mul", gradient, gradient))
        move = step.of("Div", step.of("Mul", rate, gradient), step.root(squares, epsilon))
        return step.of("Sub", step.operand(0, variable), move), squares

    return step.results(updated)


def adam(node: NodeImport) -> Sequence[Value]:
    step = _Step(node, 2)
    alpha, beta = step.attribute("alpha", 0.9), step.attribute("beta", 0.999)
    epsilon, post = step.attribute("epsilon", 1e-6), step.attribute("norm_coefficient_post", 0.0)
    first, second = (step.of("Sub", 1.0, step.of("Pow", base, step.iteration)) for base in (alpha, beta))
    corrected = step.of("Div", step.of("Mul", step.rate, node.elementwise(second, Expression.single("Sqrt"))), first)
    rate = step.later(corrected, step.rate)

    def updated(variable: int) -> Sequence[str]:
        gradient = step.gradient(variable)
        mean = step.plus(step.of("Mul", step.operand(2, variable), alpha), 1 - alpha, gradient)
        squares = step.plus(step.of("Mul", step.operand(3, variable), beta), 1 - beta, step.of("Mul", gradient, gradient))
        move = step.of("Div", step.of("Mul", rate, mean), step.root(squares, epsilon))
        moved = step.of("Sub", step.operand(0, variable), move)
        return (moved if post == 0 else step.of("Mul", moved, 1 - post)), mean, squares

    return step.results(updated)


def momentum(node: NodeImport) -> Sequence[Value]:
    step = _Step(node, 1)
    alpha, beta, mode = step.attribute("alpha"), step.attribute("beta"), node.attribute("mode")
    if mode not in ("standard", "nesterov"):
        node.malformed(f"mode is {mode!r}, not standard or nesterov")
    factor = step.later(scalar(node, beta, DType.FLOAT32), scalar(node, 1.0, DType.FLOAT32))

    def updated(variable: int) -> Sequence[str]:
        gradient = step.gradient(variable)
        gathered = step.of("Add", step.of("Mul", step.operand(2, variable), alpha), step.of("Mul", factor, gradient))
        direction = gathered if mode == "standard" else step.plus(gradient, alpha, gathered)
        return step.of("Sub", step.operand(0, variable), step.of("Mul", step.rate, direction)), gathered

    return step.results(updated)


_NOTES = "written out; every operand may be computed"

TRAINING = {
    "ai.onnx.preview.training.Adagrad": Importer(adagrad, _NOTES),
    "ai.onnx.preview.training.Adam": Importer(adam, _NOTES),
    "ai.onnx.preview.training.Momentum": Importer(momentum, f"standard, nesterov; {_NOTES}"),
}
