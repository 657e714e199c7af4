"""The verifier: what every graph satisfies, at every stage. It runs after the frontend and after every pass.

It checks names (SSA, topological order), the operators against their declarations (operands, attributes, shapes, element types) and,
for nodes of the int8 form, that the declared record can be built.
"""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph.graph import Graph
from arenite.graph.node import Node
from arenite.graph.operators import OPERATORS, Operator
from arenite.graph.tensor import DType, Tensor

_GIVEN_SHAPE = ("StridedCopy", "Fill")
"""Their shapes follow from a memory plan, not from operands."""
_STEPS = {"int8": DType.INT8, "int16_steps": DType.INT16, "int32_steps": DType.INT32}
"""What Quantize makes of float32 and Dequantize reads, by variant."""
_BROADCASTING = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Mod")
_VECTORS_FROM = {"Conv": 2, "DepthwiseConv": 2, "FullyConnected": 2, "BatchNormalization": 1}
"""The operand from which on each has one value an output channel."""
_DROPPED = ("clip", "expression")
"""Attributes that the int8 form replaces by parameters."""


class VerificationError(ValueError):
    """A graph is malformed: an error in the converter, not in the user's model."""


def verify(graph: Graph) -> None:
    """Check a graph. Raises VerificationError naming the graph, the node and the numbers that do not fit."""
    try:
        _verify_names(graph)
        for node in graph.nodes:
            _verify_node(graph, node)
    except VerificationError as error:
        raise VerificationError(f"graph {graph.name}: {error}") from None


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise VerificationError(message)


def _label(node: Node) -> str:
    return f"{node.name} ({node.op})"


def _verify_names(graph: Graph) -> None:
    for name, tensor in graph.tensors.items():
        _require(name == tensor.name, f"the tensor named {tensor.name} is filed as {name}")
        _require(tensor.elements > 0, f"tensor {name} of shape {tensor.shape} has no elements")
        if tensor.dtype is DType.INT8 and not tensor.is_constant and tensor.quantization is not None:
            _require(tensor.quantization.is_per_tensor, f"int8 tensor {name} is quantized per channel")
    for kind, names in (("input", graph.inputs), ("output", graph.outputs)):
        for name in names:
            _require(name in graph.tensors, f"{kind} {name} has no tensor")
    _require(len(set(graph.inputs)) == len(graph.inputs), f"an input is listed twice: {graph.inputs}")
    for name in graph.io_dtypes:
        _require(name in graph.inputs or name in graph.outputs, f"io_dtypes names {name}, which is neither input nor output")
    defined = {name for name, tensor in graph.tensors.items() if tensor.is_constant}
    for name in graph.inputs:
        _require(name not in defined, f"input {name} is a constant")
    defined.update(graph.inputs)
    written: dict[str, Node] = {}
    for node in graph.nodes:
        for operand in node.inputs:
            if operand is not None:
                _require(operand in graph.tensors, f"{_label(node)} reads {operand}, which does not exist")
                _require(operand in defined, f"{_label(node)} reads {operand} before any node has written it")
        for name in node.outputs:
            _require(name in graph.tensors, f"{_label(node)} writes {name}, which does not exist")
            _require(
                name not in written, f"{_label(node)} writes {name}, which {_label(written[name]) if name in written else ''} writes too"
            )
            _require(name not in defined, f"{_label(node)} writes {name}, which is an input or a constant")
            written[name] = node
        defined.update(node.outputs)
    for name in graph.outputs:
        _require(name in defined, f"no node writes the output {name}")
    _verify_states(graph)


def _verify_states(graph: Graph) -> None:
    ends = [end for state in graph.states for end in (state.output, state.input)]
    _require(len(set(ends)) == len(ends), f"a tensor is in two states: {ends}")
    for state in graph.states:
        _require(state.input in graph.inputs, f"the state {state.input} is no input")
        _require(state.output in graph.outputs, f"the state's output {state.output} is no output")
        source, target = graph.tensors[state.output], graph.tensors[state.input]
        _require(
            (source.shape, source.dtype) == (target.shape, target.dtype),
            f"the state {state.input} is {target.dtype.value}{target.shape}, its output {state.output} {source.dtype.value}{source.shape}",
        )


