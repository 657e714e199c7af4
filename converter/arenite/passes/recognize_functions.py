"""recognize_functions: arithmetic that spells a function of ONNX becomes that function.

Exporters of older opsets, and frameworks whose own operator has no ONNX name, write x·sigmoid(x), x·clip(x + 3, 0, 6)/6 or
x·(1 + erf(x/√2))/2 step by step, each in its own order and with constants rounded to float32. As one step they are one node on
the target, and exp and log in them do not overflow on the way. (In the int8 form an expression is one table anyhow.)

How a function is spelled is not looked at. Arithmetic of one tensor that holds a step which the function has (Erf for Gelu, …)
is compared with it in float64 at points over the whole range of float32 that matters; what differs nowhere by more than constants
rounded to float32 explain is that function: within such a grammar no two functions are alike at thousands of points and different
elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arenite.graph.expression import Expression, Step
from arenite.graph.graph import Graph
from arenite.passes.fuse_elementwise import between, chain, dominators, expression_of, replace_by_elementwise
from arenite.passes.uses import Uses

Values = NDArray[np.float64]

DENSE = np.linspace(-20.0, 20.0, 4001)
FAR = np.geomspace(20.0, 80.0, 60)  # beyond, exp in float32 leaves its range, where a spelling is worse than the function
POINTS: Values = np.concatenate([DENSE, FAR, -FAR])
RELATIVE, ABSOLUTE = 3e-7, 3e-7
"""Several constants rounded to float32, each within 6e-8 of its value, in sums of numbers of about 1."""
LONGEST = 14
"""Steps of the longest spelling: GELU by tanh in Keras has 12."""


@dataclass(frozen=True)
class Form:
    """A function, and what a spelling must hold to be compared with it."""

    candidate: Callable[[Values], Step | None]
    """From the values at POINTS: the step, with the parameters that it would have; None where it cannot be."""
    any_of: tuple[tuple[str, ...], ...]
    """Sets of operators: all of one of them must be there."""


def recognize_functions(graph: Graph) -> Graph:
    """Runs before fold_affine, which takes factors out of spellings."""
    graph = graph.copy()
    done: set[str] = set()
    while _recognize_one(graph, done):
        graph.prune()
    return graph


def _recognize_one(graph: Graph, done: set[str]) -> bool:
    """The last value that is not done, as a function of the farthest tensor that makes it one."""
    uses = Uses(graph)
    parents = dominators(graph)
    for node in reversed(graph.nodes):
        if node.output not in parents or node.output in done:
            continue
        done.add(node.output)
        for root in reversed(chain(parents, node.output)[1:]):
            inner = between(uses, root, node)
            if inner is None or len(inner) > LONGEST:
                continue
            spelled = expression_of(graph, root, inner)
            step = function_of(spelled) if len(spelled.steps) > 1 else None
            if step is not None:
                replace_by_elementwise(graph, root, inner, Expression((step,)))
                return True
    return False


def function_of(expression: Expression) -> Step | None:
    """The function of ONNX that `expression` spells."""
    held = {step.op for step in expression.steps}
    forms = [form for form in FORMS if any(held.issuperset(needed) for needed in form.any_of)]
    if not forms:
        return None
    values = expression(POINTS)
    if not np.isfinite(values).all():
        return None
    for form in forms:
        step = form.candidate(values)
        if step is not None and _alike(values, Expression((step,))(POINTS)):
            return step
    return None


def _alike(a: Values, b: Values) -> bool:
    return bool(np.all(np.abs(a - b) <= RELATIVE * np.abs(b) + ABSOLUTE))


# Candidates. A parameter is measured where it alone determines the value, and rounded to the float32 that it was.

_ZERO, _ONE, _MINUS_ONE = (int(np.argmin(np.abs(POINTS - at))) for at in (0.0, 1.0, -1.0))


def _fixed(op: str, **attributes: float | str) -> Callable[[Values], Step | None]:
    return lambda values: Step(op, (0,), attributes)


def _swish(values: Values) -> Step | None:
    sigmoid = float(values[_ONE])
    if not 0.5 < sigmoid < 1:
        return None
    return Step("Swish", (0,), {"alpha": _float32(np.log(sigmoid / (1 - sigmoid)))})


def _hard_sigmoid(values: Values) -> Step | None:
    beta = float(values[_ZERO])
    if not 0 < beta < 1:
        return None
    near = POINTS[_ZERO + 1]
    return Step("HardSigmoid", (0,), {"alpha": _float32((values[_ZERO + 1] - beta) / near), "beta": _float32(beta)})


def _leaky_relu(values: Values) -> Step | None:
    slope = -float(values[_MINUS_ONE])
    return Step("LeakyRelu", (0,), {"alpha": _float32(slope)}) if 0 < slope < 1 else None


def _elu(values: Values) -> Step | None:
    alpha = float(values[_MINUS_ONE] / np.expm1(-1.0))
    return Step("Elu", (0,), {"alpha": _float32(alpha)}) if alpha > 0 else None


def _float32(value: float) -> float:
    """One of the numbers that people write, where it is one up to float32's rounding, else the float32."""
    short = float(f"{value:.6g}")
    for exact in (short, 1 / 6, 1 / 3):
        if abs(exact - value) <= 1e-7 * abs(value):
            return exact
    return float(np.float32(value))


_EXPONENTIAL = (("Sigmoid",), ("Exp",), ("Tanh",))
FORMS = (
    Form(_fixed("HardSwish"), (("Clip", "Mul"), ("HardSigmoid", "Mul"), ("Clip", "Div"))),
    Form(_fixed("Gelu", approximate="none"), (("Erf",),)),
    Form(_fixed("Gelu", approximate="tanh"), _EXPONENTIAL),
    Form(_fixed("Mish"), (("Tanh", "Softplus"), ("Exp", "Tanh"), ("Exp", "Div"))),
    Form(_swish, _EXPONENTIAL),
    Form(_fixed("Sigmoid"), (("Exp",), ("Tanh",))),
    Form(_fixed("Softplus"), (("Exp", "Log"),)),
    Form(_fixed("Softsign"), (("Abs",),)),
    Form(_hard_sigmoid, (("Clip",),)),
    Form(_leaky_relu, (("Max", "Mul"), ("Clip", "Mul"))),
    Form(_elu, (("Exp",),)),
)
"""In order of trial; values are of one at most."""
