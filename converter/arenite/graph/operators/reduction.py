"""Reductions, ArgMax and ArgMin, cumulative sums and products, TopK. Numerics §11, §15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from arenite.graph.node import Node
from arenite.graph.operators.declaration import (
    CLAMP,
    Attribute,
    Attributes,
    Form,
    Inputs,
    Operand,
    Operator,
    Param,
    Record,
    Shape,
    clamp_record,
    given,
)
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


_QUANTIZED = (
    Param("input_zero_point", ""),
    Param("output_zero_point", ""),
    Param("multiplier", "m < 2^22 of numerics §3.3"),
    Param("shift", "r, 1…62"),
    *CLAMP,
)
_LOGARITHMIC = (
    Param("input_zero_point", ""),
    Param("output_zero_point", ""),
    Param("exponent", "k of numerics §6"),
    Param("greatest_low", "low 32 bits of a, numerics §15"),
    Param("greatest_high", "high 32 bits, 0…2^18"),
    Param("logarithm_low", "low 32 bits of b"),
    Param("logarithm_high", "high 32 bits, 0…2^4"),
    *CLAMP,
)
_TABLE = Operand("table", "uint32[256] stored as int32: 2^k · exp(−s_x·d)", constant=True)

RecordOf = Callable[[Node, Inputs, Sequence[Tensor]], Record]


def _with_attributes(extents: RecordOf, params: tuple[Param, ...]) -> RecordOf:
    """The record `extents`, and `params` as quantization has set them."""

    def record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
        names = [param.name for param in params if param not in CLAMP]
        return {**extents(node, inputs, outputs), **{name: node.attributes[name] for name in names}, **clamp_record(node)}

    return record


def _reduction(name: str, code: int, summary: str, variants: tuple[str, ...], quantized: tuple[Param, ...] = ()) -> Operator:
    """`quantized`: the parameters that the int8 form has besides, where there is one."""
    typed = Form(variants, (_X,), _REDUCTION, _reduction_record)
    int8 = Form(
        ("int8",),
        (_X, _TABLE) if quantized is _LOGARITHMIC else (_X,),
        (*_REDUCTION, *quantized),
        _with_attributes(_reduction_record, quantized),
    )
    first = int8 if quantized else typed
    return Operator(
        name=name,
        summary=f"{summary} over axes",
        onnx=(name,),
        inputs=(_X,),
        attributes=(Attribute("axes", "ascending, not negative"), Attribute("keepdims", "bool")),
        shape=reduced_shape,
        code=code,
        variants=first.variants,
        stored=first.stored,
        params=first.params,
        record=first.record,
        typed=typed if quantized else None,
    )


REDUCTIONS = (
    _reduction("ReduceSum", 120, "Sum", NUMBERS, _QUANTIZED),
    _reduction("ReduceMax", 121, "Maximum", ORDERED),
    _reduction("ReduceMin", 122, "Minimum", ORDERED),
    _reduction("ReduceProd", 123, "Product", NUMBERS),
    _reduction("ReduceL1", 124, "Sum of magnitudes", NUMBERS, _QUANTIZED),
    _reduction("ReduceL2", 125, "Root of the sum of squares", ("float32",), _QUANTIZED),
    _reduction("ReduceSumSquare", 126, "Sum of squares", NUMBERS, _QUANTIZED),
    _reduction("ReduceLogSumExp", 127, "Logarithm of the sum of exponentials", ("float32",), _LOGARITHMIC),
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
    shape = reduced_shape(inputs, {"axes": (axis,), "keepdims": attributes["keepdims"]})
    return ((shape, DType.INT32 if attributes.get("narrow") else DType.INT64),)


def _arg_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {**along_axis(given(inputs, 0).shape, a["axis"]), "last": int(a["last"]), "narrow": int(bool(a.get("narrow")))}


def _arg(name: str, code: int, summary: str) -> Operator:
    """`narrow`, a truth value, is an attribute too: the result is int32; absent, it is int64."""
    return Operator(
        name=name,
        summary=f"Index of the {summary} along an axis, int64 or, narrow, int32",
        onnx=(name, "Hardmax") if name == "ArgMax" else (name,),
        inputs=(_X,),
        attributes=(Attribute("axis", "not negative"), Attribute("keepdims", "bool"), Attribute("last", "bool: of equals the last")),
        shape=lambda inputs, attributes: _arg_results(inputs, attributes)[0][0],
        results=_arg_results,
        code=code,
        variants=ORDERED,
        stored=(_X,),
        params=(
            *_EXTENTS,
            Param("last", "0 or 1: of equals the first or the last"),
            Param("narrow", "0 or 1: the result is int64 or int32"),
        ),
        record=_arg_record,
    )


def _same_shape(inputs: Inputs, attributes: Attributes) -> Shape:
    return given(inputs, 0).shape


def _cumulative_record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    a = node.attributes
    return {**along_axis(given(inputs, 0).shape, a["axis"]), "exclusive": int(a["exclusive"]), "reverse": int(a["reverse"])}


_CUMULATIVE = (*_EXTENTS, Param("exclusive", "0 or 1"), Param("reverse", "0 or 1"))


def _cumulative(name: str, code: int, summary: str, quantized: tuple[Param, ...] = ()) -> Operator:
    typed = Form(NUMBERS, (_X,), _CUMULATIVE, _cumulative_record)
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
        variants=("int8",) if quantized else NUMBERS,
        stored=(_X,),
        params=(*_CUMULATIVE, *quantized),
        record=_with_attributes(_cumulative_record, quantized) if quantized else _cumulative_record,
        typed=typed if quantized else None,
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
    _cumulative("CumSum", 130, "Sum", _QUANTIZED),
    _cumulative("CumProd", 131, "Product"),
    TOP_K,
)