def _verify_node(graph: Graph, node: Node) -> None:
    operator = OPERATORS.get(node.op)
    if operator is None:
        raise VerificationError(f"{_label(node)}: no such operator")
    inputs = [None if name is None else graph.tensors[name] for name in node.inputs]
    output = graph.tensors[node.output]
    stored = "variant" in node.attributes
    _verify_operands(node, operator, inputs, stored)
    _verify_attributes(node, operator, stored)
    if operator.results is None:
        _require(len(node.outputs) == 1, f"{_label(node)} has {len(node.outputs)} outputs instead of 1")
        _verify_types(node, inputs, output)
        if node.op not in _GIVEN_SHAPE:
            _verify_shape(node, operator, inputs, output, stored)
    else:
        _verify_results(node, operator, inputs, [graph.tensors[name] for name in node.outputs])
    if node.attributes.get("variant") in ("int8", "wide", "int4"):
        for tensor in (*inputs, output):
            if tensor is not None and tensor.dtype is DType.INT8 and not tensor.is_constant:
                _require(tensor.quantization is not None, f"{_label(node)}: int8 tensor {tensor.name} has no scale")
    for body in node.bodies:
        verify(body)
    if stored:
        _verify_record(node, operator, inputs, [graph.tensors[name] for name in node.outputs])


def _verify_operands(node: Node, operator: Operator, inputs: Sequence[Tensor | None], stored: bool) -> None:
    operands = operator.inputs
    if stored and node.attributes["variant"] in operator.all_variants:
        operands = operator.form(node.attributes["variant"]).stored or operator.inputs
    if operands and operands[-1].name.endswith("…"):
        _require(len(inputs) > 0 and None not in inputs, f"{_label(node)} has an absent operand")
        return
    _require(len(inputs) <= len(operands), f"{_label(node)} has {len(inputs)} operands, at most {len(operands)} are declared")
    for index, operand in enumerate(operands):
        tensor = inputs[index] if index < len(inputs) else None
        if tensor is None:
            _require(operand.optional, f"{_label(node)}: operand {operand.name} is absent")
        elif operand.constant:
            _require(tensor.is_constant, f"{_label(node)}: operand {operand.name}, {tensor.name}, is not constant")


def _verify_attributes(node: Node, operator: Operator, stored: bool) -> None:
    for attribute in operator.attributes:
        if not (stored and attribute.name in _DROPPED):
            _require(attribute.name in node.attributes, f"{_label(node)}: attribute {attribute.name} is missing")
    a = node.attributes
    for name, least in (("strides", 1), ("dilations", 1), ("kernel", 1), ("pads", 0), ("overhang", 0)):
        if name in a:
            _require(all(value >= least for value in a[name]), f"{_label(node)}: {name} {tuple(a[name])} must be {least} or more")
    if "clip" in a:
        _require(a["clip"][0] <= a["clip"][1], f"{_label(node)}: clip {a['clip']} is empty")


def _verify_types(node: Node, inputs: Sequence[Tensor | None], output: Tensor) -> None:
    first = next((tensor for tensor in inputs if tensor is not None), None)
    if first is None:
        return
    if node.op in ("Quantize", "Dequantize"):
        steps = _STEPS[node.attributes.get("variant", "int8")]
        source, target = (DType.FLOAT32, steps) if node.op == "Quantize" else (steps, DType.FLOAT32)
        _require(
            (first.dtype, output.dtype) == (source, target),
            f"{_label(node)} goes from {first.dtype.value} to {output.dtype.value} instead of {source.value} to {target.value}",
        )
        return
    if node.op == "Lookup" and {first.dtype, output.dtype} <= {DType.INT8, DType.UINT8, DType.BOOL}:
        return  # bytes in, bytes out: a table also flips the top bit of a uint8 input, and compares
    _require(first.dtype is output.dtype, f"{_label(node)} reads {first.dtype.value} ({first.name}) and writes {output.dtype.value}")
    if node.op in (*_BROADCASTING, "MatMul", "Concat"):
        for tensor in inputs:
            if tensor is not None:
                _require(tensor.dtype is first.dtype, f"{_label(node)} mixes {first.dtype.value} and {tensor.dtype.value} ({tensor.name})")


