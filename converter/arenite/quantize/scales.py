"""Scale and zero point of every activation.

Annotated tensors keep theirs exactly. Operators that only move elements share one quantization between input and output wherever that
loses nothing: such tensors are joined into a group, and a group is quantized as one. Where two annotations differ, or joining
would cost a neighbour its precision, the tensors stay apart and lowering puts a requantizing table between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

import numpy as np

from arenite.errors import QuantizationError
from arenite.graph import DType, Expression, Graph, Node, Quantization, Tensor
from arenite.own_operators import OWN_OPERATORS
from arenite.quantize.ranges import Range
from arenite.quantize.value_operands import SELECTING, merges, value_operands

SOFTMAX = Quantization.per_tensor(1 / 256, -128)
"""Of a Softmax output without annotation: covers [0, 1 − 1/256]."""

BOUNDED = {"Sigmoid": Range(0.0, 1.0), "HardSigmoid": Range(0.0, 1.0), "Tanh": Range(-1.0, 1.0), "Softsign": Range(-1.0, 1.0)}
"""Functions whose values have natural bounds: unseen inputs may reach them."""

SMALLEST_SCALE = float(np.finfo(np.float32).tiny)
MOVEMENT = ("Reshape", "Transpose", "Slice", "Expand", "Pad", "MaxPool", "ReduceMax", "ReduceMin", *SELECTING)
MEANS = ("AveragePool", "ReduceMean")

TOLERATED_GROWTH = 2.0
"""A Concat input that others read too may lose up to one bit; beyond that it gets a table of its own."""
MEAN_SHARES_ABOVE = 0.8
"""A mean that covers this share of its input's range takes the input's scale: its arithmetic is then exact and cheaper."""
BOUND_TAKEN_ABOVE = 0.5
"""Share of its natural range that a bounded function must cover to be given all of it."""
LARGEST_FILL = 8.0
"""A Pad value further out than this many times the data's range is a stand-in for infinity, and saturates."""
MASKED_BELOW = 8.0
"""How far beyond the data such a value of a Where is placed at least: a Softmax makes less than 1/2980 of it."""


def asymmetric(chosen: Range) -> Quantization:
    """int8 quantization of a range, zero included: float32 scale > 0, real 0 exactly on a step.

    A range of nothing but zero gets the scale 1/128, as good as any.
    """
    chosen = chosen.with_zero
    if chosen.width <= 0:
        return Quantization.per_tensor(1 / 128, 0)
    scale = np.float32(max(chosen.width / 255, SMALLEST_SCALE))
    zero_point = int(np.clip(np.rint(-128 - chosen.low / float(scale)), -128, 127))
    return Quantization.per_tensor(scale, zero_point)


def symmetric_int16(values: Range) -> Quantization:
    """int16 quantization with zero point 0: the greatest magnitude becomes 32767."""
    largest = max(abs(values.low), abs(values.high), SMALLEST_SCALE * 32767)
    return Quantization.per_tensor(largest / 32767, 0)


def symmetric_int24(values: Range) -> Quantization:
    """The same with 24 bits, held in int32: the greatest magnitude becomes 2^23 − 1."""
    steps = (1 << 23) - 1
    scale = max(abs(values.low), abs(values.high), SMALLEST_SCALE * steps) / steps
    return replace(Quantization.per_tensor(scale, 0), bits=24)


def representable(quantization: Quantization) -> Range:
    """The real values from −128 to 127; of an annotation with 16 bits, from −32768 to 32767."""
    scale, zero_point, half = float(quantization.scale), int(quantization.zero_point), 1 << (max(quantization.bits, 8) - 1)
    return Range(scale * (-half - zero_point), scale * (half - 1 - zero_point))


def predefined(graph: Graph, typed: frozenset[str] = frozenset()) -> dict[str, Quantization]:
    """Activations whose quantization is not for calibration to choose: annotated ones, and Softmax outputs.

    Raises QuantizationError for an annotation per channel, or with a scale that is not a positive number.
    """
    fixed = {node.output: SOFTMAX for node in graph.nodes if node.op == "Softmax" and node.output not in typed}
    for name, tensor in graph.tensors.items():
        if tensor.is_constant or tensor.quantization is None:
            continue
        if not tensor.quantization.is_per_tensor:
            raise QuantizationError(
                f"{graph.name}: the activation `{name}` is quantized per channel (axis {tensor.quantization.axis}); activations have "
                "one scale a tensor. Quantize it per tensor, or remove its QuantizeLinear/DequantizeLinear pair."
            )
        scale = float(tensor.quantization.scale)
        if not (np.isfinite(scale) and scale > 0):
            raise QuantizationError(f"{graph.name}: the activation `{name}` has the scale {scale}. A scale is a positive number.")
        fixed[name] = tensor.quantization
    return fixed


