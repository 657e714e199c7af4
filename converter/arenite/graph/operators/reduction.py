"""Reductions, ArgMax and ArgMin, cumulative sums and products, TopK: on elements that are not quantized."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import DType, Tensor

REDUCED_DIMS = 4
"""Kept and reduced dimensions of a reduction, after neighbours of a kind are merged: enough for a tensor of eight dimensions."""

NUMBERS = ("float32", "int32", "int64")
ORDERED = (*NUMBERS, "uint8", "bool", "plain_int8")


def reduced_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    """Of a reduction over `axes`."""
    x, axes = given(inputs, 0).shape, attributes["axes"]
    if attributes["keepdims"]:
        return tuple(1 if axis in axes else size for axis, size in enumerate(x))
    return tuple(size for axis, size in enumerate(x) if axis not in axes)


def _reduction_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    x, axes = given(inputs, 0).shape, node.attributes["axes"]
    groups: list[tuple[int, bool]] = []  # size, reduced
    for axis, size in enumerate(x):
        if size == 1:
            continue
        if groups and groups[-1][1] == (axis in axes):
            groups[-1] = (groups[-1][0] * size, groups[-1][1])
        else:
            groups.append((size, axis in axes))
    record: Record = {}
    for name, wanted in (("kept", False), ("reduced", True)):
        dims = [(size, prod(n for n, _ in groups[i + 1 :])) for i, (size, reduced) in enumerate(groups) if reduced is wanted]
        dims = [(1, 0)] * (REDUCED_DIMS - len(dims)) + dims
        record[name] = tuple(size for size, _ in dims)
        record[f"{name}_stride"] = tuple(stride for _, stride in dims)
    return record


_X = Operand("x", "any shape")
_REDUCTION = (
    Param("kept", "dimensions that stay, in order, neighbours merged", REDUCED_DIMS),
    Param("kept_stride", "elements of x from one index to the next", REDUCED_DIMS),
    Param("reduced", "dimensions reduced over", REDUCED_DIMS),
    Param("reduced_stride", "", REDUCED_DIMS),
)


def _reduction(name: str, code: int, summary: str, variants: tuple[str, ...]) -> Operator:
    return Operator(
        name=name,
        summary=f"{summary} over axes",
        onnx=(name,),
        inputs=(_X,),
        attributes=(Attribute("axes", "ascending, not negative"), Attribute("keepdims", "bool")),
        shape=reduced_shape,
        code=code,
        variants=variants,
        stored=(_X,),
        params=_REDUCTION,
        record=_reduction_record,
    )


REDUCTIONS = (
    _reduction("ReduceSum", 120, "Sum", NUMBERS),
    _reduction("ReduceMax", 121, "Maximum", ORDERED),
    _reduction("ReduceMin", 122, "Minimum", ORDERED),
    _reduction("ReduceProd", 123, "Product", NUMBERS),
    _reduction("ReduceL1", 124, "Sum of magnitudes", NUMBERS),
    _reduction("ReduceL2", 125, "Root of the sum of squares", ("float32",)),
    _reduction("ReduceSumSquare", 126, "Sum of squares", NUMBERS),
    _reduction("ReduceLogSumExp", 127, "Logarithm of the sum of exponentials", ("float32",)),
)

_EXTENTS = (
    Param("outer", "product of the dimensions in front of the axis"),
    Param("count", "elements along the axis"),
    Param("inner", "product of the dimensions behind it"),
)


def along_axis(shape: Shape, axis: int) -> Record:
    """The values of `outer`, `count` and `inner`."""
    return {"outer": prod(shape[:axis]), "count": shape[axis], "inner": prod(shape[axis + 1 :])}


def _arg_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    axis = attributes["axis"]
    return ((reduced_shape(inputs, {"axes": (axis,), "keepdims": attributes["keepdims"]}), DType.INT64),)


def _arg_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    return {**along_axis(given(inputs, 0).shape, node.attributes["axis"]), "last": int(node.attributes["last"])}


def _arg(name: str, code: int, summary: str) -> Operator:
    return Operator(
        name=name,
        summary=f"Index of the {summary} along an axis, int64",
        onnx=(name, "Hardmax") if name == "ArgMax" else (name,),
        inputs=(_X,),
        attributes=(Attribute("axis", "not negative"), Attribute("keepdims", "bool"), Attribute("last", "bool: of equals the last")),
        shape=lambda inputs, attributes: _arg_results(inputs, attributes)[0][0],
        results=_arg_results,
        code=code,
        variants=ORDERED,
        stored=(_X,),
        params=(*_EXTENTS, Param("last", "0 or 1: of equals the first or the last")),
        record=_arg_record,
    )


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def _cumulative_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {**along_axis(given(inputs, 0).shape, a["axis"]), "exclusive": int(a["exclusive"]), "reverse": int(a["reverse"])}


def _cumulative(name: str, code: int, summary: str) -> Operator:
    return Operator(
        name=name,
        summary=f"{summary} of the elements up to each, along an axis",
        onnx=(name,),
        inputs=(_X,),
        attributes=(
            Attribute("axis", "not negative"),
            Attribute("exclusive", "bool: without the element itself"),
            Attribute("reverse", "bool: from the end"),
        ),
        shape=_same_shape,
        code=code,
        variants=NUMBERS,
        stored=(_X,),
        params=(*_EXTENTS, Param("exclusive", "0 or 1"), Param("reverse", "0 or 1")),
        record=_cumulative_record,
        in_place=(0,),
    )


def _top_k_results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    x, axis, k = given(inputs, 0), attributes["axis"], attributes["k"]
    if not 1 <= k <= x.shape[axis]:
        raise ValueError(f"k = {k} of {x.shape[axis]} elements along axis {axis} of {x.shape}")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return ((shape, x.dtype), (shape, DType.INT64))


def _top_k_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {**along_axis(given(inputs, 0).shape, a["axis"]), "k": a["k"], "largest": int(a["largest"])}


TOP_K = Operator(
    name="TopK",
    summary="The k greatest or least along an axis, sorted, and their indices (int64); of equals the first",
    onnx=("TopK",),
    inputs=(_X,),
    attributes=(Attribute("axis", "not negative"), Attribute("k", ""), Attribute("largest", "bool")),
    shape=lambda inputs, attributes: _top_k_results(inputs, attributes)[0][0],
    results=_top_k_results,
    code=132,
    variants=ORDERED,
    stored=(_X,),
    params=(*_EXTENTS, Param("k", "1…count"), Param("largest", "0 or 1")),
    record=_top_k_record,
)

REDUCTION = (
    *REDUCTIONS,
    _arg("ArgMax", 128, "greatest"),
    _arg("ArgMin", 129, "least"),
    _cumulative("CumSum", 130, "Sum"),
    _cumulative("CumProd", 131, "Product"),
    TOP_K,
)