def _verify_results(node: Node, operator: Operator, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor]) -> None:
    try:
        expected = operator.outputs(inputs, node.attributes)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise VerificationError(f"{_label(node)}: {error}") from None
    _require(len(outputs) == len(expected), f"{_label(node)} has {len(outputs)} outputs instead of {len(expected)}")
    for tensor, (shape, dtype) in zip(outputs, expected, strict=True):
        _require(
            (tensor.shape, tensor.dtype) == (tuple(shape), dtype),
            f"{_label(node)}: output {tensor.name} is {tensor.dtype.value}{tensor.shape}, not {dtype.value}{tuple(shape)}",
        )


def _verify_shape(node: Node, operator: Operator, inputs: Sequence[Tensor | None], output: Tensor, stored: bool) -> None:
    shapes = [tensor.shape for tensor in inputs if tensor is not None]
    if node.op in _BROADCASTING:
        _require(len({len(shape) for shape in shapes}) == 1, f"{_label(node)}: operands {shapes} differ in rank")
    if node.op == "Slice":
        _verify_slice(node, shapes[0])
    try:
        expected = operator.shape(inputs, node.attributes)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise VerificationError(f"{_label(node)}: {error}") from None
    _require(tuple(expected) == output.shape, f"{_label(node)}: output {output.name} has the shape {output.shape}, not {tuple(expected)}")
    if not stored and node.op in _VECTORS_FROM:
        for shape in shapes[_VECTORS_FROM[node.op] :]:
            _require(shape == output.shape[-1:], f"{_label(node)}: a vector of shape {shape} does not fit {output.shape[-1]} channels")
    if node.op == "PRelu" and not stored:
        _require(
            len(shapes[1]) <= len(shapes[0]) and all(s in (1, x) for s, x in zip(shapes[1][::-1], shapes[0][::-1], strict=False)),
            f"{_label(node)}: a slope of shape {shapes[1]} does not broadcast to {shapes[0]}",
        )


def _verify_slice(node: Node, x: tuple[int, ...]) -> None:
    a = node.attributes
    lengths = {len(a["starts"]), len(a["steps"]), len(a["sizes"])}
    _require(lengths == {len(x)}, f"{_label(node)}: starts, steps and sizes must each have {len(x)} entries")
    for axis, (start, step, size) in enumerate(zip(a["starts"], a["steps"], a["sizes"], strict=True)):
        last = start + step * (size - 1)
        inside = step != 0 and 0 <= start < x[axis] and 0 <= last < x[axis]
        _require(inside, f"{_label(node)}: start {start}, step {step}, size {size} leave axis {axis} of {x[axis]}")


def _verify_record(node: Node, operator: Operator, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor]) -> None:
    _require(node.attributes["variant"] in operator.all_variants, f"{_label(node)} has no variant {node.attributes['variant']}")
    form = operator.form(node.attributes["variant"])
    if form.record is None:
        return
    try:
        record = form.record(node, inputs, outputs)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise VerificationError(f"{_label(node)}: the record cannot be built: {type(error).__name__}: {error}") from None
    for param in form.params:
        _require(param.name in record, f"{_label(node)}: the record lacks {param.name}")
        value = record[param.name]
        length = len(value) if isinstance(value, tuple) else 1
        _require(length == param.length, f"{_label(node)}: {param.name} has {length} values instead of {param.length}")
        if not param.is_float:
            for number in value if isinstance(value, tuple) else (value,):
                _require(-(2**31) <= int(number) < 2**31, f"{_label(node)}: {param.name} = {number} does not fit int32")
