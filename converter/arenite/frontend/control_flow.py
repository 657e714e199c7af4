"""If, Loop and Scan.

What is known at conversion disappears: an If with a constant condition becomes its branch, a loop with a known number of iterations is
written out, up to UNROLLED_NODES nodes. What is not becomes an If or Loop of the IR, whose bodies are graphs of their own: what they read
from outside becomes an input of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from arenite.frontend.bodies import as_before, as_float, attributes_of, call_of, known_types, run_body
from arenite.frontend.loops import UNROLLED_NODES, Repeated, entry, iterate, keep, stacked, trip_count
from arenite.frontend.node_import import NodeImport, Refused
from arenite.frontend.values import Constant, Value
from arenite.graph import DType

if TYPE_CHECKING:
    from arenite.frontend.walk import Walk


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
    return keep(walk, node, name, repeated, trips, condition, initial)


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
        part = [entry(walk, call, name, v, 0, Constant(name, np.asarray(sample)), False) for v in values]
        entries = [(v, 0, end) for v, end in zip(part[carried:], from_end, strict=True)]
        outputs = len(body.output) - carried
        per_sample.append(_scan(walk, node, f"{name}[{sample}]", body, part[:carried], entries, [0] * outputs, [False] * outputs))
    return [stacked(call, list(results), 0) for results in zip(*per_sample, strict=True)]


@dataclass(frozen=True)
class ControlFlow:
    convert: Callable[[Walk, onnx.NodeProto, str, Sequence[Value | None]], Sequence[Value]]
    notes: str = ""
    """What is supported, for `arenite operators`."""
    becomes: tuple[str, ...] = ()
    """Operators of the IR, where it is not static."""


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
