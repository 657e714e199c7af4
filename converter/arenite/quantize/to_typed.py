"""The float graph becomes the typed form, node by node: the same operators on elements that are not quantized.

Every node gets the kernel variant of its elements' type. Expressions become nodes again, one a step, and a fused activation that the typed
kernel does not have becomes a Clip. What an annotation demands is rounded by FakeQuantize; inside an int8 model, which rounds where int8
layers read, it only saturates: exporters leave a Relu to that. Numerics §11.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from arenite.errors import QuantizationError
from arenite.graph import OPERATORS, DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.expression import UNARY, Step
from arenite.graph.operators import UNBOUNDED
from arenite.graph.operators.function import PARAMETERS
from arenite.quantize.scales import representable

TYPE_VARIANTS = {dtype: "plain_int8" if dtype is DType.INT8 else dtype.value for dtype in DType}
MOVEMENT = ("Reshape", "Transpose", "Slice", "Concat", "Pad", "Expand")
"""Any element type; they have no variant."""
COMMUTING = (*MOVEMENT, "MaxPool")
"""Rounding before them is rounding behind them."""
OPTIONAL_BIAS = ("Conv", "DepthwiseConv", "FullyConnected")
SMALL = ("Softmax", "Sigmoid", "HardSigmoid", "Tanh", "Softsign")
"""Bounded anyway: what saturation takes from their largest value is less than a rounding step of them."""

Bounds = tuple[float, float]


def to_typed(graph: Graph) -> Graph:
    """The typed form of an optimized float graph: inputs and outputs have its names, shapes and element types.

    Raises QuantizationError, naming the node, for what has no typed form on its elements.
    """
    typed = Typed.of(graph, rounds=True)
    for node in graph.nodes:
        typed.lower(node)
    typed.round_inputs()
    typed.materialise_outputs()
    typed.target.prune()
    return typed.target


@dataclass
class Typed:
    """Builds the typed form of `source` in `target`. Tensors keep their names."""

    source: Graph
    target: Graph
    rounds: bool = False
    """Whether annotated activations are rounded to their steps; otherwise they only saturate."""
    _constants: dict[tuple[object, ...], str] = field(default_factory=dict)

    @classmethod
    def of(cls, source: Graph, *, rounds: bool = False) -> Typed:
        target = source.copy()
        target.nodes = []
        target.tensors = {name: replace(tensor, quantization=None) for name, tensor in source.tensors.items()}
        return cls(source, target, rounds)

    def lower(self, node: Node) -> None:
        start = len(self.target.nodes)
        self._lower(node)
        for name in node.outputs:
            if self._is_rounded(node, name):
                self._round_result(node, name, start)

    def _lower(self, node: Node) -> None:
        if node.bodies:
            self._control_flow(node)
        elif node.op == "Elementwise":
            self._expression(node)
        elif node.op in MOVEMENT:
            self._movement(node)
        elif node.op == "BitCast":
            self.target.nodes.append(node)
        elif node.op == "PRelu":
            self._prelu(node)
        elif node.op == "LayerNormalization":
            self._normalization(node)
        else:
            self._operator(node)

    def _emit(self, node: Node, op: str, inputs: tuple[str | None, ...], output: str, attributes: dict[str, Any]) -> str:
        """Append a node that stands for `node`, on elements of the type of its operands or of its result."""
        self.target.nodes.append(
            Node(op, node.name, inputs, (output,), {**attributes, "variant": self._variant(node, op, inputs, output)}, node.origins)
        )
        return output

    def _variant(self, node: Node, op: str, inputs: tuple[str | None, ...], output: str) -> str:
        """Operator.typed_by says which operand's type names it; kernels that move elements of any type have one variant."""
        if OPERATORS[op].variants == ("bytes",):
            return "bytes"
        by = inputs[OPERATORS[op].typed_by] if OPERATORS[op].typed_by < len(inputs) else None
        dtype = self.target.tensors[output if by is None else by].dtype
        if TYPE_VARIANTS[dtype] in OPERATORS[op].all_variants:
            return TYPE_VARIANTS[dtype]
        known = ", ".join(v for v in OPERATORS[op].all_variants if v in TYPE_VARIANTS.values()) or "none"
        raise QuantizationError(
            f"{self.source.name}: {node.name} ({op}) on {dtype.value} is not supported without quantization; its types: {known}."
        )

    def _temporary(self, node: Node, op: str) -> str:
        like = self.target.tensors[node.output]
        return self.target.add(Tensor(f"{node.output}/{op.lower()}", like.shape, like.dtype)).name

    def _constant(self, name: str, data: np.ndarray[Any, np.dtype[Any]]) -> str:
        key = (data.dtype.str, data.shape, data.tobytes())
        if key not in self._constants:
            self._constants[key] = self.target.add_constant(name, data).name
        return self._constants[key]

    # Rounding

    def _is_rounded(self, node: Node, name: str) -> bool:
        """Whether this output must be rounded: what only moves elements of the same steps leaves them there."""
        annotation = self._annotation(name)
        if annotation is None:
            return False
        if node.op not in COMMUTING or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
            return True
        if node.op == "Pad" and (len(node.inputs) > 1 or node.attributes["value"] != 0):
            return True
        return not all(annotation.same_as(self.source.tensor(operand).quantization) for operand in node.inputs)

    def _annotation(self, name: str) -> Quantization | None:
        """What a float activation is to be rounded to."""
        tensor = self.source.tensors[name]
        return tensor.quantization if self.rounds and tensor.dtype is DType.FLOAT32 and not tensor.is_constant else None

    def _round_result(self, node: Node, name: str, start: int) -> None:
        """The nodes from `start` on write another tensor; FakeQuantize makes `name` of it."""
        exact = self._temporary_like(name, "exact")
        self.target.nodes[start:] = [_renamed(new, name, exact) for new in self.target.nodes[start:]]
        self.target.nodes += self._rounding(node.name, exact, name, node.origins)

    def _rounding(self, like: str, x: str, y: str, origins: tuple[str, ...] = (), source: str | None = None) -> list[Node]:
        annotation = self._annotation(source or y)
        assert annotation is not None
        if annotation.bits > 8:
            return self._rounding_to_int16(Node("", like, (x,), (y,), {}, origins), annotation)
        attributes = {"scale": float(annotation.scale), "zero_point": int(annotation.zero_point), "variant": "float32"}
        return [Node("FakeQuantize", like, (x,), (y,), attributes, origins)]

    def _rounding_to_int16(self, like: Node, annotation: Quantization) -> list[Node]:
        """Zero points of a uint16 tensor are beyond int16: there it is that again."""
        zero = int(annotation.zero_point)
        dtype = DType.INT16 if zero >= -(1 << 15) else DType.UINT16
        scale = self._constant(f"{like.output}/scale", np.asarray(annotation.scale, np.float32))
        zero_point = self._constant(
            f"{like.output}/zero_point", np.asarray(zero if dtype is DType.INT16 else zero + (1 << 15), dtype.numpy)
        )
        steps = self.target.add(Tensor(f"{like.output}/steps", self.target.tensors[like.output].shape, dtype)).name
        quantize = {"axis": 0, "block": 0, "to": dtype.value}
        variant = self._variant(like, "QuantizeLinear", (like.input, scale, zero_point), steps)
        rounded = Node(
            "QuantizeLinear", like.name, (like.input, scale, zero_point), (steps,), {**quantize, "variant": variant}, like.origins
        )
        variant = self._variant(like, "DequantizeLinear", (steps, scale, zero_point), like.output)
        real = {"axis": 0, "block": 0, "variant": variant}
        return [rounded, Node("DequantizeLinear", like.name, (steps, scale, zero_point), like.outputs, real, like.origins)]

    def round_inputs(self) -> None:
        """Whoever reads an annotated input of the graph reads it rounded."""
        for name in self.target.inputs:
            if self._annotation(name) is not None and any(name in node.inputs for node in self.target.nodes):
                rounded = self._temporary_like(name, "rounded")
                nodes = [_renamed(node, name, rounded) for node in self.target.nodes]
                self.target.nodes = [*self._rounding(name, name, rounded, source=name), *nodes]

    def _temporary_like(self, name: str, suffix: str) -> str:
        like = self.target.tensors[name]
        return self.target.add(Tensor(f"{name}/{suffix}", like.shape, like.dtype)).name

    # Operators

    def _operator(self, node: Node) -> None:
        """As it is; an activation that was fused into it becomes a Clip of its own where the kernel has no bounds."""
        inputs = node.inputs
        if node.op in OPTIONAL_BIAS and len(inputs) == 2:
            inputs = (*inputs, None)
        attributes = {name: value for name, value in node.attributes.items() if name != "clip"}
        bounds = self._bounds(node)
        variant = self._variant(node, node.op, inputs, node.output)
        if any(param.name == "clip_min" for param in OPERATORS[node.op].form(variant).params):
            self._emit_all(node, inputs, {**attributes, "clip": bounds})
        elif bounds == UNBOUNDED:
            self._emit_all(node, inputs, attributes)
        else:
            unclipped = self._emit(node, node.op, inputs, self._temporary(node, node.op), attributes)
            self._clip(node, unclipped, node.output, *bounds)

    def _emit_all(self, node: Node, inputs: tuple[str | None, ...], attributes: dict[str, Any]) -> None:
        """With all of its outputs."""
        variant = self._variant(node, node.op, inputs, node.output)
        self.target.nodes.append(replace(node, inputs=inputs, attributes={**attributes, "variant": variant}))

    def _control_flow(self, node: Node) -> None:
        """Its bodies are typed as well. What a Loop carries on must be computed before it is replaced: a value that only moves from one
        place to another is copied."""
        bodies = tuple(to_typed(body) for body in node.bodies)
        if node.op == "Loop":
            _copy_inputs(bodies[0], int(node.attributes["stops"]))
        self.target.nodes.append(node.with_attributes(bodies=bodies))

    def _bounds(self, node: Node) -> Bounds:
        """Of the fused activation and of saturation to the output's annotation."""
        low, high = node.attributes.get("clip", UNBOUNDED)
        annotation = self.source.tensors[node.output].quantization
        if (
            self.rounds
            or annotation is None
            or node.op in SMALL
            or not annotation.is_per_tensor
            or self.source.tensors[node.output].dtype is not DType.FLOAT32
        ):
            return low, high
        limits = representable(annotation)
        return _within((low, high), (limits.low, limits.high))

    def _clip(self, node: Node, source: str, output: str, low: float, high: float) -> None:
        dtype = self.target.tensors[output].dtype
        if dtype is DType.FLOAT32:
            self._emit(node, "Clip", (source,), output, {"min": low, "max": high})
            return
        limits = np.iinfo(dtype.value)
        shape = (1,) * len(self.target.tensors[output].shape)
        ends = [
            self._constant(f"{output}/{end}", np.full(shape, bound, dtype.numpy))
            for end, bound in (("min", max(low, limits.min)), ("max", min(high, limits.max)))
        ]
        raised = self._emit(node, "Max", (source, ends[0]), self._temporary(node, "Max"), {})
        self._emit(node, "Min", (raised, ends[1]), output, {})

    def _prelu(self, node: Node) -> None:
        x, slope = self.target.tensors[node.input], self.target.tensor(node.inputs[1])
        bounds = self._bounds(node)
        result = node.output if bounds == UNBOUNDED else self._temporary(node, "PRelu")
        trailing = slope.shape
        while trailing[:1] == (1,):
            trailing = trailing[1:]
        if x.shape[len(x.shape) - len(trailing) :] == trailing:
            self._emit(node, "PRelu", (x.name, slope.name), result, {})
        elif slope.data is not None:
            whole = np.ascontiguousarray(np.broadcast_to(slope.data, x.shape))
            self._emit(node, "PRelu", (x.name, self._constant(f"{slope.name}/whole", whole)), result, {})
        else:  # max(x, 0) + slope · min(x, 0)
            zero = self._constant(f"{node.output}/zero", np.zeros((1,) * len(x.shape), x.dtype.numpy))
            positive = self._emit(node, "Max", (x.name, zero), self._temporary(node, "Max"), {})
            negative = self._emit(node, "Min", (x.name, zero), self._temporary(node, "Min"), {})
            scaled = self._emit(node, "Mul", (negative, slope.name), self._temporary(node, "Mul"), {})
            self._emit(node, "Add", (positive, scaled), result, {})
        if bounds != UNBOUNDED:
            self._clip(node, result, node.output, *bounds)

    def _normalization(self, node: Node) -> None:
        """Scale and bias that are no row of elements (InstanceNormalization, GroupNormalization) become a product and a sum."""
        x, length, period = self.target.tensors[node.input], node.attributes["length"], node.attributes.get("period", 1)
        operands = [None if name is None else self.target.tensor(name) for name in node.inputs[1:]]
        if period == 1 and all(tensor is None or tensor.elements == length for tensor in operands):
            self._operator(node)
            return
        bounds = self._bounds(node)
        attributes = {name: node.attributes[name] for name in ("length", "centred", "epsilon")}
        result = self._emit(node, node.op, (x.name, None, None), self._temporary(node, node.op), attributes)
        for op, tensor in zip(("Mul", "Add"), operands, strict=False):
            if tensor is not None:
                result = self._of_blocks(node, op, result, tensor, period)
        if bounds == UNBOUNDED:
            self.target.nodes.append(Node("Reshape", node.name, (result,), (node.output,), {"shape": x.shape}, node.origins))
        else:
            whole = self._temporary(node, "Reshape")
            self.target.nodes.append(Node("Reshape", node.name, (result,), (whole,), {"shape": x.shape}, node.origins))
            self._clip(node, whole, node.output, *bounds)

    def _of_blocks(self, node: Node, op: str, source: str, operand: Tensor, period: int) -> str:
        """`source` as [images, period, blocks, elements of a block], with one value of the operand for each block of the period."""
        x, length = self.target.tensors[source], node.attributes["length"]
        blocks = operand.elements // period
        shape = (x.elements // (period * length), period, blocks, length // blocks)
        if x.shape != shape:
            reshaped = self.target.add(Tensor(f"{node.output}/blocks", shape, x.dtype)).name
            self.target.nodes.append(Node("Reshape", node.name, (source,), (reshaped,), {"shape": shape}, node.origins))
            source = reshaped
        assert operand.data is not None
        constant = self._constant(f"{operand.name}/blocks", np.asarray(operand.data).reshape(1, period, blocks, 1))
        result = self.target.add(Tensor(f"{node.output}/{op.lower()}", shape, x.dtype)).name
        return self._emit(node, op, (source, constant), result, {"clip": UNBOUNDED})

    def _movement(self, node: Node) -> None:
        attributes, inputs = dict(node.attributes), node.inputs
        if node.op == "Pad" and len(inputs) == 1:
            dtype, value = self.target.tensors[node.output].dtype, attributes["value"]
            if value != 0 or np.signbit(value):  # zeros are written byte by byte
                inputs = (*inputs, self._constant(f"{node.output}/value", np.full((1,), value, dtype.numpy)))
        annotated = [self.source.tensor(name).is_constant or self.source.tensor(name).quantization is not None for name in node.inputs]
        bounds = UNBOUNDED if all(annotated) else self._bounds(node)
        moved = node.output if bounds == UNBOUNDED else self._temporary(node, node.op)
        self.target.nodes.append(replace(node, inputs=inputs, outputs=(moved,), attributes=attributes))
        if bounds != UNBOUNDED:
            self._clip(node, moved, node.output, *bounds)

    # Expressions

    def _expression(self, node: Node) -> None:
        expression: Expression = node.attributes["expression"]
        last = expression.steps[-1].op if expression.steps else ""
        if last not in SMALL and (limits := self._bounds(node)) != UNBOUNDED:
            if expression.clip is not None:
                limits = _within(expression.clip, limits)
                expression = Expression(())
            expression = expression.then(Expression.single("Clip", min=limits[0], max=limits[1]))
        values = [node.input]
        for index, step in enumerate(expression.steps):
            output = node.output if index + 1 == len(expression.steps) else self._temporary(node, step.op)
            if step.op in UNARY:
                self._function(node, step, values[_index(step, 0)], output)
            else:
                self._arithmetic(node, step, values, output)
            values.append(output)
        if not expression.steps:
            self.target.nodes.append(
                Node("Reshape", node.name, (node.input,), (node.output,), {"shape": self.target.tensors[node.output].shape})
            )

    def _function(self, node: Node, step: Step, source: str, output: str) -> None:
        if step.op == "Clip":
            self._clip(node, source, output, float(step.attributes["min"]), float(step.attributes["max"]))
            return
        self._emit(node, step.op, (source,), output, {**dict(PARAMETERS.get(step.op, ())), **step.attributes})

    def _arithmetic(self, node: Node, step: Step, values: list[str], output: str) -> None:
        like = self.target.tensors[node.output]
        if step.op == "Pow" and step.operands[1] == 2.0 and isinstance(step.operands[0], int):
            square = values[step.operands[0]]
            self._emit(node, "Mul", (square, square), output, {})
            return
        operands = tuple(
            values[operand]
            if isinstance(operand, int)
            else self._constant(f"{node.output}/{step.op.lower()}_constant", np.full((1,) * len(like.shape), operand, like.dtype.numpy))
            for operand in step.operands
        )
        self._emit(node, step.op, operands, output, {})

    # Outputs

    def materialise_outputs(self) -> None:
        """An output that is constant gets memory of its own, where a copy is written. (One that is an input is that input's memory.)"""
        for name in dict.fromkeys(self.target.outputs):
            tensor = self.target.tensors[name]
            if tensor.data is None:
                continue
            value = self.target.add(replace(tensor, name=f"{name}/value")).name
            self.target.tensors[name] = Tensor(name, tensor.shape, tensor.dtype)
            self.target.replace_uses(name, value)
            self.target.outputs = [name if output == value else output for output in self.target.outputs]
            self.target.nodes.append(Node("Reshape", name, (value,), (name,), {"shape": tensor.shape}))


def _copy_inputs(body: Graph, first: int) -> None:
    """Where an output of a loop's body is an input that another iteration replaces: a copy. `first`: the output that is carried first."""
    for position, name in enumerate(body.outputs):
        stays = position >= first and body.inputs[1 + position - first : 2 + position - first] == [name]
        if name in body.inputs and not stays:
            copied = body.add(replace(body.tensors[name], name=f"{name}/copy")).name
            body.nodes.append(Node("Reshape", name, (name,), (copied,), {"shape": body.tensors[name].shape}))
            body.outputs[position] = copied


def _renamed(node: Node, old: str, new: str) -> Node:
    """The node with another name for a tensor that it reads or writes."""
    inputs = tuple(new if name == old else name for name in node.inputs)
    return replace(node, inputs=inputs, outputs=tuple(new if name == old else name for name in node.outputs))


def _within(bounds: Bounds, limits: Bounds) -> Bounds:
    low, high = (min(max(bound, limits[0]), limits[1]) for bound in bounds)
    return low, high


def _index(step: Step, position: int) -> int:
    operand = step.operands[position]
    if not isinstance(operand, int):
        raise ValueError(f"{step.op} of a constant")
    return operand
