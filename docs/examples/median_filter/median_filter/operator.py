"""The declaration for the converter: importer, shape rule, record, scratch memory, and where the C is."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

from arenite.frontend.node_import import NodeImport
from arenite.frontend.values import Value
from arenite.graph import Node, Tensor
from arenite.graph.operators import Attribute, Operand, Record
from arenite.graph.operators.declaration import Attributes, Inputs, Shape, given
from arenite.own_operators import CKernels, OwnOperator

from median_filter.kernel import MEDIAN_FILTER as KERNELS


def import_node(node: NodeImport) -> Sequence[Value]:
    """com.example::MedianFilter(x), attribute `window`: odd, 3 where it is absent."""
    window = int(node.attribute("window", 3))
    if window < 1 or window % 2 == 0:
        node.refuse(f"window = {window}", "use an odd window: only then is one of its elements the median")
    return [node.emit(KERNELS.name, [node.activation(0)], window=window)]


def shape(inputs: Inputs, attributes: Attributes) -> Shape:
    x = given(inputs, 0)
    if not x.shape:
        raise ValueError("x is a scalar, which has no axis to filter along")
    return x.shape


def record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    *outer, length = outputs[0].shape
    return {"rows": prod(outer), "length": length, "window": node.attributes["window"]}


def scratch(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> int:
    """The window's elements in ascending order; four bytes each are enough for every variant."""
    return 4 * int(node.attributes["window"])


MEDIAN_FILTER = OwnOperator(
    kernels=KERNELS,
    summary="median of a window that slides along the last axis",
    inputs=(Operand("x", "[..., length]"),),
    attributes=(Attribute("window", "odd"),),
    importer=import_node,
    shape=shape,
    record=record,
    keeps_scale=True,  # a median of stored integers stands for the median of the real values
    scratch=scratch,
    c=CKernels(
        folder=Path(__file__).parent / "c",
        header="median_filter.h",
        sources=("median_filter.c",),
        functions={"int8": "median_filter_s8", "float32": "median_filter_f32"},
        kernels={"int8": "arn_kernel_median_filter", "float32": "arn_kernel_median_filter_float32"},
    ),
)
