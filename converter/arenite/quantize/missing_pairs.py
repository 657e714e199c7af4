"""Models that come quantized, but leave tensors without QuantizeLinear and DequantizeLinear: what these tensors are to be quantized to.

Where the values of such a tensor are among those of a neighbour, it has the neighbour's steps, which loses nothing. Where arithmetic bounds
them, the bounds say: Sigmoid is 0…1, a function of an int8 tensor has 256 values at most. Everything else is for calibration data to find
out; without data the layers that write or read such a tensor stay float32, as the file has them (model.py). Every case is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arenite.graph import DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.operators import UNBOUNDED
from arenite.quantize.ranges import Range
from arenite.quantize.scales import MOVEMENT, SOFTMAX, asymmetric, averages, representable
from arenite.quantize.value_operands import merges

STEPS = 256
SHOWN = 3
"""Layers that a reason names."""
ON_A_STEP = 2.0**-16
"""Of a step: how near to one a value has to be to be on it, float32 numbers being rounded."""
BYTE = Quantization.per_tensor(1 / 256, -128)
SYMMETRIC = Quantization.per_tensor(1 / 128, 0)
NATURAL = {"Sigmoid": BYTE, "HardSigmoid": BYTE, "Tanh": SYMMETRIC, "Softsign": SYMMETRIC}
"""0…1 and −1…1, as TensorFlow Lite and onnxruntime have them."""


@dataclass(frozen=True)
class MissingPair:
    """A tensor that the file leaves without a pair, though others have theirs."""

    tensor: str
    layer: str
    """The ONNX node that writes it; the name of an input."""
    source: str
    """Where its steps come from, in words."""
    scale: float | None
    """None: float32."""
    zero_point: int | None


@dataclass(frozen=True)
class Completed:
    graph: Graph
    """With annotations for what follows from those that were there."""
    sources: Mapping[str, str]
    """Where these come from, in words, by tensor."""


def comes_quantized(graph: Graph) -> bool:
    """Whether the file says what results of layers are quantized to. (An input of bytes alone does not say so.)"""
    return any(
        graph.tensors[name].quantization is not None and not graph.tensors[name].is_constant and node.op not in MOVEMENT
        for node in graph.nodes
        for name in node.outputs
    )


def completed(graph: Graph, *, measured: bool) -> Completed:
    """What can be inferred. `measured`: ranges will be measured, so that only what loses nothing, and what bounds say best, is."""
    if not comes_quantized(graph):
        return Completed(graph, {})
    given, graph = graph, graph.copy()
    sources: dict[str, str] = {}
    for node in graph.nodes:
        y = graph.tensors[node.output]
        if y.quantization is not None or y.dtype is not DType.FLOAT32 or len(node.outputs) != 1 or node.op in MOVEMENT or merges(node):
            continue
        for rule in _EXACT if measured else (*_EXACT, *_BOUNDED):
            found = rule(graph, node)
            if found is not None:
                graph.tensors[y.name] = replace(y, quantization=found[0])
                sources[y.name] = found[1]
                break
    return Completed(graph if sources else given, sources)


Found = tuple[Quantization, str]
Rule = Callable[[Graph, Node], Found | None]


def _annotation(graph: Graph, node: Node) -> Quantization | None:
    """Of the first operand, int8 and one a tensor."""
    tensor = graph.tensor(node.input)
    return tensor.quantization if _is_known(tensor) else None


def _is_known(tensor: Tensor) -> bool:
    q = tensor.quantization
    return q is not None and q.is_per_tensor and q.bits == 8 and not tensor.is_constant


def _values(graph: Graph, node: Node) -> tuple[Quantization, NDArray[np.float64]] | None:
    """Of a function of an int8 tensor, at each of its steps; None where one is not finite."""
    q = _annotation(graph, node)
    if node.op != "Elementwise" or q is None:
        return None
    expression: Expression = node.attributes["expression"]
    with np.errstate(all="ignore"):
        values = np.asarray(expression((np.arange(-128.0, 128.0) - float(q.zero_point)) * float(q.scale)), np.float64)
    return (q, values) if np.all(np.isfinite(values)) else None


def _same_steps(graph: Graph, node: Node) -> Found | None:
    """ReLU, Clip and their kin: every value is on a step of the operand."""
    found = _values(graph, node)
    if found is None:
        return None
    q, values = found
    steps = values / float(q.scale) + float(q.zero_point)
    fits = np.all(np.abs(steps - np.rint(steps)) <= ON_A_STEP) and steps.min() > -128.5 and steps.max() < 127.5
    return (q, f"its values are among those of {_origin(graph, node.input)}") if fits else None


def _natural_bounds(graph: Graph, node: Node) -> Found | None:
    if node.op == "Softmax":
        return SOFTMAX, "the bounds of Softmax, 0…1"
    if node.op != "Elementwise":
        return None
    expression: Expression = node.attributes["expression"]
    last = expression.steps[-1].op if expression.steps else ""
    if last not in NATURAL:
        return None
    limits = "0…1" if NATURAL[last] is BYTE else "−1…1"
    return NATURAL[last], f"the bounds of {last}, {limits}"


def _values_at_steps(graph: Graph, node: Node) -> Found | None:
    found = _values(graph, node)
    if found is None:
        return None
    _, values = found
    return asymmetric(Range(float(values.min()), float(values.max()))), f"its values at the {STEPS} steps of {_origin(graph, node.input)}"


def _mean(graph: Graph, node: Node) -> Found | None:
    q = _annotation(graph, node)
    if q is None or not averages(graph, node):
        return None
    return q, f"means lie between the values of {_origin(graph, node.input)}"


def _weighted_sum(graph: Graph, node: Node) -> Found | None:
    """Interpolation with weights of both signs leaves the operand's range by as much as its negative weights allow."""
    q = _annotation(graph, node)
    if q is None or node.op != "Resample":
        return None
    weights, operand = np.asarray(graph.tensor(node.inputs[2]).data, np.float64), representable(q)
    up, down = weights.clip(0).sum(-1).max(), weights.clip(None, 0).sum(-1).min()
    span = Range(min(operand.low, 0) * up + max(operand.high, 0) * down, max(operand.high, 0) * up + min(operand.low, 0) * down)
    return asymmetric(span), f"bounded by the weights and {_origin(graph, node.input)}"


