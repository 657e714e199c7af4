"""BatchNormalization with constant statistics; Dropout, which does nothing in inference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arenite.frontend.importers.row_normalization import batch_statistics, is_computed, own_statistics
from arenite.frontend.node_import import Importer, NodeImport
from arenite.frontend.values import Constant, Value

_EVAL = "export for inference: model.eval() in PyTorch, training=False in Keras"


def batch_normalization(node: NodeImport) -> Sequence[Value]:
    if node.opset >= 14 and node.attribute("training_mode", 0):
        return own_statistics(node, float(node.attribute("epsilon", 1e-5)), float(node.attribute("momentum", 0.9)))
    extra = [name for name in node.outputs[1:] if name]
    if extra:
        node.problem(f"it has the outputs of training ({', '.join(extra)})", _EVAL)
    if node.opset < 9 and not node.attribute("spatial", 1):
        node.problem("spatial=0: statistics for every position", "export with opset 9 or later, where statistics are per channel")
    x = node.activation(0)
    shape = node.graph.tensors[x].shape
    if len(shape) < 2:
        node.malformed(f"the input {list(shape)} has no channels")
    epsilon = float(node.attribute("epsilon", 1e-5))
    if is_computed(node):
        return [batch_statistics(node, epsilon)]
    names = ("scale", "B", "mean", "var")
    statistics = [node.weights(i + 1, name) for i, name in enumerate(names)]
    for name, value in zip(names, statistics, strict=True):
        if value.array.shape != (shape[1],):
            node.malformed(f"{name} {list(value.array.shape)} does not fit {shape[1]} channels")
    least = float(np.asarray(statistics[3].array, np.float64).min())
    if least + epsilon <= 0:
        node.malformed(f"var has the value {least}: with epsilon {epsilon} no square root exists")
    operands = [node.add_constant(Constant(value.name, value.array)) for value in statistics]
    rank = len(shape)
    last = node.transpose(x, (0, *range(2, rank), 1))
    y = node.emit("BatchNormalization", [last, *operands], epsilon=epsilon)
    return [node.transpose(y, (0, rank - 1, *range(1, rank - 1)))]


def dropout(node: NodeImport) -> Sequence[Value]:
    training = node.constant(2, "training_mode") if node.opset >= 12 else None
    if training is not None and np.asarray(training.array).any() and (node.scalar(1, "ratio") if node.has(1) else 0.5) != 0:
        node.problem("training_mode is true", _EVAL)
    return [node.value(0), Constant(f"{node.name}/mask", np.ones(node.shape(node.value(0)), np.bool_))]


NORMALIZATION = {
    "BatchNormalization": Importer(
        batch_normalization, "statistics per channel, constant or computed; training_mode with opset 14 and later"
    ),
    "Dropout": Importer(dropout, "inference only: does nothing"),
}
