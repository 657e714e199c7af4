"""Loops: written out iteration by iteration, or kept as a Loop of the IR.

A Scan is a loop like any other, whose body takes entry after entry from its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import onnx

from arenite.frontend.bodies import State, as_before, as_float, call_of, run_body
from arenite.frontend.node_import import NodeImport, Refused
from arenite.frontend.onnx_graph import live_nodes, reads
from arenite.frontend.values import Constant, Value
from arenite.graph import DType, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.graph.operators.control import UNLIMITED

if TYPE_CHECKING:
    from arenite.frontend.walk import Walk

UNROLLED_NODES = 256
"""Nodes of the IR that one loop may become. Beyond that the body is kept once: an interpreted node takes some hundred bytes of flash."""
EXAMINED_ITERATIONS = 4096
"""Of a loop whose end depends on a condition: so many are evaluated at conversion to find the end."""

Start = tuple[str, Quantization | None]
"""What a carried value begins as: a tensor that is not quantized, and the quantization that the value had."""


@dataclass(frozen=True)
class Repeated:
    """A Loop or a Scan."""

    body: onnx.GraphProto
    iteration: str = ""
    """Names of the body's inputs: the number of the iteration and the condition, for a Loop."""
    condition: str = ""
    carried: tuple[str, ...] = ()
    scanned: tuple[tuple[str, Value, int, bool], ...] = ()
    """For a Scan: input of the body, what it is an entry of, along which axis, whether from the end."""
    axes: tuple[int, ...] = ()
    """Of the scan outputs."""
    backwards: tuple[bool, ...] = ()

    @property
    def first(self) -> int:
        """The body's first output that is carried."""
        return 1 if self.condition else 0

    def unchanged(self) -> set[int]:
        """Carried values that every iteration hands on as they are: weights, in loops that come from TensorFlow."""
        same = {node.output[0]: node.input[0] for node in self.body.node if node.op_type == "Identity"}
        found = set()
        for j, name in enumerate(self.carried):
            output = self.body.output[self.first + j].name
            while output in same:
                output = same[output]
            if output == name:
                found.add(j)
        return found

    def bound(self, walk: Walk, call: NodeImport, number: Value, carried: Sequence[Value]) -> dict[str, Value]:
        """The values of the body's inputs in the iteration with this number."""
        values: dict[str, Value] = dict(zip(self.carried, carried, strict=True))
        if self.condition:
            values[self.iteration] = number
            values[self.condition] = Constant(self.condition, np.asarray(True))
        for name, x, axis, from_end in self.scanned:
            values[name] = entry(walk, call, name, x, axis, number, from_end)
        return values


def entry(walk: Walk, call: NodeImport, name: str, x: Value, axis: int, number: Value, from_end: bool) -> Value:
    if isinstance(number, Constant):
        size = call.shape(x)[axis]
        k = int(number.array)
        k = size - 1 - k if from_end else k
        if isinstance(x, Constant):
            return Constant(f"{x.name}[{k}]", np.take(x.array, k, axis))
        shape = call.graph.tensors[x].shape
        starts = tuple(k if d == axis else 0 for d in range(len(shape)))
        sizes = tuple(1 if d == axis else n for d, n in enumerate(shape))
        slice_ = call.emit("Slice", [x], starts=starts, steps=(1,) * len(shape), sizes=sizes)
        return call.reshape(slice_, (*shape[:axis], *shape[axis + 1 :]))
    source = call.add_constant(call.typed(x)) if isinstance(x, Constant) else walk.captured(x)
    size = call.graph.tensors[source].shape[axis]
    index = number
    if from_end:
        last = call.add_constant(Constant(f"{name}/last", np.asarray(size - 1, np.int64)))
        index = call.emit("Sub", [last, number], clip=UNBOUNDED)
    return call.results("Gather", [source, index], axis=axis)[0]


def trip_count(walk: Walk, repeated: Repeated, trips: Value | None, condition: Value | None, initial: Sequence[Value]) -> int | None:
    """How many iterations a Loop makes, where that is known: what its condition depends on is evaluated, iteration by iteration."""
    if isinstance(trips, str) or isinstance(condition, str):
        return None
    limit = UNLIMITED if trips is None else max(0, int(np.asarray(trips.array).reshape(-1)[0]))
    if condition is not None and not bool(np.asarray(condition.array).reshape(-1)[0]):
        return 0
    body = repeated.body
    goes_on = body.output[0].name
    needed = _needed(repeated, goes_on)
    read = _read(body, {goes_on, *(body.output[1 + j].name for j in needed)})
    state = State.of(walk)
    try:
        values: dict[int, Value] = {j: initial[j] for j in needed}
        for number in range(min(limit, EXAMINED_ITERATIONS)):
            result, values = _examined(walk, repeated, number, values)
            if not isinstance(result, Constant):
                return None
            if not bool(np.asarray(result.array).reshape(-1)[0]):
                return number + 1
            if not needed and repeated.iteration not in read:
                return limit if limit < UNLIMITED else None  # the condition is always the same
    except Refused:
        return None
    finally:
        state.restore()
    return limit if limit <= EXAMINED_ITERATIONS else None