def quantized_tensors(graph: Graph, typed: frozenset[str] = frozenset(), steps: Set[str] = frozenset()) -> list[str]:
    """Every activation that exists as int8, in order of execution: what an int8 node reads or writes, and what goes in or out as float32
    (or persists, unless only nodes that are not quantized see it).

    `typed` are the nodes, by their first output, that are not quantized (placement.py), `steps` the tensors that are int16
    (state_tensors.py).
    """
    wanted = {*graph.inputs, *graph.outputs} - float_states(graph, typed)
    for node in graph.nodes:
        converted = node.output in steps and len(node.inputs) == 1  # to int16: of float32, where that is there
        if node.output not in typed and not converted:
            wanted.update(name for name in (*node.inputs, *node.outputs) if name is not None)
    order = dict.fromkeys([*graph.inputs, *(name for node in graph.nodes for name in node.outputs)])
    return [name for name in order if name in wanted and name not in steps and graph.tensors[name].dtype is DType.FLOAT32]


def float_states(graph: Graph, typed: frozenset[str]) -> set[str]:
    """Both ends of the states that are written and read by `typed` nodes only: they are not quantized."""
    producers, consumers = graph.producers(), graph.consumers()
    found: set[str] = set()
    for state in graph.states:
        readers = [node.output for end in (state.input, state.output) for node in consumers[end]]
        if state.output in producers and producers[state.output].output in typed and typed.issuperset(readers):
            found |= {state.input, state.output}
    return found


def undetermined(graph: Graph, typed: frozenset[str] = frozenset(), steps: Set[str] = frozenset()) -> list[str]:
    """Activations whose range must be observed: no predefined quantization reaches them, and no other range says enough (what moves
    elements has the range of what it moves)."""
    groups = _Groups(graph, {}, typed, steps)
    groups.join_movement()
    moved = {
        node.output
        for node in groups.nodes
        if (_moves(node) or merges(node)) and any(name in groups.parent for name in value_operands(node))
    }
    return [name for name in quantized_tensors(graph, typed, steps) if name not in moved and groups.root(name) not in groups.fixed]


def choose_scales(
    graph: Graph, ranges: Mapping[str, Range], typed: frozenset[str] = frozenset(), steps: Set[str] = frozenset()
) -> dict[str, Quantization]:
    """The quantization of every tensor of quantized_tensors(graph, typed, steps).

    `ranges` has what an observer chose for each of undetermined(graph, typed, steps); ranges of further tensors do no harm.
    """
    groups = _Groups(graph, ranges, typed, steps)
    groups.join_movement()
    groups.join_merged()
    groups.join_means()
    return {name: groups.quantization(name) for name in quantized_tensors(graph, typed, steps)}


def _moves(node: Node) -> bool:
    """Whether the result's values are among those of the first operand, by their nature."""
    return node.op in MOVEMENT or (node.op in OWN_OPERATORS and OWN_OPERATORS[node.op].keeps_scale)


def averages(graph: Graph, node: Node) -> bool:
    """Whether results lie between the values of the operand: means, and interpolation with weights of one sign."""
    return node.op in MEANS or (node.op == "Resample" and bool(np.all(np.asarray(graph.tensor(node.inputs[2]).data) >= 0)))


