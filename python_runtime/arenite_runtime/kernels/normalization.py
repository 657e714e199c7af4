"""LayerNormalization: docs/numerics.md §11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import real, store_real


def layer_normalization(p: Any, x: Array, scale: Array | None, bias: Array | None, y: Array) -> None:
    rows = real(x.reshape(p.rows, p.length))
    with np.errstate(all="ignore"):
        if p.centred:
            rows = rows - rows.mean(axis=1, keepdims=True)
        value = rows / np.sqrt((rows * rows).mean(axis=1, keepdims=True) + p.epsilon)
        value = value if scale is None else value * real(scale.reshape(-1))
        value = value if bias is None else value + real(bias.reshape(-1))
    store_real(y, value)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {("LayerNormalization", "float32"): layer_normalization}
"""By operator and variant."""