def _read(body: onnx.GraphProto, wanted: set[str]) -> set[str]:
    """All names that the computation of `wanted` reads, and they themselves."""
    return wanted | {name for node in live_nodes(body.node, list(wanted)) for name in reads(node)}


def _needed(repeated: Repeated, goes_on: str) -> list[int]:
    """The carried values on which the condition depends, in this iteration or a later one."""
    needed: set[int] = set()
    while True:
        read = _read(repeated.body, {goes_on, *(repeated.body.output[1 + j].name for j in needed)})
        found = {j for j, name in enumerate(repeated.carried) if name in read}
        if found <= needed:
            return sorted(needed)
        needed |= found


def _examined(walk: Walk, repeated: Repeated, number: int, values: Mapping[int, Value]) -> tuple[Value, dict[int, Value]]:
    """The condition behind an iteration, and the carried values that later conditions depend on."""
    part = onnx.GraphProto()
    part.CopyFrom(repeated.body)
    del part.output[:]
    part.output.extend([repeated.body.output[0], *(repeated.body.output[1 + j] for j in values)])
    bound: dict[str, Value] = {repeated.carried[j]: value for j, value in values.items()}
    bound[repeated.iteration] = Constant(repeated.iteration, np.asarray(number, np.int64))
    bound[repeated.condition] = Constant(repeated.condition, np.asarray(True))
    result, *following = run_body(walk, part, bound, f"[{number}]")
    return result, dict(zip(values, following, strict=True))


def iterate(walk: Walk, node: onnx.NodeProto, name: str, repeated: Repeated, count: int, initial: Sequence[Value]) -> Sequence[Value]:
    """A loop of `count` iterations: written out, or kept where that would be too long."""
    call = call_of(walk, node, name)
    if count == 0 and repeated.axes:
        call.refuse("it makes no iteration, so that its scan outputs have no elements", "remove the node")
    state = State.of(walk)
    carried = list(initial)
    entries: list[list[Value]] = [[] for _ in repeated.axes]
    for k in range(count):
        number = Constant(repeated.iteration or f"{name}/iteration", np.asarray(k, np.int64))
        inner = call_of(walk, node, f"{name}[{k}]")
        inner.outputs = tuple(f"{output}[{k}]" if output else "" for output in inner.outputs)
        results = run_body(walk, repeated.body, repeated.bound(walk, inner, number, carried), f"[{k}]")[repeated.first :]
        carried = results[: len(carried)]
        for list_, value in zip(entries, results[len(carried) :], strict=True):
            list_.append(value)
        if (len(walk.graph.nodes) - state.nodes) * count > UNROLLED_NODES * (k + 1):
            state.restore()
            return keep(walk, node, name, repeated, Constant("", np.asarray(count, np.int64)), None, initial, always=True)
    scanned = [
        stacked(call, list_[::-1] if backwards else list_, axis)
        for list_, axis, backwards in zip(entries, repeated.axes, repeated.backwards, strict=True)
    ]
    return [*carried, *scanned]


def stacked(call: NodeImport, entries: list[Value], axis: int) -> Value:
    """The entries along a new axis."""
    rank = len(call.shape(entries[0])) + 1
    axis = call.axis(axis, rank)
    if all(isinstance(entry, Constant) for entry in entries):
        arrays = [np.asarray(cast("Constant", entry).array) for entry in entries]
        return Constant(call.outputs[0] if call.outputs else call.name, np.stack(arrays, axis))
    parts = []
    for entry in entries:
        part = _plain(call, call, entry)
        shape = call.graph.tensors[part].shape
        if shape != call.shape(entries[0]):
            call.refuse(f"its iterations give {list(call.shape(entries[0]))} and {list(shape)}", "let every iteration give one shape")
        parts.append(call.reshape(part, (*shape[:axis], 1, *shape[axis:])))
    return parts[0] if len(parts) == 1 else call.emit("Concat", parts, axis=axis)


