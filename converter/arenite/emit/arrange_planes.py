"""The layouts `planes` and `planes_2` of DepthwiseConv: runtime_c/kernels/planes.h says what they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arenite.emit.arrange_paired import word
from arenite.graph import Node, Tensor


def depthwise_conv_planes(node: Node, constants: Sequence[Tensor], x: Tensor) -> NDArray[np.int32]:
    """`constants`: weight int8 [3, 3, C], bias int32 [C], multiplier int32 [C]."""
    weight, bias, multiplier = (np.asarray(tensor.data).astype(np.int64) for tensor in constants)
    weight, bias = weight << node.attributes.get("shift", 0), bias << node.attributes.get("shift", 0)
    first = word(weight[0], weight[1])
    second = word(weight[1], weight[2]) if node.attributes["strides"][0] == 1 else word(weight[2], np.zeros_like(weight[2]))
    columns = np.stack([first, second], axis=1).reshape(6, -1).T  # [C, column of the filter and half]
    words = np.concatenate([columns, bias[:, None], multiplier[:, None]], axis=1)
    return words.astype(np.uint32).view(np.int32).reshape(-1)
