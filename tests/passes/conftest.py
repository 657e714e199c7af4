"""A builder of small graphs, and the comparison of a graph before and after a rewrite."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite.graph import OPERATORS, DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.onnx_export import evaluate
from arenite.graph.operators import UNBOUNDED
from arenite.graph.verifier import verify

TO_NHWC, TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


class Builder:
    """Adds nodes to a graph; every method gives the name of the tensor it makes. Weights are seeded by how many there are."""

    def __init__(self, name: str = "g") -> None:
        self.graph = Graph(name)

    def values(self, *shape: int) -> np.ndarray:
        generator = np.random.default_rng(len(self.graph.tensors))
        return (generator.integers(-8, 9, shape) / 8).astype(np.float32)

    def input(self, *shape: int, name: str = "x", dtype: DType = DType.FLOAT32, q: Quantization | None = None) -> str:
        self.graph.tensors[name] = Tensor(name, shape, dtype, quantization=q)
        self.graph.inputs.append(name)
        return name

    def constant(self, data: Any, q: Quantization | None = None) -> str:
        return self.graph.add_constant("c", np.asarray(data, np.float32), q).name

    def node(
        self,
        op: str,
        *inputs: str | None,
        q: Quantization | None = None,
        dtype: DType = DType.FLOAT32,
        out: str | None = None,
        name: str | None = None,
        **attributes: Any,
    ) -> str:
        declared = {attribute.name for attribute in OPERATORS[op].attributes}
        if "clip" in declared:
            attributes.setdefault("clip", UNBOUNDED)
        operands = [None if i is None else self.graph.tensors[i] for i in inputs]
        shape = tuple(OPERATORS[op].shape(operands, attributes))
        y = self.graph.add(Tensor(out or f"{op.lower()}{len(self.graph.nodes)}", shape, dtype, quantization=q)).name
        self.graph.nodes.append(Node(op, name or f"{op}_{len(self.graph.nodes)}", inputs, (y,), attributes))
        return y

    def transpose(self, x: str, perm: tuple[int, ...], **more: Any) -> str:
        return self.node("Transpose", x, perm=perm, **more)

    def reshape(self, x: str, *shape: int, **more: Any) -> str:
        return self.node("Reshape", x, shape=shape, **more)

    def function(self, op: str, x: str, q: Quantization | None = None, out: str | None = None, **attributes: Any) -> str:
        return self.node("Elementwise", x, q=q, out=out, expression=Expression.single(op, **attributes))

    def relu(self, x: str, **more: Any) -> str:
        return self.function("Clip", x, min=0.0, max=float("inf"), **more)

    def conv(self, x: str, out: int, kernel: int = 1, pad: int = 0, bias: bool = True, group: int = 1, **more: Any) -> str:
        channels = self.graph.tensors[x].shape[-1]
        operands = [
            self.constant(self.values(out, kernel, kernel, channels // group)),
            *([self.constant(self.values(out))] if bias else []),
        ]
        attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (pad,) * 4, "group": group}
        return self.node("Conv", x, *operands, **{**attributes, **more})

    def depthwise(self, x: str, multiplier: int = 1, kernel: int = 3, pad: int = 1, **more: Any) -> str:
        channels = self.graph.tensors[x].shape[-1] * multiplier
        operands = [self.constant(self.values(kernel, kernel, channels)), self.constant(self.values(channels))]
        attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (pad,) * 4}
        return self.node("DepthwiseConv", x, *operands, **{**attributes, **more})

    def fully_connected(self, x: str, out: int, bias: bool = True, **more: Any) -> str:
        features = self.graph.tensors[x].shape[-1]
        operands = [self.constant(self.values(out, features)), *([self.constant(self.values(out))] if bias else [])]
        return self.node("FullyConnected", x, *operands, **more)

    def batch_norm(self, x: str, **more: Any) -> str:
        channels = self.graph.tensors[x].shape[-1]
        scale, bias, mean = (self.constant(self.values(channels) + np.float32(0.25 * i)) for i in range(3))
        return self.node(
            "BatchNormalization", x, scale, bias, mean, self.constant(np.abs(self.values(channels)) + 0.5), epsilon=1e-3, **more
        )

    def pool(self, op: str, x: str, kernel: int = 2, stride: int = 2, pads: tuple[int, ...] = (0, 0, 0, 0), **more: Any) -> str:
        attributes = {"kernel": (kernel,) * 2, "strides": (stride,) * 2, "dilations": (1, 1), "pads": pads, "overhang": (0, 0)}
        if op == "AveragePool":
            attributes["count_include_pad"] = False
        return self.node(op, x, **{**attributes, **more})

    def nchw(self, make: Callable[..., str], x: str, *args: Any, **more: Any) -> str:
        """A spatial operator as the frontend imports it from an NCHW model."""
        return self.transpose(make(self.transpose(x, TO_NHWC), *args, **more), TO_NCHW)

    def done(self, *outputs: str) -> Graph:
        self.graph.outputs = list(outputs)
        verify(self.graph)
        return self.graph


@pytest.fixture
def build() -> Builder:
    return Builder()


@pytest.fixture
def builder() -> type[Builder]:
    return Builder


def ops_of(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.fixture
def ops() -> Callable[[Graph], list[str]]:
    return ops_of


def check_same(before: Graph, after: Graph, *, quantized: bool = False, tolerance: float = 1e-5, scale: float = 1.0) -> None:
    """Both graphs are sound, have the same interface, and give the same outputs for the same random inputs."""
    verify(after)
    assert after.inputs == before.inputs
    assert after.outputs == before.outputs
    generator = np.random.default_rng(7)
    feeds, real = {}, {}
    for name in before.inputs:
        tensor = before.tensors[name]
        assert after.tensors[name].shape == tensor.shape
        if tensor.dtype is DType.FLOAT32:
            feeds[name] = real[name] = (generator.normal(size=tensor.shape) * scale).astype(np.float32)
        else:
            feeds[name] = generator.integers(-128, 128, tensor.shape).astype(np.int8)
            real[name] = dequantized(feeds[name], after.tensors[name].quantization)
    expected = evaluate(before, feeds, fake_quantize=quantized)
    actual = evaluate(after, real, fake_quantize=quantized)
    for name in before.outputs:
        want = expected[name]
        if want.dtype == np.int8:
            want = dequantized(want, before.tensors[name].quantization)
        assert actual[name].shape == want.shape
        np.testing.assert_allclose(actual[name], want, atol=tolerance * max(1.0, float(np.abs(want).max())), rtol=0, err_msg=name)


def dequantized(q: np.ndarray, quantization: Quantization | None) -> np.ndarray:
    assert quantization is not None
    return (quantization.scale * (q.astype(np.float32) - quantization.zero_point)).astype(np.float32)


@pytest.fixture
def same() -> Callable[..., None]:
    return check_same


@pytest.fixture
def models() -> Path:
    """The folder of real models."""
    root = Path(os.environ.get("ARENITE_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
    if not (root / "models").is_dir():
        pytest.skip(f"no real models in {root} (set ARENITE_DATA)")
    return root / "models"
