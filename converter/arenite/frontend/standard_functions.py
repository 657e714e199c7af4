"""Operators that the ONNX standard itself defines by other operators: replaced by that definition."""

from __future__ import annotations

from collections.abc import Mapping

import onnx
import onnx.inliner
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TypeProto, helper

from arenite.errors import ModelFileError
from arenite.frontend.importers import IMPORTERS

FUNCTIONS = frozenset(
    {
        "AffineGrid",
        "Attention",
        "CausalConvWithState",
        "CenterCropPad",
        "LinearAttention",
        "NegativeLogLikelihoodLoss",
        "RotaryEmbedding",
        "Shrink",
        "SoftmaxCrossEntropyLoss",
        "SwiGLU",
        "ai.onnx.preview.FlexAttention",
    }
) - frozenset(IMPORTERS)
"""Those that are taken by their definition. The others either have importers, or are evaluated at conversion. Names have the domain where
it is not the default one."""

_DOMAIN = "arenite.standard"
_DEPTH = 4
"""Definitions within definitions."""


def inline_standard_functions(model: ModelProto, file: str) -> ModelProto:
    """The model with the nodes of FUNCTIONS written out; the model itself where there are none.

    Types must have been inferred: some definitions depend on them. Raises ModelFileError where a node has no definition.
    """
    opsets = {_domain(entry.domain): entry.version for entry in model.opset_import}
    for _ in range(_DEPTH):
        if not any(_is_function(node) for node in model.graph.node):
            break
        try:
            model = _written_out(model, opsets)
        except Exception as error:  # C++ exceptions of no particular type
            names = ", ".join(sorted({node.op_type for node in model.graph.node if _is_function(node)}))
            raise ModelFileError(f"{file}: {names} cannot be written out as the standard defines it: {error}") from None
    return model


def _is_function(node: NodeProto) -> bool:
    return _name(node) in FUNCTIONS


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _name(node: NodeProto) -> str:
    domain = _domain(node.domain)
    return f"{domain}.{node.op_type}" if domain else node.op_type


def _written_out(model: ModelProto, opsets: Mapping[str, int]) -> ModelProto:
    """Every node of FUNCTIONS becomes a call of a function of the model's own, which is then inlined."""
    called = ModelProto()
    called.CopyFrom(model)
    types = _types(model.graph)
    for index, node in enumerate(called.graph.node):
        if not _is_function(node):
            continue
        function = _definition(node, opsets.get(_domain(node.domain), 1), types)
        function.domain, function.name = _DOMAIN, f"{node.op_type}_{index}"
        node.domain, node.op_type = function.domain, function.name
        called.functions.append(function)
    called.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    inlined = onnx.inliner.inline_local_functions(called, convert_version=True)
    kept = [entry for entry in inlined.opset_import if entry.domain != _DOMAIN]
    del inlined.opset_import[:]
    inlined.opset_import.extend(kept)
    return onnx.shape_inference.infer_shapes(inlined)


def _definition(node: NodeProto, opset: int, types: Mapping[str, TypeProto]) -> FunctionProto:
    """The body for this node's types and attributes; the node gets the defaults of attributes that it lacks."""
    schema = onnx.defs.get_schema(node.op_type, opset, _domain(node.domain))
    given = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.name:
            node.attribute.append(attribute.default_value)
    if schema.has_context_dependent_function:
        version = max(v for v in schema.context_dependent_function_opset_versions if v <= opset)
        operands = [types.get(name, TypeProto()).SerializeToString() for name in node.input]
        body = schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), operands)
    else:
        version = max(v for v in schema.function_opset_versions if v <= opset)
        body = schema.get_function_with_opset_version(version)
    return FunctionProto.FromString(body)


def _types(graph: GraphProto) -> dict[str, TypeProto]:
    types = {info.name: info.type for info in (*graph.input, *graph.output, *graph.value_info)}
    for tensor in graph.initializer:
        types.setdefault(tensor.name, helper.make_tensor_type_proto(tensor.data_type, tensor.dims))
    return types
