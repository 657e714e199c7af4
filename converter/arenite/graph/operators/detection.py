"""Selecting boxes: as many results as the data says, in a tensor of the greatest number, filled up."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.graph.node import Node
from arenite.graph.operators.declaration import Attribute, Attributes, Inputs, Operand, Operator, Param, Record, Shape, given
from arenite.graph.tensor import DType, Tensor

NOTHING = -1
"""In the rows behind the results."""


def _results(inputs: Inputs, attributes: Attributes) -> tuple[tuple[Shape, DType], ...]:
    boxes, scores, limit = given(inputs, 0).shape, given(inputs, 1).shape, attributes["limit"]
    if len(boxes) != 3 or boxes[2] != 4 or len(scores) != 3 or (scores[0], scores[2]) != (boxes[0], boxes[1]):
        raise ValueError(f"boxes{boxes} and scores{scores} are not [batch, boxes, 4] and [batch, classes, boxes]")
    if not 1 <= limit <= boxes[1]:
        raise ValueError(f"at most {limit} boxes a class, of {boxes[1]}")
    for tensor in inputs[2:]:
        if tensor is not None and tensor.elements != 1:
            raise ValueError(f"the threshold {tensor.name} of shape {tensor.shape} is not one number")
    return (((scores[0] * scores[1] * limit, 3), DType.INT64),)


def _record(node: Node, inputs: Inputs, outputs: Sequence[Tensor]) -> Record:
    batch, classes, boxes = given(inputs, 1).shape
    return {
        "batch": batch,
        "classes": classes,
        "boxes": boxes,
        "limit": node.attributes["limit"],
        "centred": int(node.attributes["centred"]),
    }


_OPERANDS = (
    Operand("boxes", "[batch, boxes, 4]"),
    Operand("scores", "[batch, classes, boxes]"),
    Operand("iou_threshold", "of one element; 0 without", optional=True),
    Operand("score_threshold", "of one element; without, every score will do", optional=True),
)

NON_MAX_SUPPRESSION = Operator(
    name="NonMaxSuppression",
    summary="Batch, class and index of boxes that no box of a greater score covers; rows of −1 behind them",
    onnx=("NonMaxSuppression",),
    inputs=_OPERANDS,
    attributes=(
        Attribute("limit", "boxes of a class in a batch, no more than there are"),
        Attribute("centred", "bool: boxes are x, y of the centre, width, height; else y, x of two opposite corners"),
    ),
    shape=lambda inputs, attributes: _results(inputs, attributes)[0][0],
    results=_results,
    code=231,
    variants=("float32",),
    stored=_OPERANDS,
    params=(
        Param("batch", ""),
        Param("classes", ""),
        Param("boxes", "of an image"),
        Param("limit", "results of a class"),
        Param("centred", "0 or 1"),
    ),
    record=_record,
    scratch=lambda node, inputs, outputs: given(inputs, 1).shape[2],
)

DETECTION = (NON_MAX_SUPPRESSION,)
