"""Layers with 16-bit activations: docs/numerics.md §16.

Such a layer stands among those that are not quantized: a float32 layer with an int16 form gets int16 versions of its operands, behind a
Quantize where nobody has made one, and an int16 result. Conversions that nobody needs vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from arenite.graph import DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.int16_choice import LARGEST, WEIGHTS, Int16Choice, Weights
from arenite.quantize.lower_linear import DEAD_MULTIPLIER, LARGEST_SCALE
from arenite.quantize.lower_movement import CARRYING, LARGEST_COUNT
from arenite.quantize.lowering import geometry
from arenite.quantize.multipliers import mean_multiplier, pairs_of, quantize_steps, scale_of, sum_multipliers, wide_multipliers
from arenite.quantize.named_layers import named_layers
from arenite.quantize.ranges import Range
from arenite.quantize.scales import SMALLEST_SCALE, representable, symmetric_int16

MULTIPLIER_BITS = 15
BIAS_LIMIT = 1 << 46
"""Of a bias in steps: beyond it the output is saturated whatever the weights add, where it comes to SATURATING steps of the output."""
SATURATING = 1 << 18
MOST_TAPS = 1 << 15
"""Of a sum: with BIAS_LIMIT it stays below 2^47."""
TABLE_POINTS = 513
LARGEST_LINE_ERROR = 2.0**-11
"""Of a function between the points of its table, as a share of its output's range."""
OUTPUT_AXIS = {"Conv": 0, "DepthwiseConv": 2, "FullyConnected": 0}
BINARY = ("Add", "Sub", "Mul")


def chosen_layers(graph: Graph, names: Sequence[str] | None, apart: Sequence[str] = (), option: str = "--int16-layer") -> frozenset[str]:
    """First outputs of the nodes that are named so, of all for None; those named in `apart` are none. Raises QuantizationError,
    naming `option`, for a name that no node has."""
    apart_outputs = {node.output for name in apart for node in graph.nodes if name in (node.name, *node.origins)}
    if names is None:
        return frozenset(node.output for node in graph.nodes) - apart_outputs
    return frozenset(output for name in names for output in named_layers(graph, name, option)) - apart_outputs


def observed(graph: Graph, layers: Set[str]) -> list[str]:
    """Activations whose ranges `layers` need, those with annotations left out."""
    names = [name for node in graph.nodes if node.output in layers for name in (*node.inputs, *node.outputs)]
    real = [name for name in dict.fromkeys(names) if name is not None and _is_real(graph.tensors[name])]
    return [name for name in real if graph.tensors[name].quantization is None]


def _is_real(tensor: Tensor) -> bool:
    return not tensor.is_constant and tensor.dtype is DType.FLOAT32


