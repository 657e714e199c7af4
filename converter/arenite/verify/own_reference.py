"""The float reference of a model with users' own operators, which onnxruntime cannot execute: the float graph, by the typed NumPy kernels.

What it shows is what quantization costs. It says nothing about the import, of which it is the result; that is for the operator's own tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray

from arenite.errors import CalibrationError
from arenite.frontend import load
from arenite.own_operators import own_operator
from arenite.passes import optimize
from arenite.quantize import InputSpec
from arenite.quantize.evaluation import open_evaluator

Array = NDArray[Any]


def has_own_operators(path: Path) -> bool:
    """Whether an ONNX file uses own operators that are in use; False where it cannot be read."""
    try:
        model = onnx.load(path, load_external_data=False)
    except (OSError, DecodeError):
        return False
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    return any(own_operator(node.domain, node.op_type) is not None for node in nodes)


class OwnReference:
    """As reference.Reference. `shapes` are those that the inputs were converted with, in the ONNX file's layout."""

    name = "NumPy"

    def __init__(self, path: Path, shapes: Mapping[str, Sequence[int]], states: Mapping[str, str], values: Mapping[str, float]) -> None:
        """Raises the frontend's errors."""
        source = load(path, shapes, states=states, values=values)
        self._graph = optimize(source)
        self.path = path
        self.inputs: tuple[str, ...] = tuple(source.input_ports)
        self.outputs: tuple[str, ...] = tuple(source.output_ports)
        self._computed = self._graph.output_ports
        self._evaluator = open_evaluator(self._graph, self._computed, fake_quantize=True)

    def run(self, samples: Sequence[Mapping[str, Array]], advance: Callable[[int], None] = lambda count: None) -> list[list[Array]]:
        """See Reference.run."""
        results = []
        self._evaluator.reset()
        for sample in samples:
            feeds = {name: self._real(name, np.asarray(sample[name])) for name in self.inputs}
            try:
                values = self._evaluator(feeds)
            except ValueError as error:
                raise CalibrationError(f"{self.path}: {error}") from error
            results.append([self._spec(name).declared_values(np.asarray(values[name])) for name in self._computed])
            advance(1)
        return results

    def _real(self, name: str, values: Array) -> Array:
        spec = self._spec(name)
        return values if spec.quantization is None else spec.real_values(values)

    def _spec(self, name: str) -> InputSpec:
        """A port as the ONNX file declares it."""
        tensor = self._graph.tensors[name]
        quantization = tensor.quantization if name in self._graph.io_dtypes else None
        return InputSpec(name, tensor.shape, self._graph.io_dtypes.get(name, tensor.dtype), quantization)
