"""Operators with a tensor of indices that may be computed at run time: Gather and Scatter (placement.py has those with few of them).

A negative index counts from the end. One that is still outside is moved to the nearest valid one where it reads, and what it would
write is left out: a model cannot make a kernel leave its operands, whatever its indices are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.operators.elementwise import MAX_DIMS
from arenite.graph.tensor import DType, Tensor

TYPE_NUMBERS = {
    DType.INT8: 1,
    DType.UINT8: 2,
    DType.INT16: 3,
    DType.INT32: 4,
    DType.INT64: 5,
    DType.FLOAT32: 6,
    DType.BOOL: 7,
}
"""Of arn_dtype."""

REDUCTION_NUMBERS = {"add": 1, "mul": 2, "max": 3, "min": 4}
SCATTERED = ("float32", "int32", "int64", "plain_int8")


def index_type(tensor: Tensor) -> int:
    if tensor.dtype not in TYPE_NUMBERS:
        raise ValueError(f"{tensor.name} is {tensor.dtype.value}: no type of an index")
    return TYPE_NUMBERS[tensor.dtype]


def _strides(shape: Shape) -> tuple[int, ...]:
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def first_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


X = Operand("x", "any shape and type")
INDICES = Operand("indices", "int32 or int64")
AXIS = Attribute("axis", "not negative")
ELEMENT = Param("element_size", "bytes: 1, 2, 4 or 8")
INDEX_TYPE = Param("index_type", "arn_dtype of the indices")
_REDUCTION = Param("reduction", "1 add, 2 mul, 3 max, 4 min")


def _gather_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, axis = given(inputs, 0).shape, attributes["axis"]
    return (*x[:axis], *given(inputs, 1).shape, *x[axis + 1 :])


def _gather_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, indices, axis = given(inputs, 0), given(inputs, 1), node.attributes["axis"]
    return {
        "outer": prod(x.shape[:axis]),
        "size": x.shape[axis],
        "count": indices.elements,
        "inner": prod(x.shape[axis + 1 :]) * x.dtype.itemsize,
        "index_type": index_type(indices),
    }


GATHER = Operator(
    name="Gather",
    summary="Entries along an axis, by index",
    onnx=("Gather", "Compress"),
    inputs=(X, INDICES),
    attributes=(AXIS,),
    shape=_gather_shape,
    code=140,
    variants=("bytes",),
    stored=(X, INDICES),
    params=(
        Param("outer", "product of the dimensions in front of the axis"),
        Param("size", "of x along the axis"),
        Param("count", "indices"),
        Param("inner", "bytes of an entry"),
        INDEX_TYPE,
    ),
    record=_gather_record,
)


def _elements_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, indices, axis = given(inputs, 0).shape, given(inputs, 1).shape, attributes["axis"]
    if len(x) != len(indices) or any(n > m for d, (n, m) in enumerate(zip(indices, x, strict=True)) if d != axis):
        raise ValueError(f"indices of shape {indices} do not fit {x} along axis {axis}")
    return indices


def _scatter_elements_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    indices = _elements_shape(inputs, attributes)
    if given(inputs, 2).shape != indices:
        raise ValueError(f"updates of shape {given(inputs, 2).shape} are not as the indices, {indices}")
    return given(inputs, 0).shape


def _collapsed(dims: Shape, stride: Shape, axis: int) -> list[tuple[int, int]]:
    """(size, stride) of the dimensions of indices, without those of 1, neighbours that x walks as one merged; stride 0 along the axis."""
    walked: list[tuple[int, int]] = []
    for d, size in enumerate(dims):
        step = 0 if d == axis else stride[d]
        if size == 1:
            continue
        if walked and step and walked[-1][1] == size * step:
            walked[-1] = (walked[-1][0] * size, step)
        else:
            walked.append((size, step))
    return walked


def _elements_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, indices, axis = given(inputs, 0), given(inputs, 1), node.attributes["axis"]
    stride = _strides(x.shape)
    walked = _collapsed(indices.shape, stride, axis)
    missing = MAX_DIMS - len(walked)
    if missing < 0:
        raise ValueError(f"{x.name} of shape {x.shape} with indices {indices.shape} has more than {MAX_DIMS} dimensions")
    record: Record = {
        "dims": (1,) * missing + tuple(size for size, _ in walked),
        "stride": (0,) * missing + tuple(step for _, step in walked),
        "size": x.shape[axis],
        "step": stride[axis],
        "element_size": x.dtype.itemsize,
        "index_type": index_type(indices),
    }
    if node.op == "GatherElements":
        return record
    return _with_reduction(node, {**record, "elements": x.elements})


def _with_reduction(node: Node, record: Record) -> Record:
    reduction = node.attributes.get("reduction")
    return record if reduction is None else {**record, "reduction": REDUCTION_NUMBERS[reduction]}


_ELEMENTS = (
    Param("dims", "of the indices", MAX_DIMS),
    Param("stride", "elements of x from one index to the next; 0 along the axis", MAX_DIMS),
    Param("size", "of x along the axis"),
    Param("step", "elements of x from entry to entry along the axis"),
    ELEMENT,
    INDEX_TYPE,
)
_SCATTERED_ELEMENTS = (*_ELEMENTS, Param("elements", "of x"))
UPDATES = Operand("updates", "values to write, of the type of x")
_ATTRIBUTE = Attribute("reduction", "add, mul, max or min")

GATHER_ELEMENTS = Operator(
    name="GatherElements",
    summary="For every index the element at its place, with the index along an axis",
    onnx=("GatherElements",),
    inputs=(X, INDICES),
    attributes=(AXIS,),
    shape=_elements_shape,
    code=141,
    variants=("bytes",),
    stored=(X, INDICES),
    params=_ELEMENTS,
    record=_elements_record,
)
SCATTER_ELEMENTS = Operator(
    name="ScatterElements",
    summary="x with updates in the places that the indices along an axis say, in order",
    onnx=("ScatterElements", "Scatter"),
    inputs=(X, INDICES, UPDATES),
    attributes=(AXIS,),
    shape=_scatter_elements_shape,
    code=143,
    variants=("bytes",),
    stored=(X, INDICES, UPDATES),
    params=_SCATTERED_ELEMENTS,
    record=_elements_record,
    in_place=(0,),
)
SCATTER_ELEMENTS_REDUCE = Operator(
    name="ScatterElementsReduce",
    summary="As ScatterElements, updates added to what is there, multiplied with it, or the greater or lesser of both",
    onnx=("ScatterElements",),
    inputs=(X, INDICES, UPDATES),
    attributes=(AXIS, _ATTRIBUTE),
    shape=_scatter_elements_shape,
    code=144,
    variants=SCATTERED,
    stored=(X, INDICES, UPDATES),
    params=(*_SCATTERED_ELEMENTS, _REDUCTION),
    record=_elements_record,
    in_place=(0,),
)


def _gather_nd_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, indices, batch = given(inputs, 0).shape, given(inputs, 1).shape, attributes["batch_dims"]
    if not indices or x[:batch] != indices[:batch] or not 1 <= indices[-1] <= len(x) - batch:
        raise ValueError(f"indices of shape {indices} do not fit {x} with {batch} batch dimensions")
    return (*indices[:-1], *x[batch + indices[-1] :])


def _scatter_nd_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x, updates = given(inputs, 0).shape, given(inputs, 2).shape
    if updates != _gather_nd_shape(inputs, {"batch_dims": 0}):
        raise ValueError(f"updates of shape {updates} do not fit indices of {given(inputs, 1).shape} and {x}")
    return x


def _nd_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, indices, batch = given(inputs, 0), given(inputs, 1), node.attributes.get("batch_dims", 0)
    depth = indices.shape[-1]
    if depth > MAX_DIMS:
        raise ValueError(f"indices of {depth} numbers, at most {MAX_DIMS}")
    record: Record = {
        "batches": prod(x.shape[:batch]),
        "rows": prod(indices.shape[batch:-1]),
        "depth": depth,
        "sizes": x.shape[batch : batch + depth] + (1,) * (MAX_DIMS - depth),
        "inner": prod(x.shape[batch + depth :]),
        "element_size": x.dtype.itemsize,
        "index_type": index_type(indices),
    }
    return _with_reduction(node, record)


_ND = (
    Param("batches", ""),
    Param("rows", "indices a batch"),
    Param("depth", "numbers of an index, 1…6"),
    Param("sizes", "dimensions of x that the numbers index, then 1", MAX_DIMS),
    Param("inner", "elements of an entry"),
    ELEMENT,
    INDEX_TYPE,
)

GATHER_ND = Operator(
    name="GatherND",
    summary="Entries by indices of several numbers, along the last axis of the indices",
    onnx=("GatherND",),
    inputs=(X, INDICES),
    attributes=(Attribute("batch_dims", "leading dimensions that x and the indices share"),),
    shape=_gather_nd_shape,
    code=142,
    variants=("bytes",),
    stored=(X, INDICES),
    params=_ND,
    record=_nd_record,
)
SCATTER_ND = Operator(
    name="ScatterND",
    summary="x with entries replaced by updates, by indices of several numbers, in order",
    onnx=("ScatterND",),
    inputs=(X, INDICES, UPDATES),
    shape=_scatter_nd_shape,
    code=145,
    variants=("bytes",),
    stored=(X, INDICES, UPDATES),
    params=_ND,
    record=_nd_record,
    in_place=(0,),
)
SCATTER_ND_REDUCE = Operator(
    name="ScatterNdReduce",
    summary="As ScatterND, updates added to what is there, multiplied with it, or the greater or lesser of both",
    onnx=("ScatterND",),
    inputs=(X, INDICES, UPDATES),
    attributes=(_ATTRIBUTE,),
    shape=_scatter_nd_shape,
    code=146,
    variants=SCATTERED,
    stored=(X, INDICES, UPDATES),
    params=(*_ND, _REDUCTION),
    record=_nd_record,
    in_place=(0,),
)

INDEXING = (
    GATHER,
    GATHER_ELEMENTS,
    GATHER_ND,
    SCATTER_ELEMENTS,
    SCATTER_ELEMENTS_REDUCE,
    SCATTER_ND,
    SCATTER_ND_REDUCE,
)
