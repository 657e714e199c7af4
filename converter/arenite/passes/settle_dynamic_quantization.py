"""settle_dynamic_quantization: layers that onnxruntime's quantize_dynamic made integer ones become float layers with annotated weights.

    DynamicQuantizeLinear(x) → q, s, z
    ConvInteger(q, w, z, z_w) → Cast → Mul by s · s_w            Conv(x, s_w · (w − z_w))
    MatMulInteger(q, w, z, z_w) → Cast → Mul by s · s_w          FullyConnected(x, s_w · (w − z_w))

Movement may stand in between. The scales of the weights are kept, the range of x is for calibration to find: an INT8 layer then, where the
model measures a range with every inference and multiplies in float32. Not for a model that stays float32, which runs as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.graph.graph import Graph
from arenite.graph.node import Node
from arenite.graph.operators import OPERATORS, UNBOUNDED
from arenite.graph.tensor import DType, Quantization, Tensor

_MOVES = ("Reshape", "Transpose", "Slice")
_PRODUCTS = ("ConvInteger", "MatMulInteger")


@dataclass(frozen=True)
class _Layer:
    """An integer product with constant weights and what is around it."""

    x: str
    """The float tensor that is quantized."""
    before: tuple[Node, ...]
    """Movement of its bytes, in order."""
    product: Node
    after: tuple[Node, ...]
    """Movement of the sums, in order."""
    end: Node
    """Writes the real sums."""
    weight: Tensor
    weight_zero: NDArray[np.int32]
    """One, or one an output channel."""
    weight_scale: NDArray[np.float32]


def settle_dynamic_quantization(graph: Graph) -> Graph:
    """What does not have this form stays as it is."""
    graph = graph.copy()
    for node in list(graph.nodes):
        layer = _Search(graph).layer(node) if node.op in _PRODUCTS else None
        if layer is not None:
            graph.replace_node(layer.end, _float_layer(graph, layer))
    graph.prune()
    return graph


class _Search:
    def __init__(self, graph: Graph) -> None:
        self.graph, self.producers, self.consumers = graph, graph.producers(), graph.consumers()

    def layer(self, product: Node) -> _Layer | None:
        x, weight, x_zero, weight_zero = (*product.inputs, None, None)[:4]
        source, before = self.back(x)
        dynamic = self.producers.get(source or "")
        if dynamic is None or dynamic.op != "DynamicQuantizeLinear" or source != dynamic.outputs[0]:
            return None
        if self.back(x_zero)[0] != dynamic.outputs[2]:
            return None
        stored = self.graph.tensor(weight)
        zero = None if weight_zero is None else self.graph.tensors[weight_zero].data
        if stored.data is None or (weight_zero is not None and zero is None):
            return None
        if product.op == "MatMulInteger" and any(size != 1 for size in stored.shape[:-2]):
            return None
        zeros = np.zeros(1, np.int32) if zero is None else zero.astype(np.int32).reshape(-1)
        channels = stored.shape[0 if product.op == "ConvInteger" else -1]
        found = self.scaled(product.output, dynamic.outputs[1], channels)
        if found is None or zeros.size not in (1, channels):
            return None
        after, end, scale = found
        return _Layer(dynamic.input, before, product, after, end, stored, zeros, scale)

    def back(self, name: str | None) -> tuple[str | None, tuple[Node, ...]]:
        """The tensor whose elements `name` has, and the movement in between, in order."""
        moves: list[Node] = []
        while name in self.producers and self.producers[name].op in _MOVES:
            moves.append(self.producers[name])
            name = moves[-1].input
        return name, tuple(reversed(moves))

    def scaled(self, acc: str, x_scale: str, channels: int) -> tuple[tuple[Node, ...], Node, NDArray[np.float32]] | None:
        """Movement of the sums, the node that makes real numbers of them, and the scales of the weights."""
        moves: list[Node] = []
        shape, real = self.graph.tensors[acc].shape, False
        while len(self.consumers[acc]) == 1 and acc not in self.graph.outputs:
            (node,) = self.consumers[acc]
            if node.op in _MOVES:
                moves.append(node)
            elif node.op == "Cast" and node.attributes["to"] == DType.FLOAT32.value and not real:
                real = True
            elif not _ends(node, acc, real):
                return None
            else:
                factor = next((name for name in node.inputs if name is not None and name != acc), "")
                scale = self.weight_scale(factor, x_scale, channels)
                if scale is None or (scale.size > 1 and not _is_of_channels(self.graph.tensors[factor].shape, shape, moves)):
                    return None
                return tuple(moves), node, scale
            acc = node.output
        return None

    def weight_scale(self, factor: str, x_scale: str, channels: int) -> NDArray[np.float32] | None:
        """s_w, where `factor` is s · s_w: one, or one an output channel."""
        scale, _ = self.back(factor)
        product = self.producers.get(scale or "")
        if product is None or product.op != "Mul" or tuple(product.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
            return None
        sides = [self.back(name)[0] for name in product.inputs]
        if sides.count(x_scale) != 1:
            return None
        other = self.graph.tensor(product.inputs[1 - sides.index(x_scale)])
        if other.data is None or other.elements not in (1, channels):
            return None
        values = np.asarray(other.data, np.float32).reshape(-1)
        return values if np.all(values > 0) else None


def _ends(node: Node, acc: str, real: bool) -> bool:
    """Whether the node makes real numbers of the sums: a product with something, or DequantizeLinear with one scale and no zero point."""
    if node.op == "DequantizeLinear":
        return not real and node.input == acc and not any(node.inputs[2:]) and not node.attributes["axis"] and not node.attributes["block"]
    return node.op == "Mul" and real and node.inputs.count(acc) == 1 and tuple(node.attributes.get("clip", UNBOUNDED)) == UNBOUNDED


def _is_of_channels(factor: Sequence[int], sums: Sequence[int], moves: Sequence[Node]) -> bool:
    """Whether the elements of a factor of this shape meet one channel each of the sums [..., channels], which are moved before."""
    channel = np.broadcast_to(np.arange(sums[-1]), tuple(sums))
    for move in moves:
        a = move.attributes
        if move.op == "Reshape":
            channel = channel.reshape(a["shape"])
        elif move.op == "Transpose":
            channel = channel.transpose(a["perm"])
        else:
            for axis, (start, step, size) in enumerate(zip(a["starts"], a["steps"], a["sizes"], strict=True)):
                channel = channel.take(start + step * np.arange(size), axis)
    laid_out = np.arange(sums[-1]).reshape(tuple(factor))
    return np.broadcast_shapes(laid_out.shape, channel.shape) == channel.shape and bool(np.all(channel == laid_out))


def _float_layer(graph: Graph, layer: _Layer) -> list[Node]:
    """Nodes in place of the layer's end."""
    nodes: list[Node] = []

    def emit(like: Node, op: str, inputs: tuple[str, ...], output: str | None, attributes: Mapping[str, Any]) -> str:
        ((shape, _),) = OPERATORS[op].outputs([graph.tensors[name] for name in inputs], attributes)
        name = output or graph.add(Tensor(f"{like.output}/real", shape, DType.FLOAT32)).name
        nodes.append(Node(op, like.name, inputs, (name,), attributes, like.origins))
        return name

    x, product, y = layer.x, layer.product, layer.end.output
    for move in layer.before:
        x = emit(move, move.op, (x,), None, move.attributes)
    op, operands = _operator(graph, layer, x)
    x = emit(product.absorbing(layer.end), op, operands, None if layer.after else y, _attributes(layer))
    for index, move in enumerate(layer.after, 1):
        x = emit(move, move.op, (x,), y if index == len(layer.after) else None, move.attributes)
    return nodes


