"""A depthwise network that is hard on purpose: ranges of its channels differ by 1:1000 between layers, though it computes what it did.

The filters are random, and the classifier behind them is the least-squares solution for handwritten digits: nothing is trained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from arenite.graph import Graph
from arenite.graph.onnx_export import Evaluator
from arenite.quantize import Dataset, input_specs
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DIGITS = Path(__file__).resolve().parents[2] / "models/digits_cnn"
WIDTHS = (16, 32, 40)
FITTED = 300
"""Of the labelled digits, those that the classifier is fitted to; the others test it."""
SPREAD = 1000.0
RIDGE = 30.0
RELU = (0.0, float("inf"))


@dataclass(frozen=True)
class Hard:
    graph: Graph
    calibration: Dataset
    images: NDArray[np.float32]
    labels: NDArray[np.int64]


def hard_depthwise(net: Any, spread: float = SPREAD, clip: tuple[float, float] = RELU) -> Hard:
    """`net` is the builder of conftest.py. Channels between layers are divided by factors from 1 to `spread`, log-uniform, in the weights
    that write them, and the weights that read them are multiplied. Images are NHWC."""
    labelled, unlabelled = np.load(DIGITS / "digits_test.npz"), np.load(DIGITS / "digits_calibration.npz")["x"]
    images = labelled["x"].reshape(-1, 1, 8, 8, 1)
    features = _features(net, clip, images)
    targets = np.eye(10)[labelled["y"]]
    seen = np.c_[features[:FITTED], np.ones(FITTED)]
    solution = np.linalg.solve(seen.T @ seen + RIDGE * np.eye(seen.shape[1]) * seen.var(), seen.T @ targets[:FITTED])
    graph = _network(net, clip, spread, solution[:-1].T, solution[-1])
    calibration = Dataset(input_specs(graph), {"image": unlabelled.reshape(-1, 1, 8, 8, 1)})
    return Hard(graph, calibration, images[FITTED:], labelled["y"][FITTED:])


def _features(net: Any, clip: tuple[float, float], images: NDArray[np.float32]) -> Floats:
    graph = _network(net, clip, 1.0, np.zeros((10, WIDTHS[-1] * 16)), np.zeros(10))
    (flat,) = (node.input for node in graph.nodes if node.op == "FullyConnected")
    run = Evaluator(graph, [flat])
    return np.concatenate([run({"image": image})[flat] for image in images]).astype(np.float64)


def _network(net: Any, clip: tuple[float, float], spread: float, dense: Floats, bias: Floats) -> Graph:
    generator = np.random.default_rng(7)
    n = net(image=(1, 8, 8, 1))
    same = {"pads": (1, 1, 1, 1), "clip": clip}

    def factors(channels: int) -> Floats:
        return np.asarray(np.exp(-generator.uniform(0, np.log(spread), channels)) if spread > 1 else np.ones(channels))

    def filters(*shape: int, taps: int) -> Floats:
        return generator.normal(0, np.sqrt(2 / taps), shape)

    kernels = [filters(WIDTHS[0], 3, 3, 1, taps=9)]
    offsets = [generator.uniform(-0.1, 0.1, WIDTHS[0])]
    for before, after in pairwise(WIDTHS):
        kernels += [filters(3, 3, before, taps=9), filters(after, 1, 1, before, taps=before)]
        offsets += [generator.uniform(-0.1, 0.1, before), generator.uniform(-0.1, 0.1, after)]
    made = factors(WIDTHS[0])
    x = n.conv("image", kernels[0] * made[:, None, None, None], offsets[0] * made, **same)
    for i in range(1, len(kernels), 2):
        read, made = made, factors(kernels[i].shape[2])
        x = n.depthwise(x, kernels[i] * made / read, offsets[i] * made, **same)
        read, made = made, factors(len(kernels[i + 1]))
        x = n.conv(x, kernels[i + 1] * made[:, None, None, None] / read, offsets[i + 1] * made, clip=clip)
    x = n.node("Reshape", n.pool("AveragePool", x, (2, 2)), shape=(1, WIDTHS[-1] * 16))
    return n.done(n.dense(x, dense / np.tile(made, 16), bias))