class _Groups:
    """Sets of tensors that share a quantization, joined step by step (union-find)."""

    def __init__(self, graph: Graph, ranges: Mapping[str, Range], typed: frozenset[str], steps: Set[str]) -> None:
        self.graph = graph
        self.nodes = [node for node in graph.nodes if node.output not in typed and node.output not in steps]
        """The int8 ones."""
        self.consumers = graph.consumers()
        self.parent = {name: name for name in quantized_tensors(graph, typed, steps)}
        self.fixed = {name: chosen for name, chosen in predefined(graph, typed).items() if name in self.parent}
        """By root."""
        self.range = {name: self._own_range(name, ranges) for name in self.parent}
        """By root: the union over the members."""
        for node in self.nodes:
            if node.op == "Elementwise":
                self._widen(node)
            elif node.op in SELECTING and graph.tensor(node.input).is_constant:
                self.range[node.output] = self.range[node.output].union(_values_range(graph.tensor(node.input)))

    def _own_range(self, name: str, ranges: Mapping[str, Range]) -> Range:
        if name in self.fixed and name not in ranges:
            return representable(self.fixed[name])
        return ranges.get(name, Range(0.0, 0.0)).with_zero

    def _widen(self, node: Node) -> None:
        """Give the output of a bounded function what calibration data need not have shown."""
        expression: Expression = node.attributes["expression"]
        bounds = BOUNDED.get(expression.steps[-1].op) if expression.steps else None
        if bounds is not None and self.range[node.output].width >= BOUND_TAKEN_ABOVE * bounds.width:
            self.range[node.output] = self.range[node.output].union(bounds)

    def _admit_fill(self, node: Node) -> None:
        """Make a Pad's value representable, unless it stands for infinity."""
        value, root = float(node.attributes["value"]), self.root(node.input)
        data = self.range[root]
        if abs(value) <= LARGEST_FILL * max(abs(data.low), abs(data.high)):
            self.range[root] = data.union(Range(value, value))

    def root(self, name: str) -> str:
        while self.parent[name] != name:
            self.parent[name] = self.parent[self.parent[name]]
            name = self.parent[name]
        return name

    def quantization(self, name: str) -> Quantization:
        root = self.root(name)
        return self.fixed[root] if root in self.fixed else asymmetric(self.range[root])

    def _join(self, a: str, b: str) -> None:
        """The set of both. A fixed quantization of either holds for the whole."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return
        self.parent[b] = a
        self.range[a] = self.range[a].union(self.range[b])
        fixed = self.fixed.get(a) or self.fixed.pop(b, None)
        if fixed is not None:
            self.fixed[a] = fixed

    def _compatible(self, a: str, b: str) -> bool:
        """Whether the fixed quantizations of both, if any, are the same."""
        first, second = self.fixed.get(self.root(a)), self.fixed.get(self.root(b))
        return first is None or second is None or first.same_as(second)

    def _read_only_by(self, name: str, node: Node) -> bool:
        return name not in self.graph.outputs and all(reader is node for reader in self.consumers[name])

    def _may_take(self, name: str, quantization: Quantization, node: Node) -> bool:
        """Whether the group of `name`, an input of `node` without a fixed quantization, may take one that was made for the output."""
        if self._read_only_by(name, node):
            return True
        mine, theirs = self.range[self.root(name)], representable(quantization)
        slack = float(quantization.scale)
        return theirs.low - slack <= mine.low and mine.high <= theirs.high + slack and theirs.width <= TOLERATED_GROWTH * mine.width

    def join_movement(self) -> None:
        """States; Reshape, Transpose, Slice, Pad, MaxPool: forwards, then backwards from annotated outputs."""
        for state in self.graph.states:
            if state.input in self.parent and state.output in self.parent and self._compatible(state.input, state.output):
                self._join(state.input, state.output)
        moves = [node for node in self.nodes if _moves(node) and not merges(node) and node.input in self.parent]
        for node in moves:
            x, y = node.input, node.output
            forced = self.fixed.get(self.root(y))
            if (forced is None or self.root(x) in self.fixed) and self._compatible(x, y):
                self._join(x, y)
                if node.op == "Pad":
                    self._admit_fill(node)
        for node in reversed(moves):
            x, y = node.input, node.output
            forced = self.fixed.get(self.root(y))
            if self.root(x) != self.root(y) and self.root(x) not in self.fixed and forced is not None and self._may_take(x, forced, node):
                self._join(y, x)

    def join_merged(self) -> None:
        for node in self.nodes:
            if merges(node):
                self._join_merged(node)

    def _join_merged(self, node: Node) -> None:
        values = value_operands(node)
        inputs = [name for name in dict.fromkeys(values) if name in self.parent]
        output = self.root(node.output)
        if output not in self.fixed:
            fixed = [self.fixed.get(self.root(name)) for name in inputs]
            first = fixed[0] if fixed else None
            if first is not None and len(inputs) == len(set(values)) and all(first.same_as(other) for other in fixed):
                for name in inputs:
                    self._join(name, node.output)
                return
            self.range[output] = self._merged_range(node)
        for name in inputs:
            if self.root(name) in self.fixed:
                if self.root(node.output) in self.fixed and self._compatible(name, node.output):
                    self._join(name, node.output)
            elif self._may_take(name, self.quantization(node.output), node):
                self._join(node.output, name)

    def _merged_range(self, node: Node) -> Range:
        """Of all values, constants included: each as far as it is quantized now."""
        result = self.range[self.root(node.output)]
        for name in value_operands(node):
            tensor = self.graph.tensor(name)
            if tensor.is_constant:
                result = result.union(self._mask_range(node, tensor) if node.op == "Where" else _values_range(tensor))
            elif name in self.parent:
                result = result.union(self.range[self.root(name)])
        return result

    def _mask_range(self, node: Node, constant: Tensor) -> Range:
        """Of a constant of a Where. What stands for minus infinity in front of a Softmax needs a place below the data, not its own."""
        data = Range(0.0, 0.0)
        for name in value_operands(node):
            if name in self.parent:
                data = data.union(self.range[self.root(name)])
        limit = LARGEST_FILL * max(abs(data.low), abs(data.high))
        if limit <= 0:
            return _values_range(constant)
        values = np.asarray(constant.data, np.float64)
        low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
        beyond = max(data.width, MASKED_BELOW)
        return Range(low if low >= -limit else data.low - beyond, high if high <= limit else data.high + beyond)

    def join_means(self) -> None:
        for node in self.nodes:
            if averages(self.graph, node) and node.input in self.parent and self.root(node.output) not in self.fixed:
                x, y = self.root(node.input), self.root(node.output)
                whole = representable(self.fixed[x]) if x in self.fixed else self.range[x]
                if self.range[y].width >= MEAN_SHARES_ABOVE * whole.width:
                    self._join(x, y)


def _values_range(constant: Tensor) -> Range:
    """Of its finite values: an infinity saturates."""
    values = np.asarray(constant.data, np.float64)
    values = values[np.isfinite(values)]
    return Range(float(values.min(initial=0.0)), float(values.max(initial=0.0)))
