"""NonMaxSuppression: the result has room for the greatest number of boxes, filled up with rows of −1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value


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


DETECTION = {
    "NonMaxSuppression": Importer(
        non_max_suppression, "constant max_output_boxes_per_class; thresholds constant or computed; rows of −1 behind the boxes selected"
    ),
}
