"""Execution of float graphs for calibration: onnxruntime, or NumPy's typed kernels where a graph has operators that ONNX cannot write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from numpy.typing import NDArray

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.onnx_export import Evaluator
from arenite.quantize.multipliers import quantize_values, scale_of, zero_point_of
from arenite.quantize.to_typed import to_typed

Array = NDArray[Any]


def open_evaluator(graph: Graph, names: Sequence[str], *, fake_quantize: bool = False) -> Evaluator | TypedEvaluator:
    """For the values of `names`, activations of the graph."""
    try:
        return Evaluator(graph, names, fake_quantize=fake_quantize)
    except ValueError as error:
        if "not an operator of the float form" not in str(error):
            raise
        return TypedEvaluator(graph, names, fake_quantize=fake_quantize)


class TypedEvaluator:
    """As onnx_export.Evaluator, many times slower."""

    def __init__(self, graph: Graph, names: Sequence[str], *, fake_quantize: bool = False) -> None:
        self.graph = graph
        self._names = list(dict.fromkeys(names))
        plain = graph.copy()
        plain.tensors = {name: replace(tensor, quantization=None) for name, tensor in graph.tensors.items()}
        self._typed = to_typed(plain)
        self._fake_quantize = fake_quantize
        self.reset()

    def reset(self) -> None:
        tensors = self.graph.tensors
        self._states: dict[str, Array] = {
            state.input: np.zeros(tensors[state.input].shape, tensors[state.input].dtype.numpy) for state in self.graph.states
        }

    def __call__(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Raises ValueError where an input is missing or does not fit."""
        tensors = self._typed.tensors
        values: dict[str, Array] = {name: tensor.data for name, tensor in tensors.items() if tensor.data is not None}
        for name, value in {**self._states, **feeds}.items():
            values[name] = self._round(name, np.asarray(value, tensors[name].dtype.numpy).reshape(tensors[name].shape))
        for node in self._typed.nodes:
            operands = [None if name is None else values[name] for name in node.inputs]
            outputs = [np.zeros(tensors[name].shape, tensors[name].dtype.numpy) for name in node.outputs]
            if "variant" in node.attributes:
                self._call(node, operands, outputs)
            else:
                outputs = [moved(node, [value for value in operands if value is not None])]
            values.update({name: self._round(name, value) for name, value in zip(node.outputs, outputs, strict=True)})
        self._states = {state.input: values[state.output] for state in self.graph.states}
        return {name: values[name] for name in self._names}

    def _call(self, node: Node, operands: list[Array | None], outputs: list[Array]) -> None:
        form = OPERATORS[node.op].form(node.attributes["variant"])
        if form.record is None:
            raise ValueError(f"{node.name}: {node.op} has no record")
        tensors = self._typed.tensors
        inputs = [None if name is None else tensors[name] for name in node.inputs]
        record = form.record(node, inputs, [tensors[name] for name in node.outputs])
        KERNELS[node.op, node.attributes["variant"]](Record(**record), *operands, *outputs)

    def _round(self, name: str, value: Array) -> Array:
        """To the annotation's steps, where quantization is simulated."""
        tensor = self.graph.tensors.get(name)
        chosen = None if tensor is None or tensor.is_constant else tensor.quantization
        if not self._fake_quantize or chosen is None:
            return value
        steps = quantize_values(value.astype(np.float64), chosen).astype(np.float64) - zero_point_of(chosen)
        return np.asarray(steps * scale_of(chosen), np.float32)


def moved(node: Node, operands: list[Array]) -> Array:
    """What an operator that only moves elements makes of its operands, of any type."""
    a, x = node.attributes, operands[0]
    match node.op:
        case "Reshape":
            return x.reshape(a["shape"])
        case "Transpose":
            return x.transpose(a["perm"])
        case "Concat":
            return np.concatenate(operands, axis=a["axis"])
        case "Expand":
            return np.broadcast_to(x, a["shape"])
        case "Slice":
            picked = [start + step * np.arange(size) for start, step, size in zip(a["starts"], a["steps"], a["sizes"], strict=True)]
            return np.asarray(x[np.ix_(*picked)]) if picked else x
        case "Pad":
            value = operands[1].reshape(-1)[0] if len(operands) > 1 else 0
            widths = [(a["pads"][axis], a["pads"][x.ndim + axis]) for axis in range(x.ndim)]
            return np.pad(x, widths, constant_values=value)
    raise ValueError(f"{node.name}: {node.op} has no variant")