@dataclass
class Int16Layers:
    """Appends layers of 16-bit activations to `target`, from nodes of the float graph `source`."""

    source: Graph
    target: Graph
    choice: Int16Choice
    ranges: Mapping[str, Range]
    """Of the float graph's activations, those of observed()."""
    versions: dict[str, str] = field(default_factory=dict)
    """By the names of the float graph, tensors of `target`."""
    made: list[str] = field(default_factory=list)
    """Names of the layers that have become so."""

    def lower(self, node: Node, real: Callable[[str], str]) -> str | None:
        """Append the layer, if it is chosen and has such a form, and return its result. `real` gives the float32 tensor of `target` that
        holds an activation of the float graph."""
        if node.output not in self.choice.layers or len(node.outputs) != 1 or not _is_real(self.source.tensors[node.output]):
            return None
        if node.op in (*CARRYING, "Pad"):
            return self._move(node)
        if self._steps_of(node.output) is None:
            return None
        lowering = self._LOWERINGS.get(node.op)
        if lowering is None:
            return None
        self._real = real
        start = len(self.target.nodes)
        if not lowering(self, node):
            del self.target.nodes[start:]
            return None
        self.made.append(node.name)
        return self.versions[node.output]

    # Layers

    def _linear(self, node: Node) -> bool:
        weight, bias = (self._data(node, index) for index in (1, 2))
        absent = len(node.inputs) < 3 or node.inputs[2] is None
        if weight is None or (bias is None and not absent):
            return False
        axis = OUTPUT_AXIS[node.op]
        rows = np.moveaxis(weight.astype(np.float64), axis, 0).reshape(weight.shape[axis], -1)
        if rows.shape[1] > MOST_TAPS:
            return False
        x = self._operand(node, 0)
        if x is None:
            return False
        y = self._result_quantization(node)
        sums = np.zeros(len(rows)) if bias is None else bias.astype(np.float64).reshape(-1)
        weights, scale = self._weights(node, rows, scale_of(y) / scale_of(x.quantization))
        scale = _with_room(scale, sums, scale_of(x.quantization), scale_of(y))
        channels = scale.astype(np.float64)
        steps = np.clip(np.rint(rows / channels[:, None]), -weights.largest, weights.largest)
        moved = (weight.shape[axis], *(size for i, size in enumerate(weight.shape) if i != axis))
        stored = np.moveaxis(steps.reshape(moved), 0, axis).astype(weights.dtype)
        sums = np.clip(np.rint(sums / (scale_of(x.quantization) * channels)), -BIAS_LIMIT, BIAS_LIMIT).astype(np.int64)
        pairs = pairs_of(scale_of(x.quantization) * channels / scale_of(y), MULTIPLIER_BITS)
        operands = (
            x.name,
            self._constant(f"{node.inputs[1]}/int16", stored, Quantization.per_channel(scale, axis)),
            self._constant(f"{node.output}/bias", sums),
            self._constant(f"{node.output}/multiplier", pairs),
        )
        self._emit(node, node.op, operands, y, weights.variant, input_zero_point=0, output_zero_point=0, shift=0)
        return True

    def _weights(self, node: Node, rows: NDArray[np.float64], ratio: float) -> tuple[Weights, NDArray[np.float32]]:
        """How the weights are stored, and their scales: those of the model where it has them; of a channel without weights one that suits
        its bias, `ratio` being the output's scale over the input's."""
        largest = np.abs(rows).max(axis=1, initial=0.0)
        annotation = self.source.tensor(node.inputs[1]).quantization
        if annotation is not None and annotation.axis in (None, OUTPUT_AXIS[node.op]) and np.all(annotation.scale > 0):
            scale = np.broadcast_to(np.asarray(annotation.scale, np.float32), (len(rows),)).copy()
            most = np.rint(largest / scale.astype(np.float64)).max(initial=0.0)
            for weights in WEIGHTS.values():
                if most <= weights.largest:
                    return weights, scale
        weights = self.choice.weights
        own = np.where(largest > 0, largest / weights.largest, DEAD_MULTIPLIER * ratio)
        return weights, np.clip(own, SMALLEST_SCALE, LARGEST_SCALE).astype(np.float32)

    def _binary(self, node: Node) -> bool:
        a, b = self._operand(node, 0), self._operand(node, 1)
        if a is None or b is None:
            return False
        y = self._result_quantization(node)
        first, second, result = (scale_of(q) for q in (a.quantization, b.quantization, y))
        zero_points = {"a_zero_point": 0, "b_zero_point": 0, "output_zero_point": 0}
        if node.op == "Mul":
            multiplier, shift = (int(v) for v in wide_multipliers([first * second / result])[0])
            self._emit(node, "Mul", (a.name, b.name), y, "int16_steps", multiplier=multiplier, shift=shift, **zero_points)
            return True
        sign = -1 if node.op == "Sub" else 1
        m_a, m_b, shift = sum_multipliers(first / result, sign * second / result)
        self._emit(node, "Add", (a.name, b.name), y, "int16_steps", a_multiplier=m_a, b_multiplier=m_b, shift=shift, **zero_points)
        return True

    def _mean(self, node: Node) -> bool:
        count = self.source.tensors[node.input].elements // self.source.tensors[node.output].elements
        if node.op == "AveragePool":
            count = prod(node.attributes["kernel"])
        x = self._operand(node, 0)
        if x is None or count > LARGEST_COUNT:
            return False
        y = self._result_quantization(node)
        multiplier, shift = mean_multiplier(scale_of(x.quantization) / scale_of(y))
        numbers = {"multiplier": multiplier, "shift": shift, "input_zero_point": 0, "output_zero_point": 0}
        self._emit(node, node.op, (x.name,), y, "int16_steps", **numbers)
        return True

    def _max_pool(self, node: Node) -> bool:
        """The result keeps the scale of the operand."""
        x = self._operand(node, 0)
        if x is None:
            return False
        self._emit(node, "MaxPool", (x.name,), x.quantization, "int16_steps")
        return True

    def _function(self, node: Node) -> bool:
        expression: Expression = node.attributes["expression"]
        known = self._steps_of(node.input)
        if known is None:
            return False
        scale, y = scale_of(known), self._result_quantization(node)
        with np.errstate(all="ignore"):
            points = expression((np.arange(TABLE_POINTS) * 128.0 - 32768) * scale)
            exact = np.clip(expression(np.arange(-32768.0, 32768) * scale) / scale_of(y), -32768, LARGEST)
        if not np.all(np.isfinite(points)) or not np.all(np.isfinite(exact)):
            return False
        low, high = self._bounds(node)
        points, exact = np.clip(points, low, high), np.clip(exact, low / scale_of(y), high / scale_of(y))
        table = quantize_steps(points, y)
        entries, u = table.astype(np.float64), np.arange(1 << 16)
        lines = entries[u >> 7] + (entries[(u >> 7) + 1] - entries[u >> 7]) * (u & 127) / 128
        if np.abs(lines - exact).max() > LARGEST_LINE_ERROR * (1 << 16):
            return False
        x = self._operand(node, 0)
        if x is None:
            return False
        self._emit(node, "Lookup", (x.name, self._constant(f"{node.output}/table", table)), y, "int16_steps", function=str(expression))
        return True

    def _move(self, node: Node) -> str | None:
        """Elements are moved in the version that their writer has made, all of one scale."""
        tensors = [self.target.tensors[self.versions[name]] for name in node.inputs if name is not None and name in self.versions]
        if not tensors or len(tensors) != len(node.inputs) or (node.op == "Pad" and node.attributes["value"] != 0):
            return None
        first = tensors[0].quantization
        assert first is not None
        if any(tensor.quantization is None or not tensor.quantization.same_as(first) for tensor in tensors[1:]):
            return None
        self._finish(node, replace(node, inputs=tuple(tensor.name for tensor in tensors)), first)
        return self.versions[node.output]

    _LOWERINGS: ClassVar[dict[str, Callable[[Int16Layers, Node], bool]]] = {
        "Conv": _linear,
        "DepthwiseConv": _linear,
        "FullyConnected": _linear,
        "Add": _binary,
        "Sub": _binary,
        "Mul": _binary,
        "ReduceMean": _mean,
        "AveragePool": _mean,
        "MaxPool": _max_pool,
        "Elementwise": _function,
    }

    # Tensors

    def _operand(self, node: Node, index: int) -> _Int16 | None:
        """The int16 version of an operand; None where nothing is known of its values."""
        name = node.inputs[index]
        assert name is not None
        tensor = self.source.tensors[name]
        if tensor.data is not None:
            largest = float(np.abs(tensor.data).max(initial=0.0))
            quantization = symmetric_int16(Range(-largest, largest))
            return _Int16(self._constant(f"{name}/int16", quantize_steps(tensor.data, quantization), quantization), quantization)
        if name not in self.versions:
            steps = self._steps_of(name)
            if steps is None or tensor.dtype is not DType.FLOAT32:
                return None
            real = self._limited(node, name)
            version = self.target.add(Tensor(f"{name}/int16", tensor.shape, DType.INT16, None, steps)).name
            self.target.nodes.append(Node("Quantize", node.name, (real,), (version,), {"variant": "int16_steps"}, node.origins))
            self.versions[name] = version
        chosen = self.target.tensors[self.versions[name]].quantization
        assert chosen is not None
        return _Int16(self.versions[name], chosen)

    def _limited(self, node: Node, name: str) -> str:
        """The float32 values of an activation, where int16 of these steps hold more than its annotation does without what is beyond."""
        real, annotation = self._real(name), self.source.tensors[name].quantization
        if annotation is None or annotation.bits != 16 or int(annotation.zero_point) == 0:
            return real
        limits = representable(annotation)
        limited = self.target.add(Tensor(f"{name}/limited", self.source.tensors[name].shape, DType.FLOAT32)).name
        bounds = {"min": limits.low, "max": limits.high, "variant": "float32"}
        self.target.nodes.append(Node("Clip", node.name, (real,), (limited,), bounds, node.origins))
        return limited

    def _bounds(self, node: Node) -> tuple[float, float]:
        """Of the fused activation, and of what the output's annotation holds: exporters leave a ReLU to that."""
        low, high = node.attributes.get("clip", UNBOUNDED)
        annotation = self.source.tensors[node.output].quantization
        if annotation is None or not annotation.is_per_tensor:
            return low, high
        limits = representable(annotation)
        return min(max(low, limits.low), limits.high), min(max(high, limits.low), limits.high)

    def _emit(self, node: Node, op: str, inputs: tuple[str, ...], y: Quantization, variant: str, **numbers: Any) -> None:
        clamp = _clamp(self._bounds(node), y) if op != "Lookup" else {}
        attributes = {**geometry(node), **numbers, **clamp, "variant": variant}
        self._finish(node, Node(op, node.name, inputs, node.outputs, attributes, node.origins), y)

    def _finish(self, node: Node, made: Node, y: Quantization) -> None:
        """Append `made` with an int16 result."""
        version = self.target.add(Tensor(f"{node.output}/int16", self.source.tensors[node.output].shape, DType.INT16, None, y)).name
        self.versions[node.output] = version
        self.target.nodes.append(replace(made, outputs=(version,)))

    def _constant(self, name: str, data: NDArray[Any], quantization: Quantization | None = None) -> str:
        return self.target.add_constant(name, data, quantization).name

    def _data(self, node: Node, index: int) -> NDArray[Any] | None:
        name = node.inputs[index] if index < len(node.inputs) else None
        return None if name is None else self.source.tensors[name].data

    def _result_quantization(self, node: Node) -> Quantization:
        steps = self._steps_of(node.output)
        assert steps is not None
        return steps

    def _steps_of(self, name: str) -> Quantization | None:
        """Of the int16 version of an activation: what the model says, or what its range asks for; None where nothing is known."""
        annotation = self.source.tensors[name].quantization
        if annotation is not None and annotation.is_per_tensor:
            return without_zero_point(annotation) if annotation.bits == 16 else symmetric_int16(representable(annotation))
        return symmetric_int16(self.ranges[name]) if name in self.ranges else None


