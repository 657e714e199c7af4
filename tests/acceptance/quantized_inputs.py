"""Inputs of the right kind for the quantized models of the pack that have no labelled data."""

from __future__ import annotations

from typing import Any

import numpy as np
from acceptance.model_pack import PackModel
from numpy.typing import NDArray

Array = NDArray[Any]
COUNT = 200
BANDS = 64
RATE = 16000


def inputs_of(model: PackModel) -> tuple[dict[str, Array], str]:
    """(every input by the name of the model's port, [samples, *shape of the input]; what they are)."""
    if model.metric is not None:
        return model.test_samples(), "of the test data"
    port = model.entry["inputs"][0]
    made, what = _OF[model.name](model)
    return {port["name"]: np.ascontiguousarray(made.reshape(len(made), *port["sample_shape"]))}, what


def _log_mel_windows(model: PackModel) -> tuple[Array, str]:
    """For ad01: random walks over 5 frames of 128 bands, in the steps of its input."""
    walk = np.cumsum(np.random.default_rng(11).normal(0, 1.5, (COUNT, 5, 128)), axis=2)
    levels = (walk - walk.mean(axis=2, keepdims=True) - 30).reshape(COUNT, 640)
    return np.clip(np.rint(levels / 0.39101523) + 89, -128, 127).astype(np.int8), "log-mel-like windows"


def photographs(size: int, count: int = COUNT) -> Array:
    """uint8 [count, size, size, 3]: crops, up to three times as large, of scikit-learn's photographs."""
    from sklearn.datasets import load_sample_images

    rng, images = np.random.default_rng(12), load_sample_images().images
    crops = []
    for _ in range(count):
        image = images[rng.integers(len(images))]
        zoom = int(rng.integers(1, 4))
        top, left = (int(rng.integers(image.shape[axis] - size * zoom)) for axis in (0, 1))
        crop = image[top : top + size * zoom, left : left + size * zoom].reshape(size, zoom, size, zoom, 3)
        crops.append(np.rint(crop.mean(axis=(1, 3))).astype(np.uint8))
    return np.stack(crops)


def _int8_crops(size: int) -> Any:
    return lambda model: ((photographs(size).astype(np.int16) - 128).astype(np.int8), "crops of photographs")


def _float_crops(model: PackModel) -> tuple[Array, str]:
    """mcunet's input is −1…1 in 255 steps."""
    return (photographs(80).astype(np.float32) - 128) / np.float32(127.5), "crops of photographs"


def _every_byte(model: PackModel) -> tuple[Array, str]:
    return np.arange(-128, 128).astype(np.int8), "bytes, all there are"


def _spoken_log_mel(model: PackModel) -> tuple[Array, str]:
    """For pulsevad, whose input is −4.5…4.5: log-mel levels of spoken words, 64 bands and windows of 21 frames of 10 ms, four a clip."""
    clips = np.load(model.pack.folder / "data" / "speech_commands_raw_48clips.npz")["a_i16"] / 32768
    levels = np.log(np.maximum(_mel(clips), 1e-6))
    levels = (levels - levels.mean(axis=(1, 2), keepdims=True)) / levels.std(axis=(1, 2), keepdims=True)
    starts = (0, 20, 40, levels.shape[2] - 21)
    return np.concatenate([levels[:, :, start : start + 21] for start in starts]).astype(np.float32), "log-mel windows of spoken words"


def _mel(clips: Array) -> Array:
    """Power in triangular bands, [clips, BANDS, frames]."""
    frames = np.lib.stride_tricks.sliding_window_view(clips, 400, axis=1)[:, ::160] * np.hanning(400)
    power = np.abs(np.fft.rfft(frames, 512)) ** 2
    mel = np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), BANDS + 2)
    edges = 700 * (10 ** (mel / 2595) - 1) / (RATE / 2) * 256
    bins = np.arange(257)
    rise, fall = ((bins - edges[i, None]) / (edges[i + 1] - edges[i])[:, None] for i in (np.arange(BANDS), np.arange(1, BANDS + 1)))
    filters = np.maximum(0, np.minimum(rise, 1 - fall))
    return np.einsum("ctf,bf->cbt", power, filters)


_OF = {
    "mlperf/ad01_int8_tf2onnx_qdq": _log_mel_windows,
    "mlperf/ic01_int8_tf2onnx_qdq": _int8_crops(32),
    "mlperf/vww01_int8_tf2onnx_qdq": _int8_crops(96),
    "pypi/pulsevad_2.1k_int8": _spoken_log_mel,
    "tflite/mcunet_vww": _float_crops,
    "tflite/tflm_hello_world_int8": _every_byte,
}
