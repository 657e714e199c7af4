"""Trains a small convolutional network on scikit-learn's digits, in NumPy, and writes it as ONNX with its data.

    python models/digits_cnn/train.py [FOLDER]        (default: this folder; about a minute)

Writes digits_cnn.onnx, digits_calibration.npz, digits_test.npz and golden.npz. Everything is seeded, so that a run repeats itself on one
machine; between machines the last bits of floating point differ, and with them the weights.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnxruntime
from layers import BatchNormalization, Convolution, Dense, MaxPool, Network, Relu
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper, save
from sklearn.datasets import load_digits

SEED = 20240229
EPOCHS, BATCH, LEARNING_RATE = 40, 32, 2e-3
HELD_OUT, CALIBRATION = 500, 128
Array = NDArray[np.float32]


def data() -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Digits as float32 [n, 1, 8, 8] in 0…1, shuffled and split by a fixed permutation: training images and labels, held-out ones."""
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    labels = digits.target.astype(np.int64)
    order = np.random.default_rng(SEED).permutation(len(images))
    test, train = order[:HELD_OUT], order[HELD_OUT:]
    return images[train], labels[train], images[test], labels[test]


def network(rng: np.random.Generator) -> Network:
    return Network(
        [
            Convolution("conv1", 1, 8, rng),
            BatchNormalization("bn1", 8),
            Relu("relu1"),
            Convolution("conv2", 8, 16, rng),
            BatchNormalization("bn2", 16),
            Relu("relu2"),
            MaxPool("pool"),
            Dense("dense", 16 * 4 * 4, 10, rng),
        ]
    )


def shifted(images: Array, rng: np.random.Generator) -> Array:
    """Each image moved by up to one pixel: more digits than there are."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.integers(0, 3, size=(len(images), 2))
    return np.stack([image[:, i : i + 8, j : j + 8] for image, (i, j) in zip(padded, moves, strict=True)])


def train(net: Network, images: Array, labels: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Adam (Kingma and Ba, 2015) on the cross-entropy, with a cosine schedule."""
    steps, step = EPOCHS * (len(images) // BATCH), 0
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in rng.permutation(len(images))[: len(images) // BATCH * BATCH].reshape(-1, BATCH):
            step += 1
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
            total += net.step(shifted(images[batch], rng), labels[batch], rate, step)
        print(f"epoch {epoch + 1:2}/{EPOCHS}  loss {total / (len(images) // BATCH):.4f}")


def to_onnx(net: Network) -> ModelProto:
    """As exporters write it: NCHW, batch normalization as nodes of its own."""
    weights = {f"{layer.name}.{name}": value for layer in net.layers for name, value in layer.exported().items()}
    nodes = []
    value = "image"
    for layer in net.layers:
        nodes += layer.nodes(value)
        value = layer.name
    nodes.append(helper.make_node("Softmax", [value], ["probabilities"], name="softmax", axis=1))
    graph = helper.make_graph(
        nodes,
        "digits_cnn",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="digits_cnn/train.py", ir_version=8)
    checker.check_model(model, full_check=True)
    return model


def predict(model: ModelProto, images: Array) -> Array:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"image": image[None]})[0] for image in images])


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    images, labels, test_images, test_labels = data()
    rng = np.random.default_rng(SEED)
    net = network(rng)
    train(net, images, labels, rng)
    model = to_onnx(net)
    probabilities = predict(model, test_images)
    accuracy = float((probabilities.argmax(axis=1) == test_labels).mean())
    print(f"{accuracy:.1%} of {len(test_labels)} held-out digits")
    if accuracy < 0.96:
        print("below 96 %: not written", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / "digits_cnn.onnx")
    np.savez_compressed(folder / "digits_calibration.npz", x=images[:CALIBRATION])
    np.savez_compressed(folder / "digits_test.npz", x=test_images, y=test_labels)
    np.savez_compressed(folder / "golden.npz", x=test_images[:8], y=probabilities[:8])
    return 0


if __name__ == "__main__":
    sys.exit(main())
