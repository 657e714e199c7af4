"""If and Loop as calls: the bodies' calls in the program's one list, between those that skip or repeat them.

The results of an If, and the carried values of a Loop, lie where the node's outputs do; bodies compute in their own memory, and what they
give is copied from there. A carried value is copied at the end of every iteration, when all of them have been computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arenite.emit.lower_movement import lower_movement
from arenite.emit.program import Call
from arenite.emit.tensor_table import Scope
from arenite.graph import Node
from arenite.graph.operators import Record
from arenite.graph.operators.control import loop_operands

NodeCalls = Callable[[Scope, int], list[Call]]
"""The calls of a node, by scope and index."""


def control_calls(scope: Scope, index: int, node_calls: NodeCalls) -> list[Call]:
    """The calls that the If or Loop at `index` becomes."""
    node = scope.graph.nodes[index]
    return (_if if node.op == "If" else _loop)(scope, index, node, node_calls)


def _call(scope: Scope, index: int, op: str, record: Record, inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> Call:
    node = scope.graph.nodes[index]
    return Call(op, "bytes", node.name, record, tuple(inputs), tuple(outputs), None, 0, index if scope.root < 0 else scope.root, node.op)


def _copy(scope: Scope, index: int, source: tuple[Scope, str], target: tuple[Scope, str]) -> list[Call]:
    """Nothing where both are the same bytes."""
    (of, name), (to, result) = source, target
    if of.index(name) == to.index(result):
        return []
    x, y = of.graph.tensors[name], to.graph.tensors[result]
    moves = lower_movement(scope.graph.name, Node("Reshape", name, (name,), (result,), {"shape": y.shape}), [x], y)
    return [_call(scope, index, move.op, move.record, [of.index(name)], [to.index(result)]) for move in moves]


def _body(scope: Scope, node_calls: NodeCalls) -> list[Call]:
    return [call for index in scope.plan.order for call in node_calls(scope, index)]


def _if(scope: Scope, index: int, node: Node, node_calls: NodeCalls) -> list[Call]:
    branches = []
    for body in scope.bodies[index]:
        calls = _body(body, node_calls)
        for output, result in zip(body.graph.outputs, node.outputs, strict=True):
            calls += _copy(scope, index, (body, output), (scope, result))
        branches.append(calls)
    then, otherwise = branches
    if otherwise:
        then = [*then, _call(scope, index, "Skip", {"skip": len(otherwise)})]
    return [_call(scope, index, "SkipUnless", {"skip": len(then)}, [scope.index(node.input)]), *then, *otherwise]


def _loop(scope: Scope, index: int, node: Node, node_calls: NodeCalls) -> list[Call]:
    (body,) = scope.bodies[index]
    operands = [scope.index(name) for name in node.inputs if name is not None]
    trips, condition, first = loop_operands(node.attributes)
    carried, limit = node.attributes["carried"], node.attributes["limit"]
    count = -1 if trips is None else operands[trips]
    counter = body.index(body.graph.inputs[0])
    outputs = list(body.graph.outputs)
    goes_on = body.index(outputs.pop(0)) if node.attributes["stops"] else -1

    before = []
    for initial, result in zip(node.inputs[first : first + carried], node.outputs[:carried], strict=True):
        assert initial is not None
        before += _copy(scope, index, (scope, initial), (scope, result))
    repeated = _body(body, node_calls)
    entries = zip(outputs[carried:], node.outputs[carried:], node.attributes["reversed"], strict=True)
    for entry, result, backwards in entries:
        record: Record = {"count": limit, "bytes": body.graph.tensors[entry].bytes, "backwards": int(backwards)}
        repeated.append(_call(scope, index, "StoreEntry", record, [body.index(entry), counter], [scope.index(result)]))
    for value, result in zip(outputs[:carried], node.outputs[:carried], strict=True):
        repeated += _copy(scope, index, (body, value), (scope, result))
    inside = len(repeated) + 1
    begin: Record = {"limit": limit, "skip": inside}
    return [
        *before,
        _call(scope, index, "BeginLoop", begin, [count, -1 if condition is None else operands[condition]], [counter]),
        *repeated,
        _call(scope, index, "RepeatLoop", {"limit": limit, "back": inside}, [count, goes_on], [counter]),
    ]
