"""ONNX file → Graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import onnx.shape_inference

from arenite.errors import AreniteError, ModelFileError, PortError, ShapeError, UnsupportedModelError
from arenite.frontend.bindings import bind_values
from arenite.frontend.dimensions import bind_dimensions, explain_given
from arenite.frontend.graph_import import import_graph
from arenite.frontend.model_file import explain_violations, read_model
from arenite.frontend.node_import import ContradictionError
from arenite.frontend.standard_functions import inline_standard_functions
from arenite.frontend.states import declare_states
from arenite.graph.graph import Graph
from arenite.graph.verifier import verify

_NO_SHAPES: Mapping[str, Sequence[int]] = {}
_NO_VALUES: Mapping[str, float] = {}
_NO_STATES: Mapping[str, str] = {}


def load(
    path: Path | str,
    shapes: Mapping[str, Sequence[int]] = _NO_SHAPES,
    name: str | None = None,
    *,
    values: Mapping[str, float] = _NO_VALUES,
    states: Mapping[str, str] = _NO_STATES,
) -> Graph:
    """Read an ONNX model as a float graph of the IR, named after the file or `name`.

    `shapes`: dimensions of inputs that the file leaves dynamic, all dimensions of an input at once; an open batch is 1 without.
    `values`: inputs that become constants, every element that number. `states`: output → input that it becomes in the next invocation.

    Raises ModelFileError (no readable, valid ONNX model), ShapeError (dynamic dimensions, or `shapes` that do not
    fit; PortError for `values` and `states` that do not) and
    UnsupportedModelError, which lists every node that is not supported.
    """
    path = Path(path)
    model = read_model(path)
    violation = explain_violations(model)
    model, bound = bind_values(model, str(path), bind_dimensions(model, str(path), shapes), values)
    try:
        graph = import_graph(inline_standard_functions(with_shapes(model, bound), str(path)), str(path), name or path.stem, bound)
    except UnsupportedModelError:
        raise
    except AreniteError as error:
        if violation is not None:
            raise _invalid(path, violation) from error
        if not isinstance(error, ContradictionError):
            raise
        if values:
            given = ", ".join(f"--bind {input_}={value:g}" for input_, value in values.items())
            shaped = f"; {explain_given(model, str(path), shapes)}" if shapes else ""
            raise PortError(f"{error}. Given were {given}{shaped}") from error
        if shapes:
            raise ShapeError(f"{error}. {explain_given(model, str(path), shapes)}") from error
        raise ModelFileError(str(error)) from error
    if violation is not None:
        raise _invalid(path, violation)
    graph = declare_states(graph, str(path), states)
    verify(graph)
    return graph


def _invalid(path: Path, violation: str) -> ModelFileError:
    return ModelFileError(f"{path}: not valid ONNX: {violation}")


def with_shapes(model: onnx.ModelProto, bound: Mapping[str, Sequence[int]]) -> onnx.ModelProto:
    """The model with its inputs' shapes and what ONNX infers from them, as far as it can infer them."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for info in fixed.graph.input:
        if info.name in bound:
            del info.type.tensor_type.shape.dim[:]
            for size in bound[info.name]:
                info.type.tensor_type.shape.dim.add().dim_value = size
    try:
        return onnx.shape_inference.infer_shapes(fixed)
    except Exception:  # inference refuses contradictions, which the import names better
        return fixed
