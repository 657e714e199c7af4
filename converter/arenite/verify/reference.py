"""The float reference: the original ONNX file, executed by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from arenite.errors import CalibrationError, ModelFileError

Array = NDArray[Any]
_CASTS: dict[str, type[np.floating[Any]]] = {"tensor(float16)": np.float16, "tensor(double)": np.float64}
"""Float types that the converter reads as float32."""


class Reference:
    """An ONNX model in onnxruntime. Takes real values for every input, whatever element type it declares."""

    def __init__(self, path: Path) -> None:
        """Raises ModelFileError where onnxruntime cannot load the file."""
        onnxruntime.set_default_logger_severity(4)
        options = onnxruntime.SessionOptions()
        # onnxruntime's INT8 fusion saturates intermediate sums on x86 without VNNI, and is then no reference.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        if not path.is_file():
            raise ModelFileError(f"{path}: no such file")
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no common base
            raise ModelFileError(f"{path}: onnxruntime cannot load it: {_first_line(error)}") from error
        self.path = path
        self._casts = {port.name: _CASTS[port.type] for port in self._session.get_inputs() if port.type in _CASTS}
        self.inputs: tuple[str, ...] = tuple(port.name for port in self._session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(port.name for port in self._session.get_outputs())

    def run(self, samples: Sequence[Mapping[str, Array]], advance: Callable[[int], None] = lambda count: None) -> list[list[Array]]:
        """The outputs of every sample, in the model's order and its element types. Each sample: input name → array in the ONNX shape
        and the ONNX element type, or float32 where that is another float type. Raises CalibrationError where an array does not fit the
        model."""
        results = []
        for sample in samples:
            try:
                results.append([np.asarray(value) for value in self._session.run(None, self._feeds(sample))])
            except Exception as error:
                raise CalibrationError(f"{self.path}: onnxruntime refuses the data: {_first_line(error)}") from error
            advance(1)
        return results

    def _feeds(self, sample: Mapping[str, Array]) -> dict[str, Array]:
        return {name: array.astype(self._casts[name]) if name in self._casts else array for name, array in sample.items()}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
