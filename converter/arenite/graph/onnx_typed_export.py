"""Operators of the typed form as ONNX nodes: reductions, indexing, layer normalization, recurrent layers. See onnx_export.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from arenite.graph.node import Node
from arenite.graph.tensor import Tensor


class Export(Protocol):
    """What onnx_export offers: every method returns the name of a value."""

    def emit(self, op: str, inputs: Sequence[str], output: str | None = None, **attributes: Any) -> str: ...
    def emit_all(self, op: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]: ...
    def constant(self, data: Any, dtype: Any = np.float32) -> str: ...
    def operand(self, node: Node, index: int) -> Tensor: ...


Exporter = Callable[[Any, Node], str | list[str]]


def _reduction(export: Export, node: Node) -> str:
    a = node.attributes
    axes = [export.constant(a["axes"], np.int64)] if a["axes"] else []
    return export.emit(node.op, [node.input, *axes], keepdims=int(a["keepdims"]))


def _arg(export: Export, node: Node) -> str:
    a = node.attributes
    found = export.emit(node.op, [node.input], axis=a["axis"], keepdims=int(a["keepdims"]), select_last_index=int(a["last"]))
    return export.emit("Cast", [found], to=6) if a.get("narrow") else found


def _cumulative(export: Export, node: Node) -> str:
    a = node.attributes
    axis = export.constant(a["axis"], np.int64)
    return export.emit(node.op, [node.input, axis], exclusive=int(a["exclusive"]), reverse=int(a["reverse"]))


def _top_k(export: Export, node: Node) -> list[str]:
    a = node.attributes
    return export.emit_all("TopK", [node.input, export.constant([a["k"]], np.int64)], 2, axis=a["axis"], largest=int(a["largest"]))


def _as_int64(export: Export, name: str) -> str:
    return export.emit("Cast", [name], to=7)


def _indexed(op: str, *attributes: str) -> Exporter:
    """An operator with ONNX's own operands and these attributes."""

    def exporter(export: Export, node: Node) -> str:
        return export.emit(op, [name or "" for name in node.inputs], **{name: node.attributes[name] for name in attributes})

    return exporter


def _nd(op: str, *attributes: str) -> Exporter:
    """The same where ONNX has no int32 indices."""

    def exporter(export: Export, node: Node) -> str:
        indices = _as_int64(export, str(node.inputs[1]))
        operands = [node.input, indices, *(name for name in node.inputs[2:] if name is not None)]
        return export.emit(op, operands, **{name: node.attributes[name] for name in attributes})

    return exporter


def _one_hot(export: Export, node: Node) -> str:
    depth = export.constant(node.attributes["depth"], np.int64)
    return export.emit("OneHot", [_as_int64(export, node.input), depth, str(node.inputs[1])], axis=node.attributes["axis"])


def _trilu(export: Export, node: Node) -> str:
    return export.emit("Trilu", [name for name in node.inputs if name is not None], upper=int(node.attributes["upper"]))


def _reverse_sequence(export: Export, node: Node) -> str:
    time = node.attributes["time_axis"]
    return export.emit("ReverseSequence", [node.input, _as_int64(export, str(node.inputs[1]))], time_axis=time, batch_axis=1 - time)


def _layer_normalization(export: Export, node: Node) -> str:
    a, shape = node.attributes, export.operand(node, 0).shape
    axis = next(axis for axis in range(len(shape) + 1) if prod(shape[axis:]) == a["length"])
    operands = [None if name is None else export.operand(node, i + 1) for i, name in enumerate(node.inputs[1:])]
    if a.get("period", 1) > 1 or any(tensor is not None and tensor.elements != a["length"] for tensor in operands):
        return _normalization_of_blocks(export, node, operands)
    row = export.constant(shape[axis:], np.int64)
    scale, bias = (
        None if name is None else export.emit("Reshape", [name, row]) for name in (*node.inputs[1:], *(None,) * (3 - len(node.inputs)))
    )
    if a["centred"] and axis < len(shape):
        ones = export.constant(np.ones(shape[axis:], np.float32)) if scale is None else scale
        return export.emit("LayerNormalization", [node.input, ones, *([bias] if bias else [])], axis=axis, epsilon=a["epsilon"])
    axes = export.constant(range(axis, len(shape)), np.int64)
    centred = export.emit("Sub", [node.input, export.emit("ReduceMean", [node.input, axes])]) if a["centred"] else node.input
    square = export.emit("ReduceMean", [export.emit("Mul", [centred, centred]), axes])
    y = export.emit("Div", [centred, export.emit("Sqrt", [export.emit("Add", [square, export.constant(a["epsilon"])])])])
    y = y if scale is None else export.emit("Mul", [y, scale])
    return y if bias is None else export.emit("Add", [y, bias])


