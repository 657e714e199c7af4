"""The layout `tap_pairs` of DepthwiseConv: runtime_c/kernels/tap_pairs.h says what it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Node, Tensor
from arenite.graph.operators.tap_pairs import TapAxis, along_rows


def depthwise_conv_tap_pairs(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """`constants`: weight int8 [kernel_h, kernel_w, out], bias int32 [out], multiplier int32 [out]."""
    weight, bias, multiplier = (np.asarray(tensor.data).astype(np.int64) for tensor in constants)
    weight, bias = weight << node.attributes.get("shift", 0), bias << node.attributes.get("shift", 0)
    rows = along_rows(weight.shape[:2])
    axis = TapAxis.of(weight.shape[0 if rows else 1], *(int(node.attributes[name][0 if rows else 1]) for name in ("strides", "dilations")))
    taps = (weight.transpose(2, 1, 0) if rows else weight.transpose(2, 0, 1)).astype(np.int16)  # [out, across, along]
    sequences = np.zeros((*taps.shape[:2], axis.residues, 2 * axis.pairs), np.int16)
    for residue in range(axis.residues):
        own = taps[:, :, residue :: axis.stride]
        sequences[:, :, residue, : own.shape[2]] = own
    words = sequences.astype("<i2").reshape(len(taps), -1).view("<i4")
    return np.concatenate([bias[:, None], words, multiplier[:, None]], axis=1).astype(np.int32).reshape(-1)
