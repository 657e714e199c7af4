"""Windows over images never leave them, whatever a record says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from arenite_runtime.kernels.window import windows

SOUND = {
    "out_h": 2,
    "out_w": 2,
    "kernel_h": 2,
    "kernel_w": 2,
    "stride_h": 1,
    "stride_w": 1,
    "dilation_h": 1,
    "dilation_w": 1,
    "pad_top": 1,
    "pad_left": 0,
}


def view(**changes: int) -> Any:
    return windows(SimpleNamespace(**{**SOUND, **changes}), np.arange(9, dtype=np.int8).reshape(1, 3, 3, 1), -7)


def test_padding_is_filled() -> None:
    assert view()[0, :, :, :, :, 0].tolist() == [
        [[[-7, -7], [0, 1]], [[-7, -7], [1, 2]]],
        [[[0, 1], [3, 4]], [[1, 2], [4, 5]]],
    ]


@pytest.mark.parametrize("name", SOUND)
def test_damaged_record(name: str) -> None:
    with pytest.raises(ValueError, match="windows of"):
        view(**{name: -1})
