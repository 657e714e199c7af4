"""The zoo's digits_cnn: what its card says holds for the committed files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parents[2] / "models/digits_cnn"


def predict(images: NDArray[Any]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(FOLDER / "digits_cnn.onnx", providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"image": image[None]})[0] for image in images])


def test_accuracy_on_held_out_digits() -> None:
    data = np.load(FOLDER / "digits_test.npz")
    assert len(data["x"]) == len(data["y"]) >= 300
    assert set(data["y"].tolist()) == set(range(10))
    assert (predict(data["x"]).argmax(axis=1) == data["y"]).mean() >= 0.96


def test_golden_vectors() -> None:
    golden = np.load(FOLDER / "golden.npz")
    np.testing.assert_allclose(predict(golden["x"]), golden["y"], atol=1e-5)


def test_data() -> None:
    """Calibration images are of the right kind, and none is a test image."""
    calibration, test = np.load(FOLDER / "digits_calibration.npz")["x"], np.load(FOLDER / "digits_test.npz")["x"]
    for images in (calibration, test):
        assert images.shape[1:] == (1, 8, 8)
        assert images.dtype == np.float32
        assert images.min() == 0 and images.max() == 1
    assert not {image.tobytes() for image in calibration} & {image.tobytes() for image in test}


def test_graph() -> None:
    model = onnx.load(FOLDER / "digits_cnn.onnx")
    onnx.checker.check_model(model, full_check=True)
    block = ["Conv", "BatchNormalization", "Relu"]
    assert [node.op_type for node in model.graph.node] == [*block, *block, "MaxPool", "Flatten", "Gemm", "Softmax"]
    assert sum(int(np.prod(weight.dims)) for weight in model.graph.initializer) == 3890


def test_small_enough_to_commit() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 300_000


@pytest.fixture(scope="module")
def layers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits_cnn_layers", FOLDER / "layers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["Convolution", "BatchNormalization", "Relu", "MaxPool", "Dense"])
def test_gradients(layers: ModuleType, kind: str) -> None:
    """Of the training script: analytic gradients are the differences of Σ c·y, in float64."""
    rng = np.random.default_rng(1)
    arguments: dict[str, tuple[Any, ...]] = {"Convolution": (2, 3, rng), "BatchNormalization": (2,), "Dense": (32, 3, rng)}
    layer = getattr(layers, kind)("layer", *arguments.get(kind, ()))
    layer.parameters = {key: value + rng.normal(0, 0.1, value.shape) for key, value in layer.parameters.items()}
    x = rng.normal(size=(3, 2, 4, 4))
    c = rng.normal(size=layer.forward(x, True).shape)

    def value() -> float:
        return float((layer.forward(x, True) * c).sum())

    value()
    gradients = {"x": layer.backward(c), **layer.gradients}
    for name, array in {"x": x, **layer.parameters}.items():
        for index in [tuple(rng.integers(0, size) for size in array.shape) for _ in range(10)]:
            before = array[index]
            array[index] = before + 1e-6
            above = value()
            array[index] = before - 1e-6
            below = value()
            array[index] = before
            assert gradients[name][index] == pytest.approx((above - below) / 2e-6, rel=1e-4, abs=1e-6), (name, index)
