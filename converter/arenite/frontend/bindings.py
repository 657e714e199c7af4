"""Inputs that the user fixes at conversion (`--bind`): they become constants, and what depends on them alone is folded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from arenite.errors import PortError

Shape = tuple[int, ...]


def bind_values(
    model: onnx.ModelProto, file: str, shapes: Mapping[str, Shape], values: Mapping[str, float]
) -> tuple[onnx.ModelProto, dict[str, Shape]]:
    """The model, and its inputs' `shapes`, with every input that `values` names turned into a constant all of whose elements are that
    number. Raises PortError for names that are no inputs and numbers that the element type does not hold."""
    if not values:
        return model, dict(shapes)
    for name in values:
        if name not in shapes:
            raise PortError(f"{file}: --bind {name} names no input; the model has {', '.join(shapes) or 'none'}")
    bound = onnx.ModelProto()
    bound.CopyFrom(model)
    kept: Sequence[onnx.ValueInfoProto] = [info for info in bound.graph.input if info.name not in values]
    for info in bound.graph.input:
        if info.name in values:
            array = _filled(file, info, shapes[info.name], values[info.name])
            bound.graph.initializer.append(numpy_helper.from_array(array, info.name))
    kept = [onnx.ValueInfoProto.FromString(info.SerializeToString()) for info in kept]
    del bound.graph.input[:]
    bound.graph.input.extend(kept)
    return bound, {name: shape for name, shape in shapes.items() if name not in values}


def _filled(file: str, info: onnx.ValueInfoProto, shape: Shape, value: float) -> np.ndarray[Shape, np.dtype[np.generic]]:
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type))
    if dtype.kind not in "biuf":
        raise PortError(f"{file}: --bind {info.name}: the input's elements are {dtype}, not numbers")
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else None
    if limits is not None and not (float(value).is_integer() and limits[0] <= value <= limits[1]):
        raise PortError(f"{file}: --bind {info.name}={value:g}: the input is {dtype.name}, from {limits[0]} to {limits[1]}")
    if math.isnan(value):
        raise PortError(f"{file}: --bind {info.name}=nan: the input is {dtype.name}, give it a number")
    return np.full(shape, int(value) if limits is not None else value, dtype)
