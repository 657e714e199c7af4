"""The float reference: the original ONNX file, executed by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from arenite.errors import CalibrationError, ModelFileError
from arenite.report import ReportState
from arenite.verify.filled_reference import has_narrow_integers, runnable

Array = NDArray[Any]
_CASTS: dict[str, type[np.floating[Any]]] = {"tensor(float16)": np.float16, "tensor(double)": np.float64}
"""Float types that the converter reads as float32."""
_NO_VALUES: Mapping[str, float] = {}


class Reference:
    """An ONNX model in onnxruntime. Takes real values for every input, whatever element type it declares.

    `states` are outputs that become inputs of the next sample, `values` inputs that are constant: neither is among `inputs` and `outputs`.
    """

    name = "onnxruntime"

    def __init__(self, path: Path, states: Sequence[ReportState] = (), values: Mapping[str, float] = _NO_VALUES) -> None:
        """Raises ModelFileError where onnxruntime cannot load the file."""
        onnxruntime.set_default_logger_severity(4)
        options = onnxruntime.SessionOptions()
        # onnxruntime's INT8 fusion saturates intermediate sums on x86 without VNNI, and is then no reference.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        if not path.is_file():
            raise ModelFileError(f"{path}: no such file")
        if has_narrow_integers(path):
            # With its further optimizations onnxruntime computes other values, or makes a graph that it refuses.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = onnxruntime.InferenceSession(runnable(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no common base
            raise ModelFileError(f"{path}: onnxruntime cannot load it: {_first_line(error)}") from error
        self.path = path
        self._casts = {port.name: _CASTS[port.type] for port in self._session.get_inputs() if port.type in _CASTS}
        declared = {port.name: port for port in self._session.get_inputs()}
        self._outputs = tuple(port.name for port in self._session.get_outputs())
        present = [state for state in states if state.input in declared and state.output in self._outputs]
        self._next = {state.output: state.input for state in present}
        self._first = {state.input: _initial(state, _element_type(declared[state.input])) for state in present}
        self._fixed = {
            name: np.full([d if isinstance(d, int) else 1 for d in declared[name].shape], value, _element_type(declared[name]))
            for name, value in values.items()
            if name in declared
        }
        self.inputs: tuple[str, ...] = tuple(name for name in declared if name not in self._first and name not in self._fixed)
        self.outputs: tuple[str, ...] = tuple(name for name in self._outputs if name not in self._next)

    def run(self, samples: Sequence[Mapping[str, Array]], advance: Callable[[int], None] = lambda count: None) -> list[list[Array]]:
        """The outputs of every sample, in the model's order and its element types. Each sample: input name → array in the ONNX shape
        and the ONNX element type, or float32 where that is another float type; states begin with 0. Raises CalibrationError where an
        array does not fit the model."""
        results = []
        kept = self._first
        for sample in samples:
            try:
                values = dict(zip(self._outputs, self._session.run(None, {**self._feeds(sample), **self._fixed, **kept}), strict=True))
            except Exception as error:
                raise CalibrationError(f"{self.path}: onnxruntime refuses the data: {_first_line(error)}") from error
            results.append([np.asarray(values[name]) for name in self.outputs])
            kept = {name: values[output] for output, name in self._next.items()}
            advance(1)
        return results

    def _feeds(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        """(A sample of an input without dimensions is a scalar of numpy's, which onnxruntime does not take.)"""
        return {name: np.asarray(array, self._casts.get(name)) for name, array in sample.items()}


def _element_type(port: onnxruntime.NodeArg) -> np.dtype[Any]:
    """`tensor(float)` → float32."""
    name = str(port.type).removeprefix("tensor(").removesuffix(")")
    return np.dtype({"float": "float32", "double": "float64"}.get(name, name))


def _initial(state: ReportState, dtype: np.dtype[Any]) -> Array:
    """The real number 0 in the ONNX file's element type; a zero point is that of int8 values (the IR's convention)."""
    zero = state.zero_point if dtype.itemsize == 1 and state.zero_point is not None else 0
    return np.full(state.shape, zero + (128 if dtype == np.uint8 and state.zero_point is not None else 0), dtype)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