def keep(
    walk: Walk,
    node: onnx.NodeProto,
    name: str,
    repeated: Repeated,
    trips: Value | None,
    condition: Value | None,
    initial: Sequence[Value],
    always: bool = False,
) -> Sequence[Value]:
    """A Loop of the IR. `always`: its condition is known to be true until it has made `trips` iterations."""
    call = call_of(walk, node, name)
    child = walk.child(f"{name}/body")
    inner = call_of(child, node, f"{name}/body")
    fixed = repeated.unchanged()
    starts = {j: as_float(call, value) for j, value in enumerate(initial) if j not in fixed}
    number = child.graph.add(Tensor(repeated.iteration or "iteration", _iteration_shape(repeated), DType.INT64)).name
    child.graph.inputs.append(number)
    carried = []
    for j, value in enumerate(initial):
        if j in fixed:
            carried.append(child.captured_value(value) if isinstance(value, str) else value)
        else:
            carried.append(_carried_input(walk, child, inner, repeated.carried[j], starts[j]))
    results = run_body(child, repeated.body, repeated.bound(child, inner, number, carried), "")
    stops = False
    outputs: list[str] = []
    if repeated.first:
        goes_on, results = results[0], results[1:]
        stops = not always and not _is_true(goes_on)
        outputs += [as_float(inner, goes_on)[0]] if stops else []
    outputs += [_carried_output(walk, call, inner, repeated.carried[j], start, results[j]) for j, start in starts.items()]
    entries = results[len(initial) :]
    outputs += [_plain(call, inner, entry) for entry in entries]
    limit = UNLIMITED
    if isinstance(trips, Constant):
        limit = min(UNLIMITED, max(0, int(np.asarray(trips.array).reshape(-1)[0])))
    condition = None if condition is not None and _is_true(condition) else condition
    if entries and (stops or isinstance(trips, str) or condition is not None or limit == UNLIMITED):
        call.refuse(
            f"its scan output {node.output[len(initial)]} has an entry for every iteration, and their number is only known at run time",
            "make the trip count and the condition constants (--bind), or write into a carried tensor of fixed shape",
        )
    if not starts and not entries:
        # Every value is handed on unchanged: whatever it repeats has no effect.
        at = len(walk.graph.nodes)
        return [walk.named(at, value, output) for value, output in zip(initial, call.outputs, strict=False)]
    child.graph.inputs = [name for name in child.graph.inputs if name not in child.captures.values()] + list(child.captures.values())
    child.graph.outputs = outputs
    operands: list[str] = [trips] if isinstance(trips, str) else []
    operands += [as_float(call, condition)[0]] if condition is not None else []
    at = len(walk.graph.nodes)
    given = call.results(
        "Loop",
        [*operands, *(start for start, _ in starts.values()), *child.captures],
        bodies=(child.graph,),
        counted=isinstance(trips, str),
        conditional=condition is not None,
        stops=stops,
        carried=len(starts),
        limit=limit,
        reversed=repeated.backwards,
    )
    values = list(initial)
    for (j, (_, quantization)), value in zip(starts.items(), given, strict=False):
        values[j] = as_before(call, value, quantization)
    for value, axis in zip(given[len(starts) :], repeated.axes, strict=True):
        rank = len(walk.graph.tensors[value].shape)
        axis = call.axis(axis, rank)
        values.append(call.transpose(value, [*range(1, axis + 1), 0, *range(axis + 1, rank)]))
    return [walk.named(at, value, output) for value, output in zip(values, call.outputs, strict=False)]


def _is_true(value: Value) -> bool:
    return isinstance(value, Constant) and bool(np.asarray(value.array).reshape(-1)[0])


def _carried_input(walk: Walk, child: Walk, inner: NodeImport, name: str, start: Start) -> str:
    """What the body reads as `name`: an input of its graph, quantized again where the value that it begins with is."""
    tensor = walk.graph.tensors[start[0]]
    inside = child.graph.add(Tensor(name, tensor.shape, tensor.dtype)).name
    child.graph.inputs.append(inside)
    return as_before(inner, inside, start[1])


def _carried_output(walk: Walk, call: NodeImport, inner: NodeImport, name: str, start: Start, value: Value) -> str:
    result, quantization = as_float(inner, value)
    a, b = walk.graph.tensors[start[0]], inner.graph.tensors[result]
    if (a.shape, a.dtype) != (b.shape, b.dtype) or not (quantization is None or start[1] is None or quantization.same_as(start[1])):
        call.refuse(
            f"{name} begins as {a.dtype.value}{list(a.shape)} and becomes {b.dtype.value}{list(b.shape)}",
            "let what is carried from iteration to iteration keep its shape and type, or make the number of iterations a constant",
        )
    return result


def _plain(call: NodeImport, inner: NodeImport, value: Value) -> str:
    result, quantization = as_float(inner, value)
    if quantization is not None:
        call.refuse("its scan output has int8 elements", "put DequantizeLinear in front of what the body gives")
    return result


def _iteration_shape(repeated: Repeated) -> tuple[int, ...]:
    """One element; some exporters give it a dimension."""
    for info in repeated.body.input[:1] if repeated.iteration else ():
        return (1,) * len(info.type.tensor_type.shape.dim)
    return ()
