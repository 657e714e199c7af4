"""The discrete Fourier transform: docs/numerics.md §11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import real, store_real

_TO_REAL = 2


def dft(p: Any, x: Array, roots: Array, window: Array | None, y: Array) -> None:
    """NumPy's transform in float64: the roots are those that it has itself."""
    signals = real(x.reshape(p.batch, p.signal, p.components))
    values = signals[:, :, 0] + (1j * signals[:, :, 1] if p.components == 2 else 0)
    places = np.arange(p.frames)[:, None] * p.step + np.arange(p.size)[None, :]
    frames = values[:, places] * (1.0 if window is None else real(window.reshape(-1)))
    if p.transform == _TO_REAL:
        store_real(y, np.fft.irfft(frames, p.length))
        return
    spectrum = (np.fft.ifft if p.inverse else np.fft.fft)(frames, p.length)[:, :, : y.reshape(p.batch, p.frames, -1, 2).shape[2]]
    store_real(y, np.stack([spectrum.real, spectrum.imag], axis=-1))


KERNELS: dict[tuple[str, str], Callable[..., None]] = {("Dft", "float32"): dft}
"""By operator and variant."""
