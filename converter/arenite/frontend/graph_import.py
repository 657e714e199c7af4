"""From an ONNX graph with fixed input shapes to the IR: its inputs, a walk over its nodes (walk.py), its outputs.

What is not supported is collected over the whole graph and raised at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper

from arenite.errors import ModelFileError, Unsupported, UnsupportedModelError
from arenite.frontend.control_flow import CONTROL_FLOW
from arenite.frontend.filled_rows import mixed_rows
from arenite.frontend.importers import MOVES_INT8, layout_of
from arenite.frontend.importers.quantization import IDENTITY_CAST
from arenite.frontend.onnx_graph import FLOAT_TYPES, INT8_TYPES, PLAIN_TYPES, Shape, normal_domain
from arenite.frontend.quantized_movement import is_quantized
from arenite.frontend.values import UNKNOWN, Constant, TensorList, Unknown
from arenite.frontend.walk import Walk, rename
from arenite.graph import DType, Graph, Node, Quantization, Tensor


def import_graph(model: onnx.ModelProto, file: str, name: str, shapes: Mapping[str, Shape]) -> Graph:
    """The IR of a model whose inputs have these shapes. Raises UnsupportedModelError, and ModelFileError for contradictions."""
    walk = Walk(model, file, Graph(name), {op: control.convert for op, control in CONTROL_FLOW.items()})
    walk.problems += mixed_rows(model.graph.node)
    import_inputs(walk, shapes)
    walk.nodes(model.graph.node, [output.name for output in model.graph.output])
    import_outputs(walk)
    if walk.problems:
        raise UnsupportedModelError(file, walk.problems)
    walk.graph.prune()
    return walk.graph


def import_inputs(walk: Walk, shapes: Mapping[str, Shape]) -> None:
    for info in walk.model.graph.input:
        if info.name not in shapes:
            continue
        elem_type = info.type.tensor_type.elem_type
        if elem_type in FLOAT_TYPES:
            tensor = Tensor(info.name, shapes[info.name], DType.FLOAT32)
        elif elem_type in INT8_TYPES and (quantization := input_quantization(walk, info.name, elem_type)) is not None:
            walk.graph.io_dtypes[info.name] = INT8_TYPES[elem_type]
            tensor = Tensor(info.name, shapes[info.name], DType.INT8, None, quantization)
        elif elem_type in PLAIN_TYPES:
            tensor = Tensor(info.name, shapes[info.name], PLAIN_TYPES[elem_type])
        else:
            type_name = {value: key.lower() for key, value in TensorProto.DataType.items()}.get(elem_type, str(elem_type))
            walk.problems.append(
                Unsupported(
                    info.name,
                    "graph input",
                    f"its element type is {type_name}",
                    "use float32, bool, or integers of at most 32 bits or int64, or make it a constant",
                )
            )
            walk.values[info.name] = UNKNOWN
            continue
        walk.graph.tensors[info.name] = tensor
        walk.graph.inputs.append(info.name)
        walk.values[info.name] = info.name


def input_quantization(walk: Walk, name: str, elem_type: int) -> Quantization | None:
    """What the DequantizeLinear behind an int8 input says, looking through nodes that only move elements. None where there is
    none: its integers stand for themselves."""
    known = {k: np.asarray(v.array) for k, v in walk.values.items() if isinstance(v, Constant)}
    reached = {name}
    for node in walk.model.graph.node:
        if node.op_type == "Constant" and len(node.attribute) == 1 and node.attribute[0].name == "value":
            known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        elif node.op_type == "Constant" and len(node.attribute) == 1 and node.attribute[0].name == "value_float":
            known[node.output[0]] = np.asarray(node.attribute[0].f, np.float32)
        if (operand := scaled_operand(node, reached, known)) is not None:
            zero_point = known.get(operand[1])
            zero = 0 if zero_point is None else int(zero_point.reshape(-1)[0])
            return Quantization.per_tensor(known[operand[0]].reshape(-1)[0], zero - (128 if elem_type == TensorProto.UINT8 else 0))
        if not node.input or node.input[0] not in reached:
            continue
        if node.op_type == "Cast" and any(a.name == "to" and a.i in FLOAT_TYPES for a in node.attribute):
            return IDENTITY_CAST[INT8_TYPES[elem_type]]
        if node.op_type in MOVES_INT8 or node.op_type == "Identity":
            reached.update(node.output)
    return None


def import_outputs(walk: Walk) -> None:
    fixed = all(isinstance(walk.values.get(info.name), Constant) for info in walk.model.graph.output)
    for info in walk.model.graph.output:
        value = walk.values.get(info.name)
        if value is None:
            raise ModelFileError(f"{walk.file}: nothing computes the output {info.name}")
        if isinstance(value, Constant):
            if fixed:
                walk.problems.append(
                    Unsupported(info.name, "graph output", "it depends on no input", "remove the output, or check --shape and the inputs")
                )
            else:
                constant_output(walk, value, info.name)
            continue
        if isinstance(value, Unknown):
            continue
        if isinstance(value, TensorList):
            walk.problems.append(Unsupported(info.name, "graph output", "it is a sequence", "make every element an output"))
            continue
        if value != info.name:
            value = output_copy(walk, value, info.name)
        tensor = walk.graph.tensors[value]
        elem_type = info.type.tensor_type.elem_type
        if is_quantized(tensor):
            walk.graph.io_dtypes[value] = INT8_TYPES.get(elem_type, DType.INT8)
        walk.graph.outputs.append(value)


def constant_output(walk: Walk, value: Constant, name: str) -> None:
    """An output that is known at conversion, beside others that are not."""
    if value.array.size == 0:
        walk.problems.append(Unsupported(name, "graph output", "it has no elements", "remove the output"))
        return
    dtype = np.dtype(np.float32) if value.array.dtype.kind == "f" else value.array.dtype
    try:
        tensor = Tensor.constant(name, np.ascontiguousarray(value.array, dtype).reshape(value.array.shape))
    except ValueError:
        walk.problems.append(Unsupported(name, "graph output", f"its elements are {dtype}", "remove the output"))
        return
    if name in walk.graph.tensors and walk.graph.tensors[name].data is not tensor.data:
        rename(walk.graph, name, walk.graph.fresh(f"{name}_internal"), 0)
    walk.graph.tensors[name] = tensor
    walk.graph.outputs.append(name)


def output_copy(walk: Walk, value: str, name: str) -> str:
    """An output that is another name of a tensor: rename the tensor, or copy it where that has a name to keep."""
    kept = {*walk.graph.inputs, *(o.name for o in walk.model.graph.output)}
    if name in walk.graph.tensors:
        rename(walk.graph, name, walk.graph.fresh(f"{name}_internal"), 0)
    if value not in kept and walk.graph.producer(value) is not None:
        rename(walk.graph, value, name, 0)
        for key, other in walk.values.items():
            if other == value:
                walk.values[key] = name
        return name
    tensor = walk.graph.tensors[value]
    walk.graph.tensors[name] = replace(tensor, name=name)
    if value in walk.graph.labels:
        walk.graph.labels[name] = walk.graph.labels[value]
    walk.graph.nodes.append(Node("Reshape", name, (value,), (name,), {"shape": tensor.shape}))
    return name


def scaled_operand(node: onnx.NodeProto, reached: Set[str], known: Mapping[str, NDArray[Any]]) -> tuple[str, str] | None:
    """Names of the scale, one that is `known`, and zero point that a node takes an operand of `reached` with; None where there is none."""
    domain = normal_domain(node.domain)
    if node.op_type == "DequantizeLinear":
        operands: Sequence[tuple[int, int, int]] = ((0, 1, 2),)
    elif (layout := layout_of(f"{domain}.{node.op_type}" if domain else node.op_type, len(node.input))) is not None:
        operands = layout.operands
    else:
        return None
    names = [*node.input, *[""] * 3]
    for data, scale, zero_point in operands:
        fixed = names[scale] in known and (not names[zero_point] or names[zero_point] in known)
        if names[data] in reached and fixed and known[names[scale]].size == 1:
            return names[scale], names[zero_point]
    return None
