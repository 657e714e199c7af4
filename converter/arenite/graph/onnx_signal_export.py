"""The Fourier transform and the selection of boxes of the IR as ONNX nodes. See onnx_export.py."""

from __future__ import annotations

import numpy as np

from arenite.graph.node import Node
from arenite.graph.onnx_typed_export import Export, Exporter


def _dft(export: Export, node: Node) -> str:
    """Frames are gathered, so that windows, overlaps and signals longer than a frame need nothing of the transform. Back to real values
    by the whole spectrum, which every runtime has."""
    a = node.attributes
    places = np.arange(a["frames"])[:, None] * a["step"] + np.arange(a["size"])[None, :]
    frames = export.emit("Gather", [node.input, export.constant(places, np.int64)], axis=1)
    window = node.inputs[2] if len(node.inputs) > 2 else None
    if window is not None:
        frames = export.emit("Mul", [frames, export.emit("Reshape", [window, export.constant([-1, 1], np.int64)])])
    length, axis = export.constant(a["length"], np.int64), export.constant(2, np.int64)
    if a["transform"] != "to_real":
        return export.emit("DFT", [frames, length, axis], inverse=int(a["inverse"]), onesided=int(a["transform"] == "onesided"))
    first = min(a["size"], a["length"] // 2 + 1)
    mirrored = np.arange(min(a["size"], (a["length"] + 1) // 2) - 1, 0, -1)
    real = np.ones((first, 2), np.float32)
    real[[k for k in range(first) if k == 0 or 2 * k == a["length"]], 1] = 0
    half = export.emit("Mul", [frames, export.constant(real)])
    between = np.zeros((a["length"] - first - len(mirrored), 2), np.float32)
    filled = export.emit("Expand", [export.constant(np.zeros((1, 1, 1, 1), np.float32)), _extent(export, node, len(between))])
    other = export.emit("Gather", [half, export.constant(mirrored, np.int64)], axis=2)
    conjugate = export.emit("Mul", [other, export.constant([1, -1])])
    parts = [half, *([filled] if len(between) else []), *([conjugate] if len(mirrored) else [])]
    whole = export.emit("Concat", parts, axis=2)
    signal = export.emit("DFT", [whole, length, axis], inverse=1)
    return export.emit("Gather", [signal, export.constant([0], np.int64)], axis=3)


def _extent(export: Export, node: Node, values: int) -> str:
    return export.constant([export.operand(node, 0).shape[0], node.attributes["frames"], values, 2], np.int64)


def _non_max_suppression(export: Export, node: Node) -> str:
    """Filled up with rows of −1."""
    a, (batch, classes, _) = node.attributes, export.operand(node, 1).shape
    limit = export.constant([a["limit"]], np.int64)
    thresholds = [
        "" if name is None else export.emit("Reshape", [name, export.constant([1], np.int64)])
        for name in (*node.inputs[2:], None, None)[:2]
    ]
    found = export.emit("NonMaxSuppression", [node.input, str(node.inputs[1]), limit, *thresholds], center_point_box=int(a["centred"]))
    count = export.emit("Shape", [found], start=0, end=1)
    missing = export.emit("Sub", [export.constant([batch * classes * a["limit"]], np.int64), count])
    pads = export.emit("Concat", [export.constant([0, 0], np.int64), missing, export.constant([0], np.int64)], axis=0)
    return export.emit("Pad", [found, pads, export.constant(-1, np.int64)])


EXPORTERS: dict[str, Exporter] = {
    "Dft": _dft,
    "NonMaxSuppression": _non_max_suppression,
    "Det": lambda export, node: export.emit("Det", [node.input]),
}
"""By IR operator."""
