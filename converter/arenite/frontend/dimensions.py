"""Fixing the shapes of a model's inputs: the batch becomes 1, other dynamic dimensions come from the user."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import onnx

from arenite.errors import ModelFileError, ShapeError

Shape = tuple[int, ...]
Dimension = int | str | None
"""A number, a symbol, or unknown. A number of 0 or less is how some exporters write an unknown one."""
LARGEST = 2**31 - 1
"""Bytes of a tensor (docs/flat-model.md)."""


def input_dimensions(model: onnx.ModelProto, file: str) -> dict[str, tuple[Dimension, ...] | None]:
    """The declared dimensions of every input that is not an initializer; None where not even the rank is declared."""
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs: dict[str, tuple[Dimension, ...] | None] = {}
    for info in model.graph.input:
        if info.name in constants:
            continue
        if not info.type.HasField("tensor_type"):
            raise ModelFileError(f"{file}: input {info.name} is a {info.type.WhichOneof('value') or 'value of unknown type'}, not a tensor")
        tensor = info.type.tensor_type
        inputs[info.name] = tuple(_dimension(d) for d in tensor.shape.dim) if tensor.HasField("shape") else None
    return inputs


def _dimension(d: onnx.TensorShapeProto.Dimension) -> Dimension:
    return int(d.dim_value) if d.HasField("dim_value") else d.dim_param or None


def _is_size(dimension: Dimension) -> bool:
    return isinstance(dimension, int) and dimension > 0


def bind_dimensions(model: onnx.ModelProto, file: str, shapes: Mapping[str, Sequence[int]]) -> dict[str, Shape]:
    """The shape of every input: numbers as they are, `shapes` where given, an open first dimension as 1.

    A symbol has one value in the whole model. Raises ShapeError, naming input, dimensions and the --shape to give.
    """
    inputs = input_dimensions(model, file)
    for name in shapes:
        if name not in inputs:
            raise ShapeError(f"{file}: --shape {_option(name, shapes[name])} names no input; the model has {_list(inputs)}")
    symbols: dict[str, tuple[int, str]] = {}
    for name, given in shapes.items():
        _bind_given(file, name, inputs[name], tuple(given), symbols)
    for name, dimensions in inputs.items():
        if name not in shapes and dimensions and isinstance(dimensions[0], str):
            symbols.setdefault(dimensions[0], (1, f"the batch of {name}"))
    bound: dict[str, Shape] = {}
    for name, dimensions in inputs.items():
        if name in shapes:
            bound[name] = tuple(shapes[name])
        elif dimensions is None:
            raise ShapeError(f"{file}: input {name} has no declared shape: give it, for example --shape {name}=1,49,10,1")
        else:
            bound[name] = _bind_open(file, name, dimensions, symbols)
    for name, shape in bound.items():
        elements = math.prod(shape)
        if elements > LARGEST:
            option = f"{'--shape' if name in shapes else 'the shape'} {_option(name, shape)}"
            raise ShapeError(f"{file}: {option}: input {name} would have {elements:,} elements, a tensor can have {LARGEST:,} at most")
    return bound


def explain_given(model: onnx.ModelProto, file: str, shapes: Mapping[str, Sequence[int]]) -> str:
    """Which shapes were given for what, for a message about a model that cannot take them."""
    inputs = input_dimensions(model, file)
    given = "; ".join(f"--shape {_option(name, shape)} for the input {_list({name: inputs[name]})}" for name, shape in shapes.items())
    return f"The model cannot take the shape given: {given}. Give the shape that it was trained with"


def _bind_given(file: str, name: str, dimensions: tuple[Dimension, ...] | None, given: Shape, symbols: dict[str, tuple[int, str]]) -> None:
    option = f"--shape {_option(name, given)}"
    if any(size < 1 for size in given):
        raise ShapeError(f"{file}: {option}: every dimension must be 1 or more")
    if dimensions is None:
        return
    declared = _describe(dimensions)
    if len(given) != len(dimensions):
        raise ShapeError(f"{file}: {option} has {len(given)} dimensions, input {name} {declared} has {len(dimensions)}")
    for axis, (size, dimension) in enumerate(zip(given, dimensions, strict=True)):
        if _is_size(dimension) and size != dimension:
            raise ShapeError(
                f"{file}: {option} gives {size} for dimension {axis} of input {name} {declared}, which is {dimension} in the model"
            )
        if isinstance(dimension, str):
            known, source = symbols.setdefault(dimension, (size, option))
            if known != size:
                raise ShapeError(f"{file}: {option} makes {dimension} {size}, but {source} makes it {known}: a symbol has one value")


def _bind_open(file: str, name: str, dimensions: tuple[Dimension, ...], symbols: Mapping[str, tuple[int, str]]) -> Shape:
    sizes: list[int | None] = []
    for axis, dimension in enumerate(dimensions):
        if isinstance(dimension, str):
            sizes.append(symbols[dimension][0] if dimension in symbols else None)
        elif _is_size(dimension):
            sizes.append(dimension)
        else:
            sizes.append(1 if axis == 0 else None)
    if None in sizes:
        open_axes = [str(axis) for axis, size in enumerate(sizes) if size is None]
        kinds = [_kind(dimension) for dimension, size in zip(dimensions, sizes, strict=True) if size is None]
        which = f"dimension {open_axes[0]} is" if len(open_axes) == 1 else f"dimensions {', '.join(open_axes)} are"
        example = ",".join("N" if size is None else str(size) for size in sizes)
        raise ShapeError(
            f"{file}: input {name} has the shape {_describe(dimensions)}: {which} {' or '.join(dict.fromkeys(kinds))}. "
            f"A microcontroller's memory is planned for one shape: give it with --shape {name}={example} "
            f"(a number for {'the' if len(open_axes) == 1 else 'every'} N)"
        )
    return tuple(size for size in sizes if size is not None)


def _kind(dimension: Dimension) -> str:
    return f"{dimension}, which is no size" if isinstance(dimension, int) else "dynamic"


def _option(name: str, shape: Sequence[int]) -> str:
    return f"{name}={','.join(map(str, shape))}"


def _describe(dimensions: Sequence[Dimension]) -> str:
    return f"[{', '.join('?' if d is None else str(d) for d in dimensions)}]"


def _list(inputs: Mapping[str, tuple[Dimension, ...] | None]) -> str:
    return ", ".join(f"{name} {'of any shape' if dims is None else _describe(dims)}" for name, dims in inputs.items()) or "no inputs"
