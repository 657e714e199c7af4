"""Control flow: If and Loop, whose bodies are graphs, and the nodes that they become in the flat model, which has no graphs in graphs.

A body is closed: what it reads from outside is among its inputs, and the node has an operand for it. In the flat model the nodes of a
body stand in the list of all nodes, between nodes that skip or repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Shape, given
from arenite.graph.tensor import DType, Tensor

if TYPE_CHECKING:
    from arenite.graph.graph import Graph

Type = tuple[Shape, DType]

UNLIMITED = (1 << 31) - 1
"""Iterations: more than any device makes in its life, or the counter could wrap."""


def _types(graph: Graph, names: Sequence[str]) -> list[Type]:
    return [(graph.tensors[name].shape, graph.tensors[name].dtype) for name in names]


def _operand_types(inputs: Inputs, start: int) -> list[Type]:
    return [(given(inputs, i).shape, given(inputs, i).dtype) for i in range(start, len(inputs))]


def _is_scalar(tensor: Tensor, dtype: DType) -> bool:
    return tensor.elements == 1 and tensor.dtype is dtype


def _shape(inputs: Inputs, attributes: Attributes) -> Shape:
    raise ValueError("it has the shapes that its bodies give")


def _if_results(inputs: Inputs, attributes: Attributes) -> tuple[Type, ...]:
    then, otherwise = attributes["bodies"]
    if not _is_scalar(given(inputs, 0), DType.BOOL):
        raise ValueError(f"the condition is {given(inputs, 0).dtype.value}{list(given(inputs, 0).shape)}, not one bool")
    for body in (then, otherwise):
        if _types(body, body.inputs) != _operand_types(inputs, 1):
            raise ValueError(f"the inputs of {body.name} are not what the node gives it")
    results = _types(then, then.outputs)
    if results != _types(otherwise, otherwise.outputs):
        raise ValueError(f"the branches give {results} and {_types(otherwise, otherwise.outputs)}")
    return tuple(results)


def loop_operands(attributes: Attributes) -> tuple[int | None, int | None, int]:
    """Positions among the operands of a Loop: the trip count, the condition, the first carried value."""
    trips = 0 if attributes["counted"] else None
    condition = int(attributes["counted"]) if attributes["conditional"] else None
    return trips, condition, int(attributes["counted"]) + int(attributes["conditional"])


def _loop_results(inputs: Inputs, attributes: Attributes) -> tuple[Type, ...]:
    (body,) = attributes["bodies"]
    trips, condition, first = loop_operands(attributes)
    carried, limit = attributes["carried"], attributes["limit"]
    if trips is not None and not _is_scalar(given(inputs, trips), DType.INT64):
        raise ValueError("the trip count is not one int64")
    if condition is not None and not _is_scalar(given(inputs, condition), DType.BOOL):
        raise ValueError("the condition is not one bool")
    if not 0 <= limit <= UNLIMITED:
        raise ValueError(f"a limit of {limit} iterations")
    if not body.inputs or not _is_scalar(body.tensors[body.inputs[0]], DType.INT64):
        raise ValueError(f"the first input of {body.name} is not the number of the iteration")
    if _types(body, body.inputs[1:]) != _operand_types(inputs, first):
        raise ValueError(f"the inputs of {body.name} are not what the node gives it")
    outputs = list(body.outputs)
    if attributes["stops"] and (not outputs or not _is_scalar(body.tensors[outputs.pop(0)], DType.BOOL)):
        raise ValueError(f"the first output of {body.name} is not a condition")
    values, entries = _types(body, outputs[:carried]), _types(body, outputs[carried:])
    if values != _types(body, body.inputs[1 : 1 + carried]):
        raise ValueError(f"{body.name} turns its carried values into {values}")
    if len(entries) != len(attributes["reversed"]):
        raise ValueError(f"{body.name} has {len(entries)} scan outputs instead of {len(attributes['reversed'])}")
    if entries and (trips is not None or condition is not None or attributes["stops"] or limit == UNLIMITED):
        raise ValueError("scan outputs have no fixed length where the number of iterations is not known")
    return (*values, *(((limit, *shape), dtype) for shape, dtype in entries))


IF = Operator(
    name="If",
    summary="One of two bodies, as a condition says that is computed at run time",
    onnx=("If",),
    inputs=(Operand("condition", "one bool"), Operand("captured…", "what the bodies read: their inputs, the same for both")),
    attributes=(Attribute("bodies", "then, else: graphs of one signature"),),
    shape=_shape,
    results=_if_results,
)

LOOP = Operator(
    name="Loop",
    summary="A body again and again, until a trip count is reached or a condition is false",
    onnx=("Loop", "Scan"),
    inputs=(
        Operand("operands…", "the trip count (int64) if counted, the condition (bool) if conditional, initial values, what is captured"),
    ),
    attributes=(
        Attribute("bodies", "one graph: (iteration, carried…, captured…) → (condition if it stops, carried…, scanned…)"),
        Attribute("counted", "the first operand is a trip count"),
        Attribute("conditional", "there is an operand that must be true for the first iteration"),
        Attribute("stops", "the body says whether there is another iteration"),
        Attribute("carried", "number of carried values"),
        Attribute("limit", "iterations at most, UNLIMITED where only the operands say"),
        Attribute("reversed", "for each scan output: whether the first iteration gives its last entry"),
    ),
    shape=_shape,
    results=_loop_results,
)

_CONDITION = Operand("condition", "bool")
_TRIPS = Operand("trips", "int64", optional=True)
_SKIP = Param("skip", "nodes that follow this one")
_LIMIT = Param("limit", "iterations at most, whatever the operands say")


def _nothing(inputs: Inputs, attributes: Attributes) -> tuple[Type, ...]:
    return ()


def _counter(inputs: Inputs, attributes: Attributes) -> tuple[Type, ...]:
    return (((), DType.INT64),)


SKIP_UNLESS = Operator(
    name="SkipUnless",
    summary="Skips nodes where the condition is false: what an If begins with",
    inputs=(_CONDITION,),
    shape=_shape,
    results=_nothing,
    code=210,
    variants=("bytes",),
    stored=(_CONDITION,),
    params=(_SKIP,),
)
SKIP = Operator(
    name="Skip",
    summary="Skips nodes: stands between the branches of an If",
    inputs=(),
    shape=_shape,
    results=_nothing,
    code=211,
    variants=("bytes",),
    params=(_SKIP,),
)
BEGIN_LOOP = Operator(
    name="BeginLoop",
    summary="Sets the counter (an output) to 0; skips the body, its RepeatLoop included, where there is to be no iteration",
    inputs=(_TRIPS, Operand("condition", "bool", optional=True)),
    shape=_shape,
    results=_counter,
    code=212,
    variants=("bytes",),
    stored=(_TRIPS, Operand("condition", "bool", optional=True)),
    params=(_LIMIT, _SKIP),
)
REPEAT_LOOP = Operator(
    name="RepeatLoop",
    summary="Counts up (the output) and goes back to the first node of the body where there is another iteration",
    inputs=(_TRIPS, Operand("condition", "bool", optional=True)),
    shape=_shape,
    results=_counter,
    code=213,
    variants=("bytes",),
    stored=(_TRIPS, Operand("condition", "bool", optional=True)),
    params=(_LIMIT, Param("back", "nodes from the first of the body to this one, both included")),
)


STORE_ENTRY = Operator(
    name="StoreEntry",
    summary="Writes the entry of the output that has the number of the iteration: a scan output",
    inputs=(Operand("entry", "any shape and type"), Operand("iteration", "int64")),
    shape=_shape,
    code=214,
    variants=("bytes",),
    stored=(Operand("entry", "any shape and type"), Operand("iteration", "int64")),
    params=(
        Param("count", "entries of the output"),
        Param("bytes", "of an entry"),
        Param("backwards", "1: iteration 0 is the last entry"),
    ),
)

CONTROL = (IF, LOOP, SKIP_UNLESS, SKIP, BEGIN_LOOP, REPEAT_LOOP, STORE_ENTRY)