def _is_depthwise(layer: _Layer) -> bool:
    return layer.product.op == "ConvInteger" and layer.product.attributes["group"] > 1 and layer.weight.shape[3] == 1


def _operator(graph: Graph, layer: _Layer, x: str) -> tuple[str, tuple[str, str]]:
    """The float operator and its operands, the weights annotated."""
    assert layer.weight.data is not None
    weight = layer.weight.data.astype(np.int32)
    op, perm = "Conv", tuple(range(weight.ndim))
    if layer.product.op == "MatMulInteger":
        weight, op, perm = weight.reshape(weight.shape[-2:]).T, "FullyConnected", (0, 1)
    count = max(layer.weight_zero.size, layer.weight_scale.size)
    zero, scale = np.broadcast_to(layer.weight_zero, count), np.broadcast_to(layer.weight_scale, count)
    spread = (-1, *(1,) * (weight.ndim - 1))
    real = (weight - zero.reshape(spread)).astype(np.float32) * scale.reshape(spread)
    flat = (zero - (128 if layer.weight.dtype is DType.UINT8 else 0)).astype(np.int32)
    axis = 0
    if _is_depthwise(layer):
        op, perm, axis = "DepthwiseConv", (1, 2, 0, 3), 2
    real = real.transpose(perm)
    real = real.reshape(real.shape[:3]) if op == "DepthwiseConv" else real
    quantization = Quantization.per_tensor(scale[0], int(flat[0])) if count == 1 else Quantization(scale.copy(), flat, axis)
    return op, (x, graph.add_constant(f"{layer.weight.name}/real", np.ascontiguousarray(real), quantization).name)


def _attributes(layer: _Layer) -> dict[str, Any]:
    attributes = dict(layer.product.attributes)
    if _is_depthwise(layer):
        del attributes["group"]
    return {**attributes, "clip": UNBOUNDED}