def _clip(graph: Graph, node: Node) -> Found | None:
    low, high = node.attributes.get("clip", UNBOUNDED)
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    return asymmetric(Range(float(low), float(high))), f"its bounds, {low:g}…{high:g}"


def _gate(graph: Graph, node: Node) -> Found | None:
    """A product with numbers that are no larger than 1."""
    if node.op != "Mul" or len(node.inputs) != 2:
        return None
    tensors = [graph.tensor(name) for name in node.inputs]
    if not all(_is_known(tensor) for tensor in tensors):
        return None
    ranges = [representable(tensor.quantization) for tensor in tensors if tensor.quantization is not None]
    for gate, other, name in ((ranges[0], ranges[1], node.inputs[1]), (ranges[1], ranges[0], node.inputs[0])):
        if gate.low >= -1 and gate.high <= 1:
            low = min(other.low, other.low * gate.low, other.high * gate.low)
            high = max(other.high, other.low * gate.low)
            return asymmetric(Range(low, high)), f"no larger than {_origin(graph, name)}"
    return None


_EXACT: tuple[Rule, ...] = (_same_steps, _natural_bounds)
_BOUNDED: tuple[Rule, ...] = (_values_at_steps, _mean, _weighted_sum, _clip, _gate)


def missing_pairs(
    graph: Graph,
    quantization: Mapping[str, Quantization],
    sources: Mapping[str, str],
    measured: Mapping[str, Range],
    unknown: frozenset[str],
) -> tuple[MissingPair, ...]:
    """Of a graph that comes quantized, every activation without annotation: what it was given. `quantization`: what every int8 tensor has;
    `measured`: ranges from calibration data; `unknown`: what stays float32."""
    if not comes_quantized(graph):
        return ()
    layers = {name: node for node in graph.nodes for name in node.outputs}
    pairs = []
    for name in (*graph.inputs, *layers):
        tensor = graph.tensors[name]
        if tensor.quantization is not None or tensor.dtype is not DType.FLOAT32:
            continue
        layer = layers[name].name if name in layers else name
        if name in quantization:
            q = quantization[name]
            source = sources.get(name) or ("calibration data" if name in measured else _neighbour(graph, layers.get(name)))
            pairs.append(MissingPair(name, layer, source, float(q.scale), int(q.zero_point)))
        else:
            source = (
                "nothing bounds it, and there is no calibration data: float32" if name in unknown else "float32, as the layers around it"
            )
            pairs.append(MissingPair(name, layer, source, None, None))
    return tuple(pairs)