def without_zero_point(annotation: Quantization) -> Quantization:
    """The steps of 16 bits that hold what the annotation's do with zero point 0: its own, or, where its values lie to one side so far that
    they are beyond 32767 of these, steps of twice the size."""
    return Quantization.per_tensor(np.float32(annotation.scale) * np.float32(2 if annotation.is_one_sided else 1), 0)


def _with_room(scale: NDArray[np.float32], bias: NDArray[np.float64], x: float, y: float) -> NDArray[np.float32]:
    """`scale` of the channels' weights, doubled where the bias is beyond BIAS_LIMIT and at that limit would not saturate the output: the
    weights come to nothing beside such a bias."""
    result = scale.copy()
    while True:
        channels = result.astype(np.float64)
        lost = (np.abs(bias) > BIAS_LIMIT * x * channels) & (BIAS_LIMIT * x * channels < SATURATING * y)
        if not np.any(lost):
            return result
        result[lost] *= np.float32(2)


@dataclass(frozen=True)
class _Int16:
    name: str
    quantization: Quantization


def _clamp(clip: tuple[float, float], y: Quantization) -> dict[str, int]:
    high = int(quantize_steps(clip[1], y))
    return {"activation_min": min(int(quantize_steps(clip[0], y)), high), "activation_max": high}
