"""Users' own operators: those that keep the scale, and those that bring a rule of their own."""

from __future__ import annotations

from collections.abc import Callable

from arenite.errors import AreniteError, OperatorError
from arenite.graph import Node
from arenite.own_operators import OwnOperator
from arenite.quantize.lower_movement import same_scale
from arenite.quantize.lowering import Lowering


def own_lowering(own: OwnOperator) -> Callable[[Lowering, Node], None] | None:
    """None where the operator has no int8 form."""
    if not own.has_int8:
        return None
    if own.lower is None:
        return lambda lowering, node: same_scale(lowering, node, lambda q: {}, rest=tuple(lowering.index(name) for name in node.inputs[1:]))

    def lower(lowering: Lowering, node: Node) -> None:
        assert own.lower is not None
        try:
            own.lower(lowering, node)
        except AreniteError:
            raise
        except Exception as error:
            raise OperatorError(
                f"{lowering.source.name}: node {node.name}: `lower` of the own operator {own.name} failed: {type(error).__name__}: {error}"
            ) from error

    return lower
