"""Operators that place values by a few numbers, which may be computed at run time: TensorScatter, OneHot, Trilu, ReverseSequence.

Numbers that lead outside are taken as in indexing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.operators.indexing import AXIS, ELEMENT, INDEX_TYPE, UPDATES, X, first_shape, index_type
from arenite.graph.tensor import DType, Tensor


def _tensor_scatter_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    cache, update, axis = given(inputs, 0).shape, given(inputs, 1).shape, attributes["axis"]
    fits = len(cache) == len(update) and all(a == b for d, (a, b) in enumerate(zip(cache, update, strict=False)) if d != axis)
    if axis < 1 or not fits or update[axis] > cache[axis]:
        raise ValueError(f"an update of shape {update} does not fit {cache} along axis {axis}")
    return cache


def _tensor_scatter_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    cache, update, axis = given(inputs, 0), given(inputs, 1), node.attributes["axis"]
    starts = inputs[2]
    return {
        "batch": cache.shape[0],
        "outer": prod(cache.shape[1:axis]),
        "size": cache.shape[axis],
        "count": update.shape[axis],
        "inner": prod(cache.shape[axis + 1 :]) * cache.dtype.itemsize,
        "index_type": 0 if starts is None else index_type(starts),
        "circular": int(node.attributes["circular"]),
    }


TENSOR_SCATTER = Operator(
    name="TensorScatter",
    summary="A cache with an update written from an index on, for each sample of the batch; what leaves the cache is left out",
    onnx=("TensorScatter",),
    inputs=(X, UPDATES, Operand("starts", "[batch], absent: 0", optional=True)),
    attributes=(AXIS, Attribute("circular", "bool: indices wrap around")),
    shape=_tensor_scatter_shape,
    code=147,
    variants=("bytes",),
    stored=(X, UPDATES, Operand("starts", "[batch], int32 or int64; absent: 0", optional=True)),
    params=(
        Param("batch", ""),
        Param("outer", "product of the dimensions between the first and the axis"),
        Param("size", "of the cache along the axis"),
        Param("count", "of the update along the axis"),
        Param("inner", "bytes of an entry"),
        INDEX_TYPE,
        Param("circular", "0 or 1"),
    ),
    record=_tensor_scatter_record,
    in_place=(0,),
)


def _one_hot_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    indices, axis = given(inputs, 0).shape, attributes["axis"]
    return (((*indices[:axis], attributes["depth"], *indices[axis:]), given(inputs, 1).dtype),)


def _one_hot_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    indices, axis = given(inputs, 0), node.attributes["axis"]
    return {
        "outer": prod(indices.shape[:axis]),
        "depth": node.attributes["depth"],
        "inner": prod(indices.shape[axis:]),
        "element_size": outputs[0].dtype.itemsize,
        "index_type": index_type(indices),
    }


ONE_HOT = Operator(
    name="OneHot",
    summary="Along a new axis one value where the index says, another elsewhere; an index outside has none",
    onnx=("OneHot", "Hardmax"),
    inputs=(Operand("indices", "any shape, numeric"), Operand("values", "[2]: off, on")),
    attributes=(Attribute("axis", "of the output, not negative"), Attribute("depth", "its size")),
    shape=lambda inputs, attributes: _one_hot_results(inputs, attributes)[0][0],
    results=_one_hot_results,
    code=148,
    variants=("bytes",),
    stored=(Operand("indices", "[outer, inner]"), Operand("values", "[2]: off, on")),
    params=(Param("outer", ""), Param("depth", ""), Param("inner", ""), ELEMENT, INDEX_TYPE),
    record=_one_hot_record,
)


def _trilu_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x = given(inputs, 0)
    return {
        "outer": prod(x.shape[:-2]),
        "rows": x.shape[-2],
        "columns": x.shape[-1],
        "upper": int(node.attributes["upper"]),
        "element_size": x.dtype.itemsize,
        "fill": node.attributes.get("fill", 0),
    }


_K = Operand("k", "int64: the diagonal, absent: 0", optional=True)
TRILU = Operator(
    name="Trilu",
    summary="The triangle above or below a diagonal, zeros elsewhere",
    onnx=("Trilu",),
    inputs=(X, _K),
    attributes=(Attribute("upper", "bool"),),
    shape=first_shape,
    code=149,
    variants=("bytes",),
    stored=(X, _K),
    params=(
        Param("outer", "matrices"),
        Param("rows", ""),
        Param("columns", ""),
        Param("upper", "0 or 1"),
        ELEMENT,
        Param("fill", "of every byte outside of the triangle: 0, or the zero point"),
    ),
    record=_trilu_record,
    in_place=(0,),
)


def _reverse_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, lengths, time = given(inputs, 0), given(inputs, 1), node.attributes["time_axis"]
    return {
        "batch": x.shape[1 - time],
        "time": x.shape[time],
        "time_first": int(time == 0),
        "inner": prod(x.shape[2:]) * x.dtype.itemsize,
        "index_type": index_type(lengths),
    }


REVERSE_SEQUENCE = Operator(
    name="ReverseSequence",
    summary="The first entries of every sequence of a batch in reverse, as many as its length",
    onnx=("ReverseSequence",),
    inputs=(Operand("x", "[batch, time, …] or [time, batch, …]"), Operand("lengths", "[batch]")),
    attributes=(Attribute("time_axis", "0 or 1"),),
    shape=first_shape,
    code=150,
    variants=("bytes",),
    stored=(Operand("x", ""), Operand("lengths", "[batch], int32 or int64")),
    params=(Param("batch", ""), Param("time", ""), Param("time_first", "0 or 1"), Param("inner", "bytes of an entry"), INDEX_TYPE),
    record=_reverse_record,
)

PLACEMENT = (TENSOR_SCATTER, ONE_HOT, TRILU, REVERSE_SEQUENCE)
