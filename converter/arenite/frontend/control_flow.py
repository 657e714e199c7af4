"""If, Loop and Scan.

What is known at conversion disappears: an If with a constant condition becomes its branch, a loop with a known number of iterations is
written out, iteration by iteration, up to UNROLLED_NODES nodes. What is not becomes an If or Loop of the IR, whose bodies are graphs of
their own: what they read from outside becomes an input of theirs. Scan has no operator of the IR; it is a Loop whose body takes entry
after entry from its inputs.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import onnx
from onnx import helper

from arenite.frontend.node_import import NodeImport, Refused
from arenite.frontend.values import Constant, Operand, Unknown, Value
from arenite.graph import DType, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.graph.operators.control import UNLIMITED

if TYPE_CHECKING:
    from arenite.frontend.graph_import import Walk

UNROLLED_NODES = 256
"""Nodes of the IR that one loop may become. Beyond that the body is kept once: an interpreted node takes some hundred bytes of flash."""
EXAMINED_ITERATIONS = 4096
"""Of a loop whose end depends on a condition: so many are evaluated at conversion to find the end."""

Shape = tuple[int, ...]


# Bodies


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def call_of(walk: Walk, node: onnx.NodeProto, name: str, operands: Sequence[Operand | None] = ()) -> NodeImport:
    """For emitting nodes that belong to `node`."""
    outputs = tuple(output + walk.suffix if output else "" for output in node.output)
    opset = walk.opsets.get("", 1)
    return NodeImport(
        walk.file,
        walk.graph,
        name + walk.suffix,
        node.op_type,
        opset,
        tuple(operands),
        attributes_of(node),
        outputs,
        walk.used,
        (),
        walk.problems,
    )


def known_types(walk: Walk, body: onnx.GraphProto) -> None:
    """Note what shape inference knows of a body's values."""
    for info in (*body.value_info, *body.input, *body.output):
        walk.types.setdefault(info.name, info.type.tensor_type.elem_type)


def run_body(walk: Walk, body: onnx.GraphProto, bound: Mapping[str, Value], suffix: str) -> list[Value]:
    """Import a body's nodes into the graph of `walk`; tensors and nodes get `suffix` behind their names. Raises Refused."""
    values, outer = walk.values, walk.suffix
    problems = len(walk.problems)
    walk.values, walk.suffix = ChainMap(dict(bound), cast("dict[str, Operand]", values)), outer + suffix
    try:
        walk.constants(body.initializer)
        outputs = [output.name for output in body.output]
        walk.nodes(body.node, outputs)
        results = [walk.lookup(output) for output in outputs]
    finally:
        walk.values, walk.suffix = values, outer
    if len(walk.problems) > problems or any(isinstance(value, Unknown) for value in results):
        raise Refused
    return cast("list[Value]", results)


def as_float(call: NodeImport, value: Value) -> tuple[str, Quantization | None]:
    """A value as a tensor that is not quantized, and the quantization that it had."""
    if isinstance(value, Constant):
        if 0 in value.array.shape:
            call.refuse(f"{value.name} has the shape {list(value.array.shape)}: no elements", "start from a value that has elements")
        return call.add_constant(call.typed(Constant(value.name, value.array))), None
    tensor = call.graph.tensors[value]
    if tensor.dtype is DType.INT8 and tensor.quantization is not None:
        return call.emit("Dequantize", [value]), tensor.quantization
    return value, None


def as_before(call: NodeImport, name: str, quantization: Quantization | None) -> str:
    return name if quantization is None else call.emit("Quantize", [name], dtype=DType.INT8, quantization=quantization)


@dataclass(frozen=True)
class State:
    """What importing a part has to restore where it turns out to be the wrong way."""

    walk: Walk
    nodes: int
    tensors: dict[str, Tensor]
    inputs: list[str]
    captures: dict[str, str]
    problems: int

    @classmethod
    def of(cls, walk: Walk) -> State:
        graph = walk.graph
        return cls(walk, len(graph.nodes), dict(graph.tensors), list(graph.inputs), dict(walk.captures), len(walk.problems))

    def restore(self) -> None:
        graph = self.walk.graph
        del graph.nodes[self.nodes :]
        del self.walk.problems[self.problems :]
        graph.tensors, graph.inputs, self.walk.captures = dict(self.tensors), list(self.inputs), dict(self.captures)


# If


