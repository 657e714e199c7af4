"""Builds ONNX models of the architectures of MLPerf Tiny with seeded weights.

    python models/mlperf_shapes/build.py OUT [NAME …]        (default: all; some seconds)

Writes OUT/NAME.onnx, OUT/NAME_calibration.npz (`x`: 32 inputs) and OUT/NAME_test.npz (16 others) for each, and
OUT/golden.json: what each computes for its first test input; golden.json beside this file is what it should be.
Size and speed depend on shapes alone, so that these models give the figures of the real ones; they have learned nothing. Weights are He
initialized, batch statistics are those of a forward pass and the last layer is scaled to spread its outputs, so that activations have
the ranges of a trained network and quantization behaves as it does there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
from network import Network
from numpy.typing import NDArray
from onnx import ModelProto, save

Array = NDArray[np.float32]
CALIBRATION, TEST = 32, 16


def ds_cnn(net: Network) -> None:
    """Keyword spotting (Zhang et al., 2017): 49 frames of 10 MFCCs, 12 words."""
    net.to_nchw()
    net.conv(64, (10, 4), stride=2, pads=(4, 1, 5, 1)).batch_norm().relu()
    for _ in range(4):
        net.depthwise((3, 3), pads=(1, 1, 1, 1)).batch_norm().relu()
        net.conv(64, (1, 1)).batch_norm().relu()
    # The benchmark's window is 24×5 although 25 frames are left; the last one counts nowhere.
    net.average_pool((24, 5)).flatten().dense(12, spread=3.0).softmax()


def mobilenet(net: Network) -> None:
    """Visual wake words: MobileNetV1 (Howard et al., 2017) of width 0.25 on 96×96×3, person or not."""
    net.to_nchw()
    net.conv(8, (3, 3), stride=2, pads=(0, 0, 1, 1)).batch_norm().relu()
    for channels, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]:
        net.depthwise((3, 3), stride=stride, pads=(1, 1, 1, 1) if stride == 1 else (0, 0, 1, 1)).batch_norm().relu()
        net.conv(channels, (1, 1)).batch_norm().relu()
    net.average_pool((3, 3)).flatten().dense(2, spread=1.5).softmax()


def resnet8(net: Network) -> None:
    """Image classification: a residual network (He et al., 2016) of three stacks on 32×32×3, 10 classes."""
    net.to_nchw()
    net.conv(16, (3, 3), pads=(1, 1, 1, 1)).batch_norm().relu()
    for channels, stride in [(16, 1), (32, 2), (64, 2)]:
        start = net.value
        net.conv(channels, (3, 3), stride=stride, pads=(1, 1, 1, 1) if stride == 1 else (0, 0, 1, 1)).batch_norm().relu()
        main = net.conv(channels, (3, 3), pads=(1, 1, 1, 1)).batch_norm().value
        shortcut = start if stride == 1 else net.go_on_from(start).conv(channels, (1, 1), stride=stride).value
        net.add(shortcut, main).relu()
    net.average_pool((8, 8)).flatten().dense(10, spread=3.0).softmax()


def autoencoder(net: Network) -> None:
    """Anomaly detection (Purohit et al., 2019): five frames of 128 log-mel energies, reproduced through 8 numbers."""
    for width in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        net.dense(width).batch_norm().relu()
    net.dense(640, spread=3.0)


def wake_word(net: Network) -> None:
    """Streaming wake word: 30 frames of 40 log-mel energies, depthwise over time, three classes."""
    net.to_nchw()
    for taps, channels in [(3, 128), (5, 128), (10, 128), (15, 32)]:
        net.depthwise((taps, 1)).conv(channels, (1, 1)).batch_norm().relu()
    net.flatten().dense(3, spread=2.0).softmax()


@dataclass(frozen=True)
class Architecture:
    build: Callable[[Network], None]
    shape: tuple[int, ...]
    """Of one input, without the batch."""
    smooth: tuple[int, ...]
    """Width of the smoothing of its random inputs along each axis: what is near is alike, as in pictures and spectra."""


ARCHITECTURES: dict[str, Architecture] = {
    "kws01": Architecture(ds_cnn, (49, 10, 1), (6, 1, 1)),
    "vww01": Architecture(mobilenet, (96, 96, 3), (12, 12, 1)),
    "ic01": Architecture(resnet8, (32, 32, 3), (6, 6, 1)),
    "ad01": Architecture(autoencoder, (640,), (8,)),
    "sww01": Architecture(wake_word, (30, 1, 40), (4, 1, 3)),
}


def inputs(name: str, count: int, seed: int) -> Array:
    """`count` inputs [count, …]: smoothed noise with a level and a contrast of its own for each, in about −4…4."""
    architecture = ARCHITECTURES[name]
    rng = np.random.default_rng([seed, *name.encode()])
    x = rng.standard_normal((count, *architecture.shape))
    for axis, width in enumerate(architecture.smooth, start=1):
        if width > 1:
            kernel = np.hanning(2 * width + 1)
            x = np.apply_along_axis(np.convolve, axis, x, kernel / np.sqrt((kernel**2).sum()), mode="same")
    ones = (1,) * len(architecture.shape)
    level, contrast = rng.standard_normal((count, *ones)), rng.uniform(0.5, 1.5, (count, *ones))
    return np.clip(0.5 * level + contrast * x, -4, 4).astype(np.float32)


def build(name: str) -> ModelProto:
    """The model NAME, for one input. Raises KeyError for a name that ARCHITECTURES has not."""
    architecture = ARCHITECTURES[name]
    net = Network(name, inputs(name, CALIBRATION, seed=0), np.random.default_rng(list(name.encode())))
    architecture.build(net)
    return net.model()


def golden(model: ModelProto, x: Array) -> list[float]:
    """The first outputs for the input x, by onnxruntime."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [round(float(value), 6) for value in session.run(None, {"input": x[None]})[0].ravel()[:12]]


def main(arguments: list[str]) -> int:
    names = arguments[1:] or list(ARCHITECTURES)
    unknown = [name for name in names if name not in ARCHITECTURES]
    if not arguments or unknown:
        print(f"usage: build.py OUT [NAME …]   names: {', '.join(ARCHITECTURES)}", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    outputs: dict[str, list[float]] = {}
    for name in names:
        model, test = build(name), inputs(name, TEST, seed=1)
        outputs[name] = golden(model, test[0])
        save(model, folder / f"{name}.onnx")
        np.savez_compressed(folder / f"{name}_calibration.npz", x=inputs(name, CALIBRATION, seed=0))
        np.savez_compressed(folder / f"{name}_test.npz", x=test)
        print(folder / f"{name}.onnx")
    (folder / "golden.json").write_text(json.dumps(outputs, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