def _normalization_of_blocks(export: Export, node: Node, operands: Sequence[Tensor | None]) -> str:
    """With a scale and a bias for each block of a row, of several rows."""
    a, x, period = node.attributes, export.operand(node, 0), node.attributes.get("period", 1)
    plain = {name: a[name] for name in ("length", "centred", "epsilon")}
    y = _layer_normalization(export, Node(node.op, node.name, (node.input,), node.outputs, plain))
    for op, tensor, name in zip(("Mul", "Add"), operands, node.inputs[1:], strict=False):
        if tensor is not None and name is not None:
            blocks = tensor.elements // period
            shape = (x.elements // (period * a["length"]), period, blocks, a["length"] // blocks)
            values = export.emit("Reshape", [name, export.constant((1, period, blocks, 1), np.int64)])
            y = export.emit(op, [export.emit("Reshape", [y, export.constant(shape, np.int64)]), values])
    return export.emit("Reshape", [y, export.constant(x.shape, np.int64)])


def _recurrent(export: Export, node: Node) -> list[str]:
    a = node.attributes
    every, op = not node.op.endswith("Last"), node.op.removesuffix("Last").upper()
    direction = "bidirectional" if len(a["directions"]) == 2 else "reverse" if a["directions"][0] else "forward"
    attributes: dict[str, Any] = {"hidden_size": a["hidden"], "direction": direction}
    attributes["activations"] = [name for name, _, _ in a["activations"]]
    alphas = [alpha for name, alpha, _ in a["activations"] if name not in _WITHOUT_PARAMETERS]
    betas = [beta for name, _, beta in a["activations"] if name in ("Affine", "ScaledTanh", "HardSigmoid")]
    attributes |= {name: v for name, v in (("activation_alpha", alphas), ("activation_beta", betas)) if v}
    if np.isfinite(a["threshold"]):
        attributes["clip"] = a["threshold"]
    if op == "LSTM":
        attributes["input_forget"] = int(a["coupled"])
    if op == "GRU":
        attributes["linear_before_reset"] = int(a["linear_before_reset"])
    results = export.emit_all(op, [name or "" for name in node.inputs], 3 if op == "LSTM" else 2, **attributes)
    return results if every else results[1:]


_WITHOUT_PARAMETERS = ("Sigmoid", "Tanh", "Relu", "Softsign", "Softplus")

EXPORTERS: dict[str, Exporter] = {
    **dict.fromkeys(("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1"), _reduction),
    **dict.fromkeys(("ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"), _reduction),
    "ArgMax": _arg,
    "ArgMin": _arg,
    "CumSum": _cumulative,
    "CumProd": _cumulative,
    "TopK": _top_k,
    "Gather": _indexed("Gather", "axis"),
    "GatherElements": _indexed("GatherElements", "axis"),
    "GatherND": _nd("GatherND", "batch_dims"),
    "ScatterElements": _indexed("ScatterElements", "axis"),
    "ScatterElementsReduce": _indexed("ScatterElements", "axis", "reduction"),
    "ScatterND": _nd("ScatterND"),
    "ScatterNdReduce": _nd("ScatterND", "reduction"),
    "OneHot": _one_hot,
    "Trilu": _trilu,
    "ReverseSequence": _reverse_sequence,
    "LayerNormalization": _layer_normalization,
    **{f"{cell}{last}": _recurrent for cell in ("Lstm", "Gru", "Rnn") for last in ("", "Last")},
}
"""By IR operator. CumProd is of opset 26: onnxruntime may lack it. TensorScatter, of opset 24, has no form here."""