def if_(walk: Walk, node: onnx.NodeProto, name: str, operands: Sequence[Value | None]) -> Sequence[Value]:
    attributes = attributes_of(node)
    branches: list[onnx.GraphProto] = [attributes["then_branch"], attributes["else_branch"]]
    condition = operands[0]
    for branch in branches:
        known_types(walk, branch)
    if isinstance(condition, Constant):
        return run_body(walk, branches[0 if bool(np.asarray(condition.array).reshape(-1)[0]) else 1], {}, "")
    call = call_of(walk, node, name, operands)
    if walk.graph.tensors[call.tensor(0)].elements != 1:
        call.refuse(f"the condition has the shape {list(walk.graph.tensors[call.tensor(0)].shape)}", "use a condition of one element")
    children, quantizations, problems = [], [], len(walk.problems)
    for which, branch in zip(("then", "else"), branches, strict=True):
        child = walk.child(f"{name}/{which}")
        inner = call_of(child, node, f"{name}/{which}")
        try:
            results = [as_float(inner, value) for value in run_body(child, branch, {}, "")]
        except Refused:
            continue  # after a look at the other one
        child.graph.outputs = [result for result, _ in results]
        children.append(child)
        quantizations.append([quantization for _, quantization in results])
    if len(walk.problems) > problems or len(children) < len(branches):
        raise Refused
    for output, then, otherwise in zip(node.output, *(child.graph.outputs for child in children), strict=True):
        a, b = children[0].graph.tensors[then], children[1].graph.tensors[otherwise]
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            call.refuse(
                f"{output} is {a.dtype.value}{list(a.shape)} in one branch and {b.dtype.value}{list(b.shape)} in the other, and which one "
                "is taken is only known at run time",
                "let both branches give the same shape and type, or make the condition a constant (--bind, or fixed input shapes)",
            )
    captured = list(dict.fromkeys(outer for child in children for outer in child.captures))
    for child in children:
        child.graph.inputs = [child.captured(outer) for outer in captured]
    bodies = tuple(child.graph for child in children)
    at = len(walk.graph.nodes)
    results_of_node = call.results("If", [call.tensor(0), *captured], bodies=bodies)
    kept = [a if b is None or (a is not None and a.same_as(b)) else None for a, b in zip(*quantizations, strict=True)]
    return [walk.named(at, as_before(call, v, q), o) for v, q, o in zip(results_of_node, kept, call.outputs, strict=True)]


# Loops


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

    def bound(self, walk: Walk, call: NodeImport, number: Value, carried: Sequence[Value]) -> dict[str, Value]:
        """The values of the body's inputs in the iteration with this number."""
        values: dict[str, Value] = dict(zip(self.carried, carried, strict=True))
        if self.condition:
            values[self.iteration] = number
            values[self.condition] = Constant(self.condition, np.asarray(True))
        for name, x, axis, from_end in self.scanned:
            values[name] = _entry(walk, call, name, x, axis, number, from_end)
        return values


def _entry(walk: Walk, call: NodeImport, name: str, x: Value, axis: int, number: Value, from_end: bool) -> Value:
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


def loop(walk: Walk, node: onnx.NodeProto, name: str, operands: Sequence[Value | None]) -> Sequence[Value]:
    body: onnx.GraphProto = attributes_of(node)["body"]
    call = call_of(walk, node, name, operands)
    known_types(walk, body)
    _refuse_sequences(walk, call, body)
    initial = [call.value(i) for i in range(2, len(operands))]
    names = [info.name for info in body.input]
    count = len(body.output) - 1 - len(initial)
    if len(names) != 2 + len(initial) or count < 0:
        call.malformed(f"{len(initial)} values are given, the body takes {len(names) - 2} and gives {len(body.output) - 1}")
    repeated = Repeated(body, names[0], names[1], tuple(names[2:]), axes=(0,) * count, backwards=(False,) * count)
    trips, condition = operands[0], operands[1] if len(operands) > 1 else None
    static = trip_count(walk, repeated, trips, condition, initial)
    if static is not None:
        return iterate(walk, node, name, repeated, static, initial)
    return _kept(walk, node, name, repeated, trips, condition, initial)


def _refuse_sequences(walk: Walk, call: NodeImport, body: onnx.GraphProto) -> None:
    for info in (*body.input, *body.output):
        if info.type.WhichOneof("value") not in (None, "tensor_type"):
            call.refuse(
                f"{info.name} is a {str(info.type.WhichOneof('value')).removesuffix('_type')}, of no fixed shape",
                "carry tensors of one shape from iteration to iteration",
            )


