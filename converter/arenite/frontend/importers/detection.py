"""Operators whose number of results depends on data: the output has room for the greatest number, filled up with −1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.arithmetic import binary, broadcast, cast, scalar
from arenite.frontend.importers.logic import inverted
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value
from arenite.graph import DType
from arenite.graph.operators.detection import NOTHING


def _threshold(node: NodeImport, index: int) -> str | None:
    """Infinite ones are no mistake: every box, or none."""
    if not node.has(index):
        return None
    value = node.value(index)
    if isinstance(value, Constant):
        value = node.add_constant(Constant(value.name, np.asarray(value.array, np.float32)))
    if node.graph.tensors[value].elements != 1:
        node.malformed(f"the threshold (input {index}) has {node.graph.tensors[value].elements} elements instead of one")
    return node.activation(index) if isinstance(node.value(index), str) else value


def non_max_suppression(node: NodeImport) -> Sequence[Value]:
    boxes, scores = node.activation(0), node.activation(1)
    most = node.integers(2, "max_output_boxes_per_class")
    if not most or most[0] < 1:
        node.refuse("max_output_boxes_per_class is absent or 0: it selects nothing", "give the greatest number of boxes as a constant")
    shape = node.graph.tensors[boxes].shape
    limit = min(most[0], shape[1]) if len(shape) == 3 else most[0]
    operands = [boxes, scores, _threshold(node, 3), _threshold(node, 4)]
    return list(node.results("NonMaxSuppression", operands, limit=limit, centred=bool(node.attribute("center_point_box", 0))))


def non_zero(node: NodeImport) -> Sequence[Value]:
    """The places of the elements, in order, are scattered to their number among those that are not zero; those that are go behind.

    A place becomes its coordinates by a table, whose last column, −1, the place −1 reads.
    """
    x = node.tensor(0)
    shape, dtype = node.graph.tensors[x].shape, node.graph.tensors[x].dtype
    if not shape:
        node.refuse("it is of one number", "give it a tensor of one dimension or more")
    count = node.graph.tensors[x].elements
    flat = node.reshape(x, (count,))
    chosen = flat if dtype is DType.BOOL else inverted(node, binary(node, "Equal", flat, scalar(node, 0, dtype)))
    number = node.results("CumSum", [str(cast(node, chosen, DType.INT32))], axis=0, exclusive=True, reverse=False)[0]
    at = node.emit("Where", broadcast(node, [chosen, number, scalar(node, count, DType.INT32)]))
    places, nothing = (
        node.add_constant(Constant(f"{node.name}/{what}", values.astype(np.int32)))
        for what, values in (("places", np.arange(count)), ("nothing", np.full(count + 1, NOTHING)))
    )
    scattered = node.results("ScatterElements", [nothing, at, places], axis=0)[0]
    found = node.emit("Slice", [scattered], starts=(0,), steps=(1,), sizes=(count,))
    coordinates = np.stack([axis.reshape(-1) for axis in np.indices(shape)])
    table = np.concatenate([coordinates, np.full((len(shape), 1), NOTHING)], axis=1).astype(np.int64)
    return [node.results("Gather", [node.add_constant(Constant(f"{node.name}/coordinates", table)), found], axis=1)[0]]


DETECTION = {
    "NonZero": Importer(non_zero, "columns of −1 behind the places found; costs a table of 8 bytes an element and dimension"),
    "NonMaxSuppression": Importer(
        non_max_suppression, "constant max_output_boxes_per_class; thresholds constant or computed; rows of −1 behind the boxes selected"
    ),
}
