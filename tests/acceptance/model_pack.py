"""The pack of public models: what it has of each, its test data, and onnxruntime's results."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
ROOT = Path(__file__).resolve().parents[2]
VALUES = {"sr": 16000}
"""Scalar inputs that are constants of an installation, by name."""
CALIBRATION_SAMPLES = 128
NOISE = 0.5
"""Standard deviation of inputs where there is no data."""


def folder() -> Path:
    """$ARENITE_DATA, or ../shared/data beside the checkout."""
    return Path(os.environ.get("ARENITE_DATA", ROOT.parent / "shared" / "data"))


class Pack:
    """models.json, and check.py, which loads data and computes figures."""

    def __init__(self, at: Path) -> None:
        self.folder = at
        spec = importlib.util.spec_from_file_location("model_pack_check", at / "check.py")
        assert spec is not None and spec.loader is not None
        self.check: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.check)
        listed = json.loads((at / "models.json").read_text())["models"]
        self.models = {entry["path"]: PackModel(self, entry) for entry in listed if entry["path"].endswith(".onnx")}


@dataclass(frozen=True)
class PackModel:
    pack: Pack
    entry: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.entry["path"]).removeprefix("models/").removesuffix(".onnx")

    @property
    def path(self) -> Path:
        return self.pack.folder / str(self.entry["path"])

    @property
    def is_refused(self) -> bool:
        return self.name.startswith("refuse/")

    @property
    def metric(self) -> str | None:
        """Of the recorded figure: acc, acc_label, r2, iou; None where no test data matches."""
        return None if self.entry.get("eval") is None else str(self.entry["eval"]["metric"])

    @property
    def recorded(self) -> float | None:
        """The figure that onnxruntime had with the test data."""
        return None if self.entry.get("eval") is None else float(self.entry["eval"]["value"])

    @property
    def rounds(self) -> bool:
        """It comes quantized: a value may fall to the other side of a step."""
        return any("Quantize" in op or "Integer" in op or op.startswith("QLinear") for op in self.entry["ops"])

    @property
    def values(self) -> dict[str, float]:
        return {port["name"]: VALUES[port["name"]] for port in self._inputs if port["name"] in VALUES}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of the inputs with dimensions that the file leaves open."""
        return {
            port["name"]: tuple(port["sample_shape"])
            for port in self._inputs
            if port["name"] not in VALUES and not all(isinstance(size, int) for size in port["shape"])
        }

    @property
    def _inputs(self) -> list[Mapping[str, Any]]:
        return list(self.entry["inputs"])

    def test_samples(self) -> dict[str, Array]:
        """Every example of the test data by the input's name, [samples, *shape of the input]; noise where there is none."""
        if self.metric is None:
            return self._noise(16, seed=1)
        port = self._inputs[0]
        x = np.asarray(self.pack.check.load(self.entry["eval"]["data"])[0])
        return {port["name"]: x.astype(self._dtype(port)).reshape(len(x), *port["sample_shape"])}

    def calibration_samples(self) -> dict[str, Array]:
        """Of the training part of the data, where the pack has one."""
        if self.metric is None:
            return self._noise(64, seed=2)
        port = self._inputs[0]
        try:
            x = np.asarray(self.pack.check.load(self.entry["eval"]["data"], "train")[0])
        except KeyError:  # the data has a test part only
            x = np.asarray(self.pack.check.load(self.entry["eval"]["data"])[0])
        x = x[np.linspace(0, len(x) - 1, min(CALIBRATION_SAMPLES, len(x))).astype(int)]
        return {port["name"]: x.astype(self._dtype(port)).reshape(len(x), *port["sample_shape"])}

    def _noise(self, count: int, seed: int) -> dict[str, Array]:
        rng = np.random.default_rng(seed)
        drawn: dict[str, Array] = {}
        for port in self._inputs:
            shape, dtype = (count, *port["sample_shape"]), self._dtype(port)
            if port["name"] in VALUES:
                continue
            drawn[port["name"]] = (
                rng.integers(-100 if dtype == np.int8 else 20, 100, shape).astype(dtype)
                if dtype.kind in "iu"
                else rng.normal(0, NOISE, shape).astype(dtype)
            )
        return drawn

    @staticmethod
    def _dtype(port: Mapping[str, Any]) -> np.dtype[Any]:
        names: dict[str, str] = {"tensor(float)": "float32", "tensor(double)": "float64"}
        return np.dtype(names.get(port["type"], port["type"][7:-1]))

    def reference(self, sample: Mapping[str, Array]) -> list[Array]:
        """onnxruntime's outputs for one sample, without the fusions that saturate on some machines; a ZipMap's maps as rows."""
        session = self.pack.check.sess(str(self.path))
        constants = {name: np.array(value, np.int64) for name, value in self.values.items()}
        results = session.run(None, {**sample, **constants})
        return [np.asarray([list(r.values()) for r in v], np.float32) if isinstance(v, list) else np.asarray(v) for v in results]

    def figure(self, outputs: list[list[Array]]) -> float:
        """The metric of the outputs for every test example, in order."""
        results, index = iter(outputs), self.entry["eval"].get("output", 0)
        return float(self.pack.check.evaluate(self.entry, run=lambda x: next(results)[index]))