def scan(walk: Walk, node: onnx.NodeProto, name: str, operands: Sequence[Value | None]) -> Sequence[Value]:
    attributes = attributes_of(node)
    body: onnx.GraphProto = attributes["body"]
    call = call_of(walk, node, name, operands)
    known_types(walk, body)
    scanned = int(attributes["num_scan_inputs"])
    if call.opset < 9:
        return _scan_of_batches(walk, node, name, call, body, scanned)
    values = [call.value(i) for i in range(len(operands))]
    carried = len(values) - scanned
    outputs = len(body.output) - carried
    if carried < 0 or outputs < 0 or len(body.input) != len(values):
        call.malformed(f"{len(values)} operands, {scanned} of them scanned, do not fit a body of {len(body.input)} inputs")
    axes = [
        call.axis(int(a), len(call.shape(v))) for a, v in zip(_each(attributes, "scan_input_axes", scanned), values[carried:], strict=True)
    ]
    from_end = [bool(d) for d in _each(attributes, "scan_input_directions", scanned)]
    return _scan(
        walk,
        node,
        name,
        body,
        values[:carried],
        list(zip(values[carried:], axes, from_end, strict=True)),
        _each(attributes, "scan_output_axes", outputs),
        [bool(d) for d in _each(attributes, "scan_output_directions", outputs)],
    )


def _each(attributes: Mapping[str, Any], name: str, count: int) -> list[int]:
    return [int(v) for v in attributes.get(name, [0] * count)]


def _scan(
    walk: Walk,
    node: onnx.NodeProto,
    name: str,
    body: onnx.GraphProto,
    initial: Sequence[Value],
    scanned: Sequence[tuple[Value, int, bool]],
    axes: Sequence[int],
    backwards: Sequence[bool],
) -> Sequence[Value]:
    call = call_of(walk, node, name)
    for x, _, _ in scanned:
        if isinstance(x, str) and walk.graph.tensors[x].dtype is DType.INT8 and walk.graph.tensors[x].quantization is not None:
            call.refuse(f"it scans int8 elements of {x}", "put DequantizeLinear in front of the node and QuantizeLinear into its body")
    sizes = {call.shape(x)[axis] for x, axis, _ in scanned}
    if len(sizes) != 1:
        call.malformed(f"the scanned inputs have {sorted(sizes)} entries")
    names = [info.name for info in body.input]
    entries = tuple((n, x, axis, end) for n, (x, axis, end) in zip(names[len(initial) :], scanned, strict=True))
    repeated = Repeated(body, carried=tuple(names[: len(initial)]), scanned=entries, axes=tuple(axes), backwards=tuple(backwards))
    return iterate(walk, node, name, repeated, sizes.pop(), initial)


def _scan_of_batches(walk: Walk, node: onnx.NodeProto, name: str, call: NodeImport, body: onnx.GraphProto, scanned: int) -> Sequence[Value]:
    """Opset 8: every operand has a batch dimension in front, entries follow along dimension 1."""
    if call.has(0):
        call.refuse("sequence_lens is given", "scan sequences of one length: leave out sequence_lens")
    values = [call.value(i) for i in range(1, len(call.inputs))]
    carried = len(values) - scanned
    from_end = [bool(d) for d in _each(attributes_of(node), "directions", scanned)]
    batch = call.shape(values[0])[0]
    per_sample = []
    for sample in range(batch):
        part = [_entry(walk, call, name, v, 0, Constant(name, np.asarray(sample)), False) for v in values]
        entries = [(v, 0, end) for v, end in zip(part[carried:], from_end, strict=True)]
        outputs = len(body.output) - carried
        per_sample.append(_scan(walk, node, f"{name}[{sample}]", body, part[:carried], entries, [0] * outputs, [False] * outputs))
    return [_stacked(call, list(results), 0) for results in zip(*per_sample, strict=True)]


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
    from arenite.frontend.graph_import import live_nodes, reads

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
            return _kept(walk, node, name, repeated, Constant("", np.asarray(count, np.int64)), None, initial, always=True)
    scanned = [
        _stacked(call, list_[::-1] if backwards else list_, axis)
        for list_, axis, backwards in zip(entries, repeated.axes, repeated.backwards, strict=True)
    ]
    return [*carried, *scanned]


def _stacked(call: NodeImport, entries: list[Value], axis: int) -> Value:
    """The entries along a new axis."""
    rank = len(call.shape(entries[0])) + 1
    axis = call.axis(axis, rank)
    if all(isinstance(entry, Constant) for entry in entries):
        arrays = [np.asarray(cast("Constant", entry).array) for entry in entries]
        return Constant(call.outputs[0] if call.outputs else call.name, np.stack(arrays, axis))
    parts = []
    for entry in entries:
        part, quantization = as_float(call, entry)
        if quantization is not None:
            call.refuse("its scan output has int8 elements", "put DequantizeLinear in front of what the body gives")
        shape = call.graph.tensors[part].shape
        if shape != call.shape(entries[0]):
            call.refuse(f"its iterations give {list(call.shape(entries[0]))} and {list(shape)}", "let every iteration give one shape")
        parts.append(call.reshape(part, (*shape[:axis], 1, *shape[axis:])))
    return parts[0] if len(parts) == 1 else call.emit("Concat", parts, axis=axis)