def all_missing(
    source: Graph, graph: Graph, steps: Mapping[str, tuple[float, int]], found: Sequence[MissingPair]
) -> tuple[MissingPair, ...]:
    """`found`, and what passes have given annotations, as far as `source`, the graph as imported, has no pair there; with the names of
    tensors in the file.

    `graph`: the optimized one; `steps`: scale and zero point of what is int8 in the end.
    """
    unpaired, by_tensor = _unpaired(source), {pair.tensor: pair for pair in found}
    pairs = [pair for pair in found if pair.tensor in graph.inputs and pair.tensor in unpaired.values()]
    consumers = graph.consumers()
    for node in graph.nodes:
        if consumers[node.output] and all(reader.name == node.name for reader in consumers[node.output]):
            continue  # of one ONNX node that several stand for, not the last
        last = node.origins[-1] if node.origins else node.name
        pair, q = by_tensor.get(node.output), graph.tensors[node.output].quantization
        if pair is None and node.output in steps and q is not None:
            pair = MissingPair(node.output, node.name, _neighbour(graph, node), *steps[node.output])
        if pair is not None and last in unpaired:
            pairs.append(replace(pair, tensor=unpaired[last], layer=last))
    return tuple({pair.tensor: pair for pair in pairs}.values())


def _unpaired(source: Graph) -> dict[str, str]:
    """The float results of ONNX nodes that no Quantize reads, by the node's name, and such inputs by their own.

    A node's tensors that nodes of other names do not read are none of the file's.
    """
    consumers = source.consumers()
    found = {}
    for name, writer in [(name, name) for name in source.inputs] + [(name, node.name) for node in source.nodes for name in node.outputs]:
        readers = [node for node in consumers[name] if node.name != writer]
        if source.tensors[name].dtype is not DType.FLOAT32 or not (readers or name in source.outputs):
            continue
        if not any(node.op == "Quantize" for node in readers):
            found[writer] = name
    for node in source.nodes:
        if node.op == "Dequantize":
            found.pop(node.name, None)
    return found


def _neighbour(graph: Graph, node: Node | None) -> str:
    """Which layer's steps a tensor has that elements are moved from or to; `node` writes it."""
    if node is None:
        return "the layers that read it"
    if node.op in MOVEMENT or merges(node):
        moved = [_origin(graph, name) for name in node.inputs if name is not None and not graph.tensors[name].is_constant]
        return f"its values are those of {', '.join(moved[:SHOWN])}"
    return f"its values go to {', '.join(reader.name for reader in graph.consumers()[node.output][:SHOWN])}"


def _origin(graph: Graph, name: str | None) -> str:
    """The layer that writes a tensor, as the file calls it; an input by its own name."""
    node = graph.producer(graph.tensor(name).name)
    return str(name) if node is None else node.origins[-1] if node.origins else node.name
