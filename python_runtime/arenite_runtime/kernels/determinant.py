"""Determinants: docs/numerics.md §11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import real, store_real


def det(p: Any, x: Array, y: Array) -> None:
    with np.errstate(all="ignore"):
        store_real(y, np.asarray(np.linalg.det(real(x).reshape(p.matrices, p.size, p.size))))


KERNELS: dict[tuple[str, str], Callable[..., None]] = {("Det", "float32"): det}
"""By operator and variant."""