def _kept(
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
    starts = [as_float(call, value) for value in initial]
    number = child.graph.add(Tensor(repeated.iteration or "iteration", _iteration_shape(repeated), DType.INT64)).name
    child.graph.inputs.append(number)
    carried: list[Value] = []
    for body_name, (start, quantization) in zip(repeated.carried, starts, strict=True):
        tensor = walk.graph.tensors[start]
        inside = child.graph.add(Tensor(body_name, tensor.shape, tensor.dtype)).name
        child.graph.inputs.append(inside)
        carried.append(as_before(inner, inside, quantization))
    own = len(child.graph.inputs)
    results = run_body(child, repeated.body, repeated.bound(child, inner, number, carried), "")
    stops = False
    outputs: list[str] = []
    if repeated.first:
        goes_on, results = results[0], results[1:]
        stops = not always and not (isinstance(goes_on, Constant) and bool(np.asarray(goes_on.array).reshape(-1)[0]))
        outputs += [as_float(inner, goes_on)[0]] if stops else []
    for value, (start, quantization), body_name in zip(results, starts, repeated.carried, strict=False):
        result, ends = as_float(inner, value)
        a, b = walk.graph.tensors[start], child.graph.tensors[result]
        if (a.shape, a.dtype) != (b.shape, b.dtype) or not (ends is None or quantization is None or ends.same_as(quantization)):
            call.refuse(
                f"{body_name} begins as {a.dtype.value}{list(a.shape)} and becomes {b.dtype.value}{list(b.shape)}",
                "let what is carried from iteration to iteration keep its shape and type, or make the number of iterations a constant",
            )
        outputs.append(result)
    entries = results[len(starts) :]
    limit = UNLIMITED
    counted = isinstance(trips, str)
    if isinstance(trips, Constant):
        limit = min(UNLIMITED, max(0, int(np.asarray(trips.array).reshape(-1)[0])))
    if isinstance(condition, Constant) and bool(np.asarray(condition.array).reshape(-1)[0]):
        condition = None
    if entries and (stops or counted or condition is not None or limit == UNLIMITED):
        call.refuse(
            f"its scan output {node.output[len(starts)]} has an entry for every iteration, and their number is only known at run time",
            "make the trip count and the condition constants (--bind), or write into a carried tensor of fixed shape",
        )
    for value in entries:
        entry, quantization = as_float(inner, value)
        if quantization is not None:
            call.refuse("its scan output has int8 elements", "put DequantizeLinear in front of what the body gives")
        outputs.append(entry)
    child.graph.outputs = outputs
    assert child.graph.inputs[own:] == [child.captured(outer) for outer in child.captures]
    operands: list[str] = [trips] if isinstance(trips, str) else []
    operands += [as_float(call, condition)[0]] if condition is not None else []
    at = len(walk.graph.nodes)
    given = call.results(
        "Loop",
        [*operands, *(start for start, _ in starts), *child.captures],
        bodies=(child.graph,),
        counted=counted,
        conditional=condition is not None,
        stops=stops,
        carried=len(starts),
        limit=limit,
        reversed=repeated.backwards,
    )
    values = [as_before(call, value, quantization) for value, (_, quantization) in zip(given, starts, strict=False)]
    for value, axis in zip(given[len(starts) :], repeated.axes, strict=True):
        rank = len(walk.graph.tensors[value].shape)
        axis = call.axis(axis, rank)
        values.append(call.transpose(value, [*range(1, axis + 1), 0, *range(axis + 1, rank)]))
    return [walk.named(at, value, output) for value, output in zip(values, call.outputs, strict=False)]


def _iteration_shape(repeated: Repeated) -> Shape:
    """One element; some exporters give it a dimension."""
    for info in repeated.body.input[:1] if repeated.iteration else ():
        return (1,) * len(info.type.tensor_type.shape.dim)
    return ()


@dataclass(frozen=True)
class ControlFlow:
    convert: Callable[[Walk, onnx.NodeProto, str, Sequence[Value | None]], Sequence[Value]]
    notes: str = ""
    """What is supported, for `arenite operators`."""
    becomes: tuple[str, ...] = field(default=())


CONTROL_FLOW = {
    "If": ControlFlow(if_, "a constant condition leaves its branch; else both branches, of the same shapes, are kept", ("If",)),
    "Loop": ControlFlow(
        loop,
        f"a known number of iterations is written out, up to {UNROLLED_NODES} nodes; else the body is kept: carried values of fixed shape, "
        "scan outputs where the number of iterations is constant",
        ("Loop",),
    ),
    "Scan": ControlFlow(scan, f"written out up to {UNROLLED_NODES} nodes, else the body is kept; no sequence_lens (opset 8)", ("Loop",)),
}
"""By ONNX operator."""
