"""Whether what onnxruntime returned for the float model can be compared with at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite.errors import ArtifactError, ModelFileError, ToolError
from arenite.frontend.dimensions import bind_dimensions
from arenite.frontend.load import with_shapes
from arenite.frontend.model_file import read_model
from arenite.report import ReportPort

Array = NDArray[Any]
Shape = tuple[int, ...]


def require_shapes(outputs: Sequence[Array], inputs: Sequence[ReportPort], ports: Sequence[ReportPort], model: Path, folder: Path) -> None:
    """Raises where a sample's `outputs` do not have the shapes of the artifact in `folder`, whose ports `inputs` and `ports` are: ToolError
    where ONNX's shape inference is with the artifact, else ArtifactError."""
    for array, port in zip(outputs, ports, strict=True):
        if array.shape == port.source_shape:
            continue
        inferred = _inferred(model, {each.name: each.source_shape for each in inputs}).get(port.name)
        both = f"output {port.name} has the shape {list(array.shape)} in onnxruntime and {list(port.source_shape)} in {folder}"
        if inferred == port.source_shape:
            raise ToolError(
                f"{model}: {both}. ONNX's shape inference says {list(inferred)}: onnxruntime does not follow the specification here "
                "(known of pools with auto_pad SAME and dilations), and cannot be the reference for this model. "
                "`arenite run` executes the converted one."
            )
        known = "" if inferred is None else f" ONNX's shape inference says {list(inferred)}."
        raise ArtifactError(f"{model}: {both}.{known} Was it converted from another version of the model? Convert again.")


def require_finite(samples: Sequence[Sequence[Array]], ports: Sequence[ReportPort], model: Path) -> None:
    """Raises ModelFileError where a real output of the float model is NaN or infinite. `samples`: the outputs of each."""
    for index, port in enumerate(ports):
        bad = [number for number, outputs in enumerate(samples) if not np.isfinite(outputs[index]).all()]
        if bad:
            raise ModelFileError(
                f"{model}: the float model's output {port.name} is NaN or infinite for {len(bad)} of {len(samples)} samples, first for "
                f"sample {bad[0]}: there is nothing to compare with. Look for weights that are not finite, and for Log, Div, Exp or Sqrt "
                "of values where they have no finite result."
            )


def _inferred(model: Path, inputs: Mapping[str, Shape]) -> dict[str, Shape]:
    """The shapes of the outputs as ONNX infers them from the inputs' alone, whatever the file claims; those that it can infer."""
    proto = read_model(model)
    del proto.graph.value_info[:]
    for info in proto.graph.output:
        info.type.tensor_type.ClearField("shape")
    fixed = with_shapes(proto, bind_dimensions(proto, str(model), inputs))
    return {
        info.name: tuple(d.dim_value for d in info.type.tensor_type.shape.dim)
        for info in fixed.graph.output
        if info.type.tensor_type.HasField("shape") and all(d.HasField("dim_value") for d in info.type.tensor_type.shape.dim)
    }
