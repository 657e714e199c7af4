"""The networks that are measured: the zoo's, and real ones of $ARENITE_DATA where they are there."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from peers import NETWORKS

ZOO = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ARENITE_DATA") or ZOO.parents[1] / "shared" / "data")
DIGITS = "digits_cnn"
HELLO = "tflm_hello_world_int8"
REAL = {f"{name}_trained": f"mlperf/{name}_fp32.onnx" for name in NETWORKS} | {
    HELLO: "tflite/tflm_hello_world_int8.onnx",
    "tflm_micro_speech_int8": "tflite/tflm_micro_speech_quantized.onnx",
    "mcunet_vww": "tflite/mcunet_vww.onnx",
    "mnist_lenet": "torch/mnist_lenet.onnx",
    "har_lstm": "torch/har_lstm.onnx",
    "digits_vit": "torch/digits_vit.onnx",
}
"""Files below models/ of the data folder: the trained networks of MLPerf Tiny, a network so small that it shows dispatch, and others with
convolutions, recurrence and attention."""
NAMES = (DIGITS, *NETWORKS, *REAL)


@dataclass(frozen=True)
class Network:
    name: str
    source: Path
    calibration: Path | None
    """None: ranges come from the file itself or from synthetic inputs; they do not matter to size and speed."""
    real: bool = False
    """From the data folder."""


def networks(names: list[str], folder: Path) -> list[Network]:
    """Those named, or all; the architectures of MLPerf Tiny are built in `folder`. What the data folder lacks is left out."""
    chosen = [name for name in NAMES if not names or name in names]
    seeded = [name for name in chosen if name in NETWORKS]
    if seeded:
        subprocess.run([sys.executable, ZOO / "mlperf_shapes" / "build.py", folder, *seeded], check=True, stdout=subprocess.DEVNULL)
    found = [_network(name, folder) for name in chosen]
    return [network for network in found if network.source.is_file()]


def _network(name: str, folder: Path) -> Network:
    if name in REAL:
        return Network(name, DATA / "models" / REAL[name], None, real=True)
    if name == DIGITS:
        return Network(name, ZOO / DIGITS / f"{DIGITS}.onnx", ZOO / DIGITS / "digits_calibration.npz")
    return Network(name, folder / f"{name}.onnx", folder / f"{name}_calibration.npz")
