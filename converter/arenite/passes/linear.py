"""The linear operators (Conv, DepthwiseConv, FullyConnected) seen alike: weights whose outputs and inputs can be scaled."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import Tensor
from arenite.passes.affine import Vector
from arenite.passes.uses import put_constant

LINEAR = ("Conv", "DepthwiseConv", "FullyConnected")


def is_linear(graph: Graph, node: Node) -> bool:
    """Whether it is one of LINEAR, of weights that are known."""
    return node.op in LINEAR and all(name is None or graph.tensors[name].is_constant for name in node.inputs[1:])


def weight_of(graph: Graph, node: Node) -> Tensor:
    return graph.tensor(node.inputs[1])


def bias_of(graph: Graph, node: Node) -> Tensor | None:
    return graph.tensor(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] is not None else None


def output_channels(graph: Graph, node: Node) -> int:
    return weight_of(graph, node).shape[-1 if node.op == "DepthwiseConv" else 0]


def is_padded(node: Node) -> bool:
    return any(node.attributes.get("pads", ()))


@dataclass(frozen=True)
class Weights:
    """New float32 weights of a linear operator, and its bias where it has one."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32] | None


def _rounded(weight: Vector, bias: Vector | None) -> Weights | None:
    """To float32, once; None where a value does not fit."""
    with np.errstate(over="ignore"):
        weights = Weights(weight.astype(np.float32), None if bias is None else bias.astype(np.float32))
    fits = np.all(np.isfinite(weights.weight)) and (weights.bias is None or np.all(np.isfinite(weights.bias)))
    return weights if fits else None


def with_weights(graph: Graph, node: Node, weights: Weights) -> Node:
    """The node with other weights, which are added to `graph`."""
    old_weight, old_bias = weight_of(graph, node), bias_of(graph, node)
    weight = Tensor.constant(old_weight.name, weights.weight)
    names: list[str | None] = [node.input, put_constant(graph, old_weight.name, weight)]
    if weights.bias is not None:
        bias = Tensor.constant(f"{node.name}_bias" if old_bias is None else old_bias.name, weights.bias)
        names.append(graph.add(bias).name if old_bias is None else put_constant(graph, bias.name, bias))
    return replace(node, inputs=tuple(names))


def scaled_outputs(graph: Graph, node: Node, factor: Vector, shift: Vector) -> Weights | None:
    """Of factor · node(x) + shift; factor and shift of shape (out,)."""
    weight = np.asarray(weight_of(graph, node).data, np.float64)
    bias = bias_of(graph, node)
    weight = weight * (factor if node.op == "DepthwiseConv" else factor.reshape(-1, *(1,) * (weight.ndim - 1)))
    old = np.zeros(len(factor)) if bias is None else np.asarray(bias.data, np.float64)
    return _rounded(weight, old * factor + shift)


def scaled_inputs(graph: Graph, node: Node, factor: Vector, shift: Vector) -> Weights | None:
    """Of node(factor · x + shift); factor and shift are of shape (in,), and shift is zero where the node pads."""
    weight = np.asarray(weight_of(graph, node).data, np.float64)
    bias = bias_of(graph, node)
    axes: tuple[int, ...]
    if node.op == "Conv":
        out, _, _, per_group = weight.shape
        channels = (np.arange(out) // (out // node.attributes["group"]))[:, None] * per_group + np.arange(per_group)
        factor, shift, axes = factor[channels][:, None, None, :], shift[channels][:, None, None, :], (1, 2, 3)
    elif node.op == "DepthwiseConv":
        multiplier = weight.shape[2] // len(factor)
        factor, shift, axes = np.repeat(factor, multiplier), np.repeat(shift, multiplier), (0, 1)
    else:
        axes = (1,)
    added = (weight * shift).sum(axis=axes)
    if bias is None:
        return _rounded(weight * factor, added if added.any() else None)
    return _rounded(weight * factor, np.asarray(bias.data, np.float64) + added)
